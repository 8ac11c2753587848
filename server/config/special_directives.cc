#include "server/config/special_directives.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/duration_text.h"
#include "base/memory_text.h"
#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/config/value_text.h"

namespace respite::rows {
namespace {

constexpr size_t kMaxBindAddresses = 16;
constexpr size_t kFieldsPerOutputLimit = 4;

constexpr std::array<std::string_view, kOutputBufferClassCount> kOutputClassNames = {"normal", "slave", "pubsub"};

bool IsSingleEmpty(ConfigWords words) { return words.size() == 1 && words[0].empty(); }

FileLines OneLine(std::string_view name, std::string_view value, LinePresence presence) {
  return {{std::string(name) + ' ' + std::string(value), presence}};
}

LinePresence AlwaysIf(bool forced) {  // NOLINT: not a mode
  return forced ? LinePresence::kAlways : LinePresence::kIfMentioned;
}

std::string Joined(ConfigWords words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

// --- port ---

Objection AssignPort(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  if (EqualsIgnoreCase(words[0], "auto")) {
    settings.port = kAutoPort;
    settings.bound_port = 0;
    return {};
  }
  std::optional<int64_t> port = ParseInteger(words[0]);
  if (!port) return "argument couldn't be parsed into an integer";
  if (*port < 0 || *port > 65535) return "argument must be between 0 and 65535 inclusive";
  settings.port = static_cast<int>(*port);
  return {};
}

// Returns the value of `port` for CONFIG GET. If `port` is `auto` and the server already listens, this is the number of
// the actual port, because clients need it to connect.
std::string PortText(const Settings& settings) {
  if (settings.port != kAutoPort) return std::to_string(settings.port);
  return settings.bound_port > 0 ? std::to_string(settings.bound_port) : "auto";
}

FileLines PortFileLines(std::string_view name, const Settings& settings) {
  std::string value = settings.port == kAutoPort ? "auto" : std::to_string(settings.port);
  return OneLine(name, value, AlwaysIf(settings.port != Settings{}.port));
}

// --- bind ---

Objection AssignBind(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  if (words.size() > kMaxBindAddresses) return "Too many bind addresses specified.";
  if (IsSingleEmpty(words)) words = {};
  settings.bind.assign(words.begin(), words.end());
  return {};
}

std::string BindText(const Settings& settings) { return Joined(settings.bind); }

// Returns no line if the list of addresses equals the default. As in Redis, CONFIG REWRITE then removes an old `bind`
// line.
FileLines BindFileLines(std::string_view name, const Settings& settings) {
  if (settings.bind == Settings{}.bind) return {};
  if (settings.bind.empty()) return OneLine(name, "\"\"", LinePresence::kAlways);
  // If there is only one address, it is quoted a second time, because ConfigReader splits the only word of a line into
  // words again.
  const std::string words = JoinQuoted(settings.bind);
  return OneLine(name, settings.bind.size() == 1 ? QuotedIfNeeded(words) : words, LinePresence::kAlways);
}

// --- dir ---

Objection AssignDir(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  if (words.size() != 1) return "wrong number of arguments";
  if (Objection objection = settings.folder->Enter(words[0])) return objection;
  settings.dir = settings.folder->Path();
  return {};
}

std::string DirText(const Settings& settings) { return settings.dir; }

FileLines DirFileLines(std::string_view name, const Settings& settings) {
  if (settings.dir.empty()) return {};
  return OneLine(name, Quoted(settings.dir), LinePresence::kAlways);
}

// --- save ---

Objection AssignSave(Settings& settings, ConfigWords words, ConfigOrigin origin) {
  if (IsSingleEmpty(words)) {
    settings.save.clear();
    return {};
  }
  constexpr const char* kInvalid = "Invalid save parameters";
  if (words.size() % 2 != 0) return kInvalid;
  std::vector<SavePoint> points;
  for (size_t i = 0; i < words.size(); i += 2) {
    std::optional<int64_t> seconds = ParseLooseInteger(words[i]);
    std::optional<int64_t> changes = ParseLooseInteger(words[i + 1]);
    if (!seconds || !changes || *seconds < 1 || *changes < 0) return kInvalid;
    points.push_back({*seconds, *changes});
  }
  if (origin == ConfigOrigin::kConfigSet) settings.save.clear();
  settings.save.insert(settings.save.end(), points.begin(), points.end());
  return {};
}

std::string SaveText(const Settings& settings) {
  std::string text;
  for (const SavePoint& point : settings.save) {
    if (!text.empty()) text += ' ';
    StrAppend(text, point.seconds, ' ', point.changes);
  }
  return text;
}

// Returns a line even if there are no save points, because a file without a `save` line means the default save points.
FileLines SaveFileLines(std::string_view name, const Settings& settings) {
  if (settings.save.empty()) return OneLine(name, "\"\"", LinePresence::kAlways);
  FileLines form;
  for (const SavePoint& point : settings.save) {
    form.push_back({StrCat(name, ' ', point.seconds, ' ', point.changes), LinePresence::kAlways});
  }
  return form;
}

// --- client-output-buffer-limit ---

namespace {

std::optional<size_t> OutputClass(Bytes name) {
  if (EqualsIgnoreCase(name, "replica")) return kOutputReplica;
  for (size_t i = 0; i < kOutputClassNames.size(); ++i) {
    if (EqualsIgnoreCase(name, kOutputClassNames[i])) return i;
  }
  return {};
}

std::optional<OutputBufferLimit> ParseOutputLimit(ConfigWords fields) {
  std::optional<uint64_t> hard = ParseMemory(fields[0]);
  std::optional<uint64_t> soft = ParseMemory(fields[1]);
  std::optional<int64_t> seconds = ParseLooseInteger(fields[2]);
  if (!hard || !soft || !seconds || *seconds < 0 || *seconds > INT_MAX) return {};
  return OutputBufferLimit{*hard, *soft, *seconds};
}

}  // namespace

Objection AssignClientOutputBufferLimit(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  if (words.size() % kFieldsPerOutputLimit != 0) return "Wrong number of arguments in buffer limit configuration.";
  OutputBufferLimits limits = settings.client_output_buffer_limit;
  for (; !words.empty(); words = words.subspan(kFieldsPerOutputLimit)) {
    std::optional<size_t> output_class = OutputClass(words[0]);
    if (!output_class) return "Invalid client class specified in buffer limit configuration.";
    std::optional<OutputBufferLimit> limit = ParseOutputLimit(words.subspan(1));
    if (!limit) return "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
    limits[*output_class] = *limit;
  }
  settings.client_output_buffer_limit = limits;
  return {};
}

std::string ClientOutputBufferLimitText(const Settings& settings) {
  std::string text;
  for (size_t i = 0; i < kOutputClassNames.size(); ++i) {
    const OutputBufferLimit& limit = settings.client_output_buffer_limit[i];
    if (!text.empty()) text += ' ';
    StrAppend(text, kOutputClassNames[i], ' ', limit.hard_bytes, ' ', limit.soft_bytes, ' ', limit.soft_seconds);
  }
  return text;
}

// As in Redis, CONFIG GET names the class of replicas "slave", but CONFIG REWRITE names it "replica".
FileLines ClientOutputBufferLimitFileLines(std::string_view name, const Settings& settings) {
  FileLines form;
  const OutputBufferLimits defaults = Settings{}.client_output_buffer_limit;
  for (size_t i = 0; i < kOutputClassNames.size(); ++i) {
    const OutputBufferLimit& limit = settings.client_output_buffer_limit[i];
    std::string_view class_name = i == kOutputReplica ? "replica" : kOutputClassNames[i];
    form.push_back({StrCat(name, ' ', class_name, ' ', FormatMemoryWithUnit(limit.hard_bytes), ' ',
                           FormatMemoryWithUnit(limit.soft_bytes), ' ', limit.soft_seconds),
                    AlwaysIf(limit != defaults[i])});
  }
  return form;
}

// --- oom-score-adj-values ---

Objection AssignOomScoreAdjValues(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  auto values = settings.oom_score_adj_values;
  if (words.size() != values.size()) return "wrong number of arguments";
  for (size_t i = 0; i < values.size(); ++i) {
    std::optional<int64_t> value = ParseLooseInteger(words[i]);
    if (!value || *value < -2000 || *value > 2000) {
      return "Invalid oom-score-adj-values, elements must be between -2000 and 2000.";
    }
    values[i] = static_cast<int>(*value);
  }
  settings.oom_score_adj_values = values;
  return {};
}

std::string OomScoreAdjValuesText(const Settings& settings) {
  std::string text;
  for (int value : settings.oom_score_adj_values) StrAppend(text, text.empty() ? "" : " ", value);
  return text;
}

FileLines OomScoreAdjValuesFileLines(std::string_view name, const Settings& settings) {
  bool changed = settings.oom_score_adj_values != Settings{}.oom_score_adj_values;
  return OneLine(name, OomScoreAdjValuesText(settings), AlwaysIf(changed));
}

// --- cluster-slot-stats-enabled, key-memory-histograms ---

namespace {

constexpr char kNoMemoryAtRuntime[] = "memory tracking cannot be enabled at runtime";

std::optional<bool> ParseYesNo(Bytes word) {
  if (EqualsIgnoreCase(word, "yes")) return true;
  if (EqualsIgnoreCase(word, "no")) return false;
  return std::nullopt;
}

// Returns the bits for the value `yes` of cluster-slot-stats-enabled.
uint8_t AllSlotStats(const Dialect& dialect) {
  constexpr uint8_t kCounted = kSlotStatsCpu | kSlotStatsNet;
  return dialect.traits.slot_stats_have_memory ? kCounted | kSlotStatsMem : kCounted;
}

constexpr std::array<std::pair<Bytes, uint8_t>, 3> kSlotStatsNames = {
    {{"cpu", kSlotStatsCpu}, {"net", kSlotStatsNet}, {"mem", kSlotStatsMem}}};

std::optional<uint8_t> ParseSlotStats(Bytes word, const Dialect& dialect) {
  if (const auto all = ParseYesNo(word)) return *all ? AllSlotStats(dialect) : uint8_t{0};
  for (const auto& [name, bit] : kSlotStatsNames) {
    if (EqualsIgnoreCase(word, name)) return bit;
  }
  return std::nullopt;
}

}  // namespace

Objection AssignSlotStats(Settings& settings, ConfigWords words, ConfigOrigin origin) {
  const Dialect& dialect = DialectOf(settings.emulate);
  if (!dialect.Has("8.6.0")) {
    const auto value = words.size() == 1 ? ParseYesNo(words[0]) : std::nullopt;
    if (!value) return "argument must be 'yes' or 'no'";
    settings.cluster_slot_stats = *value ? AllSlotStats(dialect) : uint8_t{0};
    return {};
  }
  uint8_t bits = 0;
  for (const std::string& word : words) {
    const auto parsed = ParseSlotStats(word, dialect);
    if (!parsed) return "argument(s) must be one of the following: no, yes, cpu, net, mem";
    bits |= *parsed;
  }
  const bool turns_memory_on = (bits & ~settings.cluster_slot_stats & kSlotStatsMem) != 0;
  if (turns_memory_on && dialect.EmulatesVersion() && origin == ConfigOrigin::kConfigSet) return kNoMemoryAtRuntime;
  settings.cluster_slot_stats = bits;
  return {};
}

std::string SlotStatsText(const Settings& settings) {
  if (settings.cluster_slot_stats == 0) return "no";
  if (settings.cluster_slot_stats == AllSlotStats(DialectOf(settings.emulate))) return "yes";
  std::string text;
  for (const auto& [name, bit] : kSlotStatsNames) {
    if ((settings.cluster_slot_stats & bit) == 0) continue;
    if (!text.empty()) text += ' ';
    text += name;
  }
  return text;
}

FileLines SlotStatsFileLines(std::string_view name, const Settings& settings) {
  return OneLine(name, SlotStatsText(settings), AlwaysIf(settings.cluster_slot_stats != 0));
}

Objection AssignKeyMemoryHistograms(Settings& settings, ConfigWords words, ConfigOrigin origin) {
  const auto value = ParseYesNo(words[0]);
  if (!value) return "argument must be 'yes' or 'no'";
  const bool is_late = origin == ConfigOrigin::kConfigSet && DialectOf(settings.emulate).EmulatesVersion();
  if (*value && !settings.key_memory_histograms && is_late) return kNoMemoryAtRuntime;
  settings.key_memory_histograms = *value;
  return {};
}

std::string KeyMemoryHistogramsText(const Settings& settings) { return settings.key_memory_histograms ? "yes" : "no"; }

FileLines KeyMemoryHistogramsFileLines(std::string_view name, const Settings& settings) {
  return OneLine(name, KeyMemoryHistogramsText(settings), AlwaysIf(settings.key_memory_histograms));
}

// --- notify-keyspace-events ---

namespace {

constexpr std::array<std::pair<char, uint32_t>, 14> kClassLetters = {{{'g', kNotifyGeneric},
                                                                      {'$', kNotifyString},
                                                                      {'l', kNotifyList},
                                                                      {'s', kNotifySet},
                                                                      {'h', kNotifyHash},
                                                                      {'z', kNotifyZset},
                                                                      {'x', kNotifyExpired},
                                                                      {'e', kNotifyEvicted},
                                                                      {'t', kNotifyStream},
                                                                      {'d', kNotifyModule},
                                                                      {'a', kNotifyArray},
                                                                      {'n', kNotifyNewKey},
                                                                      {'o', kNotifyOverwritten},
                                                                      {'c', kNotifyTypeChanged}}};
constexpr std::array<std::pair<char, uint32_t>, 7> kOtherLetters = {{{'K', kNotifyKeyspace},
                                                                     {'E', kNotifyKeyevent},
                                                                     {'m', kNotifyKeyMiss},
                                                                     {'S', kNotifySubkeyspace},
                                                                     {'T', kNotifySubkeyevent},
                                                                     {'I', kNotifySubkeyspaceitem},
                                                                     {'V', kNotifySubkeyspaceevent}}};

std::optional<uint32_t> NotifyFlag(char letter) {
  if (letter == 'A') return kNotifyAll;
  for (auto [name, flag] : kClassLetters) {
    if (name == letter) return flag;
  }
  for (auto [name, flag] : kOtherLetters) {
    if (name == letter) return flag;
  }
  return {};
}

VersionMark SinceOfNotifyFlag(uint32_t flag) {
  if ((flag & (kNotifyOverwritten | kNotifyTypeChanged)) != 0) return "8.2.0";
  return (flag & (kNotifySubkeys | kNotifyArray)) != 0 && flag != kNotifyAll ? VersionMark("8.8.0") : VersionMark();
}

}  // namespace

Objection AssignNotifyKeyspaceEvents(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  if (words.size() != 1) return "wrong number of arguments";
  uint32_t flags = 0;
  for (char letter : words[0]) {
    std::optional<uint32_t> flag = NotifyFlag(letter);
    if (!flag || !DialectOf(settings.emulate).Has(SinceOfNotifyFlag(*flag)))
      return "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";
    flags |= *flag;
  }
  settings.notify_keyspace_events = flags;
  return {};
}

// Returns the letters of notify-keyspace-events. If all classes of kNotifyAll are on, 'A' replaces all letters of
// kClassLetters. The class 'a' (arrays) must be on for this only if a version with arrays is emulated, because most
// clients list all classes except 'a'. As in Redis, 'A' also replaces the letters 'n', 'o' and 'c', although it does
// not include their classes.
std::string NotifyKeyspaceEventsText(const Settings& settings) {
  const uint32_t flags = settings.notify_keyspace_events;
  const Dialect& dialect = DialectOf(settings.emulate);
  const bool needs_arrays = dialect.EmulatesVersion() && dialect.Has(SinceOfNotifyFlag(kNotifyArray));
  const uint32_t all = needs_arrays ? kNotifyAll : kNotifyAll & ~kNotifyArray;
  std::string text;
  if ((flags & all) == all) {
    text = "A";
  } else {
    for (auto [letter, flag] : kClassLetters) {
      if ((flags & flag) != 0) text += letter;
    }
  }
  for (auto [letter, flag] : kOtherLetters) {
    if ((flags & flag) != 0) text += letter;
  }
  return text;
}

FileLines NotifyKeyspaceEventsFileLines(std::string_view name, const Settings& settings) {
  bool any = settings.notify_keyspace_events != 0;
  return OneLine(name, Quoted(NotifyKeyspaceEventsText(settings)), AlwaysIf(any));
}

// --- replicaof ---

Objection AssignReplicaof(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  if (words.size() != 2) return "wrong number of arguments";
  settings.replicaof.reset();
  if (EqualsIgnoreCase(words[0], "no") && EqualsIgnoreCase(words[1], "one")) return {};
  std::optional<int64_t> port = ParseLooseInteger(words[1]);
  if (!port || *port < 0 || *port > 65535) return "Invalid master port";
  settings.replicaof = PrimaryAddress{words[0], static_cast<int>(*port)};
  return {};
}

std::string ReplicaofText(const Settings& settings) {
  if (!settings.replicaof) return "";
  return StrCat(settings.replicaof->host, ' ', settings.replicaof->port);
}

FileLines ReplicaofFileLines(std::string_view name, const Settings& settings) {
  if (settings.cluster_enabled || !settings.replicaof) return {};
  // Unlike Redis, this server quotes a host that contains blanks. Redis writes the host without quotes, and then cannot
  // read the file.
  const auto& [host, port] = *settings.replicaof;
  return OneLine(name, StrCat(QuotedIfNeeded(host), ' ', port), LinePresence::kAlways);
}

// --- latency-tracking-info-percentiles ---

Objection AssignLatencyTrackingInfoPercentiles(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  if (IsSingleEmpty(words)) words = {};
  std::vector<double> percentiles;
  for (const std::string& word : words) {
    std::optional<double> percentile = ParseDouble(word);
    if (!percentile) return "Invalid latency-tracking-info-percentiles parameters";
    if (*percentile < 0.0 || *percentile > 100.0) {
      return "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]";
    }
    percentiles.push_back(*percentile);
  }
  settings.latency_tracking_info_percentiles = std::move(percentiles);
  return {};
}

std::string LatencyTrackingInfoPercentilesText(const Settings& settings) {
  std::string text;
  for (double percentile : settings.latency_tracking_info_percentiles) {
    std::string digits = FixedText(percentile, 6);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    text += (text.empty() ? "" : " ") + digits;
  }
  return text;
}

FileLines LatencyTrackingInfoPercentilesFileLines(std::string_view name, const Settings& settings) {
  std::string value = LatencyTrackingInfoPercentilesText(settings);
  return OneLine(name, value.empty() ? "\"\"" : value, LinePresence::kAlways);
}

// --- exit-on-idle ---

Objection AssignExitOnIdle(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  const auto duration = ParseDurationMs(words[0]);
  if (!duration) return "argument must be a duration, such as 30s, 5m or 250ms";
  settings.exit_on_idle = *duration;
  return {};
}

std::string ExitOnIdleText(const Settings& settings) { return DurationText(settings.exit_on_idle); }

FileLines ExitOnIdleFileLines(std::string_view name, const Settings& settings) {
  return OneLine(name, ExitOnIdleText(settings), AlwaysIf(settings.exit_on_idle != 0));
}

// --- emulate ---

Objection AssignEmulate(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  const auto emulated = words[0].empty() ? std::optional(Emulated::kNone) : ParseEmulatedVersion(words[0]);
  if (!emulated) return "argument must be one of " + EmulatedNames();
  settings.emulate = *emulated;
  return {};
}

std::string EmulateText(const Settings& settings) { return std::string(DialectOf(settings.emulate).name); }

FileLines EmulateFileLines(std::string_view name, const Settings& settings) {
  return OneLine(name, Quoted(EmulateText(settings)), AlwaysIf(settings.emulate != Emulated::kNone));
}

// --- load ---

// Adds a fixture file to `load`. A relative path begins in the directory where the server was started, even if `dir`
// differs, so that tests find their fixtures.
Objection AssignLoad(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  if (words[0].empty()) {
    settings.load.clear();
  } else {
    settings.load.push_back(words[0].starts_with('/') ? words[0] : settings.start_dir + "/" + words[0]);
  }
  return {};
}

std::string LoadText(const Settings& settings) { return Joined(settings.load); }

FileLines LoadFileLines(std::string_view name, const Settings& settings) {
  FileLines form;
  for (const std::string& path : settings.load) {
    form.push_back({std::string(name) + ' ' + Quoted(path), LinePresence::kAlways});
  }
  return form;
}

// --- ready-fd ---

Objection AssignReadyFd(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  const auto number = ParseInteger(words[0]);
  if (!number) return "argument couldn't be parsed into an integer";
  if (*number < 0 || *number > INT_MAX || *number == STDERR_FILENO) {
    return "argument must be 1, or a file descriptor from 3 on, or 0 for none";
  }
  settings.ready_fd = static_cast<int>(*number);
  return {};
}

std::string ReadyFdText(const Settings& settings) { return std::to_string(settings.ready_fd); }

// CONFIG REWRITE does not add a line for `ready-fd`, because the next process does not inherit the descriptor.
FileLines ReadyFdFileLines(std::string_view name, const Settings& settings) {
  return OneLine(name, ReadyFdText(settings), LinePresence::kIfMentioned);
}

// --- seed ---

Objection AssignSeed(Settings& settings, ConfigWords words, ConfigOrigin /*origin*/) {
  const auto number = ParseUnsigned(words[0]);
  if (!number && !words[0].empty()) return "argument must be a number from 0 to 18446744073709551615";
  settings.seed = number;
  return {};
}

std::string SeedText(const Settings& settings) { return settings.seed ? std::to_string(*settings.seed) : ""; }

FileLines SeedFileLines(std::string_view name, const Settings& settings) {
  return OneLine(name, settings.seed ? SeedText(settings) : "\"\"", AlwaysIf(settings.seed.has_value()));
}

}  // namespace respite::rows
