// INFO sections with one line per command, error type, database or module.
#include <algorithm>
#include <array>
#include <bit>

#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/shown_modules.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/expiry.h"
#include "server/dataset/value_names.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/observe/info/sections.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

// Returns the field name prefix + name. As in Redis, characters of `name` that would break a line of INFO become
// underscores.
std::string SafeName(Bytes prefix, Bytes name) {
  std::string safe(name);
  std::ranges::replace_if(
      safe, [](char c) { return c == '#' || c == ':' || c == '\n' || c == '\r'; }, '_');
  return std::string(prefix) + safe;
}

std::string CallsText(const CommandStats& stats) {
  const double mean = stats.calls == 0 ? 0 : static_cast<double>(stats.usec) / static_cast<double>(stats.calls);
  return StrCat("calls=", stats.calls, ",usec=", stats.usec, ",usec_per_call=", FixedText(mean, 2),
                ",rejected_calls=", stats.rejected_calls, ",failed_calls=", stats.failed_calls);
}

// Returns a percentile as text, such as "50" or "99.9": with at most six decimals, and without trailing zeros.
std::string PercentileName(double percentile) {
  std::string text = FixedText(percentile, 6);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string LatencyText(const LatencyHistogram& histogram, const std::vector<double>& percentiles) {
  std::string text;
  for (double percentile : percentiles) {
    if (!text.empty()) text += ',';
    const double us = static_cast<double>(histogram.ValueAtPercentile(percentile)) / 1000;
    text += "p" + PercentileName(percentile) + "=" + FixedText(us, 3);
  }
  return text;
}

}  // namespace

std::string ModulesSection(const Services& services) {
  InfoText text("Modules");
  for (const ShownModule& module : ShownModules(services.env.dialect)) {
    text.Add("module", StrCat("name=", module.name, ",ver=", module.version,
                              ",api=1,filters=0,usedby=[],using=[],options=[", module.options, "]"));
  }
  return text.Take();
}

std::string CommandStatsSection(const Services& services) {
  InfoText text("Commandstats");
  services.env.commands.ForEach([&](const Command& command) {
    const CommandStats& stats = services.env.commands.StatsOf(command);
    if (stats.calls == 0 && stats.rejected_calls == 0 && stats.failed_calls == 0) return;
    text.Add(SafeName("cmdstat_", command.full_name), CallsText(stats));
  });
  return text.Take();
}

std::string ErrorStatsSection(const Services& services) {
  InfoText text("Errorstats");
  for (const auto& [kind, count] : services.env.stats.errors) {
    text.Add(SafeName("errorstat_", kind), StrCat("count=", count));
  }
  return text.Take();
}

std::string LatencyStatsSection(const Services& services) {
  InfoText text("Latencystats");
  const Settings& settings = services.env.settings;
  if (!settings.latency_tracking) return text.Take();
  services.env.commands.ForEach([&](const Command& command) {
    const CommandStats& stats = services.env.commands.StatsOf(command);
    if (stats.latency == nullptr) return;
    text.Add(SafeName("latency_percentiles_usec_", command.full_name),
             LatencyText(*stats.latency, settings.latency_tracking_info_percentiles));
  });
  return text.Take();
}

std::string KeyspaceSection(const Services& services) {
  InfoText text("Keyspace");
  for (int index = 0; index < services.data.dataset.keyspace.Count(); ++index) {
    const Database& database = services.data.dataset.keyspace[index];
    const size_t keys = services.data.dataset.keyspace.VisibleKeyCount(index);
    if (keys == 0) continue;
    // Adds a line for the database. The line has the field `subexpiry` of Redis 7.4 only if hashes of this database
    // have fields with deadlines.
    const size_t with_timed_fields = database.HashesWithFieldDeadlines().Size();
    text.Add(StrCat("db", index), StrCat("keys=", keys, ",expires=", database.CountKeysWithDeadline(),
                                         ",avg_ttl=", services.data.expiry.AverageTtlMs(index),
                                         with_timed_fields == 0 ? "" : StrCat(",subexpiry=", with_timed_fields)));
  }
  return text.Take();
}

