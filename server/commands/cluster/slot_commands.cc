// CLUSTER ADDSLOTS, DELSLOTS, SETSLOT and FLUSHSLOTS change the owners of slots. CLUSTER KEYSLOT, COUNTKEYSINSLOT,
// GETKEYSINSLOT and FLUSHSLOT find, count, list and delete the keys in slots.
#include <string>

#include "base/slot_set.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/catalogue/dialect.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/commands/cluster/cluster_commands.h"
#include "server/commands/common_arguments.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/dataset/data_subsystem.h"

namespace respite {

namespace {

constexpr char kInvalidSlot[] = "ERR Invalid slot";
constexpr char kInvalidSlotOrCount[] = "ERR Invalid slot or number of keys";
constexpr char kNotEmpty[] = "ERR DB must be empty to perform CLUSTER FLUSHSLOTS.";
constexpr char kSetSlotNeedsPrimary[] = "ERR Please use SETSLOT only with masters.";
constexpr char kMissingRanges[] = "ERR missing ranges argument";
constexpr char kInvalidRangeCount[] = "ERR invalid number of ranges";
constexpr char kMissingTimeout[] = "ERR Missing timeout value";
constexpr char kBadAction[] = "ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP";
constexpr char kImportRuns[] = "ERR Slot import in progress.";
constexpr char kExportRuns[] = "ERR Slot export in progress.";

enum class WantedSlots : uint8_t { kFree, kTaken };  // kFree: slots without an owner; kTaken: slots with one

// Adds a slot to the slots of ADDSLOTS or DELSLOTS. Throws if the slot is not in the state `wanted` (assigned or free),
// or if the request has named it before.
void CollectSlot(const Cluster& cluster, SlotSet& slots, int slot, WantedSlots wanted) {
  const bool is_taken = cluster.view().Owner(slot) != nullptr;
  const std::string number = std::to_string(slot);
  if (wanted == WantedSlots::kTaken && !is_taken) throw Refusal{"ERR Slot " + number + " is already unassigned"};
  if (wanted == WantedSlots::kFree && is_taken) throw Refusal{"ERR Slot " + number + " is already busy"};
  if (slots.Has(slot)) throw Refusal{"ERR Slot " + number + " specified multiple times"};
  slots.Add(slot);
}

SlotSet TakeSlots(Call& call, const Cluster& cluster, WantedSlots wanted) {
  std::vector<int> numbers;
  while (!call.args.AtEnd()) numbers.push_back(ParseSlotNumber(call.args.Next()));
  SlotSet slots;
  for (const int slot : numbers) CollectSlot(cluster, slots, slot, wanted);
  return slots;
}

// Takes pairs of a first and a last slot, until the end of the request.
std::vector<SlotRange> TakeSlotRanges(Call& call) {
  std::vector<SlotRange> ranges;
  while (!call.args.AtEnd()) {
    const int first = ParseSlotNumber(call.args.Next());
    const int last = ParseSlotNumber(call.args.Next());
    if (first > last) {
      throw Refusal{StrCat("ERR start slot number ", first, " is greater than end slot number ", last)};
    }
    ranges.push_back({first, last});
  }
  return ranges;
}

SlotSet TakeRanges(Call& call, const Cluster& cluster, WantedSlots wanted) {
  if (call.args.Left() % 2 != 0) throw refusals::WrongArity(call.command.full_name);
  SlotSet slots;
  for (const SlotRange& range : TakeSlotRanges(call)) {
    for (int slot = range.first; slot <= range.last; ++slot) CollectSlot(cluster, slots, slot, wanted);
  }
  return slots;
}

// Deletes the keys of the slot in all databases. Cost: O(keys of the slot).
void DeleteKeysOfSlot(Call& call, int slot, FreeMode mode) {
  constexpr size_t kKeysPerStep = 1000;
  Keyspace& keyspace = call.services.data.dataset.keyspace;
  for (int db = 0; db < keyspace.Count(); ++db) {
    Database& keys = keyspace[db];
    while (true) {
      const std::vector<std::string> some = keys.by_slot()->Some(slot, kKeysPerStep);
      if (some.empty()) break;
      for (const std::string& key : some) {
        call.services.data.lazy_free.Free(call.unit.TakeKeyOfSlot(db, keys.Find(key)), mode);
      }
    }
  }
}

ClusterNode& TargetPrimary(Cluster& cluster, Bytes word, const char* refusal) {
  ClusterNode& node = GetNodeById(cluster, word, refusal);
  if (node.IsReplica()) throw Refusal{refusals::kTargetNotAPrimary};
  return node;
}

ClusterNode& MigrationTarget(Cluster& cluster, int slot, Bytes target) {
  if (cluster.view().Owner(slot) != &cluster.view().me()) {
    throw Refusal{StrCat("ERR I'm not the owner of hash slot ", slot)};
  }
  return TargetPrimary(cluster, target, "I don't know about node");
}

ClusterNode& ImportSource(Cluster& cluster, int slot, Bytes source) {
  if (cluster.view().Owner(slot) == &cluster.view().me()) {
    throw Refusal{StrCat("ERR I'm already the owner of hash slot ", slot)};
  }
  return TargetPrimary(cluster, source, "I don't know about node");
}

ClusterNode& NewOwner(Call& call, Cluster& cluster, int slot, Bytes word) {
  ClusterNode& owner = TargetPrimary(cluster, word, kUnknownNode);
  const bool leaves = cluster.view().Owner(slot) == &cluster.view().me() && !owner.IsMyself();
  if (leaves && call.services.data.dataset.keyspace.CountKeysInSlot(slot) != 0) {
    throw Refusal{
        StrCat("ERR Can't assign hashslot ", slot, " to a different node while I still hold keys for this hash slot.")};
  }
  return owner;
}

// Takes the action of CLUSTER SETSLOT if it is `action` and `arguments` words follow it. More words may follow in
// Valkey since 8.0, and in a server that emulates no version.
bool TakeSlotAction(Call& call, Bytes action, size_t arguments) {
  const size_t left = call.args.Left();
  const bool may_have_more = call.services.env.dialect.Has("valkey:8.0.0");
  return (left == arguments + 1 || (left > arguments + 1 && may_have_more)) && call.args.TakeToken(action);
}

// Checks the words after the action of CLUSTER SETSLOT. TIMEOUT says how long Valkey waits for its replicas. It has no
// effect here, because replicas learn the owners of slots from the cluster bus. As Valkey, an emulation of Valkey
// ignores all other words.
void CheckSlotTimeout(Call& call) {
  while (!call.args.AtEnd()) {
    if (call.args.TakeToken("TIMEOUT")) {
      if (call.args.AtEnd()) throw Refusal{kMissingTimeout};
      ParseTimeoutMs(call, call.args.Next());
    } else if (call.services.env.dialect.EmulatesVersion()) {
      call.args.Next();
    } else {
      throw Refusal{kBadAction};
    }
  }
}

void SetSlot(Call& call, Cluster& cluster, int slot) {
  if (TakeSlotAction(call, "STABLE", 0)) {
    CheckSlotTimeout(call);
    cluster.view().SetImporting(slot, nullptr);
    cluster.view().SetMigrating(slot, nullptr);
  } else if (TakeSlotAction(call, "MIGRATING", 1)) {
    ClusterNode& target = MigrationTarget(cluster, slot, call.args.Next());
    CheckSlotTimeout(call);
    cluster.view().SetMigrating(slot, &target);
  } else if (TakeSlotAction(call, "IMPORTING", 1)) {
    ClusterNode& source = ImportSource(cluster, slot, call.args.Next());
    CheckSlotTimeout(call);
    cluster.view().SetImporting(slot, &source);
  } else if (TakeSlotAction(call, "NODE", 1)) {
    ClusterNode& owner = NewOwner(call, cluster, slot, call.args.Next());
    CheckSlotTimeout(call);
    cluster.GiveSlot(slot, owner);
  } else {
    throw Refusal{kBadAction};
  }
}

struct ClusterAddSlots {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|ADDSLOTS slot:integer...",
                                       .summary = "Assigns hash slots to this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N slots",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    cluster.AddSlots(TakeSlots(call, cluster, WantedSlots::kFree));
    call.reply.Ok();
  }
};

struct ClusterAddSlotsRange {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|ADDSLOTSRANGE range{start-slot:integer end-slot:integer}...",
                                       .summary = "Assigns ranges of hash slots to this node.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N slots in the ranges",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    cluster.AddSlots(TakeRanges(call, cluster, WantedSlots::kFree));
    call.reply.Ok();
  }
};

