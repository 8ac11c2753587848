// SLOWLOG, COMMANDLOG and LATENCY: slow or large commands, and slow events.
#include <algorithm>

#include "server/catalogue/command_table.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/config/settings.h"
#include "server/execution/call.h"
#include "server/execution/command_log.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/observe/latency_report.h"
#include "server/runtime/latency.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kLogCount[] = "ERR count should be greater than or equal to -1";
constexpr char kLogType[] = "ERR type should be one of the following: slow, large-request, large-reply";
Refusal NoLatencySamples(Bytes event) { return {"ERR No samples available for event '" + std::string(event) + "'"}; }

}  // namespace
}  // namespace refusals

namespace {

constexpr uint32_t kAnytime = kLoading | kStale;

size_t TakeRecordCount(Call& call) {
  const bool checked = call.services.env.dialect.traits.log_counts_are_checked;
  const int64_t count = call.args.NextInteger(checked ? refusals::kLogCount : refusals::kNotInteger);
  if (checked && count < -1) throw Refusal{refusals::kLogCount};
  return static_cast<size_t>(count);  // a negative count means all, and becomes a large value
}

// Replies with the newest records of SLOWLOG or COMMANDLOG, at most `most`. `counts_words`: each record also has the
// number of its arguments, as since Redis 8.10.
void WriteRecords(Reply& reply, const CommandLog& log, size_t most, bool counts_words) {
  const size_t count = std::min(most, log.Records().size());
  reply.Array(count);
  for (size_t i = 0; i < count; ++i) {
    const CommandLog::Record& record = log.Records()[i];
    reply.Array(counts_words ? 7 : 6);
    reply.Integer(record.id);
    reply.Integer(record.unix_time_s);
    reply.Integer(record.measured_amount);
    reply.BulkArray(record.words);
    reply.Bulk(record.peer);
    reply.Bulk(record.client_name);
    if (counts_words) reply.Integer(static_cast<int64_t>(record.word_count));
  }
}

void CountRecords(Call& call, const CommandLog& log) { call.reply.Integer(static_cast<int64_t>(log.Records().size())); }

void ResetLog(Call& call, CommandLog& log) {
  log.Clear();
  call.reply.Ok();
}

struct SlowLogGet {
  static constexpr CommandSpec spec = {.syntax = "SLOWLOG|GET [count:integer]",
                                       .summary = "Lists the latest slow commands, the newest first.",
                                       .since = "2.2.12",
                                       .complexity = "O(N) for N entries listed",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kAnytime,
                                       .tips = "request_policy:all_nodes nondeterministic_output",
                                       .deprecated_since = "valkey:8.1.0",
                                       .replaced_by = "`COMMANDLOG GET <count> SLOW`",
                                       .history = "4.0.0: Entries tell the address and the name of the client."};
  static void Run(Call& call) {
    if (call.args.Left() > 1) throw refusals::SubcommandSyntax(call.services.env.dialect, call.args[0], call.args[1]);
    const size_t most = call.args.AtEnd() ? kDefaultCount : TakeRecordCount(call);
    const bool counts_words = call.services.env.dialect.traits.slowlog_counts_arguments;
    WriteRecords(call.reply, call.services.execution.command_logs.slow, most, counts_words);
  }

