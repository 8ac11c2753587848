// CLUSTER SYNCSLOTS, which nodes send to each other to move slots, with the words of Valkey and of Redis.
#include <array>
#include <string>
#include <vector>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/commands/cluster/slot_arguments.h"
#include "server/commands/families.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/storage/hidden_slots_text.h"

namespace respite {

namespace {

constexpr char kBadName[] = "ERR Invalid name of a slot migration";
constexpr char kSourceFailed[] = "ERR The source has ended the slot migration";
constexpr char kOnlyStreams[] = "ERR This is for replicas and files only";
constexpr char kNotOwner[] = "ERR This node is not the owner of the slots";

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
  if (!source) throw Refusal{"ERR Invalid node name: " + std::string(refusals::ShownPart(word))};
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

// Handles CONF of a primary that is a node of Redis: `ASM-TASK text` tells that it begins or has ended an import.
void ApplyTask(Call& call) {
  if (!call.args.TakeToken("ASM-TASK") || call.args.AtEnd()) return;
  const auto task = ReadRedisTask(call.args.Next());
  if (!task || !task->is_import) return;
  SlotImports& imports = call.services.slot_migrations.imports();
  if (task->is_over) {
    imports.Reveal(task->name);
    call.effect.Replace(FinishImportRequest(task->name, SlotImportEnd::kSuccess));
  } else {
    imports.Hide(task->name, task->slots);
    call.effect.Replace(HideSlotsRequest(task->name, task->slots));
  }
  call.unit.CountChanges(1);
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
  if (!view.me().IsPrimary()) throw Refusal{refusals::kMigrationNeedsPrimary};
  if (view.HasMovingSlots()) throw Refusal{refusals::kSlotsNotStable};
  if (!call.args.TakeToken("TARGET")) throw Refusal{refusals::kSyntax};
  const ClusterNode& target = NextTarget(call.args, view);
  if (!call.args.TakeToken("NAME")) throw Refusal{refusals::kSyntax};
  const std::string name = NextName(call.args);
  if (!call.args.TakeToken("SLOTSRANGE")) throw Refusal{refusals::kSyntax};
  const SlotSet slots = NextRanges(call.args);
  call.args.ExpectEnd();
  SlotMigrations& migrations = call.services.slot_migrations;
  if (&CommonOwner(view, slots) != &view.me()) throw Refusal{refusals::kNotServedHere};
  if (target.IsMyself()) throw Refusal{refusals::kTargetIsSelf};
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

// --- Redis' words. The target connects to the source (SlotSourceLink).

// Handles the requests of a source that is a node of Redis.
void ContinueWithRedis(Call& call, Bytes step) {
  SlotImports& imports = call.services.slot_migrations.imports();
  if (EqualsIgnoreCase(step, "SNAPSHOT-EOF")) {
    imports.EndSnapshot(call.session);
  } else if (EqualsIgnoreCase(step, "STREAM-EOF")) {
    imports.EndStream(call.session);
  } else if (EqualsIgnoreCase(step, "FAIL")) {
    throw Refusal{kSourceFailed};
  } else if (!EqualsIgnoreCase(step, "CONF")) {  // CONF SLOT-INFO tells numbers of keys
    throw Refusal{refusals::kSyntax};
  }
  call.reply.Ok();
}

// Handles CONF of a target: `NODE-ID id` tells which node it is.
void Configure(Call& call, const ClusterView& view) {
  if (call.args.AtEnd() || call.args.Left() % 2 != 0) throw Refusal{refusals::kSyntax};
  while (!call.args.AtEnd()) {
    const Bytes option = call.args.Next();
    const Bytes value = call.args.Next();
    if (EqualsIgnoreCase(option, "SLOT-INFO")) continue;
    if (!EqualsIgnoreCase(option, "NODE-ID"))
      throw Refusal{"ERR Unknown option " + std::string(refusals::ShownPart(option))};
    const auto id = NodeId::Parse(value);
    if (!id || view.Find(*id) == nullptr)
      throw Refusal{StrCat("ERR Node ", refusals::ShownPart(value), " not found in cluster")};
    call.services.slot_migrations.SetNodeOf(call.session, *id);
  }
  call.reply.Ok();
}

// Handles `SYNC task first last…` of a target. From now on, its session gets no replies, but the changes of the keys.
void Sync(Call& call, const ClusterView& view) {
  if (!view.me().IsPrimary()) throw Refusal{refusals::kMigrationNeedsPrimary};
  if (call.args.Left() < 3 || call.args.Left() % 2 == 0) throw Refusal{refusals::kSyntax};
  const std::string name = NextName(call.args);
  const SlotSet slots = SlotsOf(TakeTaskRanges(call.args));
  if (view.HasMovingSlots()) throw Refusal{refusals::kSlotsNotStable};
  if (&OwnerOfTask(view, slots) != &view.me()) throw Refusal{kNotOwner};
  call.services.slot_migrations.Sync(call.session, name, slots);
  call.reply.Simple("RDBCHANNELSYNCSLOTS");
  call.services.execution.executor.KeepMessages(call.session);
  call.session.replies.TurnOff();
}

// Handles the requests of a target that is a node of Redis.
void ServeRedis(Call& call, Bytes step) {
  const ClusterView& view = RequireCluster(call).view();
  SlotMigrations& migrations = call.services.slot_migrations;
  if (EqualsIgnoreCase(step, "CONF")) return Configure(call, view);
  if (EqualsIgnoreCase(step, "SYNC")) return Sync(call, view);
  if (EqualsIgnoreCase(step, "RDBCHANNEL") && call.args.Left() == 1) {
    migrations.SendSnapshotTo(call.session, call.args.Next());
    call.reply.Simple("SLOTSSNAPSHOT");
    call.services.execution.executor.KeepMessages(call.session);
    return call.session.replies.TurnOff();
  }
  if (!EqualsIgnoreCase(step, "ACK") || call.args.Left() != 2) throw Refusal{refusals::kSyntax};
  const Bytes state = call.args.Next();
  migrations.HandleAck(call.session, state, call.args.NextInteger());
  call.reply.Ok();
}

struct ClusterSyncSlots {
  // The syntax is Redis', which COMMAND DOCS shows. Valkey's words are in server/cluster/slots/slot_export.h.
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
    if (call.session.cluster_options.is_internal) {
      return call.session.cluster_options.imports != nullptr ? ContinueWithRedis(call, step) : ServeRedis(call, step);
    }
    if (EqualsIgnoreCase(step, "ESTABLISH")) return Establish(call);
    if (EqualsIgnoreCase(step, "FINISH")) return Finish(call);
    // A primary of Valkey passes on all requests of its source.
    if (IsRecord(call)) {
      if (EqualsIgnoreCase(step, "CONF")) ApplyTask(call);
      return call.reply.Ok();
    }
    if (EqualsIgnoreCase(step, "REQUEST")) return Request(call);
    RequireCluster(call);
    Continue(call, step);
  }
};

constexpr auto kClusterSlotSyncCommands = Family<ClusterSyncSlots>();

}  // namespace

std::span<const CommandCard> ClusterSlotSyncCommands() { return kClusterSlotSyncCommands; }

}  // namespace respite
