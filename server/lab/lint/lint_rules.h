// The rules of TEST LINT. Each rule finds a usage of Redis that works in a test but causes trouble in production.
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

struct LintRuleInfo {  // name and texts of a rule of TEST LINT
  Bytes name;          // for example "cross-slot"
  Bytes finds;         // text about the usage that the rule detects
  Bytes instead;       // text about the recommended alternative
  // Some rules take a value after `=`, as in "big-value=100kb".
  Bytes value = {};               // what kind of value the rule takes, such as "size"; empty: none
  Bytes example = {};             // example of a value, such as "100kb"
  bool has_default_value = true;  // the value may be omitted; LintLimits has the default

  bool NeedsValue() const { return !has_default_value; }  // the rule cannot be turned on without a value
};

const LintRuleInfo& GetLintRuleInfo(LintRule rule);            // texts about the rule
std::span<const LintRuleInfo, kLintRuleCount> AllLintRules();  // texts about all rules, in the order of LintRule
std::optional<LintRule> FindLintRule(Bytes name);  // `name`: such as "cross-slot", in any case; nullopt: no such rule

inline constexpr int kAnyVersionPart = 999;  // for a part that a version limit omits, so that 7.2 includes 7.2.9
// Returns a version as text, such as "7.2", without parts that are kAnyVersionPart. For the rules `deprecated` and
// `newer`, whose limit is a version.
std::string VersionLimitText(const Version& version);  // such as "7.2": omits the parts that are kAnyVersionPart

struct LintLimits {                          // the numbers and patterns with which rules of TEST LINT can be adjusted
  uint64_t calls_in_sequence = 20;           // largest number of similar requests in a row, for the rule chatty
  uint64_t value_bytes = uint64_t{1} << 20;  // maximum size of an argument or a reply, for the rule big-value
  uint64_t percent_of_accesses = 50;         // largest percentage of accesses for one key, for the rule hot-key
  std::string timed_keys = "*";              // pattern of keys that must have a deadline, for the rule no-ttl
  Version deprecated_until = {7, 2, kAnyVersionPart};  // `deprecated` reports what was deprecated up to this version
  Version newest = {7, 2, kAnyVersionPart};            // the rule `newer` reports what came after this version
};

// Sets the rule's limit in `limits` to `value`, the text after `=`, as in big-value=100kb. Returns false if `value` is
// invalid. Requires: the rule takes a value.
bool SetLintLimit(LintRule rule, Bytes value, LintLimits& limits);  // sets the rule's limit; false: `value` is invalid
// Returns the rule's limit as typed after `=`. Requires: the rule takes a value.
std::string LintLimitText(LintRule rule, const LintLimits& limits);  // the limit as typed after `=`: "1048576"

}  // namespace respite
