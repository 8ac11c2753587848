// Selector: one set of permissions of a user: which commands it may run, on which keys and channels.
//
// A user has one selector of its own and any number of others (in parentheses); a request is allowed when one of them
// allows all of it. Rules are those of ACL SETUSER; what they say is kept as Redis prints it, so that ACL LIST, ACL
// SAVE and CONFIG REWRITE give back what was said.
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

// Why a request is refused, the milder reason first: of several selectors the one that comes closest is told.
enum class AclDenial : uint8_t { kNone, kCommand, kKey, kChannel };

struct AclVerdict {
  AclDenial denial = AclDenial::kNone;
  size_t word = 0;  // the key or channel that is refused

  bool IsAllowed() const { return denial == AclDenial::kNone; }
  bool IsCloserThan(const AclVerdict& other) const {
    return denial != other.denial ? denial > other.denial : word > other.word;
  }
};

// A message to a channel or a subscription to it; or a subscription to a pattern, which a rule must name to the letter.
enum class ChannelUse : uint8_t { kName, kPattern };

// A request with its keys, which are looked for once, and only when a selector asks.
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

// What rules that are none of any kind are told; ACL files say less of those.
inline constexpr char kAclSyntaxError[] = "Syntax error";

class Selector {
 public:
  // Allows nothing. The table must outlive the selector.
  explicit Selector(const CommandTable& table);

  // One rule about commands, keys or channels. Returns null, or why there is no such rule, as Redis says it; then
  // nothing has changed.
  const char* Apply(Bytes rule);

  // Cost: O(1) for commands; O(patterns) for each key or channel.
  AclVerdict Check(AclRequest& request) const;
  // Allows every command on every key and channel.
  bool IsUnlimited() const { return all_commands_ && all_keys_ && all_channels_; }
  // Allows this command, and reading every key: what SORT needs to look at keys by pattern.
  bool AllowsReadingAll(const Command& command, std::span<const Bytes> words) const;
  bool AllowsChannel(Bytes name, ChannelUse use) const;

  // "+@all -get", "~a* %R~b*", "&ch*": what ACL GETUSER shows.
  std::string Commands() const;
  std::string Keys() const;
  std::string Channels() const;
  // "~a* resetchannels &ch* +@all -get": what ACL LIST shows.
  std::string Describe() const;

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

  bool AllowsCommand(const Command& command, std::span<const Bytes> words) const;
  bool AllowsKey(Bytes key, uint16_t flags) const;
  bool AllowsKeyPattern(uint8_t needed, Bytes key) const;

  const CommandTable* table_;
  bool all_commands_ = false;
  bool all_keys_ = false;
  bool all_channels_ = false;
  bool begins_with_all_ = false;                                  // how Commands() begins
  std::vector<bool> allowed_;                                     // by Command::id
  std::map<uint32_t, std::vector<std::string>> first_arguments_;  // of commands that are not allowed with others
  std::vector<std::string> command_rules_;                        // "+get", in order
  std::vector<KeyPattern> key_patterns_;
  std::vector<std::string> channel_patterns_;
};

// The channels that a request publishes to or subscribes to: argv[first] up to the end, or just that one.
struct ChannelWords {
  size_t first = 0;  // 0: none
  size_t last = 0;
  ChannelUse use = ChannelUse::kName;
};
ChannelWords ChannelWordsOf(const Command& command, size_t words);

}  // namespace respite
