// Selector: one set of permissions of an ACL user: which commands the user may run, and on which keys and channels.
//
// A user has a root selector and any number of further selectors (in parentheses). A request is allowed if a single
// selector allows all of it. Since Valkey 9.1 rules may also limit the databases. Rules have the syntax of ACL SETUSER,
// and are stored in Redis' form for ACL LIST, ACL SAVE and CONFIG REWRITE.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/key_finder.h"

namespace respite {

// Why a request is refused. If several selectors refuse a request, the greatest value is reported, because that
// selector came closest to allowing the request. If the values are equal, the denial of the later argument is reported.
enum class AclDenial : uint8_t { kNone, kDatabase, kCommand, kKey, kChannel };  // what is denied; kNone: nothing

struct AclVerdict {                     // the result of a permission check: allowed, or why not
  AclDenial denial = AclDenial::kNone;  // what is denied: command, key, channel or database; kNone: nothing
  size_t word = 0;  // argument index of the refused key, channel or database; 0: command or selected database

  bool IsAllowed() const { return denial == AclDenial::kNone; }  // true: the request may run
  bool IsCloserThan(const AclVerdict& other) const {  // true: more of the request was allowed than in `other`
    return denial != other.denial ? denial > other.denial : word > other.word;
  }
};

// How a request uses a channel. kName: publishes or subscribes to a channel. kPattern: subscribes to a pattern, which
// is allowed only if an ACL rule has the same pattern, or if all channels are allowed.
enum class ChannelUse : uint8_t { kName, kPattern };  // how a request uses a channel

struct DatabaseOfClient {  // which database a request uses unless it names another
  int selected = 0;        // number of the client's database
  int count = 1;           // number of databases of the server
};

class AclRequest {  // a request to check against ACL rules; finds its keys once, for all selectors
 public:
  AclRequest(const Command& command, std::span<const Bytes> arguments, DatabaseOfClient database)
      : command_(command), words_(arguments), database_(database) {}

  const Command& command() const { return command_; }      // the command to check
  std::span<const Bytes> words() const { return words_; }  // all arguments; the first one is the command's name
  DatabaseOfClient database() const { return database_; }  // the client's selected database, and how many there are
  const KeyList& Keys();                                   // the keys of the request; finds them at the first call

 private:
  const Command& command_;           // the command to check
  std::span<const Bytes> words_;     // all arguments; the first one is the command's name
  const DatabaseOfClient database_;  // the client's selected database, and how many there are
  std::optional<KeyList> keys_;      // the keys of the request; nullopt before the first call of Keys
};

// The maximum number of entries of each kind. A selector has key patterns, channel patterns, databases, and first
// arguments of each command. A user has passwords and further selectors. Without a limit, ACL checks could take too
// long: a new entry is compared with all others, and each request with all patterns.
inline constexpr size_t kMaxAclEntries = 5000;  // maximum number of entries of each kind in one selector or user
inline constexpr char kTooManyAclEntries[] = "Too many rules of this kind, at most 5000 are possible";

// The error for a malformed rule. Errors about an ACL file do not quote malformed rules, although they quote rules that
// are invalid for another reason.
inline constexpr char kAclSyntaxError[] = "Syntax error";  // the error for a malformed ACL rule

class Selector {  // one set of permissions of an ACL user: commands, keys and channels
 public:
  // Creates a selector without permissions. The table must outlive the selector.
  explicit Selector(const CommandTable& table);

  // Applies a rule about commands, keys, channels or (Valkey 9.1) databases.
  const char* Apply(Bytes rule);  // applies one rule, such as "+get", "~a*" or "&ch*"; returns null, or the error

  // Checks the databases of the request, then the command, the keys and the channels. Returns the first that is denied.
  // Does not check keys and channels of a request with a wrong number of arguments. Cost: O(rules such as +select|0 for
  // this command), and O(patterns) for each key or channel.
  AclVerdict Check(AclRequest& request) const;  // whether these rules allow the request, or why not
  bool IsUnlimited() const {                    // all commands, keys, channels and databases are allowed
    return all_commands_ && all_keys_ && all_channels_ && all_databases_;
  }
  // Returns whether the command may run and read every key. SORT needs this permission for BY and GET, because their
  // patterns may name any key.
  bool AllowsReadingAllKeys(const Command& command,  // true: allows the command, and reading any key
                            std::span<const Bytes> arguments) const;
  bool AllowsChannel(Bytes name, ChannelUse use) const;  // these rules allow the use of this channel or pattern

