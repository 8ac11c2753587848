#include "base/log.h"
#include "persistence/file_system.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/refusals.h"
#include "server/cluster/cluster_mode.h"
#include "server/cluster/slot_stats.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/config/config.h"
#include "server/config/directive_table.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/lazy_free_thread.h"
#include "server/dataset/unit.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/runtime/stats.h"
#include "server/storage/append_only_file.h"
#include "server/storage/loading.h"
#include "server/storage/snapshots.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

void LogNotes(const Services& services) {
  for (const ConfigNote& note : services.env.config.TakeNotes()) services.env.log.Log(note.level, note.text);
}

struct ConfigGet {
  static constexpr CommandSpec spec = {.syntax = "CONFIG|GET parameter...",
                                       .summary = "Returns the settings that match names and patterns.",
                                       .since = "2.0.0",
                                       .complexity = "O(N) for N names and patterns",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kLoading | kStale,
                                       .former_arity = {"7.0.0", 3}};
  static void Run(Call& call) {
    call.args.ExpectFewArguments();
    const std::vector<std::string> patterns(call.args.Rest().begin(), call.args.Rest().end());
    const Config::NamesAndValues found = call.services.env.config.Get(patterns);
    call.reply.Map(found.size());
    for (const auto& [name, value] : found) {
      call.reply.Bulk(name);
      call.reply.Bulk(value);
    }
  }
};

struct ConfigHelp {
  static constexpr CommandSpec spec = {.syntax = "CONFIG|HELP",
                                       .summary = "Lists the subcommands of CONFIG.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call, {"GET <pattern> [<pattern> ...]", "    Settings whose names match, with their values.",
                     "SET <directive> <value> [<directive> <value> ...]", "    Change settings: all of them or none.",
                     "RESETSTAT", "    Reset the counters of INFO.",  //
                     "REWRITE", "    Bring the configuration file up to date."});
  }
};

struct ConfigResetStat {
  static constexpr CommandSpec spec = {.syntax = "CONFIG|RESETSTAT",
                                       .summary = "Resets the counters of INFO.",
                                       .since = "2.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kLoading | kStale,
                                       .tips = "request_policy:all_nodes response_policy:all_succeeded"};
  static void Run(Call& call) {
    const Services& services = call.services;
    services.env.stats.Reset();
    services.storage.snapshots.ResetStats();
    services.storage.aof.ResetStats();
    services.env.commands.ResetStats();
    if (SlotStats* const stats = services.cluster.slot_stats()) stats->Reset();
    services.data.lazy_free_thread.ResetFreedObjects();
    // CONFIG RESETSTAT resets all statistics of the dataset except the number of changes since the last save.
    services.data.dataset.stats = {.dirty = services.data.dataset.stats.dirty};
    call.reply.Ok();
  }
};

struct ConfigRewrite {
  static constexpr CommandSpec spec = {.syntax = "CONFIG|REWRITE",
                                       .summary = "Writes the current settings to the configuration file.",
                                       .since = "2.8.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kLoading | kStale,
                                       .tips = "request_policy:all_nodes response_policy:all_succeeded"};
  static void Run(Call& call) {
    try {
      call.services.env.config.Rewrite(call.services.env.files, RewriteExtrasOf(call.services));
    } catch (const Refusal& refusal) {
      // As in Redis, a failed CONFIG REWRITE is not logged if the server has no configuration file.
      if (!call.services.env.config.file().empty())
        call.services.env.log.Warning("CONFIG REWRITE failed: " + refusal.text);
      throw;
    }
    call.services.env.log.Notice("CONFIG REWRITE executed with success.");
    call.reply.Ok();
  }
};

struct ConfigSet {
  static constexpr CommandSpec spec = {.syntax = "CONFIG|SET data{parameter value}...",
                                       .summary = "Changes settings, all of them or none.",
                                       .since = "2.0.0",
                                       .complexity = "O(N) for N settings",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kLoading | kStale,
                                       .tips = "request_policy:all_nodes response_policy:all_succeeded",
                                       .former_arity = {"7.0.0", 4},
                                       .public_words = 3};
  static void Run(Call& call) {
    const Config::NamesAndValues pairs = TakePairs(call);
    const Session& session = call.session;
    const bool local = session.addresses.IsLocal();
    try {
      call.services.env.config.Set(
          pairs, {.connection_is_local = local, .is_loading = call.services.storage.loading.IsActive()});
    } catch (const Refusal&) {
      LogNotes(call.services);
      throw;
    }
    LogNotes(call.services);
    call.reply.Ok();
  }

 private:
  static Config::NamesAndValues TakePairs(Call& call) {
    if (call.args.Left() % 2 != 0) throw Refusal{refusals::kSyntax};
    Config::NamesAndValues pairs;
    while (!call.args.AtEnd()) {
      const auto [name, value] = call.args.Take<Bytes, Bytes>();
      const Directive* directive = FindDirective(name);
      if (directive != nullptr && directive->Has(directive_flags::kSensitive)) {
        call.Redact(call.args.Count() - call.args.Left() - 1);
      }
      pairs.emplace_back(name, value);
    }
    return pairs;
  }
};

struct ConfigContainer {
  static constexpr CommandSpec spec = {.syntax = "CONFIG",
                                       .summary = "Contains the subcommands about the server's settings.",
                                       .since = "2.0.0",
                                       .group = CommandGroup::kServer,
                                       .arity = -2};
};

constexpr auto kConfigCommands =
    Family<ConfigContainer, ConfigGet, ConfigHelp, ConfigResetStat, ConfigRewrite, ConfigSet>();

}  // namespace

std::span<const CommandCard> ConfigCommands() { return kConfigCommands; }

}  // namespace respite
