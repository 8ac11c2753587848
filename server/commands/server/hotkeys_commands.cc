// HOTKEYS: finds the keys on which commands spend the most time, or which cause the most traffic.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/key_slot.h"
#include "base/number_text.h"
#include "server/catalogue/refusals.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/config/settings.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kHotKeyMetricsMissing[] = "ERR METRICS parameter is required";
constexpr char kHotKeyMetricsCount[] = "ERR METRICS count does not match number of metric types provided";
constexpr char kHotKeyMetricsRange[] = "ERR METRICS count must be > 0 and <= 2";
constexpr char kHotKeyNoMetrics[] = "ERR METRICS no valid metrics passed. Supported: CPU|NET";
constexpr char kHotKeyCpuTwice[] = "ERR METRICS CPU defined more than once!";
constexpr char kHotKeyNetTwice[] = "ERR METRICS NET defined more than once!";
constexpr char kHotKeysActive[] = "ERR hotkey tracking session already in progress";
constexpr char kHotKeysNotStopped[] = "ERR hotkey tracking session in progress, stop tracking first";
constexpr char kHotKeyCount[] = "ERR COUNT must be between 1 and 64";
constexpr char kHotKeyDuration[] = "ERR DURATION must be between 1 and 1000000";
constexpr char kHotKeySample[] = "ERR SAMPLE ratio must be positive";
constexpr char kHotKeySlotsWithoutCluster[] = "ERR SLOTS parameter cannot be used in non-cluster mode";
constexpr char kHotKeySlotCount[] = "ERR SLOTS count must be between 1 and 16384";
constexpr char kHotKeySlotsMissing[] = "ERR not enough slot numbers provided";
constexpr char kHotKeySlotRange[] = "ERR Invalid or out of range slot";
constexpr char kHotKeySlotTwice[] = "ERR duplicate slot number";

}  // namespace
}  // namespace refusals

