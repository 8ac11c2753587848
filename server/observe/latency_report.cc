#include "server/observe/latency_report.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <span>
#include <vector>

#include "base/number_text.h"
#include "base/str_cat.h"

namespace respite {

namespace {

using Sample = LatencyMonitor::Sample;

constexpr size_t kColumns = 80;
constexpr int kRows = 4;
constexpr std::array<char, 3> kHeights = {'_', 'o', '#'};  // a row is three steps high
constexpr int kStepsPerRow = static_cast<int>(kHeights.size());

// Returns an age such as "4s", "12m", "3h" or "9d".
std::string AgeText(int64_t age_s) {
  if (age_s < 60) return StrCat(age_s, "s");
  if (age_s < 3600) return StrCat(age_s / 60, "m");
  if (age_s < 24 * 3600) return StrCat(age_s / 3600, "h");
  return StrCat(age_s / (24 * 3600), "d");
}

struct Column {
  int steps;  // height above the bottom row's floor: 0 … kRows * kStepsPerRow - 1
  std::string label;
};

char CurveChar(const Column& column, int row) {
  int height = column.steps - (kRows - 1 - row) * kStepsPerRow;
  if (height < 0) return ' ';
  return height < kStepsPerRow ? kHeights[static_cast<size_t>(height)] : '|';
}

void AppendBand(std::string& out, std::span<const Column> columns) {
  for (int row = 0; row < kRows; ++row) {
    for (const Column& column : columns) out += CurveChar(column, row);
    out += '\n';
  }
  out.append(columns.size(), ' ');
  out += '\n';
  size_t longest = 0;
  for (const Column& column : columns) longest = std::max(longest, column.label.size());
  for (size_t at = 0; at < longest; ++at) {
    for (const Column& column : columns) out += at < column.label.size() ? column.label[at] : ' ';
    out += '\n';
  }
}

std::vector<Column> ColumnsOf(const LatencyMonitor::Event& event, const LatencySummary& summary, int64_t unix_time_s) {
  constexpr int64_t kSteps = kRows * kStepsPerRow;
  int64_t span_ms = std::max<int64_t>(summary.high_ms - summary.low_ms, 1);
  std::vector<Column> columns;
  for (const Sample& sample : event.samples) {
    int64_t steps = std::min((sample.latency_ms - summary.low_ms) * kSteps / span_ms, kSteps - 1);
    columns.push_back({static_cast<int>(steps), AgeText(unix_time_s - sample.unix_time_s)});
  }
  return columns;
}

// The pieces of advice that LATENCY DOCTOR can give, as bits. The order of the bits means nothing: AdviceText and
// DiskAdviceText define the order of the texts.
enum Advice : uint32_t {
  kEnableSlowlog = 1u << 0,
  kTuneSlowlog = 1u << 1,
  kReadSlowlog = 1u << 2,
  kFreeCpu = 1u << 3,
  kRaiseHz = 1u << 4,
  kSmallerValues = 1u << 5,
  kSmootherEviction = 1u << 6,
  kFasterForks = 1u << 7,
  kLocalDisk = 1u << 8,
  kQuietDisk = 1u << 9,
  kFasterDisk = 1u << 10,
  kSpareDisk = 1u << 11,
  kOrderedData = 1u << 12,
  kLessSyncing = 1u << 13,
  kFewerWrites = 1u << 14,
  kNoHugePages = 1u << 15,
};

// A kind of latency event. `advice`: the bits of the pieces of advice that LATENCY DOCTOR always gives about such
// events, whatever the settings.
struct KnownEvent {
  Bytes name;
  uint32_t advice;
};
constexpr std::array kKnownEvents = {
    KnownEvent{"fast-command", kFreeCpu},
    KnownEvent{"fork", kFasterForks},
    KnownEvent{"aof-write-pending-fsync", kLocalDisk | kQuietDisk | kFasterDisk | kOrderedData},
    KnownEvent{"aof-write-active-child", kSpareDisk | kFasterDisk | kOrderedData},
    KnownEvent{"aof-write-alone", kLocalDisk | kFasterDisk | kOrderedData},
    KnownEvent{"aof-fsync-always", kLessSyncing},
    KnownEvent{"aof-fstat", kLocalDisk | kQuietDisk},
    KnownEvent{"rdb-unlink-temp-file", kLocalDisk | kQuietDisk},
    KnownEvent{"aof-rename", kLocalDisk | kFasterDisk | kOrderedData | kFewerWrites},
    KnownEvent{"expire-cycle", kRaiseHz | kSmallerValues},
    KnownEvent{"expire-del", kSmallerValues},
    KnownEvent{"eviction-del", kSmallerValues},
    KnownEvent{"eviction-cycle", kSmootherEviction},
};

uint32_t AdviceFor(Bytes event, const Settings& settings) {
  if (event == "command") {
    uint32_t advice = kReadSlowlog | kSmallerValues;
    if (settings.slowlog_log_slower_than < 0) return advice | kEnableSlowlog;
    bool misses = settings.slowlog_log_slower_than / 1000 > settings.latency_monitor_threshold;
    return misses ? advice | kTuneSlowlog : advice;
  }
  const auto known = std::ranges::find(kKnownEvents, event, &KnownEvent::name);
  return known == kKnownEvents.end() ? 0 : known->advice;
}

// Returns whether this process uses transparent huge pages.
bool HasHugePages() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    if (!line.starts_with("AnonHugePages:")) continue;
    return std::strtoull(line.c_str() + sizeof("AnonHugePages:") - 1, nullptr, 10) > 0;
  }
  return false;
}

