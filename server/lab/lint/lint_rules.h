// The rules of TEST LINT, which find usage that works in a test and causes trouble in production.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "protocol/redis_version.h"

namespace respite {

enum class LintRule : uint8_t {
  kCrossSlot,
  kUndeclaredKey,
  kLockWithoutTtl,
  kForeignUnlock,
  kLostUpdate,
  kExpiredLockWork,
  kLostMessage,
  kSlowShape,
  kChatty,
  kNoTtl,
  kDeprecated,
  kNewer,
  kBigValue,
  kHotKey,
  kWatchWithoutExec,
  kSelectInCluster,
};
inline constexpr size_t kLintRuleCount = 16;  // number of rules

struct LintRuleInfo {  // texts about a rule
  Bytes name;          // for example "cross-slot"
  Bytes finds;         // the usage that it detects
  Bytes instead;       // the recommended alternative
  // Describes the value after `=` in "big-value=100kb", with an example. Empty if the rule takes no value.
  Bytes value = {};
  Bytes example = {};           // such a value
  bool has_usual_value = true;  // the value may be omitted

  bool NeedsValue() const { return !has_usual_value; }  // the rule is on only when it is named with a value
};

const LintRuleInfo& GetLintRuleInfo(LintRule rule);  // texts about the rule
std::span<const LintRuleInfo, kLintRuleCount> AllLintRules();
// Finds a rule by its name, in any case. Returns nullopt if there is none.
std::optional<LintRule> FindLintRule(Bytes name);

inline constexpr int kAnyVersionPart = 999;  // stands for omitted parts of a version in a limit: 7.2 includes 7.2.9
// Returns the version limit of a rule as text, without omitted parts, for example "7.2".
std::string VersionLimitText(const Version& version);

struct LintLimits {                                 // values of rules; each comment begins with the name of its rule
  uint64_t calls_in_sequence = 20;                  // chatty: requests that could have been sent together
  uint64_t value_bytes = uint64_t{1} << 20;         // big-value: maximum size of an argument
  uint64_t percent_of_accesses = 50;                // hot-key: maximum share of one key
  std::string timed_keys = "*";                     // no-ttl: pattern of keys that must have a deadline
  Version deprecated_in = {7, 2, kAnyVersionPart};  // deprecated: the version whose deprecations count
  Version newest = {7, 2, kAnyVersionPart};         // newer: the latest version whose commands the client may use
};

// Returns false if the value is not valid for the rule. Requires: the rule takes a value.
bool SetLintLimit(LintRule rule, Bytes value, LintLimits& limits);
// Requires: the rule takes a value.
std::string LintLimitText(LintRule rule, const LintLimits& limits);

}  // namespace respite