namespace {

constexpr uint32_t kManagesHotKeys = kAdmin | kNoScript;

HotKeys& HotKeysOf(Call& call) { return call.services.execution.hot_keys; }

// Takes a number from `lowest` to `highest`. Throws `refusal` if the argument is not such a number.
int64_t TakeHotKeyNumber(Args& args, int64_t lowest, int64_t highest, const char* refusal) {
  const auto number = ParseInteger(args.Next());
  if (!number || *number < lowest || *number > highest) throw Refusal{refusal};
  return *number;
}

// Takes the number and the names of metrics after METRICS. As in Redis, an unknown name counts as one metric, but
// selects none.
void TakeHotKeyMetrics(Args& args, HotKeys::Options& options) {
  constexpr int64_t kMetricCount = 2;
  for (int64_t left = TakeHotKeyNumber(args, 1, kMetricCount, refusals::kHotKeyMetricsRange); left > 0; --left) {
    if (args.AtEnd()) throw Refusal{refusals::kHotKeyMetricsCount};
    const Bytes metric = args.Next();
    if (EqualsIgnoreCase(metric, "CPU")) {
      if (std::exchange(options.by_cpu_time, true)) throw Refusal{refusals::kHotKeyCpuTwice};
    } else if (EqualsIgnoreCase(metric, "NET")) {
      if (std::exchange(options.by_net_bytes, true)) throw Refusal{refusals::kHotKeyNetTwice};
    }
  }
  if (!options.by_cpu_time && !options.by_net_bytes) throw Refusal{refusals::kHotKeyNoMetrics};
}

void TakeHotKeySlots(const Call& call, Args& args, HotKeys::Options& options) {
  if (!call.services.env.settings.cluster_enabled) throw Refusal{refusals::kHotKeySlotsWithoutCluster};
  const int64_t count = TakeHotKeyNumber(args, 1, kSlotCount, refusals::kHotKeySlotCount);
  if (static_cast<int64_t>(args.Left()) < count) throw Refusal{refusals::kHotKeySlotsMissing};
  for (int64_t left = count; left > 0; --left) {
    const auto slot = static_cast<int>(TakeHotKeyNumber(args, 0, kSlotCount - 1, refusals::kHotKeySlotRange));
    const auto place = std::ranges::lower_bound(options.slots, slot);
    if (place != options.slots.end() && *place == slot) throw Refusal{refusals::kHotKeySlotTwice};
    options.slots.insert(place, slot);
  }
}

HotKeys::Options TakeHotKeyOptions(Call& call) {
  constexpr int64_t kMaxCount = 64;
  constexpr int64_t kMaxSeconds = 1000000;
  Args& args = call.args;
  HotKeys::Options options;
  if (!args.TakeToken("METRICS") || args.AtEnd()) throw Refusal{refusals::kHotKeyMetricsMissing};
  TakeHotKeyMetrics(args, options);
  while (!args.AtEnd()) {
    const bool has_value = args.Left() > 1;
    if (has_value && args.TakeToken("COUNT")) {
      options.count = static_cast<size_t>(TakeHotKeyNumber(args, 1, kMaxCount, refusals::kHotKeyCount));
    } else if (has_value && args.TakeToken("DURATION")) {
      options.duration_ms = TakeHotKeyNumber(args, 1, kMaxSeconds, refusals::kHotKeyDuration) * 1000;
    } else if (has_value && args.TakeToken("SAMPLE")) {
      options.sample_ratio = TakeHotKeyNumber(args, 1, INT32_MAX, refusals::kHotKeySample);
    } else if (has_value && args.TakeToken("SLOTS")) {
      TakeHotKeySlots(call, args, options);
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  return options;
}

struct HotKeysContainer {
  static constexpr CommandSpec spec = {.syntax = "HOTKEYS",
                                       .summary = "A container for commands about hot keys.",
                                       .since = "8.6.0",
                                       .complexity = "Depends on subcommand.",
                                       .group = CommandGroup::kServer,
                                       .arity = -2};
};

struct HotKeysGet {
  static constexpr CommandSpec spec = {
      .syntax = "HOTKEYS|GET",
      .summary = "Shows the keys with the most time and traffic of the current or latest session.",
      .since = "8.6.0",
      .complexity = "O(K), K being the number of keys shown",
      .group = CommandGroup::kServer,
      .flags = kManagesHotKeys,
      .tips = "nondeterministic_output request_policy:special response_policy:special"};
  static void Run(Call& call) {
    HotKeys& hot_keys = HotKeysOf(call);
    if (!hot_keys.HasResults()) return call.reply.Null();
    const HotKeys::Results& results = hot_keys.results();
    const HotKeys::Options& options = results.options;
    const bool has_slots = !options.slots.empty();
    const bool has_sample = has_slots && options.sample_ratio > 1;
    call.reply.Array(1);
    call.reply.Map(7u + 2 * has_slots + 2 * has_sample + 3 * options.by_cpu_time + 2 * options.by_net_bytes);
    Write(call, "tracking-active", hot_keys.IsActive() ? 1 : 0);
    Write(call, "sample-ratio", options.sample_ratio);
    call.reply.Bulk("selected-slots");
    WriteSlots(call, options.slots);
    if (has_sample) Write(call, "sampled-commands-selected-slots-us", results.sampled.duration_us);
    if (has_slots) Write(call, "all-commands-selected-slots-us", results.selected.duration_us);
    Write(call, "all-commands-all-slots-us", results.all_commands.duration_us);
    if (has_sample) Write(call, "net-bytes-sampled-commands-selected-slots", results.sampled.net_bytes);
    if (has_slots) Write(call, "net-bytes-all-commands-selected-slots", results.selected.net_bytes);
    Write(call, "net-bytes-all-commands-all-slots", results.all_commands.net_bytes);
    Write(call, "collection-start-time-unix-ms", results.started_wall_ms);
    Write(call, "collection-duration-ms", results.duration_ms);
    if (options.by_cpu_time) Write(call, "total-cpu-time-user-ms", results.cpu_user_ms);
    if (options.by_cpu_time) Write(call, "total-cpu-time-sys-ms", results.cpu_sys_ms);
    if (options.by_net_bytes) Write(call, "total-net-bytes", results.net_bytes.Total());
    if (options.by_cpu_time) WriteSums(call, "by-cpu-time-us", results.cpu_us.Largest(options.count));
    if (options.by_net_bytes) WriteSums(call, "by-net-bytes", results.net_bytes.Largest(options.count));
  }

 private:
  template <class Number>
  static void Write(Call& call, Bytes field, Number value) {
    call.reply.Bulk(field);
    call.reply.Integer(static_cast<int64_t>(value));
  }
  static void WriteSums(Call& call, Bytes field, const std::vector<HotKeySums::Item>& items) {
    call.reply.Bulk(field);
    call.reply.Array(2 * items.size());
    for (const auto& [key, sum] : items) Write(call, key, sum);
  }
  // Writes for HOTKEYS GET the ranges of consecutive slots, or one range of all slots if `slots` is empty: pairs of the
  // first and the last slot, or a slot alone.
  static void WriteSlots(Call& call, const std::vector<int>& slots) {
    std::vector<std::pair<int, int>> ranges;
    if (slots.empty()) ranges.emplace_back(0, kSlotCount - 1);
    for (const int slot : slots) {
      if (ranges.empty() || ranges.back().second + 1 != slot) ranges.emplace_back(slot, slot);
      ranges.back().second = slot;
    }
    call.reply.Array(ranges.size());
    for (const auto& [first, last] : ranges) {
      call.reply.Array(first == last ? 1 : 2);
      call.reply.Integer(first);
      if (first != last) call.reply.Integer(last);
    }
  }
};

struct HotKeysHelp {
  static constexpr CommandSpec spec = {.syntax = "HOTKEYS|HELP",
                                       .summary = "Lists the subcommands of HOTKEYS.",
                                       .since = "8.6.1",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(
        call,
        {"START <METRICS count [CPU] [NET]> [COUNT k] [DURATION duration] [SAMPLE ratio] [SLOTS count slot...]",
         "    Starts hotkeys tracking with specified metrics.",
         "    * METRICS count [CPU] [NET]",
         "        Specify count of metrics and choose amongst:",
         "        - CPU: Track hotkeys by CPU time percentage",
         "        - NET: Track hotkeys by network bytes percentage",
         "    * COUNT k",
         "        Specifies the value of K for the top-K hotkeys tracking. Default: 10",
         "    * DURATION duration",
         ("        Specifies tracking duration in seconds. 0 means tracking will continue until manually stopped. "
          "Default: 0"),
         "    * SAMPLE ratio",
         "        Keys are tracked with probability 1/ratio. Default: 1 (tracks every key)",
         "    * SLOTS count slot...",
         ("        Specify which slots to track keys from. Only available in cluster mode. Default: empty (track "
          "all slots)"),
         "STOP",
         "    Stop hotkeys tracking. Results are still available via GET",
         "GET",
         "    Get results from hotkeys tracking.",
         "RESET",
         "    Reset memory used for hotkeys tracking. Tracking must have been stopped.",
         "    Results will no longer be available after this command."});
  }
};

struct HotKeysReset {
  static constexpr CommandSpec spec = {.syntax = "HOTKEYS|RESET",
                                       .summary = "Forgets the results of the latest session.",
                                       .since = "8.6.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesHotKeys,
                                       .tips = "request_policy:special"};
  static void Run(Call& call) {
    if (HotKeysOf(call).IsActive()) throw Refusal{refusals::kHotKeysNotStopped};
    HotKeysOf(call).Reset();
    call.reply.Ok();
  }
};

struct HotKeysStart {
  static constexpr CommandSpec spec = {
      .syntax = ("HOTKEYS|START METRICS metrics{count:integer [CPU] [NET]} [COUNT k:integer] "
                 "[DURATION seconds:integer] [SAMPLE ratio:integer] [SLOTS slots{count:integer slot:integer...}]"),
      .summary = "Begins a session that finds the keys with the most time or traffic.",
      .since = "8.6.0",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .flags = kManagesHotKeys,
      .tips = "request_policy:special",
      .arity = -2};
  static void Run(Call& call) {
    HotKeys& hot_keys = HotKeysOf(call);
    if (hot_keys.IsActive()) throw Refusal{refusals::kHotKeysActive};
    hot_keys.Start(TakeHotKeyOptions(call));
    call.reply.Ok();
  }
};

struct HotKeysStop {
  static constexpr CommandSpec spec = {.syntax = "HOTKEYS|STOP",
                                       .summary = "Ends the session; its results stay.",
                                       .since = "8.6.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesHotKeys,
                                       .tips = "request_policy:special"};
  static void Run(Call& call) {
    HotKeys& hot_keys = HotKeysOf(call);
    if (!hot_keys.IsActive()) return call.reply.Null();
    hot_keys.Stop();
    call.reply.Ok();
  }
};

constexpr auto kHotKeysCommands =
    Family<HotKeysContainer, HotKeysGet, HotKeysHelp, HotKeysReset, HotKeysStart, HotKeysStop>();

}  // namespace

std::span<const CommandCard> HotKeysCommands() { return kHotKeysCommands; }

}  // namespace respite