std::string EventLine(size_t number, const std::string& name, const LatencyMonitor::Event& event, int64_t unix_time_s) {
  LatencySummary summary = SummarizeLatency(event, unix_time_s);
  double period = static_cast<double>(summary.oldest_age_s) / static_cast<double>(summary.samples);
  return StrCat(number, ". ", name, ": ", summary.samples, " latency spikes (average ", summary.average_ms,
                "ms, mean deviation ", summary.deviation_ms, "ms, period ", FixedText(period, 2),
                " sec). Worst all time event ", event.max_ms, "ms.\n");
}

std::string DiskAdviceText(uint32_t advice) {
  std::string text;
  if (advice & kFasterForks) {
    text +=
        "- Starting a child copies the page tables, which is slow on this machine. The time grows with the memory in "
        "use, and is long on some virtual machines: save less often, or on another machine.\n";
  }
  if (advice & kSpareDisk) {
    text +=
        "- A child that saves keeps the disk busy: 'CONFIG SET no-appendfsync-on-rewrite yes' skips syncs meanwhile, "
        "and risks the loss of writes until it ends.\n";
  }
  if (advice & kLessSyncing) {
    text +=
        "- Each write waits for the disk, as 'appendfsync always' requires. 'CONFIG SET appendfsync everysec' risks a "
        "second of writes in a crash.\n";
  }
  if (advice & kFewerWrites)
    text += "- Check the amount of writes: INFO persistence, and 'auto-aof-rewrite-percentage'.\n";
  if (advice & kLocalDisk)
    text += "- Files on a remote file system wait for the network: use a disk of this machine.\n";
  if (advice & kQuietDisk) text += "- Use 'iotop' or 'iostat' to find other users of this disk, and move them.\n";
  if (advice & kOrderedData) {
    text +=
        "- ext4 in its default mode writes the data of other files before a sync ends. 'data=writeback' does not, "
        "but may damage them in a crash.\n";
  }
  if (advice & kFasterDisk) text += "- If the load cannot be reduced, use a faster disk.\n";
  return text;
}