  std::string Commands() const;   // the rules about commands as text, for ACL GETUSER: "+@all -get"
  std::string Keys() const;       // the rules about keys as text, for ACL GETUSER: "~a* %R~b*"
  std::string Channels() const;   // the rules about channels as text, for ACL GETUSER: "&ch*"
  std::string Databases() const;  // the rule about databases as text, for ACL GETUSER: "alldbs", "db=0,1" or ""
  bool AllowsAllDatabases() const { return all_databases_; }  // true: no rule limits the databases
  std::vector<std::string> Rules() const;  // all rules of the selector: "~a*", "resetchannels", "+@all", "-get"

 private:
  struct KeyPattern {  // one ACL rule that allows keys, such as "~a*" or "%R~a*"
    uint8_t access;    // what the rule allows: the bits kMayRead and kMayWrite
    std::string glob;  // pattern of the allowed keys
  };
  static constexpr uint8_t kMayRead = 1;   // bit of KeyPattern::access: commands may read these keys
  static constexpr uint8_t kMayWrite = 2;  // bit of KeyPattern::access: commands may write these keys

  const char* ApplyCommand(Bytes rule);        // applies "+get", "-@write" … (not ±@all); returns null, or the error
  const char* ApplyFirstArgument(Bytes name);  // applies "+select|0": `name` is "select|0"; returns null, or the error
  const char* ApplyKeyPattern(uint8_t access, Bytes glob);  // allows keys that match `glob`; returns null, or the error
  const char* ApplyKeyAccess(Bytes rule);       // applies a rule such as "%R~a*"; returns null, or the error
  const char* ApplyChannelPattern(Bytes glob);  // allows the channels that match `glob`; returns null, or the error
  const char* ApplyDatabases(Bytes numbers);    // applies "db=0,1": allows only these databases; null, or the error
  enum class Grant : uint8_t { kTake, kGive };  // kGive: allows; kTake: forbids
  void GrantEveryCommand(Grant grant);          // kGive: allows all commands; kTake: forbids all
  void GrantCommand(const Command& command, Grant grant);  // kGive: allows it and its subcommands; kTake: forbids
  void RememberCommandRule(char sign, Bytes name);         // adds "+get" to command_rules_, removes older rules on GET
  std::vector<std::string> KeyRules() const;               // the rules about keys, one each: "~a*", "%R~b*"

  bool AllowsCommand(const Command& command, std::span<const Bytes> arguments) const;  // allowed, or needs no login
  // Returns the index of the word that is to blame: the first argument that names a denied database, or 0 (the name of
  // the command) if the command uses all databases, or keys of the selected one, which is denied. Returns nullopt if
  // all databases of the request are allowed. Requires: !all_databases_.
  std::optional<size_t> FindDeniedDatabase(const AclRequest& request) const;  // index of the word to blame, or nullopt
  bool AllowsKey(Bytes key, uint16_t flags) const;         // `flags` (KeyFlag bits): what the command does with it
  bool AllowsKeyPattern(uint8_t needed, Bytes key) const;  // some rule matches `key` and has all `needed` access bits

  const CommandTable* table_;          // all commands that the server knows
  bool all_commands_ = false;          // true: every command is allowed (none was forbidden after +@all)
  bool all_keys_ = false;              // true: every key may be read and written
  bool all_channels_ = false;          // true: every channel is allowed
  bool all_databases_ = true;          // true: every database may be used
  std::set<int> databases_;            // the allowed databases, unless all_databases_
  bool rules_begin_with_all_ = false;  // +@all was applied later than -@all: Commands() begins with +@all
  std::vector<bool> allowed_;          // true for each allowed command; the index is Command::id
  std::map<uint32_t, std::vector<std::string>> first_arguments_;  // by Command::id: "0" for the rule "+select|0"
  std::vector<std::string> command_rules_;     // rules about commands in order, such as "+get" and "-@admin"
  std::vector<KeyPattern> key_patterns_;       // the rules about keys, unless all_keys_
  std::vector<std::string> channel_patterns_;  // patterns of the allowed channels, unless all_channels_
};

struct ChannelRange {                  // which arguments of a request are names or patterns of channels
  size_t first = 0;                    // index of the first channel in the arguments; 0: the request has no channels
  size_t last = 0;                     // index of the last channel in the arguments
  ChannelUse use = ChannelUse::kName;  // whether these arguments are names or patterns
};
ChannelRange FindChannelArguments(const Command& command, size_t argument_count);  // which arguments are channels

}  // namespace respite