struct ClusterDelSlots {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|DELSLOTS slot:integer...",
                                       .summary = "Removes hash slots from this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N slots",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    cluster.DeleteSlots(TakeSlots(call, cluster, WantedSlots::kTaken));
    call.reply.Ok();
  }
};

struct ClusterDelSlotsRange {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|DELSLOTSRANGE range{start-slot:integer end-slot:integer}...",
                                       .summary = "Removes ranges of hash slots from this node.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N slots in the ranges",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    cluster.DeleteSlots(TakeRanges(call, cluster, WantedSlots::kTaken));
    call.reply.Ok();
  }
};

struct ClusterFlushSlots {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|FLUSHSLOTS",
                                       .summary = "Removes all hash slots from this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    if (!call.services.data.dataset.keyspace.IsEmpty()) throw Refusal{kNotEmpty};
    cluster.DeleteSlots(cluster.view().SlotsOf(cluster.view().me()));
    call.reply.Ok();
  }
};

struct ClusterFlushSlot {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|FLUSHSLOT slot:integer [flush-type(ASYNC|SYNC)]",
                                       .summary = "Deletes all keys of a hash slot, in all databases.",
                                       .since = "valkey:9.0.0",
                                       .complexity = "O(N) for N keys of the slot",
                                       .group = CommandGroup::kCluster,
                                       .flags = kWrite | kAdmin | kNoAsyncLoading,
                                       .categories = kAclKeyspace,
                                       .uses_all_databases = true};
  static void Run(Call& call) {
    RequireCluster(call);
    if (call.args.Left() > 2) throw refusals::SubcommandSyntax(call.services.env.dialect, "CLUSTER", "FLUSHSLOT");
    const int slot = ParseSlotNumber(call.args.Next());
    const FreeMode mode = TakeFlushMode(call, refusals::kSyntax);
    Keyspace& keyspace = call.services.data.dataset.keyspace;
    if (keyspace.hidden().Has(slot)) throw Refusal{kImportRuns};
    DeleteKeysOfSlot(call, slot, mode);
    call.effect.SuppressCommandItself();  // a DEL for each key is propagated instead, so that other versions can follow
    call.reply.Ok();
  }
};

