// Selector: one set of permissions of a user: the commands that it may run on certain keys and channels.
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

// Why a request is refused. If several selectors refuse it, the greatest value is reported: the closest match.
enum class AclDenial : uint8_t { kNone, kCommand, kKey, kChannel };

struct AclVerdict {
  AclDenial denial = AclDenial::kNone;
  size_t word = 0;  // index of the refused key or channel

  bool IsAllowed() const { return denial == AclDenial::kNone; }
  bool IsCloserThan(const AclVerdict& other) const {
    return denial != other.denial ? denial > other.denial : word > other.word;
  }
};

// kName: publishing or subscribing to a channel. kPattern: subscribing to a pattern, which must equal a rule's pattern.
enum class ChannelUse : uint8_t { kName, kPattern };

// A request and its keys, which are found only once, when the first selector needs them.
class AclRequest {
 public:
  AclRequest(const Command& command, std::span<const Bytes> words) : command_(command), words_(words) {}

  const Command& command() const { return command_; }
  std::span<const Bytes> words() const { return words_; }
  const KeyList& Keys();

 private:
  const Command& command_;
  std::span<const Bytes> words_;
  std::optional<KeyList> keys_;
};

// Limit for each kind of entry: key patterns, channel patterns and first arguments of a command in a selector, and
// passwords and selectors of a user. A new entry is compared with all others, and a request with all patterns.
inline constexpr size_t kMostAclEntries = 5000;
inline constexpr char kTooManyAclEntries[] = "Too many rules of this kind, at most 5000 are possible";

// The error for an invalid rule; the texts for ACL files are shorter.
inline constexpr char kAclSyntaxError[] = "Syntax error";

class Selector {
 public:
  // Creates a selector without permissions. The table must outlive the selector.
  explicit Selector(const CommandTable& table);

  // Applies a rule about commands, keys or channels. Returns null, or Redis' error for an invalid rule, which changes
  // nothing.
  const char* Apply(Bytes rule);

  // Returns whether this selector allows the request, or what it denies. Cost: O(1) for commands; O(patterns) for each
  // key or channel.
  AclVerdict Check(AclRequest& request) const;
  // Returns whether every command on every key and channel is allowed.
  bool IsUnlimited() const { return all_commands_ && all_keys_ && all_channels_; }
  // Returns whether the command may run and read every key. SORT needs this for keys that it finds by pattern.
  bool AllowsReadingAll(const Command& command, std::span<const Bytes> words) const;
  bool AllowsChannel(Bytes name, ChannelUse use) const;

  // Return the texts of ACL GETUSER: "+@all -get", "~a* %R~b*", "&ch*".
  std::string Commands() const;
  std::string Keys() const;
  std::string Channels() const;
  // Returns the rules that define this selector, in the order of ACL LIST: "~a*", "resetchannels", "&ch*", "+@all",
  // "-get".
  std::vector<std::string> Rules() const;

 private:
  struct KeyPattern {
    uint8_t access;  // kMayRead, kMayWrite
    std::string glob;
  };
  static constexpr uint8_t kMayRead = 1;
  static constexpr uint8_t kMayWrite = 2;

  const char* ApplyCommand(Bytes rule);
  const char* ApplyFirstArgument(Bytes name);
  const char* ApplyKeyPattern(uint8_t access, Bytes glob);
  const char* ApplyKeyAccess(Bytes rule);
  const char* ApplyChannelPattern(Bytes glob);
  enum class Grant : uint8_t { kTake, kGive };
  void GrantEveryCommand(Grant grant);
  void GrantCommand(const Command& command, Grant grant);
  void Remember(char sign, Bytes name);
  // Returns "~a*", "%R~b*".
  std::vector<std::string> KeyRules() const;

  bool AllowsCommand(const Command& command, std::span<const Bytes> words) const;
  bool AllowsKey(Bytes key, uint16_t flags) const;
  bool AllowsKeyPattern(uint8_t needed, Bytes key) const;

  const CommandTable* table_;
  bool all_commands_ = false;
  bool all_keys_ = false;
  bool all_channels_ = false;
  bool begins_with_all_ = false;                                  // Commands() begins with +@all instead of -@all
  std::vector<bool> allowed_;                                     // by Command::id
  std::map<uint32_t, std::vector<std::string>> first_arguments_;  // of commands allowed only with these first arguments
  std::vector<std::string> command_rules_;                        // "+get", in order
  std::vector<KeyPattern> key_patterns_;
  std::vector<std::string> channel_patterns_;
};

// The channels of a request: argv[first] to argv[last].
struct ChannelWords {
  size_t first = 0;  // 0: the request has no channels
  size_t last = 0;
  ChannelUse use = ChannelUse::kName;
};
ChannelWords ChannelWordsOf(const Command& command, size_t words);

}  // namespace respite