 private:
  static constexpr size_t kDefaultCount = 10;
};

struct SlowLogHelp {
  static constexpr CommandSpec spec = {.syntax = "SLOWLOG|HELP",
                                       .summary = "Lists the subcommands of SLOWLOG.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAnytime,
                                       .deprecated_since = "valkey:8.1.0",
                                       .replaced_by = "`COMMANDLOG HELP`"};
  static void Run(Call& call) {
    WriteHelp(call, {"GET [<count>]", "    The latest entries, 10 unless told; -1 for all. Each has six parts:",
                     "    id, time, duration in microseconds, words, client address, client name.", "LEN",
                     "    The number of entries.", "RESET", "    Empties the log."});
  }
};

struct SlowLogLen {
  static constexpr CommandSpec spec = {
      .syntax = "SLOWLOG|LEN",
      .summary = "Counts the entries of the slow log.",
      .since = "2.2.12",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .flags = kAdmin | kAnytime,
      .tips = "request_policy:all_nodes response_policy:agg_sum nondeterministic_output",
      .deprecated_since = "valkey:8.1.0",
      .replaced_by = "`COMMANDLOG LEN SLOW`"};
  static void Run(Call& call) { CountRecords(call, call.services.execution.command_logs.slow); }
};

struct SlowLogReset {
  static constexpr CommandSpec spec = {.syntax = "SLOWLOG|RESET",
                                       .summary = "Empties the slow log.",
                                       .since = "2.2.12",
                                       .complexity = "O(N) for N entries",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kAnytime,
                                       .tips = "request_policy:all_nodes response_policy:all_succeeded",
                                       .deprecated_since = "valkey:8.1.0",
                                       .replaced_by = "`COMMANDLOG RESET SLOW`"};
  static void Run(Call& call) { ResetLog(call, call.services.execution.command_logs.slow); }
};

struct SlowLogContainer {
  static constexpr CommandSpec spec = {.syntax = "SLOWLOG",
                                       .summary = "Contains the subcommands about the slow log.",
                                       .since = "2.2.12",
                                       .complexity = "Depends on the subcommand.",
                                       .group = CommandGroup::kServer,
                                       .deprecated_since = "valkey:8.1.0",
                                       .replaced_by = "`COMMANDLOG`",
                                       .arity = -2};
};

CommandLog& TakeLog(Call& call) {
  CommandLog* const log = call.services.execution.command_logs.Find(call.args.Next());
  if (log == nullptr) throw Refusal{refusals::kLogType};
  return *log;
}

struct CommandLogGet {
  static constexpr CommandSpec spec = {
      .syntax = "COMMANDLOG|GET count:integer type(SLOW|LARGE-REQUEST|LARGE-REPLY)",
      .summary = "Lists the latest commands that were slow or large, the newest first.",
      .since = "valkey:8.1.0",
      .complexity = "O(N) for N entries listed",
      .group = CommandGroup::kServer,
      .flags = kAdmin | kAnytime,
      .tips = "request_policy:all_nodes nondeterministic_output"};
  static void Run(Call& call) {
    const size_t most = TakeRecordCount(call);
    WriteRecords(call.reply, TakeLog(call), most, false);
  }
};

struct CommandLogHelp {
  static constexpr CommandSpec spec = {.syntax = "COMMANDLOG|HELP",
                                       .summary = "Lists the subcommands of COMMANDLOG.",
                                       .since = "valkey:8.1.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAnytime};
  static void Run(Call& call) {
    WriteHelp(call, {"GET <count> (SLOW|LARGE-REQUEST|LARGE-REPLY)",
                     "    The latest entries; -1 for all. Each has six parts: id, time, duration in microseconds or",
                     "    size in bytes, words, client address, client name.", "LEN (SLOW|LARGE-REQUEST|LARGE-REPLY)",
                     "    The number of entries.", "RESET (SLOW|LARGE-REQUEST|LARGE-REPLY)", "    Empties the log."});
  }
};

struct CommandLogLen {
  static constexpr CommandSpec spec = {
      .syntax = "COMMANDLOG|LEN type(SLOW|LARGE-REQUEST|LARGE-REPLY)",
      .summary = "Counts the entries of a log of commands.",
      .since = "valkey:8.1.0",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .flags = kAdmin | kAnytime,
      .tips = "request_policy:all_nodes response_policy:agg_sum nondeterministic_output"};
  static void Run(Call& call) { CountRecords(call, TakeLog(call)); }
};

struct CommandLogReset {
  static constexpr CommandSpec spec = {.syntax = "COMMANDLOG|RESET type(SLOW|LARGE-REQUEST|LARGE-REPLY)",
                                       .summary = "Empties a log of commands.",
                                       .since = "valkey:8.1.0",
                                       .complexity = "O(N) for N entries",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kAnytime,
                                       .tips = "request_policy:all_nodes response_policy:all_succeeded"};
  static void Run(Call& call) { ResetLog(call, TakeLog(call)); }
};

struct CommandLogContainer {
  static constexpr CommandSpec spec = {.syntax = "COMMANDLOG",
                                       .summary = "Contains the subcommands about the logs of commands.",
                                       .since = "valkey:8.1.0",
                                       .complexity = "Depends on the subcommand.",
                                       .group = CommandGroup::kServer,
                                       .arity = -2};
};

// The command flags of most LATENCY subcommands.
constexpr uint32_t kLatencyFlags = kAdmin | kNoScript | kAnytime;
constexpr std::string_view kLatencyTips = "nondeterministic_output request_policy:all_nodes response_policy:special";

int64_t NowSeconds(const Call& call) { return call.now_ms / 1000; }

struct LatencyDoctorCommand {
  static constexpr CommandSpec spec = {.syntax = "LATENCY|DOCTOR",
                                       .summary = "Reports on the recorded latency spikes.",
                                       .since = "2.8.13",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLatencyFlags,
                                       .tips = kLatencyTips};
  static void Run(Call& call) {
    call.reply.Verbatim(LatencyDoctor(call.services.env.latency, call.services.env.settings, NowSeconds(call)), "txt");
  }
};

struct LatencyGraphCommand {
  static constexpr CommandSpec spec = {.syntax = "LATENCY|GRAPH event",
                                       .summary = "Draws a text graph of the spikes of one event.",
                                       .since = "2.8.13",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLatencyFlags,
                                       .tips = kLatencyTips};
  static void Run(Call& call) {
    Bytes name = call.args.Next();
    const LatencyMonitor::Event* event = call.services.env.latency.Find(name);
    if (event == nullptr) throw refusals::NoLatencySamples(name);
    call.reply.Verbatim(LatencyGraph(name, *event, NowSeconds(call)), "txt");
  }
};

struct LatencyHelp {
  static constexpr CommandSpec spec = {.syntax = "LATENCY|HELP",
                                       .summary = "Lists the subcommands of LATENCY.",
                                       .since = "2.8.13",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAnytime};
  static void Run(Call& call) {
    WriteHelp(call, {"DOCTOR", "    Explains the spikes and suggests remedies.", "GRAPH <event>",
                     "    Draws the spikes of an event.", "HISTORY <event>", "    Time and latency of each spike.",
                     "LATEST", "    The latest spike of each event.", "RESET [<event> ...]",
                     "    Deletes the spikes of these events, or of all.", "HISTOGRAM [COMMAND ...]",
                     "    The durations of calls of these commands, or of all: calls at most that long,",
                     "    for bounds that double."});
  }
};

struct LatencyHistogramCommand {
  static constexpr CommandSpec spec = {.syntax = "LATENCY|HISTOGRAM [command...]",
                                       .summary = "Returns histograms of the durations of commands.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N commands that were called",
                                       .group = CommandGroup::kServer,
                                       .flags = kLatencyFlags,
                                       .tips = kLatencyTips};
  static void Run(Call& call) {
    call.args.ExpectFewArguments();
    std::vector<const Command*> measured = call.args.AtEnd() ? AllMeasured(call) : NamedMeasured(call);
    call.reply.Map(measured.size());
    for (const Command* command : measured) Write(call, *command);
  }