std::string AdviceText(uint32_t advice, const Settings& settings) {
  std::string slowlog = StrCat("'CONFIG SET slowlog-log-slower-than ", settings.latency_monitor_threshold * 1000, "'");
  std::string text;
  if (advice & kEnableSlowlog) text += "- The slow log is off. To record slow commands: " + slowlog + ".\n";
  if (advice & kTuneSlowlog)
    text += "- The slow log skips commands that count as spikes here. To record them: " + slowlog + ".\n";
  if (advice & kReadSlowlog) text += "- SLOWLOG GET names the slow commands and their arguments.\n";
  if (advice & kFreeCpu) {
    text +=
        "- Commands that do little work were slow, so the process had to wait for the machine:\n"
        "  1) Run fewer other processes.\n"
        "  2) Move the server to a separate machine.\n"
        "  3) On a virtual machine, check whether others on the same host use the CPU.\n"
        "  4) 'redis-cli --intrinsic-latency 100' measures the latency of the machine itself.\n";
  }
  if ((advice & kRaiseHz) && settings.hz < 100)
    text += "- Keys that expire are removed in smaller steps with 'CONFIG SET hz 100'.\n";
  if (advice & kSmallerValues)
    text += "- Freeing a very large value takes time. Split such values, or use UNLINK and the lazyfree directives.\n";
  if (advice & kSmootherEviction)
    text += "- Many keys were evicted at once: lower maxmemory in steps and avoid commands that write huge values.\n";
  text += DiskAdviceText(advice);
  if (advice & kNoHugePages) {
    text +=
        "- This process uses transparent huge pages, which make copy-on-write expensive. Turn them off with "
        "'echo never > /sys/kernel/mm/transparent_hugepage/enabled', then restart.\n";
  }
  return text;
}

}  // namespace

LatencySummary SummarizeLatency(const LatencyMonitor::Event& event, int64_t unix_time_s) {
  LatencySummary summary;
  if (event.samples.empty()) return summary;
  auto by_latency = [](const Sample& a, const Sample& b) { return a.latency_ms < b.latency_ms; };
  auto [low, high] = std::minmax_element(event.samples.begin(), event.samples.end(), by_latency);
  summary.samples = static_cast<int64_t>(event.samples.size());
  summary.low_ms = low->latency_ms;
  summary.high_ms = high->latency_ms;
  int64_t sum = 0;
  for (const Sample& sample : event.samples) sum += sample.latency_ms;
  summary.average_ms = sum / summary.samples;
  int64_t distances = 0;
  for (const Sample& sample : event.samples) distances += std::abs(sample.latency_ms - summary.average_ms);
  summary.deviation_ms = distances / summary.samples;
  summary.oldest_age_s = std::max<int64_t>(unix_time_s - event.samples.front().unix_time_s, 1);
  return summary;
}

std::string LatencyGraph(Bytes name, const LatencyMonitor::Event& event, int64_t unix_time_s) {
  LatencySummary summary = SummarizeLatency(event, unix_time_s);
  std::string graph = StrCat(name, " - high ", summary.high_ms, " ms, low ", summary.low_ms, " ms (all time high ",
                             event.max_ms, " ms)\n", std::string(kColumns, '-'), "\n");
  std::vector<Column> columns = ColumnsOf(event, summary, unix_time_s);
  for (size_t first = 0; first < columns.size(); first += kColumns) {
    if (first != 0) graph += '\n';
    AppendBand(graph, std::span(columns).subspan(first, std::min(kColumns, columns.size() - first)));
  }
  return graph;
}

std::string LatencyDoctor(const LatencyMonitor& monitor, const Settings& settings, int64_t unix_time_s) {
  if (monitor.Events().empty() && settings.latency_monitor_threshold == 0) {
    return "Latency is not monitored on this server. 'CONFIG SET latency-monitor-threshold <milliseconds>' makes it "
           "record events that take at least that long.\n";
  }
  std::string report;
  uint32_t advice = HasHugePages() ? uint32_t{kNoHugePages} : 0;
  size_t number = 0;
  for (const auto& [name, event] : monitor.Events()) {
    if (number == 0) report += "Latency spikes were recorded:\n\n";
    report += EventLine(++number, name, event, unix_time_s);
    advice |= AdviceFor(name, settings);
  }
  if (number == 0 && advice == 0) return "No latency spikes so far.\n";
  if (advice == 0) return report + "\nThere is no advice for these events.\n";
  return report + "\nAdvice:\n\n" + AdviceText(advice, settings);
}

}  // namespace respite
