// TEST SNAPSHOT saves and restores the state of this server. TEST RESET resets parts of it.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "base/str_cat.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/role.h"
#include "server/commands/families.h"
#include "server/commands/test/test_words.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/eviction.h"
#include "server/dataset/lazy_free.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/gates.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"
#include "server/replication/replication.h"

namespace respite {

namespace {

using DifferenceKind = DataSnapshots::Difference::Kind;

constexpr char kReplicaCannotRestore[] =
    "ERR this server is a replica, which has the data of its primary. Restore the snapshot there";
constexpr char kReplicaCannotReset[] =
    "ERR this server is a replica, which has the data of its primary. Reset the data there";

Refusal NoSuchSnapshot(Bytes name) {
  return {"ERR no snapshot '" + std::string(refusals::ShownPart(name)) + "'. TEST SNAPSHOT LIST shows them"};
}

// --- TEST SNAPSHOT

Bytes NameOfExistingSnapshot(Call& call) {
  const Bytes name = call.args.Next();
  if (!call.services.lab.snapshots.Has(name)) throw NoSuchSnapshot(name);
  return name;
}

void RequirePrimary(Call& call, const char* refusal) {
  if (call.services.replication.role().is_replica) throw Refusal{refusal};
}

void SaveSnapshot(Call& call) {
  const Bytes name = call.args.Next();
  call.args.ExpectEnd();
  const Services& services = call.services;
  if (services.env.settings.maxmemory != 0 && services.data.eviction.LacksMemory())
    throw Refusal{refusals::kOutOfMemory};
  if (services.lab.snapshots.IsFull() && !services.lab.snapshots.Has(name)) {
    throw Refusal{StrCat("ERR there are ", NamedSnapshots::kMaxSnapshots, " snapshots already. Delete one first")};
  }
  services.lab.snapshots.Save(name);
  call.reply.Ok();
}

void RestoreSnapshot(Call& call) {
  const Bytes name = NameOfExistingSnapshot(call);
  call.args.ExpectEnd();
  NamedSnapshots& snapshots = call.services.lab.snapshots;
  const auto cached = call.services.execution.scripts.RunCompiler(call, [&] { return snapshots.CacheScripts(name); });
  if (!cached) throw Refusal{"ERR " + cached.error()};
  RequirePrimary(call, kReplicaCannotRestore);  // REPLICAOF may have run while the compiler was slow
  call.effect.SuppressCommandItself();          // the restored changes are propagated instead
  snapshots.Restore(name, call.unit, &call.session);
  call.reply.Ok();
}

Bytes DifferenceName(DifferenceKind kind) {
  if (kind == DifferenceKind::kAdded) return "added";
  return kind == DifferenceKind::kRemoved ? "removed" : "changed";
}

void DiffSnapshots(Call& call) {
  const Bytes before = NameOfExistingSnapshot(call);
  const Bytes after = call.args.AtEnd() ? Bytes() : NameOfExistingSnapshot(call);
  call.args.ExpectEnd();
  const auto differences = call.services.lab.snapshots.Compare(before, after);
  call.reply.Array(differences.size());
  for (const auto& difference : differences) {
    call.reply.Map(3);
    call.reply.Bulk("db");
    call.reply.Integer(difference.db);
    call.reply.Bulk("key");
    call.reply.Bulk(difference.key);
    call.reply.Bulk("change");
    call.reply.Bulk(DifferenceName(difference.kind));
  }
}

void ListSnapshots(Call& call) {
  call.args.ExpectEnd();
  const auto list = call.services.lab.snapshots.List();
  call.reply.Array(list.size());
  for (const auto& summary : list) {
    call.reply.Map(4);
    call.reply.Bulk("name");
    call.reply.Bulk(summary.name);
    call.reply.Bulk("saved");
    call.reply.Integer(summary.saved_wall_ms);
    call.reply.Bulk("keys");
    call.reply.Integer(static_cast<int64_t>(summary.keys));
    call.reply.Bulk("kept");
    call.reply.Integer(static_cast<int64_t>(summary.kept_key_count));
  }
}

void DeleteSnapshot(Call& call) {
  const Bytes name = NameOfExistingSnapshot(call);
  call.args.ExpectEnd();
  call.services.lab.snapshots.Delete(name);
  call.reply.Ok();
}

constexpr std::array kSnapshotActions = {TestAction{"save", SaveSnapshot}, TestAction{"restore", RestoreSnapshot},
                                         TestAction{"diff", DiffSnapshots}, TestAction{"list", ListSnapshots},
                                         TestAction{"del", DeleteSnapshot}};

// --- TEST RESET

// Deletes all keys, and propagates this as FLUSHALL. Requires: this server is a primary.
void ResetData(Call& call) {
  std::vector<int> all(static_cast<size_t>(call.services.data.dataset.keyspace.Count()));
  std::iota(all.begin(), all.end(), 0);
  for (Database& content : call.db.Flush(all)) call.services.data.lazy_free.Free(std::move(content), FreeMode::kLater);
  if (!call.unit.IsRecording()) return;
  const Bytes words[] = {"FLUSHALL"};
  call.unit.data().propagated_commands.Add(0, words);
}

void ResetClients(Call& call) {
  call.services.clients.registry.ForEach([&](Session& session) {
    const bool is_other = &session != &call.session && !session.closing && session.kind != SessionKind::kPrimary;
    if (is_other && session.transport != nullptr) call.services.clients.registry.Close(session);
  });
}

// The parts of the server's state that TEST RESET resets, in this order. Directives come first, because resetting them
// may be refused, and nothing else has changed by then. Other clients are closed before users and data are reset, so
// that they do not see these changes.
constexpr std::array kResets = {
    TestAction{"config", [](Call& call) { call.services.lab.snapshots.ResetConfig(); }},
    TestAction{"faults", [](Call& call) { call.services.lab.faults.Clear(); }},
    TestAction{"clients", ResetClients},
    TestAction{"users", [](Call& call) { call.services.lab.snapshots.ResetUsers(&call.session); }},
    TestAction{"scripts", [](Call& call) { call.services.lab.snapshots.ResetScripts(call.unit); }},
    TestAction{"data", ResetData},
    TestAction{"journal", [](Call& call) { call.services.lab.journal.Forget(); }},
    TestAction{"lint", [](Call& call) { call.services.lab.lint.Forget(); }},
    TestAction{"shuffle", [](Call& call) { call.services.lab.shuffle.TurnOff(); }},
    TestAction{"snapshots", [](Call& call) { call.services.lab.snapshots.Clear(); }},
    TestAction{"clock", [](Call& call) { call.services.lab.clock.FollowMachine(); }},
};
constexpr uint32_t kDataBit = 1U << (std::ranges::find(kResets, Bytes("data"), &TestAction::name) - kResets.begin());

struct TestSnapshot {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|SNAPSHOT action(SAVE save-name<name>:string|RESTORE restore-name<name>:string|diff{DIFF "
      "before:string [after:string]}|LIST|DEL del-name<name>:string)",
      "Saves, restores, compares and removes snapshots of this server.");
  static void Run(Call& call) { RunTestAction(call, kSnapshotActions); }
};

struct TestReset {
  static constexpr CommandSpec spec =
      TestSpec("TEST|RESET [what(DATA|CONFIG|USERS|SCRIPTS|SNAPSHOTS|FAULTS|CLOCK|JOURNAL|LINT|SHUFFLE|CLIENTS)...]",
               "Returns this server, or parts of it, to its state after the start.");
  static void Run(Call& call) {
    call.effect.SuppressCommandItself();  // the parts propagate their changes
    uint32_t wanted = 0;
    while (!call.args.AtEnd()) {
      const Bytes word = call.args.Next();
      const auto named =
          std::ranges::find_if(kResets, [&](const TestAction& one) { return EqualsIgnoreCase(word, one.name); });
      if (named == kResets.end()) throw refusals::SubcommandSyntax(call.services.env.dialect, "TEST", word);
      wanted |= 1U << (named - kResets.begin());
    }
    if (wanted == 0) wanted = ~wanted;
    if ((wanted & kDataBit) != 0) RequirePrimary(call, kReplicaCannotReset);
    for (size_t i = 0; i < kResets.size(); ++i) {
      if ((wanted >> i & 1U) != 0) kResets[i].run(call);
    }
    call.reply.Ok();
  }
};

constexpr auto kTestSnapshotCommands = Family<TestReset, TestSnapshot>();

}  // namespace

std::span<const CommandCard> TestSnapshotCommands() { return kTestSnapshotCommands; }

}  // namespace respite
