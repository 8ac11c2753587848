#include "server/replication/resync.h"

#include <unistd.h>

#include <utility>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "persistence/file_system.h"
#include "persistence/rdb_format.h"
#include "persistence/rdb_sink.h"
#include "server/clients/client_subsystem.h"
#include "server/config/settings.h"
#include "server/dataset/capture.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/dataset/lazy_free.h"
#include "server/execution/services.h"
#include "server/replication/replicas.h"
#include "server/replication/replication_stream.h"
#include "server/runtime/server_phase.h"
#include "server/storage/append_only_file.h"
#include "server/storage/child_processes.h"
#include "server/storage/keyspace_sink.h"
#include "server/storage/rdb_loader.h"
#include "server/storage/snapshots.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

bool IsEmpty(const Keyspace& keyspace) {
  for (int db = 0; db < keyspace.Count(); ++db)
    if (keyspace[db].Size() != 0) return false;
  return true;
}

std::string TemporaryName(const Clock& clock) { return StrCat("temp-", clock.WallMs() / 1000, ".", getpid(), ".rdb"); }

}  // namespace

Resync::Resync(const Parts& parts, std::string id, int64_t offset)
    : parts_(parts), id_(std::move(id)), offset_(offset), receiver_(parts.services.env.log) {}

Resync::Status Resync::Take(Bytes& bytes) {
  SnapshotReceiver::Progress progress = receiver_.Take(bytes);
  if (progress.status == SnapshotReceiver::Status::kBegins) {
    progress.status = receiver_.Into(*this);
    if (progress.status == SnapshotReceiver::Status::kMore) progress = receiver_.Take(progress.rest);
  }
  bytes = progress.rest;
  if (progress.status == SnapshotReceiver::Status::kMore) return Status::kMore;
  return progress.status == SnapshotReceiver::Status::kWhole ? Status::kWhole : Status::kFailed;
}

size_t Resync::MaxBytesPerTurn() const {
  return direct_load_ ? static_cast<size_t>(parts_.services.env.settings.loading_process_events_interval_bytes)
                      : SIZE_MAX;
}

const std::string& Resync::failure() const {
  if (!failure_.empty()) return failure_;
  return target_ != nullptr && !target_->failure().empty() ? target_->failure() : receiver_.failure();
}

bool Resync::Fail(const std::string& text) {
  parts_.services.env.log.Warning(text);
  failure_ = text;
  return false;
}

bool Resync::Write(Bytes bytes) {
  if (target_ == nullptr && !TakeHeader(bytes)) return false;
  return bytes.empty() || target_->Write(bytes);
}

bool Resync::TakeHeader(Bytes& bytes) {
  const Bytes wanted = bytes.substr(0, kRdbHeaderBytes - head_.size());
  head_.append(wanted);
  bytes.remove_prefix(wanted.size());
  if (head_.size() < kRdbHeaderBytes) return true;
  const RdbHeader head = ParseRdbHeader(head_, MakeRdbReadOptions(parts_.services).versions);
  if (head.fault == RdbFailure::Kind::kSignature) {
    return Fail("The snapshot of the master begins with " + Quoted(head_) +
                ", which is no RDB that this server reads. Nothing is loaded; the old data stays");
  }
  if (head.fault) {
    return Fail(StrCat(head.text, ": this server reads versions 1 to ", rdb::kNewestVersion,
                       ", the master is newer. Nothing is loaded; the old data stays"));
  }
  return Begin() && target_->Write(head_);
}

bool Resync::Finish() {
  if (target_ == nullptr) return Fail("The snapshot of the master ends before its head");
  return target_->Finish();
}

bool Resync::Begin() {
  const bool is_direct = LoadsDirectly();
  const auto total = receiver_.TotalBytes();
  parts_.services.env.log.Notice("MASTER <-> REPLICA sync: receiving " +
                                 (total ? StrCat(*total, " bytes from master") : "streamed RDB from master with EOF") +
                                 (is_direct ? " to parser" : " to disk"));
  if (!is_direct) return BeginFile();
  BeginDirectLoad();
  return true;
}

bool Resync::LoadsDirectly() const {
  switch (parts_.services.env.settings.repl_diskless_load) {
    case DisklessLoad::kDisabled:
      return false;
    case DisklessLoad::kOnEmptyDb:
      return IsEmpty(parts_.services.data.dataset.keyspace);
    case DisklessLoad::kSwapDb:
    case DisklessLoad::kFlushBeforeLoad:
      return true;
  }
  return false;
}

bool Resync::BeginFile() {
  const Services& services = parts_.services;
  file_.emplace(SnapshotFile::Parts{services.env.log, services.env.files}, TemporaryName(services.env.clock));
  target_ = &*file_;
  return file_->Open();
}