 private:
  static void AddMeasured(Call& call, const Command& command, std::vector<const Command*>& measured) {
    if (call.services.env.commands.StatsOf(command).latency != nullptr) measured.push_back(&command);
  }
  static std::vector<const Command*> AllMeasured(Call& call) {
    std::vector<const Command*> measured;
    call.services.env.commands.ForEach([&](const Command& command) { AddMeasured(call, command, measured); });
    return measured;
  }
  // Returns the commands that LATENCY HISTOGRAM names and whose latency was measured, and for a container also its
  // subcommands. Skips unknown names. If a name occurs twice in the request, its commands occur twice in the result.
  static std::vector<const Command*> NamedMeasured(Call& call) {
    std::vector<const Command*> measured;
    for (Bytes name : call.args.Rest()) {
      const Command* command = call.services.env.commands.FindByFullName(name);
      if (command == nullptr) continue;
      AddMeasured(call, *command, measured);
      for (const Command& sub : command->subcommands) AddMeasured(call, sub, measured);
    }
    return measured;
  }
  static void Write(Call& call, const Command& command) {
    const LatencyHistogram& histogram = *call.services.env.commands.StatsOf(command).latency;
    auto steps = histogram.CumulativeBucketsUs();
    call.reply.Bulk(command.full_name);
    call.reply.Map(2);
    call.reply.Bulk("calls");
    call.reply.Integer(static_cast<int64_t>(histogram.Count()));
    call.reply.Bulk("histogram_usec");
    call.reply.Map(steps.size());
    for (auto [micros, calls] : steps) {
      call.reply.Integer(static_cast<int64_t>(micros));
      call.reply.Integer(static_cast<int64_t>(calls));
    }
  }
};

struct LatencyHistory {
  static constexpr CommandSpec spec = {.syntax = "LATENCY|HISTORY event",
                                       .summary = "Lists time and latency of the spikes of one event.",
                                       .since = "2.8.13",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLatencyFlags,
                                       .tips = kLatencyTips};
  static void Run(Call& call) {
    const LatencyMonitor::Event* event = call.services.env.latency.Find(call.args.Next());
    if (event == nullptr) return call.reply.Array(0);
    call.reply.Array(event->samples.size());
    for (const LatencyMonitor::Sample& sample : event->samples) {
      call.reply.Array(2);
      call.reply.Integer(sample.unix_time_s);
      call.reply.Integer(sample.latency_ms);
    }
  }
};

struct LatencyLatest {
  static constexpr CommandSpec spec = {.syntax = "LATENCY|LATEST",
                                       .summary = "Lists the latest spike and the highest of each event.",
                                       .since = "2.8.13",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLatencyFlags,
                                       .tips = kLatencyTips};
  static void Run(Call& call) {
    const auto& events = call.services.env.latency.Events();
    call.reply.Array(events.size());
    for (const auto& [name, event] : events) {
      call.reply.Array(4);
      call.reply.Bulk(name);
      call.reply.Integer(event.samples.back().unix_time_s);
      call.reply.Integer(event.samples.back().latency_ms);
      call.reply.Integer(event.max_ms);
    }
  }
};

struct LatencyReset {
  static constexpr CommandSpec spec = {.syntax = "LATENCY|RESET [event...]",
                                       .summary = "Deletes the spikes of some events, or of all.",
                                       .since = "2.8.13",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLatencyFlags,
                                       .tips = "request_policy:all_nodes response_policy:agg_sum"};
  static void Run(Call& call) {
    LatencyMonitor& monitor = call.services.env.latency;
    size_t forgotten = 0;
    if (call.args.AtEnd()) forgotten = monitor.Clear();
    for (Bytes name : call.args.Rest()) forgotten += monitor.Reset(name);
    call.reply.Integer(static_cast<int64_t>(forgotten));
  }
};

struct LatencyContainer {
  static constexpr CommandSpec spec = {.syntax = "LATENCY",
                                       .summary = "Contains the subcommands about latency.",
                                       .since = "2.8.13",
                                       .complexity = "Depends on the subcommand.",
                                       .group = CommandGroup::kServer,
                                       .arity = -2};
};

constexpr auto kObserveCommands =
    Family<SlowLogContainer, SlowLogGet, SlowLogHelp, SlowLogLen, SlowLogReset, CommandLogContainer, CommandLogGet,
           CommandLogHelp, CommandLogLen, CommandLogReset, LatencyContainer, LatencyDoctorCommand, LatencyGraphCommand,
           LatencyHelp, LatencyHistogramCommand, LatencyHistory, LatencyLatest, LatencyReset>();

}  // namespace

std::span<const CommandCard> ObserveCommands() { return kObserveCommands; }

}  // namespace respite