// Redis since 8.4 writes TRIMSLOTS to its replicas and its append-only file after slots have moved to another node.
struct TrimSlots {
  static constexpr CommandSpec spec = {
      .syntax = "TRIMSLOTS RANGES ranges{numranges:integer slots{startslot:integer endslot:integer}...}",
      .summary = "Deletes all keys of slots that this node does not serve.",
      .since = "8.4.0",
      .complexity = "O(N) for N keys of the slots",
      .group = CommandGroup::kServer,
      .flags = kWrite,
      .categories = kAclKeyspace | kAclDangerous,
      .uses_all_databases = true};
  static void Run(Call& call) {
    const Cluster& cluster = RequireCluster(call);
    const SlotSet slots = TakeTrimmedSlots(call);
    // A primary and an append-only file are believed, because they may be ahead of what this node knows of the cluster.
    if (!call.unit.IsReplaying()) RefuseUsedSlots(call, cluster.view(), slots);
    slots.ForEach([&](int slot) { DeleteKeysOfSlot(call, slot, FreeMode::kLater); });
    call.effect.SuppressCommandItself();  // a DEL for each key is propagated instead, so that other versions can follow
    call.reply.Ok();
  }

 private:
  static SlotSet TakeTrimmedSlots(Call& call) {
    if (!call.args.TakeToken("RANGES")) throw Refusal{kMissingRanges};
    const int64_t count = call.args.NextInteger();
    const size_t left = call.args.Left();
    if (count <= 0 || left % 2 != 0 || static_cast<uint64_t>(count) != left / 2) throw Refusal{kInvalidRangeCount};
    SlotSet slots;
    for (const SlotRange& range : TakeSlotRanges(call)) {
      for (int slot = range.first; slot <= range.last; ++slot) {
        if (slots.Has(slot)) throw Refusal{StrCat("ERR Slot ", slot, " specified multiple times")};
        slots.Add(slot);
      }
    }
    return slots;
  }