// Begins to load the snapshot while it arrives. Without `repl-diskless-load swapdb`, first deletes the old data. With
// swapdb, keeps the old data until the end of the load. Clients see the old data meanwhile (kAsync) only if it belongs
// to the history of the snapshot, because then the old data is an earlier state of the new data.
void Resync::BeginDirectLoad() {
  const Services& services = parts_.services;
  DirectLoad::Into into = DirectLoad::Into::kDataSet;
  if (services.env.settings.repl_diskless_load == DisklessLoad::kSwapDb) {
    into = services.data.dataset.history.id == id_ ? DirectLoad::Into::kAsync : DirectLoad::Into::kBeside;
  } else {
    DropOldHistory();
    services.env.log.Notice("MASTER <-> REPLICA sync: Flushing old data");
    FlushOldData();
  }
  services.env.log.Notice("MASTER <-> REPLICA sync: Loading DB in memory");
  direct_load_.emplace(services, into, receiver_.TotalBytes());
  target_ = &*direct_load_;
}

// Gives up the current history: until the whole snapshot is loaded, the data belongs to no history. Disconnects the
// replicas. Turns the append-only file off, so that it keeps the old data. If this server ends before the snapshot is
// loaded, it loads the old data when it restarts.
void Resync::DropOldHistory() {
  const Services& services = parts_.services;
  has_dropped_old_data_ = true;
  services.storage.backup.HandleDataReplaced("A full synchronization replaced the data");
  services.storage.aof.TurnOff();
  services.storage.snapshots.Unschedule();
  parts_.replicas.CloseAll();
  services.data.dataset.history.ReplaceWith(services.data.dataset.ids.Hex(History::kIdLength), 0);
  services.data.dataset.history.is_shared = false;
  // Makes WAIT and WAITAOF return 0 for writes that clients have made before. These writes belong to the history that
  // ends here, and their offsets mean nothing in the next history.
  services.clients.registry.ForEach([](Session& session) {
    session.wait_offset = 0;
    if (session.last_change == LastChange::kKept) session.last_change = LastChange::kLost;
  });
  services.data.dataset.history.data = History::Data::kNone;
  parts_.stream.End();
}

void Resync::KillChild() {
  const Services& services = parts_.services;
  if (!services.storage.child_processes.Busy()) return;
  services.env.log.Notice(
      "Replica is about to load the RDB file received from the master, but there is a pending RDB child running. "
      "Killing process and removing its temp file to avoid any race");
  services.storage.child_processes.Kill();
}

void Resync::FlushOldData() {
  const Services& services = parts_.services;
  const bool is_later = services.env.settings.replica_lazy_flush || direct_load_;
  services.data.dataset.keyspace.hidden().Clear();
  services.data.lazy_free.Free(Capture::Take(services.data.dataset), is_later ? FreeMode::kLater : FreeMode::kNow);
}

// Tells clients that watch keys, and clients that are blocked on keys, of the new data: calls OnSwap(db, db) of the
// listener for each database. The flush has already told them of the removed keys.
void Resync::NotifyOfNewData() {
  Dataset& data = parts_.services.data.dataset;
  if (data.listener == nullptr) return;
  for (int db = 0; db < data.keyspace.Count(); ++db) data.listener->OnSwap(db, db);
}

void Resync::TurnAofBackOn() {
  if (parts_.services.env.settings.appendonly) parts_.services.storage.aof.TurnBackOn();
}

bool Resync::Install() {
  const Services& services = parts_.services;
  const bool was_direct = direct_load_.has_value();
  if (!was_direct) KillChild();
  if (!has_dropped_old_data_) DropOldHistory();
  if (!was_direct && !LoadFile()) {
    if (services.env.phase.HasStopped()) return false;
    FlushOldData();
    return false;
  }
  if (was_direct && direct_load_->UsesSecondKeyspace()) {
    services.env.log.Notice("MASTER <-> REPLICA sync: Swapping active DB with loaded DB");
    FlushOldData();
    direct_load_->MoveIntoServer();
    services.env.log.Notice("MASTER <-> REPLICA sync: Discarding old DB in background");
  }
  NotifyOfNewData();
  History& history = services.data.dataset.history;
  history.ReplaceWith(id_, offset_);
  history.has_local_writes = services.storage.loading.file_history().has_local_writes;
  history.Confirm();
  history.is_shared = true;
  TurnAofBackOn();  // the base of the file names the history
  services.env.log.Notice("MASTER <-> REPLICA sync: Finished with success");
  return true;
}

// Loads the snapshot from the received file. First flushes the old data, because memory may not suffice for the old and
// the new data. If the load succeeds, the received file becomes the dump file.
bool Resync::LoadFile() {
  const Services& services = parts_.services;
  services.env.log.Notice("MASTER <-> REPLICA sync: Flushing old data");
  FlushOldData();
  services.env.log.Notice("MASTER <-> REPLICA sync: Loading DB in memory");
  const RdbLoadResult end = LoadRdbFile(
      services, file_->path(), {.expired = RdbLoadOptions::Expired::kKeep, .origin = RdbLoadOptions::Origin::kPrimary});
  if (end.outcome != LoadOutcome::kLoaded) {
    failure_ = "the snapshot cannot be loaded: " + end.failure;
    return false;
  }
  if (services.storage.snapshots.InstallAsDump(file_->path())) file_->Keep();
  services.storage.snapshots.RemoveSyncFile();
  return true;
}

void Resync::Abandon() {
  if (!direct_load_) return;
  direct_load_->Abandon();
  if (!direct_load_->UsesSecondKeyspace()) FlushOldData();
}

}  // namespace respite
