#include "server/node/node.h"

#include "server/commands/families.h"
#include "server/node/config_hooks.h"
#include "server/node/shutdown_failover.h"

namespace respite {

namespace {

Where WhereOf(ServerMode mode) { return mode == ServerMode::kSentinel ? Where::kSentinels : Where::kDataServers; }

// Creates the clock of a server that allows the command TEST, so that tests can move its time. Returns null if the
// server does not allow TEST; it then reads the machine's clock.
std::unique_ptr<MovableClock> MovableClockFor(const Node::Parts& outside) {
  if (outside.config.settings().test_commands == Permission::kNever) return nullptr;
  return std::make_unique<MovableClock>(outside.clock, outside.real_clock);
}

}  // namespace

Node::Node(const Parts& outside)
    : movable_clock_(MovableClockFor(outside)),
      faulty_disk_(outside.files, disk_faults_),
      commands_(AllCommands(WhereOf(outside.config.mode()), outside.config.settings().emulate)),
      runtime_({.config = outside.config,
                .commands = commands_,
                .clock = movable_clock_ != nullptr ? *movable_clock_ : outside.clock,
                .real_clock = outside.real_clock,
                .log = outside.log,
                .files = outside.files}),
      data_(runtime_.env, outside.hash_key, outside.random_seed, outside.ids),
      clients_(runtime_.env, data_, outside.hash_key),
      services_{.env = runtime_.env,
                .data = data_,
                .clients = clients_,
                .execution = execution_,
                .storage = storage_,
                .replication = replication_,
                .migrations = migrations_,
                .cluster = cluster_,
                .slot_migrations = slot_migrations_,
                .sentinel = sentinel_,
                .tls = tls_,
                .identity = identity_,
                .lab = lab_},
      identity_(runtime_.env.clock, data_.dataset.ids),
      execution_(services_, outside.hash_key),
      storage_(services_, movable_clock_ != nullptr ? faulty_disk_ : outside.files, outside.forker),
      housekeeping_(services_),
      lab_(services_,
           {.clock = movable_clock_.get(), .disk = disk_faults_, .keeper = housekeeping_, .seed = outside.random_seed}),
      replication_(services_),
      migrations_(services_),
      cluster_(services_, data_.dataset.random.Next()),
      slot_migrations_(services_, data_.dataset.random.Next()),
      sentinel_(services_, data_.dataset.random.Next()) {
  RegisterHooks();
  if (movable_clock_ != nullptr) {
    lab_.snapshots.RememberConfigAndUsers();
    lab_.missing.Start();
  }
  data_.memory.MarkStartup();
}

void Node::RegisterHooks() {
  clients_.registry.SetCloseHandler([this](Session& session) {
    execution_.monitors.Remove(session);
    clients_.cleanup.Forget(session);
    clients_.faults.Forget(session);
    replication_.Forget(session);
    slot_migrations_.Forget(session);
  });
  storage_.shutdown.SetFailoverHandler([this] { RequestFailoverOnShutdown(services_); });
  RegisterConfigHooks(services_);
}

}  // namespace respite
