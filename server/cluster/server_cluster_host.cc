#include "server/cluster/server_cluster_host.h"

#include <cerrno>
#include <numeric>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "datatypes/keyspace.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/pause.h"
#include "server/clients/pubsub.h"
#include "server/cluster/cluster_view.h"
#include "server/config/settings.h"
#include "server/dataset/capture.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/dataset/lazy_free.h"
#include "server/dataset/unit.h"
#include "server/execution/services.h"
#include "server/replication/replication.h"
#include "server/runtime/host.h"
#include "server/runtime/server_phase.h"

namespace respite {

namespace {

constexpr uint64_t kLongestFile = uint64_t{64} << 20;
constexpr size_t kKeysPerUnit = 1000;
constexpr int64_t kRenameSyncMs = 1000;

}  // namespace

// --- The file.

std::string ServerClusterHost::Path() const {
  return services_.env.settings.folder->Resolve(services_.env.settings.cluster_config_file);
}

Result<std::string, std::string> ServerClusterHost::OpenNodesFile() {
  const std::string path = Path();
  if (services_.env.files.KindOf(path) == FileSystem::Kind::kAbsent) {
    auto made = services_.env.files.Open(path, FileSystem::Mode::kAppend);
    if (!made.ok()) return Failure("Can't open " + path + " in order to acquire a lock: " + IoErrorText(made.error()));
  }
  auto lock = services_.env.files.Lock(path);
  if (!lock.ok()) {
    if (lock.error() != EWOULDBLOCK) return Failure("Impossible to lock " + path + ": " + IoErrorText(lock.error()));
    return Failure("Sorry, the cluster configuration file " + path +
                   " is already used by a different Redis Cluster node. Please make sure that different nodes use "
                   "different cluster configuration files.");
  }
  lock_ = std::move(lock).value();
  auto text = ReadFile(services_.env.files, path, kLongestFile);
  if (!text.ok()) return Failure("Loading the cluster node config from " + path + ": " + IoErrorText(text.error()));
  return std::move(text).value();
}

// Replaces nodes.conf by a new file, which is synced and locked before the rename. So no other process can lock
// nodes.conf in between. A crash of the machine leaves the old or the new file, never an empty one, with which the node
// would get another id.
IoError ServerClusterHost::Write(const std::string& text, Durably durably) {
  const std::string path = Path();
  const std::string temporary = path + ".tmp";
  auto file = services_.env.files.Open(temporary, FileSystem::Mode::kCreate);
  if (!file.ok()) return file.error();
  const IoProgress written = file.value()->Write(text);
  if (written.error != kNoError) return written.error;
  if (const IoError error = file.value()->Sync()) return error;
  auto lock = services_.env.files.Lock(temporary);
  if (!lock.ok()) return lock.error();
  if (const IoError error = services_.env.files.Rename(temporary, path)) return error;
  lock_ = std::move(lock).value();
  if (!is_rename_unsynced_) first_unsynced_rename_ms_ = services_.env.real_clock.NowMs();
  is_rename_unsynced_ = true;
  return durably == Durably::kSynced ? SyncRename() : kNoError;
}

IoError ServerClusterHost::SyncRename() {
  is_rename_unsynced_ = false;
  return services_.env.files.SyncDirectory(DirectoryOf(Path()));
}

void ServerClusterHost::FinishSave() {
  if (is_rename_unsynced_ && services_.env.real_clock.NowMs() - first_unsynced_rename_ms_ >= kRenameSyncMs)
    StopServerOnError(SyncRename());
}

bool ServerClusterHost::Save(const ClusterView& view, Durably durably) {
  const PortChoice port = services_.env.settings.tls_cluster ? PortChoice::kTls : PortChoice::kTcp;
  return StopServerOnError(Write(NodesFileText(view, port), durably));
}

bool ServerClusterHost::StopServerOnError(IoError error) {
  if (error == kNoError) return true;
  services_.env.log.Warning("Fatal: can't update cluster config file: " + IoErrorText(error));
  if (services_.env.host) services_.env.host->Stop(1);
  return false;
}

// --- Replication.

void ServerClusterHost::HandleNewEpochOfPrimary() { services_.data.dataset.history.NotePrimaryMovedOn(); }

int64_t ServerClusterHost::Offset() const { return services_.data.dataset.history.OffsetInElections(); }

std::optional<int64_t> ServerClusterHost::DataAgeMs() const {
  const int64_t age_s = services_.replication.primary_link().GetFigures().data_age_s;
  return age_s < 0 ? std::nullopt : std::optional(age_s * 1000);
}

bool ServerClusterHost::IsLinked() const { return services_.replication.role().is_linked; }

bool ServerClusterHost::HasWholeData() const { return services_.data.dataset.history.IsWhole(); }

// Makes this server a replica of the primary at ip:port. If this server already follows that primary, and shares its
// history (`shared_until` is not nullopt), only makes a delayed attempt to connect immediately.
void ServerClusterHost::Follow(const std::string& ip, int port, std::optional<int64_t> shared_until) {
  RunNowOrAfterLongTask([this, ip, port, shared_until] {
    const auto& now = services_.env.settings.replicaof;
    const bool is_same = shared_until && now && now->host == ip && now->port == port;
    if (is_same) {
      PrimaryLink& link = services_.replication.primary_link();
      if (link.IsWaitingToRetry()) link.Retry();
      return;
    }
    services_.replication.Follow(ip, port, shared_until);
  });
}

void ServerClusterHost::Promote() {
  RunNowOrAfterLongTask([this] { services_.replication.Promote(); });
}

bool ServerClusterHost::IsInLongTask() const { return services_.env.phase.IsInLongTask(); }

void ServerClusterHost::RunNowOrAfterLongTask(std::function<void()> task) {
  if (!IsInLongTask() || !services_.env.host) return task();
  services_.env.host->Post(std::move(task));
}

// --- Data and clients.

bool ServerClusterHost::HasKeysInSlot(int slot) const {
  return services_.data.dataset.keyspace.CountKeysInSlot(slot) != 0;
}

bool ServerClusterHost::HasKeys() const { return !services_.data.dataset.keyspace.IsEmpty(); }

void ServerClusterHost::DeleteKeysInSlot(int slot, const ClusterView& view) {
  RunNowOrAfterLongTask([this, slot, &view] { DeleteKeysInSlotNow(slot, view); });
}

// Deletes the keys of a slot in all databases, unless this node owns or imports the slot now.
void ServerClusterHost::DeleteKeysInSlotNow(int slot, const ClusterView& view) {
  if (view.Owner(slot) == &view.me() || view.ImportingFrom(slot) != nullptr) return;
  for (int db = 0; db < services_.data.dataset.keyspace.Count(); ++db) DeleteKeysInSlotNow(db, slot);
}

void ServerClusterHost::DeleteKeysInSlotNow(int db, int slot) {
  Database& keys = services_.data.dataset.keyspace[db];
  while (true) {
    const std::vector<std::string> some = keys.by_slot()->Some(slot, kKeysPerUnit);
    if (some.empty()) return;
    Unit unit(services_.data.dataset, services_.env.clock.WallMs(), ExpiryRule::kIgnoreDeadlines);
    for (const std::string& key : some) unit.RemoveKeyOfForeignSlot(db, keys.Find(key));
    unit.Close(Unit::Grouping::kApart);
  }
}

void ServerClusterHost::DeleteAllKeys() {
  RunNowOrAfterLongTask([this] {
    services_.data.dataset.keyspace.hidden().Clear();
    Capture taken = Capture::Take(services_.data.dataset);
    // Puts the functions back into the server. Capture::Take has removed them together with the keys, but only the keys
    // must be deleted.
    if (services_.data.dataset.functions != nullptr) services_.data.dataset.functions->Exchange(taken.TakeFunctions());
    services_.data.lazy_free.Free(std::move(taken), FreeMode::kLater);
    services_.replication.HandleDataDropped();
  });
}

void ServerClusterHost::PauseWrites() { services_.clients.pause.PauseWrites(Pause::kCluster); }

void ServerClusterHost::ResumeWrites() { services_.clients.pause.ResumeWrites(Pause::kCluster); }

void ServerClusterHost::Deliver(PacketType type, const PublishBody& message) {
  if (type == PacketType::kPublishShard) {
    services_.clients.pubsub.PublishToShard(message.channel, message.message);
  } else {
    services_.clients.pubsub.Publish(message.channel, message.message);
  }
}

}  // namespace respite
