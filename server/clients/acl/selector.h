// Selector: one set of permissions of a user: which commands it may run on which keys and channels.
//
// A user has a root selector and any number of others (in parentheses); a request is allowed if a single selector
// allows all of it. Rules are those of ACL SETUSER; they are kept in Redis' form for ACL LIST, ACL SAVE and CONFIG
// REWRITE.
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

// Why a request is refused. Of several selectors, the greatest reason is reported: that of the closest match.
enum class AclDenial : uint8_t { kNone, kCommand, kKey, kChannel };

struct AclVerdict {
  AclDenial denial = AclDenial::kNone;
  size_t word = 0;  // index of the refused key or channel

  bool IsAllowed() const { return denial == AclDenial::kNone; }
  bool IsCloserThan(const AclVerdict& other) const {
    return denial != other.denial ? denial > other.denial : word > other.word;
  }
};

// kName: publishing to a channel or subscribing to it. kPattern: subscribing to a pattern, which must equal that of a
// rule.
enum class ChannelUse : uint8_t { kName, kPattern };

// A request and its keys, which are found once, when the first selector needs them.
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

// Most patterns of keys or of channels, and most first arguments of a command, of a selector; most passwords and
// selectors of a user. Each new one is compared with those that are there, and each request with all patterns.
inline constexpr size_t kMostAclEntries = 5000;
inline constexpr char kTooManyAclEntries[] = "Too many rules of this kind, at most 5000 are possible";

// The error for words that are no rule; errors in ACL files are shorter for those.
inline constexpr char kAclSyntaxError[] = "Syntax error";

class Selector {
 public:
  // Allows nothing. The table must outlive the selector.
  explicit Selector(const CommandTable& table);

  // Applies a rule about commands, keys or channels. Returns null, or Redis' error for an invalid rule; then nothing
  // has changed.
  const char* Apply(Bytes rule);

  // Cost: O(1) for commands; O(patterns) for each key or channel.
  AclVerdict Check(AclRequest& request) const;
  // Allows every command on every key and channel.
  bool IsUnlimited() const { return all_commands_ && all_keys_ && all_channels_; }
  // Whether the command is allowed together with reading every key, as SORT needs for keys that it finds by pattern.
  bool AllowsReadingAll(const Command& command, std::span<const Bytes> words) const;
  bool AllowsChannel(Bytes name, ChannelUse use) const;

  // "+@all -get", "~a* %R~b*", "&ch*": what ACL GETUSER shows.
  std::string Commands() const;
  std::string Keys() const;
  std::string Channels() const;
  // "~a*", "resetchannels", "&ch*", "+@all", "-get": the rules that make it, in the order of ACL LIST.
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
  // "~a*", "%R~b*".
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
  std::map<uint32_t, std::vector<std::string>> first_arguments_;  // of commands allowed only with these
  std::vector<std::string> command_rules_;                        // "+get", in order
  std::vector<KeyPattern> key_patterns_;
  std::vector<std::string> channel_patterns_;
};

// The channels of a request: argv[first] up to the end, or only that one.
struct ChannelWords {
  size_t first = 0;  // 0: none
  size_t last = 0;
  ChannelUse use = ChannelUse::kName;
};
ChannelWords ChannelWordsOf(const Command& command, size_t words);

}  // namespace respite
