// Commands that migrate whole slots: CLUSTER MIGRATESLOTS, GETSLOTMIGRATIONS and CANCELSLOTMIGRATIONS of Valkey, and
// CLUSTER MIGRATION of Redis.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/commands/cluster/cluster_commands.h"
#include "server/commands/cluster/slot_arguments.h"
#include "server/commands/families.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/storage/hidden_slots_text.h"

namespace respite {

namespace {

constexpr char kManuallyMigrated[] = "ERR Slots are being manually migrated";
constexpr char kManuallyImported[] = "ERR Slots are being manually imported";
constexpr char kOverlap[] = "ERR Slot ranges in migrations overlap";
constexpr char kNoneRuns[] = "ERR No migrations ongoing";

// valkey-cli 9.1 sends this token with a zero byte at its end, which Valkey ignores.
constexpr Bytes kSlotsRangeOfValkeyCli("SLOTSRANGE\0", 11);

struct Order {
  SlotSet slots;
  NodeId target;
};

// Takes the arguments of one migration of CLUSTER MIGRATESLOTS: `SLOTSRANGE first last … NODE id`. Throws a Refusal if
// this node cannot migrate the slots to the node.
Order NextOrder(Call& call, const ClusterView& view) {
  Args& args = call.args;
  if (!args.TakeToken("SLOTSRANGE") && !args.TakeToken(kSlotsRangeOfValkeyCli)) throw Refusal{refusals::kSyntax};
  const SlotSet slots = NextRanges(args);
  const ClusterNode& owner = CommonOwner(view, slots);
  if (!args.TakeToken("NODE")) throw Refusal{refusals::kSyntax};
  const ClusterNode& target = NextTarget(args, view);
  if (&owner != &view.me()) throw Refusal{refusals::kNotServedHere};
  if (target.IsMyself()) throw Refusal{refusals::kTargetIsSelf};
  if (target.IsReplica()) throw Refusal{refusals::kTargetNotAPrimary};
  if (const auto slot = call.services.slot_migrations.FindExportedSlot(slots)) throw AlreadyMigrated(*slot);
  return {slots, target.id};
}

void WriteJobText(Reply& reply, Bytes name, Bytes text) {
  reply.Bulk(name);
  reply.Bulk(text);
}

void WriteJobNumber(Reply& reply, Bytes name, int64_t number) {
  reply.Bulk(name);
  reply.Integer(number);
}

void WriteJob(Reply& reply, const SlotJob& job, bool has_unsent_bytes) {
  const bool has_nodes = !job.source.IsNull();
  reply.Map((has_nodes ? 11u : 9u) + (has_unsent_bytes ? 1u : 0u));
  WriteJobText(reply, "name", job.name);
  WriteJobText(reply, "operation", job.operation == SlotJob::Operation::kExport ? "EXPORT" : "IMPORT");
  WriteJobText(reply, "slot_ranges", SlotRangesText(job.slots));
  if (has_nodes) WriteJobText(reply, "target_node", job.target.Text());
  if (has_nodes) WriteJobText(reply, "source_node", job.source.Text());
  WriteJobNumber(reply, "create_time", job.created_ms / 1000);
  WriteJobNumber(reply, "last_update_time", job.updated_s);
  WriteJobNumber(reply, "last_ack_time", job.acked_s);
  WriteJobText(reply, "state", StateName(job.state));
  WriteJobText(reply, "message", job.message);
  WriteJobNumber(reply, "cow_size", static_cast<int64_t>(job.cow_bytes));
  if (has_unsent_bytes) WriteJobNumber(reply, "remaining_repl_size", static_cast<int64_t>(job.unsent_bytes));
}

struct ClusterMigrateSlots {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLUSTER|MIGRATESLOTS migration-group{slotsrange-token=SLOTSRANGE range{start-slot:integer "
          "end-slot:integer}... node-token=NODE node-id}...",
      .summary = "Moves slots with their keys from this node to others.",
      .since = "valkey:9.0.0",
      .complexity = "O(N) for N slots",
      .group = CommandGroup::kCluster,
      .flags = kAdmin | kStale | kNoAsyncLoading,
      .arity = -4,
      .uses_all_databases = true};
  static void Run(Call& call) {
    const ClusterView& view = RequireCluster(call).view();
    if (!view.me().IsPrimary()) throw Refusal{refusals::kMigrationNeedsPrimary};
    if (!view.migrating().empty()) throw Refusal{kManuallyMigrated};
    if (!view.importing().empty()) throw Refusal{kManuallyImported};
    std::vector<Order> orders;
    SlotSet ordered;
    while (!call.args.AtEnd()) {
      orders.push_back(NextOrder(call, view));
      orders.back().slots.ForEach([&](int slot) {
        if (ordered.Has(slot)) throw Refusal{kOverlap};
        ordered.Add(slot);
      });
    }
    for (const Order& order : orders) call.services.slot_migrations.Export(order.slots, order.target);
    call.reply.Ok();
  }
};

struct ClusterCancelSlotMigrations {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|CANCELSLOTMIGRATIONS",
                                       .summary = "Ends the migrations of slots from this node.",
                                       .since = "valkey:9.0.0",
                                       .complexity = "O(N) for N migrations",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading,
                                       .uses_all_databases = true};
  static void Run(Call& call) {
    RequireCluster(call);
    if (!call.services.slot_migrations.CancelExports()) throw Refusal{kNoneRuns};
    call.reply.Ok();
  }
};

struct ClusterGetSlotMigrations {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|GETSLOTMIGRATIONS",
                                       .summary = "Lists running and former migrations of slots from and to this node.",
                                       .since = "valkey:9.0.0",
                                       .complexity = "O(N) for N migrations",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kLoading,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    RequireCluster(call);
    const std::vector<SlotJob> jobs = call.services.slot_migrations.Jobs();
    call.reply.Array(jobs.size());
    const bool has_unsent_bytes = call.services.env.dialect.Has("valkey:9.1.0");
    for (const SlotJob& job : jobs) WriteJob(call.reply, job, has_unsent_bytes);
  }
};

// --- CLUSTER MIGRATION: Redis' commands for migrations, which begin at the target node.

constexpr char kNotOnReplica[] = "ERR slot migration not allowed on replica.";
constexpr char kOwnsRange[] = "ERR this node is already the owner of the slot range";
constexpr char kOneTaskAtATime[] = "ERR another ASM task is already in progress";
constexpr char kUnknownArgument[] = "ERR unknown argument";

void ImportTask(Call& call, const ClusterView& view) {
  if (!view.me().IsPrimary()) throw Refusal{kNotOnReplica};
  if (call.args.Left() == 0 || call.args.Left() % 2 != 0) throw refusals::WrongArity(call.command.full_name);
  const std::vector<SlotRange> ranges = TakeTaskRanges(call.args);
  const SlotSet slots = SlotsOf(ranges);
  if (view.HasMovingSlots()) throw Refusal{refusals::kSlotsNotStable};
  const ClusterNode& source = OwnerOfTask(view, slots);
  if (&source == &view.me()) throw Refusal{kOwnsRange};
  SlotMigrations& migrations = call.services.slot_migrations;
  if (const SlotJob* const running = migrations.FindRequest()) {
    for (const SlotRange& range : ranges) {
      for (int slot = range.first; slot <= range.last; ++slot) {
        if (running->slots.Has(slot))
          throw Refusal{"ERR overlapping import exists for slot range: " + SlotRangeText(range)};
      }
    }
    throw Refusal{kOneTaskAtATime};
  }
  call.reply.Bulk(migrations.Import(slots, source.id));
}

// Returns Redis' name for the state of a task. Some of these names could not be observed in Redis, because a running
// task changes its state fast.
Bytes TaskStateName(const SlotJob& job) {
  using State = SlotJob::State;
  const bool is_import = job.operation == SlotJob::Operation::kImport;
  switch (job.state) {
    case State::kSuccess:
      return "completed";
    case State::kFailed:
      return "failed";
    case State::kCancelled:
      return "canceled";
    case State::kQueued:
      return "none";
    case State::kConnecting:
      return "connecting";
    case State::kEstablishing:
      return is_import ? "syncslots-reply" : "wait-rdbchannel";
    case State::kReceivingSnapshot:
      return "accumulate-buffer";
    case State::kPaused:
    case State::kGranted:
      return "handoff";
    default:
      return is_import ? "wait-stream-eof" : "send-bulk-and-stream";
  }
}

void WriteTask(Reply& reply, const SlotJob& job) {
  reply.Map(12);
  WriteJobText(reply, "id", job.name);
  WriteJobText(reply, "slots", SlotRangesText(job.slots));
  WriteJobText(reply, "source", job.source.Text());
  WriteJobText(reply, "dest", job.target.Text());
  WriteJobText(reply, "operation", job.operation == SlotJob::Operation::kExport ? "migrate" : "import");
  WriteJobText(reply, "state", TaskStateName(job));
  WriteJobText(reply, "last_error", job.message);
  WriteJobNumber(reply, "retries", job.retries);
  WriteJobNumber(reply, "create_time", job.created_ms);
  WriteJobNumber(reply, "start_time", job.started_ms);
  WriteJobNumber(reply, "end_time", job.ended_ms);
  WriteJobNumber(reply, "write_pause_ms", job.IsPausing() ? 0 : job.paused_ms);
}

// Takes `ID task` or `ALL`, which must be the last arguments. Returns the name of the task; empty: all.
Bytes TakeTaskName(Call& call) {
  if (call.args.TakeToken("ALL")) {
    if (!call.args.AtEnd()) throw refusals::WrongArity(call.command.full_name);
    return {};
  }
  if (!call.args.TakeToken("ID")) throw Refusal{kUnknownArgument};
  if (call.args.Left() != 1) throw refusals::WrongArity(call.command.full_name);
  const Bytes name = call.args.Next();
  return name.empty() ? Bytes(" ") : name;  // no task has this name
}

void WriteTasks(Call& call, Bytes name) {
  std::vector<SlotJob> jobs = call.services.slot_migrations.Jobs();
  std::erase_if(jobs, [&](const SlotJob& job) {
    return job.state == SlotJob::State::kOnPrimary || (!name.empty() && job.name != name);
  });
  call.reply.Array(jobs.size());
  for (const SlotJob& job : jobs) WriteTask(call.reply, job);
}

struct ClusterMigration {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLUSTER|MIGRATION subcommand(IMPORT import{start-slot:integer end-slot:integer}...|CANCEL cancel(ID "
          "task-id|ALL)|STATUS status([ID task-id]|[ALL]))",
      .summary = "Starts, shows and cancels migrations of slots to this node.",
      .since = "8.4.0",
      .complexity = "O(N) for N slots",
      .group = CommandGroup::kCluster,
      .flags = kAdmin | kStale | kNoAsyncLoading,
      .arity = -4,
      .uses_all_databases = true};
  static void Run(Call& call) {
    const ClusterView& view = RequireCluster(call).view();
    if (call.args.TakeToken("IMPORT")) return ImportTask(call, view);
    if (call.args.TakeToken("STATUS")) return WriteTasks(call, TakeTaskName(call));
    if (!call.args.TakeToken("CANCEL")) throw Refusal{kUnknownArgument};
    call.reply.Integer(static_cast<int64_t>(call.services.slot_migrations.Cancel(TakeTaskName(call))));
  }
};

constexpr auto kClusterSlotMigrationCommands =
    Family<ClusterCancelSlotMigrations, ClusterGetSlotMigrations, ClusterMigrateSlots, ClusterMigration>();

}  // namespace

std::span<const CommandCard> ClusterSlotMigrationCommands() { return kClusterSlotMigrationCommands; }

}  // namespace respite