  // Throws a Refusal if this node serves one of the slots, or imports it.
  static void RefuseUsedSlots(const Call& call, const ClusterView& view, const SlotSet& slots) {
    const ClusterNode* own = view.me().primary != nullptr ? view.me().primary : &view.me();
    slots.ForEach([&](int slot) {
      if (call.services.data.dataset.keyspace.hidden().Has(slot)) throw Refusal{kImportRuns};
      if (view.Owner(slot) != own) return;
      throw Refusal{StrCat("ERR the slot ", slot, " is served by this node")};
    });
  }
};

struct ClusterKeySlot {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|KEYSLOT key:string",
                                       .summary = "Returns the hash slot of a key.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N bytes of the key",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale};
  static void Run(Call& call) {
    if (call.services.env.dialect.traits.keyslot_needs_cluster) RequireCluster(call);
    call.reply.Integer(KeySlot(call.args.Next()));
  }
};

struct ClusterCountKeysInSlot {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|COUNTKEYSINSLOT slot:integer",
                                       .summary = "Counts the keys of a hash slot in the database.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale};
  static void Run(Call& call) {
    RequireCluster(call);
    const int64_t slot = call.args.NextInteger();
    if (slot < 0 || slot >= kSlotCount) throw Refusal{kInvalidSlot};
    call.reply.Integer(static_cast<int64_t>(call.db.Data().by_slot()->Count(static_cast<int>(slot))));
  }
};

struct ClusterGetKeysInSlot {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|GETKEYSINSLOT slot:integer count:integer",
                                       .summary = "Lists keys of a hash slot in the database.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N keys requested",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    RequireCluster(call);
    const auto [slot, count] = call.args.Take<int64_t, int64_t>();
    if (slot < 0 || slot >= kSlotCount || count < 0) throw Refusal{kInvalidSlotOrCount};
    call.reply.BulkArray(call.db.Data().by_slot()->Some(static_cast<int>(slot), static_cast<size_t>(count)));
  }
};

struct ClusterSetSlot {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLUSTER|SETSLOT slot:integer subcommand(IMPORTING importing<node-id>|MIGRATING "
          "migrating<node-id>|NODE node<node-id>|STABLE) [TIMEOUT timeout:integer@valkey:8.0.0]",
      .summary = "Sets the owner of a hash slot, or the state of its migration.",
      .since = "3.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kCluster,
      .flags = kAdmin | kStale | kNoAsyncLoading,
      .in_streams = InStreams::kYes};  // Valkey 8 sends it to its replicas
  static void Run(Call& call) {
    // Ignores a CLUSTER SETSLOT from a replication stream or a file. Valkey 8 propagates this command to replicas, but
    // Respite's replicas learn the owner from the cluster bus.
    if (call.unit.IsReplaying()) return call.reply.Ok();
    Cluster& cluster = RequireCluster(call);
    if (cluster.view().me().IsReplica()) throw Refusal{kSetSlotNeedsPrimary};
    if (call.services.slot_migrations.IsImporting()) throw Refusal{kImportRuns};
    if (call.services.slot_migrations.IsExporting()) throw Refusal{kExportRuns};
    const int slot = ParseSlotNumber(call.args.Next());
    if (call.services.data.dataset.keyspace.hidden().Has(slot)) throw Refusal{kImportRuns};
    SetSlot(call, cluster, slot);
    cluster.view().RequestSave();
    cluster.view().RequestHealthCheck();
    call.reply.Ok();
  }
};

constexpr auto kClusterSlotCommands =
    Family<ClusterAddSlots, ClusterAddSlotsRange, ClusterCountKeysInSlot, ClusterDelSlots, ClusterDelSlotsRange,
           ClusterFlushSlot, ClusterFlushSlots, ClusterGetKeysInSlot, ClusterKeySlot, ClusterSetSlot, TrimSlots>();

}  // namespace

std::span<const CommandCard> ClusterSlotCommands() { return kClusterSlotCommands; }

}  // namespace respite
