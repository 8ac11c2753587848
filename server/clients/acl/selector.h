// Selector: one set of permissions of a user: which commands the user may run, and on which keys and channels.
//
// A user has a root selector and any number of further selectors (in parentheses). A request is allowed if a single
// selector allows all of it. Rules have the syntax of ACL SETUSER, and are stored in Redis' form for ACL LIST, ACL SAVE
// and CONFIG REWRITE.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/key_finder.h"

namespace respite {

// Why a request is refused. If several selectors refuse it, the greatest value is reported: that selector came closest
// to allowing it.
enum class AclDenial : uint8_t { kNone, kCommand, kKey, kChannel };

struct AclVerdict {                     // whether a request is allowed, or why not
  AclDenial denial = AclDenial::kNone;  // why the request is refused; kNone: it is allowed
  size_t word = 0;                      // index of the refused key or channel

  bool IsAllowed() const { return denial == AclDenial::kNone; }  // the request may run
  bool IsCloserThan(const AclVerdict& other) const {  // true: came closer to allowing the request, so it is reported
    return denial != other.denial ? denial > other.denial : word > other.word;
  }
};

// How a request uses a channel. kName: publishes or subscribes to a channel. kPattern: subscribes to a pattern. Unless
// all channels are allowed, that pattern must equal the pattern of an ACL rule.
enum class ChannelUse : uint8_t { kName, kPattern };

class AclRequest {  // a request to check against ACL rules; finds its keys once, for all selectors
 public:
  AclRequest(const Command& command, std::span<const Bytes> arguments) : command_(command), words_(arguments) {}

  const Command& command() const { return command_; }      // the command to check
  std::span<const Bytes> words() const { return words_; }  // arguments, with the command's name
  const KeyList& Keys();

 private:
  const Command& command_;        // the command to check
  std::span<const Bytes> words_;  // arguments, with the command's name
  std::optional<KeyList> keys_;
};

// The maximum number of entries of each kind: key patterns, channel patterns and first arguments of a command in a
// selector, and passwords and selectors of a user. Without a limit, checks could take too long, because a new entry is
// compared with all others, and a request with all patterns.
inline constexpr size_t kMaxAclEntries = 5000;
inline constexpr char kTooManyAclEntries[] = "Too many rules of this kind, at most 5000 are possible";

// The error for a malformed rule. Errors about an ACL file do not quote a malformed rule, although they quote other
// invalid rules.
inline constexpr char kAclSyntaxError[] = "Syntax error";

class Selector {  // one set of permissions of an ACL user: commands, keys and channels
 public:
  // Creates a selector without permissions. The table must outlive the selector.
  explicit Selector(const CommandTable& table);

  // Applies a rule about commands, keys or channels.
  const char* Apply(Bytes rule);  // applies "+get", "~a*", "&ch*" …; returns null, or the error

  // Returns whether this selector allows the request, or what it denies. Cost: O(first arguments allowed for the
  // command), and O(patterns) for each key or channel.
  AclVerdict Check(AclRequest& request) const;  // whether these rules allow the request, or why not
  bool IsUnlimited() const { return all_commands_ && all_keys_ && all_channels_; }  // everything is allowed
  // Returns whether the command may run and read every key. SORT needs this permission for BY and GET, because their
  // patterns may name any key.
  bool AllowsReadingAllKeys(const Command& command, std::span<const Bytes> arguments) const;  // may run it on any key
  bool AllowsChannel(Bytes name, ChannelUse use) const;  // the rules allow this channel or pattern

  std::string Commands() const;            // the rules about commands, for ACL GETUSER: "+@all -get"
  std::string Keys() const;                // the rules about keys, for ACL GETUSER: "~a* %R~b*"
  std::string Channels() const;            // the rules about channels, for ACL GETUSER: "&ch*"
  std::vector<std::string> Rules() const;  // all rules of the selector: "~a*", "resetchannels", "+@all", "-get"

 private:
  struct KeyPattern {  // an ACL rule for keys, such as "~a*" or "%R~a*"
    uint8_t access;    // bits: kMayRead, kMayWrite
    std::string glob;
  };
  static constexpr uint8_t kMayRead = 1;   // a bit of KeyPattern::access
  static constexpr uint8_t kMayWrite = 2;  // a bit of KeyPattern::access

  const char* ApplyCommand(Bytes rule);        // applies "+get" or "-@write", not "-@all"; returns null, or the error
  const char* ApplyFirstArgument(Bytes name);  // applies "select|0": allows SELECT 0; returns null, or the error
  const char* ApplyKeyPattern(uint8_t access, Bytes glob);  // allows keys that match; returns null, or the error
  const char* ApplyKeyAccess(Bytes rule);                   // applies "%R~a*"; returns null, or the error
  const char* ApplyChannelPattern(Bytes glob);              // allows channels that match; returns null, or the error
  enum class Grant : uint8_t { kTake, kGive };
  void GrantEveryCommand(Grant grant);                     // allows (kGive) or forbids (kTake) all commands
  void GrantCommand(const Command& command, Grant grant);  // allows (kGive) or forbids (kTake) it
  void RememberCommandRule(char sign, Bytes name);         // appends a rule such as "+get"; drops those it replaces
  std::vector<std::string> KeyRules() const;               // the rules about keys: "~a*", "%R~b*"

  bool AllowsCommand(const Command& command, std::span<const Bytes> arguments) const;  // checks no keys or channels
  bool AllowsKey(Bytes key, uint16_t flags) const;         // `flags` say whether the command reads or writes the key
  bool AllowsKeyPattern(uint8_t needed, Bytes key) const;  // a matching rule has all `needed` access bits

  const CommandTable* table_;                                     // all commands of the server
  bool all_commands_ = false;                                     // every command is allowed
  bool all_keys_ = false;                                         // every key may be read and written
  bool all_channels_ = false;                                     // every channel is allowed
  bool begins_with_all_ = false;                                  // Commands() begins with +@all instead of -@all
  std::vector<bool> allowed_;                                     // whether a command is allowed, by Command::id
  std::map<uint32_t, std::vector<std::string>> first_arguments_;  // the allowed first arguments, by Command::id
  std::vector<std::string> command_rules_;                        // rules such as "+get" and "-@admin", in order
  std::vector<KeyPattern> key_patterns_;                          // the rules about keys
  std::vector<std::string> channel_patterns_;                     // globs of allowed channels
};

struct ChannelRange {  // which arguments of a request are channels
  size_t first = 0;    // index in argv; 0: the request has no channels
  size_t last = 0;     // index in argv
  ChannelUse use = ChannelUse::kName;
};
ChannelRange FindChannelArguments(const Command& command, size_t argument_count);  // says which arguments are channels

}  // namespace respite
