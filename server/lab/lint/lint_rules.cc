#include "server/lab/lint/lint_rules.h"

#include <algorithm>

#include "base/memory_text.h"
#include "base/number_text.h"
#include "base/str_cat.h"

namespace respite {

namespace {

// The name and the texts of each rule, in the order of the enum LintRule.
constexpr std::array<LintRuleInfo, kLintRuleCount> kRules = {{
    {.name = "cross-slot",
     .finds = "a command, transaction or script whose keys are in different slots of a cluster",
     .instead = "give keys that are used together one hash tag, as in {user:1}:cart and {user:1}:orders"},
    {.name = "undeclared-key",
     .finds = "a script that uses a key that is not in its KEYS",
     .instead = "pass each key that a script uses in KEYS"},
    {.name = "lock-without-ttl",
     .finds = "SETNX, and SET NX without a deadline, unless the same transaction or script sets one",
     .instead = "write SET key token NX PX milliseconds, in one request"},
    {.name = "foreign-unlock",
     .finds = "the deletion of a key that another client has set with NX, without a comparison in the same script or "
              "transaction",
     .instead = "delete a lock in a script that compares its value with the own token, or WATCH it first"},
    {.name = "lost-update",
     .finds = "a value that is read and then written by one client, while another one wrote it in between",
     .instead = "use INCR, HINCRBY or another command that changes the value, a script, or WATCH with MULTI"},
    {.name = "expired-lock-work",
     .finds = "writes of a client whose lock was over when another client took it, to keys that both use",
     .instead = "prolong the lock while the work goes on, or let the data refuse an older token (fencing)"},
    {.name = "lost-message",
     .finds = "PUBLISH without receivers, pops, and entries of streams whose client left before it acknowledged them",
     .instead = "use a stream with a group, XACK and XAUTOCLAIM, or LMOVE to a list of what is being done"},
    {.name = "slow-shape",
     .finds = "KEYS, FLUSHALL and FLUSHDB, and commands that go through more than 1000 elements at once",
     .instead = "use SCAN, HSCAN, SSCAN, ranges, UNLINK or FLUSHALL ASYNC"},
    {.name = "chatty",
     .finds = "requests of one shape, one after the other, each a round trip",
     .instead = "send them as one pipeline, or use MGET, MSET, HMGET and similar commands",
     .value = "number of requests",
     .example = "20"},
    {.name = "no-ttl",
     .finds = "keys of a pattern that are left without a deadline",
     .instead = "set the deadline together with the value (SET EX), or in one transaction",
     .value = "pattern of keys",
     .example = "session:*",
     .has_default_value = false},
    {.name = "deprecated",
     .finds = "commands and options that are deprecated in a version",
     .instead = "use what COMMAND DOCS names as its replacement",
     .value = "version",
     .example = "7.2"},
    {.name = "newer",
     .finds = "commands and options that a version does not have",
     .instead = "do without it, or require a newer version",
     .value = "version",
     .example = "6.2",
     .has_default_value = false},
    {.name = "big-value",
     .finds = "words and replies that are longer than this",
     .instead = "split the value, or keep it elsewhere: while it is sent, nobody else is served",
     .value = "size",
     .example = "1mb"},
    {.name = "hot-key",
     .finds = "a key that gets more than this share of 1000 accesses",
     .instead = "spread the load over several keys, or keep the value in the client (CLIENT TRACKING)",
     .value = "percentage",
     .example = "50"},
    {.name = "watch-without-exec",
     .finds = "WATCH that no EXEC, DISCARD or UNWATCH follows",
     .instead = "end what WATCH begins with EXEC, DISCARD or UNWATCH"},
    {.name = "select-in-cluster",
     .finds = "SELECT of another database than 0",
     .instead = "use prefixes of keys; a cluster has database 0 only"},
}};

bool SetNumber(Bytes value, int64_t least, int64_t most, uint64_t& place) {
  const auto number = ParseInteger(value);
  if (!number || *number < least || *number > most) return false;
  place = static_cast<uint64_t>(*number);
  return true;
}

bool SetVersion(Bytes value, Version& place) {
  const auto version = ParseVersion(value);
  if (!version) return false;
  place = *version;
  const auto dots = std::ranges::count(value, '.');
  if (dots < 2) place.patch = kAnyVersionPart;
  if (dots < 1) place.minor = kAnyVersionPart;
  return true;
}

}  // namespace

std::string VersionLimitText(const Version& version) {
  std::string text = std::to_string(version.major);
  if (version.minor == kAnyVersionPart && version.patch == kAnyVersionPart) return text;
  StrAppend(text, '.', version.minor);
  return version.patch == kAnyVersionPart ? text : StrCat(text, '.', version.patch);
}

const LintRuleInfo& GetLintRuleInfo(LintRule rule) { return kRules[static_cast<size_t>(rule)]; }

std::span<const LintRuleInfo, kLintRuleCount> AllLintRules() { return kRules; }

std::optional<LintRule> FindLintRule(Bytes name) {
  const auto found = std::ranges::find_if(kRules, [&](const auto& info) { return EqualsIgnoreCase(name, info.name); });
  if (found == kRules.end()) return std::nullopt;
  return static_cast<LintRule>(found - kRules.begin());
}

bool SetLintLimit(LintRule rule, Bytes value, LintLimits& limits) {
  switch (rule) {
    case LintRule::kChatty:
      return SetNumber(value, 1, 1'000'000, limits.calls_in_sequence);
    case LintRule::kHotKey:
      return SetNumber(value, 1, 100, limits.percent_of_accesses);
    case LintRule::kBigValue: {
      const auto bytes = ParseMemory(value);
      if (bytes) limits.value_bytes = *bytes;
      return bytes.has_value();
    }
    case LintRule::kNoTtl:
      limits.timed_keys = value;
      return true;
    case LintRule::kDeprecated:
      return SetVersion(value, limits.deprecated_until);
    case LintRule::kNewer:
      return SetVersion(value, limits.newest);
    default:
      return false;
  }
}

std::string LintLimitText(LintRule rule, const LintLimits& limits) {
  switch (rule) {
    case LintRule::kChatty:
      return std::to_string(limits.calls_in_sequence);
    case LintRule::kHotKey:
      return std::to_string(limits.percent_of_accesses);
    case LintRule::kBigValue:
      return std::to_string(limits.value_bytes);
    case LintRule::kNoTtl:
      return limits.timed_keys;
    case LintRule::kDeprecated:
      return VersionLimitText(limits.deprecated_until);
    case LintRule::kNewer:
      return VersionLimitText(limits.newest);
    default:
      return "";
  }
}

}  // namespace respite