namespace {

// How many values have which size. Bin 0 is for the size 0, and bin n for sizes from 2^(n-1) to 2^n - 1.
class SizeDistribution {
 public:
  void Add(size_t size) { ++bins_[static_cast<size_t>(std::bit_width(size))]; }
  std::string Text(bool shows_zero) const {  // "1=5,4K=2": the smallest size of each bin, and the number of values
    std::string text;
    for (size_t bin = shows_zero ? 0 : 1; bin < bins_.size(); ++bin) {
      if (bins_[bin] != 0) text += StrCat(text.empty() ? "" : ",", NameOf(bin), "=", bins_[bin]);
    }
    return text;
  }

 private:
  static std::string NameOf(size_t bin) {
    if (bin == 0) return "0";
    constexpr std::array kUnits = {"", "K", "M", "G", "T", "P", "E"};
    return StrCat(uint64_t{1} << ((bin - 1) % 10), kUnits[(bin - 1) / 10]);
  }

  std::array<uint64_t, 65> bins_{};
};

// The types whose values INFO keysizes counts by size, in this order. Values of other types (streams, arrays and the
// types of modules) are not counted.
constexpr std::array kCountedTypes = {ValueType::kString, ValueType::kList, ValueType::kSet, ValueType::kSortedSet,
                                      ValueType::kHash};
constexpr std::array kTypeNames = {"strings_sizes", "lists_items", "sets_items", "zsets_items", "hashes_items"};
// The names of the distributions of memory, which the directive key-memory-histograms adds. Strings have none.
constexpr std::array kMemoryNames = {"", "lists_sizes", "sets_sizes", "zsets_sizes", "hashes_sizes"};

struct TypeDistributions {
  std::array<SizeDistribution, kCountedTypes.size()> sizes;   // numbers of elements; of strings, of bytes
  std::array<SizeDistribution, kCountedTypes.size()> memory;  // bytes that keys and values use
};

template <class Names>
void AddDistributions(InfoText& text, int db, const std::array<SizeDistribution, kCountedTypes.size()>& distributions,
                      const Names& names, bool shows_zero) {
  for (size_t i = 0; i < distributions.size(); ++i) {
    const std::string bins = distributions[i].Text(shows_zero);
    if (!bins.empty()) text.Add(StrCat("db", db, "_distrib_", names[i]), bins);
  }
}

}  // namespace

std::string KeySizesSection(const Services& services) {
  InfoText text("Keysizes");
  const Dataset& data = services.data.dataset;
  const bool shows_zero = services.env.dialect.Has("8.6.0");
  const bool measures_memory = services.env.settings.key_memory_histograms;
  for (int index = 0; index < data.keyspace.Count(); ++index) {
    TypeDistributions all;
    data.keyspace[index].ForEach([&](const Entry* entry) {
      const auto found = std::ranges::find(kCountedTypes, entry->Type());
      if (found == kCountedTypes.end() || data.keyspace.hidden().HasKey(entry->Key())) return;
      const auto type = static_cast<size_t>(found - kCountedTypes.begin());
      all.sizes[type].Add(SizeOfValue(*entry));
      if (measures_memory && type != 0) all.memory[type].Add(entry->UsedBytes());
    });
    AddDistributions(text, index, all.sizes, kTypeNames, shows_zero);
    AddDistributions(text, index, all.memory, kMemoryNames, shows_zero);
  }
  return text.Take();
}

std::string HotKeysSection(const Services& services) {
  InfoText text("Hotkeys");
  HotKeys& hot_keys = services.execution.hot_keys;
  const bool is_active = hot_keys.IsActive();
  if (!is_active && !hot_keys.HasResults()) return text.Take();
  text.Add("hotkeys-tracking-active", is_active ? 1 : 0);
  text.Add("hotkeys-cmd-cpu-time", 0);  // as in Redis 8.6.3, where it stays 0
  return text.Take();
}

}  // namespace respite
