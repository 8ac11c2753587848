// The rules of TEST LINT: what works in a test, and hurts in production.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/version.h"

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
inline constexpr size_t kLintRules = 16;

struct LintRuleInfo {
  Bytes name;     // "cross-slot"
  Bytes finds;    // what it finds
  Bytes instead;  // what to do
  // What stands behind `=` in "big-value=100kb", and an example; empty: nothing may.
  Bytes value = {};
  Bytes example = {};
  bool has_usual_value = true;

  // It is not on unless it is named.
  bool NeedsValue() const { return !has_usual_value; }
};

const LintRuleInfo& InfoOf(LintRule rule);
std::span<const LintRuleInfo, kLintRules> AllLintRules();
// In any case. Nothing: there is no such rule.
std::optional<LintRule> LintRuleByName(Bytes name);

// Where a person names no last parts of a version, any will do: 7.2 is 7.2.9, too.
inline constexpr int kAnyPart = 999;
// "7.2"
std::string VersionLimitText(const Version& version);

// The values of the rules that have one.
struct LintLimits {
  uint64_t calls_in_sequence = 20;           // chatty
  uint64_t value_bytes = uint64_t{1} << 20;  // big-value
  uint64_t percent_of_accesses = 50;         // hot-key
  std::string timed_keys = "*";              // no-ttl: a pattern
  Version deprecated_in = {7, 2, kAnyPart};  // deprecated
  Version newest = {7, 2, kAnyPart};         // newer
};

// False: the value does not fit the rule. Requires: the rule has a value.
bool SetLintLimit(LintRule rule, Bytes value, LintLimits& limits);
// Requires: the rule has a value.
std::string LintLimitText(LintRule rule, const LintLimits& limits);

}  // namespace respite
