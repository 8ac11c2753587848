// Commands that migrate whole slots: CLUSTER MIGRATESLOTS, GETSLOTMIGRATIONS and CANCELSLOTMIGRATIONS of Valkey,
// CLUSTER MIGRATION of Redis, and CLUSTER SYNCSLOTS, which nodes send to each other.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/commands/cluster/cluster_commands.h"
#include "server/commands/families.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/storage/hidden_slots_text.h"

namespace respite {

namespace {

constexpr char kNoRanges[] = "ERR No slot ranges specified";
constexpr char kNoEnd[] = "ERR No end slot for final slot range";
constexpr char kMigrationNeedsPrimary[] = "ERR Slot migration can only be used on primary nodes";
constexpr char kManuallyMigrated[] = "ERR Slots are being manually migrated";
constexpr char kManuallyImported[] = "ERR Slots are being manually imported";
constexpr char kManyShards[] = "ERR Requested slots span multiple shards";
constexpr char kInvalidNode[] = "ERR Invalid node name: ";
constexpr char kUnknownNodeName[] = "ERR Unknown node name: ";
constexpr char kSlotsNotStable[] = "ERR all slot states must be STABLE to start a slot migration task.";
constexpr char kNotServedHere[] = "ERR Slots are not served by this node";
constexpr char kTargetIsSelf[] = "ERR Target node can not be this node";
constexpr char kOverlap[] = "ERR Slot ranges in migrations overlap";
constexpr char kNoneRuns[] = "ERR No migrations ongoing";
constexpr char kBadName[] = "ERR Invalid name of a slot migration";
constexpr char kOnlyStreams[] = "ERR This is for replicas and files only";
Refusal AlreadyMigrated(int slot) { return {StrCat("ERR I am already migrating slot ", slot)}; }
Refusal Unserved(int slot) { return {StrCat("ERR Slot ", slot, " has no node served")}; }

std::string SlotRangeText(const SlotRange& range) { return StrCat(range.first, "-", range.last); }

SlotRange NextRange(Args& args) {
  const Bytes first_word = args.Next();
  if (args.AtEnd()) throw Refusal{kNoEnd};
  const SlotRange range{ParseSlotNumber(first_word), ParseSlotNumber(args.Next())};
  if (range.first <= range.last) return range;
  throw Refusal{StrCat("ERR Start slot number ", range.first, " is greater than end slot number ", range.last)};
}

// Returns the error that names the first range in `former` with which the range `last` overlaps. Requires: `last`
// overlaps with a range of `former`.
Refusal OverlapOf(const std::vector<SlotRange>& former, const SlotRange& last) {
  const auto other = std::ranges::find_if(
      former, [&](const SlotRange& one) { return one.first <= last.last && last.first <= one.last; });
  return {"ERR Slot range " + SlotRangeText(last) + " overlaps with previous range " + SlotRangeText(*other)};
}

// Takes ranges of slots, each given by its first and its last slot, up to the first argument that is not a number.
// Throws a Refusal if there is no range, or if two ranges overlap. Cost: O(slots).
SlotSet NextRanges(Args& args) {
  std::vector<SlotRange> ranges;
  SlotSet slots;
  while (!args.AtEnd() && ParseInteger(args[args.Count() - args.Left()])) {
    const SlotRange range = NextRange(args);
    for (int slot = range.first; slot <= range.last; ++slot) {
      if (slots.Has(slot)) throw OverlapOf(ranges, range);
      slots.Add(slot);
    }
    ranges.push_back(range);
  }
  if (ranges.empty()) throw Refusal{kNoRanges};
  return slots;
}

// Returns the node that owns all of these slots. Throws if a slot has no owner, or if the slots have several owners.
const ClusterNode& CommonOwner(const ClusterView& view, const SlotSet& slots) {
  const ClusterNode* common = nullptr;
  slots.ForEach([&](int slot) {
    const ClusterNode* const owner = view.Owner(slot);
    if (owner == nullptr) throw Unserved(slot);
    if (common != nullptr && owner != common) throw Refusal{kManyShards};
    common = owner;
  });
  return *common;
}

const ClusterNode& NextTarget(Args& args, const ClusterView& view) {
  const Bytes word = args.Next();
  const auto id = NodeId::Parse(word);
  if (!id) throw Refusal{kInvalidNode + std::string(refusals::ShownPart(word))};
  const ClusterNode* const node = view.Find(*id);
  if (node == nullptr) throw Refusal{kUnknownNodeName + std::string(word)};
  return *node;
}

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
  if (&owner != &view.me()) throw Refusal{kNotServedHere};
  if (target.IsMyself()) throw Refusal{kTargetIsSelf};
  if (target.IsReplica()) throw Refusal{refusals::kTargetNotAPrimary};
  if (const auto slot = call.services.slot_migrations.FindExportedSlot(slots)) throw AlreadyMigrated(*slot);
  return {slots, target.id};
}

// --- CLUSTER SYNCSLOTS. The source node of a migration sends ESTABLISH, and then ACK, SNAPSHOT-EOF, PAUSED and
// FAILOVER-GRANTED, as in Valkey 9. ESTABLISH and FINISH in the primary's replication stream or in an append-only file
// are records of what the primary imports. REQUEST is Respite's own.

// Returns whether the request comes from the primary or from a file. Then it tells what another server did, or what
// this server did before.
bool IsRecord(const Call& call) { return call.unit.IsReplaying() && call.session.cluster_options.imports == nullptr; }

std::string NextName(Args& args) {
  const auto name = NodeId::Parse(args.Next());
  if (!name) throw Refusal{kBadName};
  return name->String();
}

NodeId NextSource(Args& args) {
  const Bytes word = args.Next();
  const auto source = NodeId::Parse(word);
  if (!source) throw Refusal{kInvalidNode + std::string(refusals::ShownPart(word))};
  return *source;
}

// Takes the arguments of ESTABLISH. The source is not needed if no import begins.
SlotImports::Offer TakeOffer(Args& args, bool needs_source) {
  SlotImports::Offer offer;
  bool has_source = false;
  while (!args.AtEnd()) {
    if (args.TakeToken("SOURCE")) {
      offer.source = NextSource(args);
      has_source = true;
    } else if (args.TakeToken("NAME")) {
      offer.name = NextName(args);
    } else if (args.TakeToken("SLOTSRANGE")) {
      offer.slots = NextRanges(args);
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  if (offer.name.empty() || offer.slots.IsEmpty() || (needs_source && !has_source)) throw Refusal{refusals::kSyntax};
  return offer;
}

// Begins an import on the connection of the source node. From a replication stream or an append-only file, only hides
// the slots.
void Establish(Call& call) {
  SlotImports& imports = call.services.slot_migrations.imports();
  const bool is_record = IsRecord(call);
  if (!is_record) RequireCluster(call);
  const SlotImports::Offer offer = TakeOffer(call.args, !is_record);
  if (is_record) {
    imports.Hide(offer.name, offer.slots);
  } else {
    imports.Establish(call.session, offer);
  }
  call.unit.CountChanges(1);
  call.effect.Replace(HideSlotsRequest(offer.name, offer.slots));
  call.reply.Ok();
  if (is_record) return;
  call.services.execution.executor.KeepMessages(call.session);
  call.session.replies.TurnOff();
}

// Handles `FINISH STATE state NAME name [MESSAGE text]`: an import of the primary has ended.
void Finish(Call& call) {
  if (!IsRecord(call)) throw Refusal{kOnlyStreams};
  std::string name;
  while (!call.args.AtEnd()) {
    if (call.args.TakeToken("NAME")) {
      name = NextName(call.args);
    } else if (call.args.TakeToken("STATE") || call.args.TakeToken("MESSAGE")) {
      call.args.Next();
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  call.services.slot_migrations.imports().Reveal(name);
  call.unit.CountChanges(1);
  call.reply.Ok();
}

// Sends a request to the node that exports slots to this one. That connection gets no replies.
void SendToSource(Call& call, Bytes step) {
  call.reply.BulkArray(std::array<Bytes, 3>{"CLUSTER", "SYNCSLOTS", step});
  call.services.execution.executor.KeepMessages(call.session);
}

// Queues an export that the target has requested by CLUSTER SYNCSLOTS REQUEST. Another request with the same name
// changes nothing while that export runs.
void Request(Call& call) {
  const ClusterView& view = RequireCluster(call).view();
  if (!view.me().IsPrimary()) throw Refusal{kMigrationNeedsPrimary};
  if (view.HasMovingSlots()) throw Refusal{kSlotsNotStable};
  if (!call.args.TakeToken("TARGET")) throw Refusal{refusals::kSyntax};
  const ClusterNode& target = NextTarget(call.args, view);
  if (!call.args.TakeToken("NAME")) throw Refusal{refusals::kSyntax};
  const std::string name = NextName(call.args);
  if (!call.args.TakeToken("SLOTSRANGE")) throw Refusal{refusals::kSyntax};
  const SlotSet slots = NextRanges(call.args);
  call.args.ExpectEnd();
  SlotMigrations& migrations = call.services.slot_migrations;
  if (&CommonOwner(view, slots) != &view.me()) throw Refusal{kNotServedHere};
  if (target.IsMyself()) throw Refusal{kTargetIsSelf};
  if (target.IsReplica()) throw Refusal{refusals::kTargetNotAPrimary};
  if (!migrations.IsExporting(name)) {
    if (const auto slot = migrations.FindExportedSlot(slots)) throw AlreadyMigrated(*slot);
    migrations.Export(slots, target.id, name);
  }
  call.reply.Ok();
}

// Handles the requests of a source after ESTABLISH.
void Continue(Call& call, Bytes step) {
  SlotImports& imports = call.services.slot_migrations.imports();
  if (EqualsIgnoreCase(step, "ACK")) {
    imports.Acknowledge(call.session);
    call.reply.Ok();
  } else if (EqualsIgnoreCase(step, "SNAPSHOT-EOF")) {
    imports.EndSnapshot(call.session);
    SendToSource(call, "REQUEST-PAUSE");
  } else if (EqualsIgnoreCase(step, "PAUSED")) {
    imports.EndChanges(call.session);
    SendToSource(call, "REQUEST-FAILOVER");
  } else if (EqualsIgnoreCase(step, "FAILOVER-GRANTED")) {
    imports.TakeOver(call.session);
    call.reply.Ok();
  } else if (EqualsIgnoreCase(step, "CAPA")) {
    call.reply.Ok();  // no capabilities are known
  } else {
    throw Refusal{refusals::kSyntax};
  }
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
    if (!view.me().IsPrimary()) throw Refusal{kMigrationNeedsPrimary};
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

struct ClusterSyncSlots {
  // The syntax is Redis', which COMMAND DOCS shows. Respite's nodes send Valkey's words
  // (server/cluster/slots/slot_export.h).
  static constexpr CommandSpec spec = {.syntax =
                                           "CLUSTER|SYNCSLOTS subcommand(SYNC sync{task-id slot-range{"
                                           "start-slot:integer end-slot:integer}...}|RDBCHANNEL task-id|SNAPSHOT-EOF|"
                                           "STREAM-EOF|ACK ack{state offset:integer}|FAIL error|CONF conf{option... "
                                           "value...})@~8.4.0",
                                       .summary = "Sends slots: an internal command between nodes.",
                                       .since = "8.4.0,valkey:9.0.0",
                                       .complexity = "Depends on the subcommand.",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kMayReplicate | kNoMulti | kNoScript,
                                       .arity = -3,
                                       .sent_by_slot_source = true};
  static void Run(Call& call) {
    const Bytes step = call.args.Next();
    if (EqualsIgnoreCase(step, "ESTABLISH")) return Establish(call);
    if (EqualsIgnoreCase(step, "FINISH")) return Finish(call);
    // A primary of Valkey passes on all requests of its source.
    if (IsRecord(call)) return call.reply.Ok();
    if (EqualsIgnoreCase(step, "REQUEST")) return Request(call);
    RequireCluster(call);
    Continue(call, step);
  }
};

// --- CLUSTER MIGRATION: Redis' commands for migrations, which begin at the target node.

constexpr char kNotOnReplica[] = "ERR slot migration not allowed on replica.";
constexpr char kOwnsRange[] = "ERR this node is already the owner of the slot range";
constexpr char kManySources[] = "ERR slots belong to different source nodes";
constexpr char kOneTaskAtATime[] = "ERR another ASM task is already in progress";
constexpr char kUnknownArgument[] = "ERR unknown argument";
Refusal NamedTwice(int slot) { return {StrCat("ERR Slot ", slot, " specified multiple times")}; }
Refusal HasNoOwner(int slot) { return {StrCat("ERR slot has no owner: ", slot)}; }

// Takes all arguments of CLUSTER MIGRATION IMPORT, which are ranges of slots.
std::vector<SlotRange> TakeTaskRanges(Call& call) {
  Args& args = call.args;
  if (args.Left() == 0 || args.Left() % 2 != 0) throw refusals::WrongArity(call.command.full_name);
  std::vector<SlotRange> ranges;
  while (!args.AtEnd()) {
    const int first = ParseSlotNumber(args.Next());
    const int last = ParseSlotNumber(args.Next());
    if (first > last) throw Refusal{StrCat("ERR start slot number ", first, " is greater than end slot number ", last)};
    ranges.push_back({first, last});
  }
  return ranges;
}

// Returns the slots of these ranges. Throws a Refusal if a slot occurs twice. Cost: O(slots).
SlotSet SlotsOf(const std::vector<SlotRange>& ranges) {
  SlotSet slots;
  for (const SlotRange& range : ranges) {
    for (int slot = range.first; slot <= range.last; ++slot) {
      if (slots.Has(slot)) throw NamedTwice(slot);
      slots.Add(slot);
    }
  }
  return slots;
}

// Returns the source of a CLUSTER MIGRATION IMPORT: the node that owns all of these slots. Throws a Refusal if a slot
// has no owner, if there are several owners, or if the owner is this node.
const ClusterNode& SourceOfTask(const ClusterView& view, const SlotSet& slots) {
  const ClusterNode* common = nullptr;
  bool has_several = false;
  slots.ForEach([&](int slot) {
    const ClusterNode* const owner = view.Owner(slot);
    if (owner == nullptr) throw HasNoOwner(slot);
    has_several |= common != nullptr && owner != common;
    common = owner;
  });
  if (has_several) throw Refusal{kManySources};
  if (common == &view.me()) throw Refusal{kOwnsRange};
  return *common;
}

void ImportTask(Call& call, const ClusterView& view) {
  if (!view.me().IsPrimary()) throw Refusal{kNotOnReplica};
  const std::vector<SlotRange> ranges = TakeTaskRanges(call);
  const SlotSet slots = SlotsOf(ranges);
  if (view.HasMovingSlots()) throw Refusal{kSlotsNotStable};
  const ClusterNode& source = SourceOfTask(view, slots);
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

constexpr auto kClusterSlotMigrationCommands = Family<ClusterCancelSlotMigrations, ClusterGetSlotMigrations,
                                                      ClusterMigrateSlots, ClusterMigration, ClusterSyncSlots>();

}  // namespace

std::span<const CommandCard> ClusterSlotMigrationCommands() { return kClusterSlotMigrationCommands; }

}  // namespace respite
