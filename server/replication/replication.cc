#include "server/replication/replication.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "base/real_clock.h"
#include "base/refusal.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/pause.h"
#include "server/config/config.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/dataset/unit.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/runtime/server_phase.h"
#include "server/runtime/stats.h"
#include "server/storage/append_only_file.h"
#include "server/storage/loading.h"
#include "server/storage/snapshots.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNoPrimaryLink[] = "NOMASTERLINK Can't SYNC while not connected with my master";
constexpr char kFilterNeedsEof[] = "ERR Filtered replica requires EOF capability";
constexpr char kSyncWithPendingOutput[] = "ERR SYNC and PSYNC are invalid with pending output";
constexpr char kFailoverToPrimary[] = "ERR PSYNC FAILOVER can't be sent to a master.";
constexpr char kFailoverWithoutData[] = "ERR PSYNC FAILOVER can't be sent to a replica without valid data.";
constexpr char kFailoverOtherHistory[] = "ERR PSYNC FAILOVER replid must match my replid.";
constexpr char kFailoverAfterRestart[] =
    "ERR PSYNC FAILOVER offset is beyond my data: this replica has restarted with an older file.";

}  // namespace
}  // namespace refusals

namespace {

constexpr int64_t kCronMs = 1000;
constexpr int64_t kFailoverCronMs = 100;  // writes are paused meanwhile

}  // namespace

Replication::Replication(const Services& services)
    : services_(services),
      stream_(services.data.dataset),
      replicas_({.env = services.env,
                 .data = services.data.dataset,
                 .clients = services.clients.registry,
                 .limits = services.clients.limits,
                 .stream = stream_,
                 .pause = services.clients.pause,
                 .role = services.clients.role}),
      full_sync_({.env = services.env,
                  .data = services.data.dataset,
                  .clients = services.clients.registry,
                  .child_processes = services.storage.child_processes,
                  .snapshots = services.storage.snapshots,
                  .contents = services.storage.contents,
                  .replicas = replicas_,
                  .stream = stream_}),
      primary_link_({.services = services, .replicas = replicas_, .stream = stream_, .failover = failover_}),
      divergence_watch_({services.env, services.execution.durability,
                         [this](Bytes command, Bytes error) { primary_link_.HandleFailedCommand(command, error); }}),
      local_keys_({services.env.clock, services.data.dataset}),
      failover_({.env = services.env,
                 .history = services.data.dataset.history,
                 .role = services.clients.role,
                 .pause = services.clients.pause,
                 .replicas = replicas_,
                 .changer = *this}) {
  services.storage.shutdown.SetReplicasToWaitFor(&replicas_);
  services.storage.snapshots.SetEndHandler(
      [this](Snapshots::Outcome outcome) { full_sync_.HandleSnapshotEnd(outcome); });
}

const Role& Replication::role() const { return services_.clients.role; }

void Replication::SetRole(const Role& role) {
  services_.clients.role = role;
  services_.env.log.SetRole(role.is_replica ? 'S' : 'M');
  on_role_();
  services_.execution.observers.Detach(divergence_watch_);
  services_.execution.observers.Detach(local_keys_);
  local_keys_.Clear();
  if (!role.is_replica) return;
  services_.execution.observers.Attach(divergence_watch_);
  services_.execution.observers.Attach(local_keys_);
}

// Makes this server a replica of host:port. Requests a partial resynchronisation if the history of its data is known,
// even if this server was a primary: the new primary may have been its replica.
//
// The data of a former primary may have writes that no other server has. So it does not count as an earlier state of
// the new primary's history (PrimaryLink::Data::kOther), and no byte counts as shared (History::shared_until).
// Exception: if a replica of the new primary wrote the loaded file, all bytes count as shared (IsDataOfReplicaOf). A
// cluster node counts as a primary while it starts.
void Replication::Follow(const std::string& host, int port, std::optional<int64_t> shared_until) {
  Settings& settings = services_.env.config.MutableSettings();
  const bool was_primary = !services_.clients.role.is_replica;
  settings.replicaof = PrimaryAddress{host, port};
  SetRole({.is_replica = true});
  const bool was_known = services_.data.dataset.history.IsKnown();
  if (was_primary) TakeBackOffsets();
  if (was_primary && shared_until) shared_until = IsDataOfReplicaOf(*settings.replicaof) ? History::kMaxOffset : 0;
  ClassifyOwnData(shared_until);
  if (was_primary) {
    services_.env.log.Notice(
        "Before turning into a replica, using my own master parameters to synthesize a cached master: I may be able to "
        "synchronize with the new master with just a partial transfer.");
  }
  services_.clients.blocked.EndAllWaits(UnblockReason::kRoleChanged);  // these clients wait to write
  // From now on, the stream for replicas has the commands of the primary, not of this server. The replicas of this
  // server stay connected, because the new primary may continue the history that they have.
  stream_.SetSource(ReplicationStream::Source::kPrimary);
  const bool is_same = shared_until && !was_primary && services_.data.dataset.history.IsWhole();
  primary_link_.Follow(was_known ? Handshake::MayContinue::kYes : Handshake::MayContinue::kNo,
                       is_same ? PrimaryLink::Data::kSameHistory : PrimaryLink::Data::kOther);
}

// Takes back the offsets that ContinueFromFile has left out, if no replica knows the history since then. A primary
// that has been replaced while it was down must not have a larger offset than its data.
void Replication::TakeBackOffsets() {
  History& history = services_.data.dataset.history;
  if (has_served_ || history.skipped_offsets == 0) return;
  history.LeaveOutOffsetsBefore(history.offset - history.skipped_offsets);
  stream_.Restart();
}

// Records in History how the data here relates to the new primary. `shared_until` is as in Follow. Does nothing unless
// History::IsWhole(). Sets History::data to kNone if there are no keys, and no other server has this history. Otherwise
// sets it to kOther if `shared_until` is nullopt, and else limits History::shared_until to `shared_until`.
void Replication::ClassifyOwnData(std::optional<int64_t> shared_until) {
  History& history = services_.data.dataset.history;
  if (!history.IsWhole()) return;
  if (!history.is_shared && services_.data.dataset.keyspace.IsEmpty()) {
    history.data = History::Data::kNone;
  } else if (!shared_until) {
    history.data = History::Data::kOther;
  } else {
    history.shared_until = std::min(history.shared_until, *shared_until);
  }
}

// Makes this server a primary, and disconnects its replicas. Usually continues the history under a new ID, so that
// other replicas of the former primary can do a partial resynchronisation with this server. Begins a new history if a
// write of the primary failed here, or if clients have written to this replica, because its data then differs. If this
// server never got the former primary's data (kNone, kOther), the history may be one that the other replicas lack.
void Replication::Promote() {
  if (!services_.clients.role.is_replica) return;
  services_.env.config.MutableSettings().replicaof.reset();
  primary_link_.Leave();
  failover_.EndIfHandedOver();  // this server follows no primary any more
  SetRole({});
  History& history = services_.data.dataset.history;
  if (history.data == History::Data::kNone) {
    services_.env.log.Warning(
        "This server becomes a master without the data of its former master, which was never loaded completely");
  }
  if (history.data == History::Data::kOther) {
    services_.env.log.Warning(
        "This server becomes a master with the data that it had before it followed its former master, to which it was "
        "never linked");
  }
  if (history.data == History::Data::kDiverged) {
    services_.env.log.Warning(
        "This server becomes a master, but at least one write of its former master failed here and is missing");
  }
  if (history.data == History::Data::kDiverged || history.has_local_writes) {
    const char* const why = history.has_local_writes ? "this replica has changes of its own" : "the data has diverged";
    BeginNewHistory();
    services_.env.log.Notice(StrCat("New replication ID is ", history.id, ". There is no secondary ID, because ", why));
  } else {
    history.ShiftReplicationId(services_.data.dataset.ids.Hex(History::kIdLength));
    services_.env.log.Notice(StrCat("Setting secondary replication ID to ", history.former_id, ", valid up to offset: ",
                                    history.former_end, ". New replication ID is ", history.id));
  }
  history.Confirm();
  if (services_.env.settings.appendonly && !services_.storage.aof.IsOn()) services_.storage.aof.TurnBackOn();
  replicas_.CloseAll();
  replicas_.StartBacklogTtl();
  stream_.SetSource(ReplicationStream::Source::kOwn);
  stream_.ForgetSelectedDb();
}

void Replication::HandOver(const PrimaryAddress& target) { Follow(target.host, target.port, History::kMaxOffset); }

void Replication::TakeOver(const std::string& history_id, int64_t from) {
  if (!services_.clients.role.is_replica) throw Refusal{refusals::kFailoverToPrimary};
  if (!services_.data.dataset.history.IsWhole()) throw Refusal{refusals::kFailoverWithoutData};
  const History& history = services_.data.dataset.history;
  if (history_id != history.id) throw Refusal{refusals::kFailoverOtherHistory};
  // Refuses the takeover if this replica has less data than the primary, and its link to the primary was never up: then
  // it has restarted since the primary chose it. A replica whose link was up may have less data, because the primary
  // hands over to it with FORCE.
  if (!primary_link_.HasBeenLinked() && history.offset + 1 < from) throw Refusal{refusals::kFailoverAfterRestart};
  Promote();
  services_.env.log.Notice("MASTER MODE enabled (failover request)");
}

void Replication::Start() {
  const auto& settings = services_.env.settings;
  const int64_t covered = services_.storage.offset_file.Read();
  SetLeastOffset(covered);
  if (!settings.appendonly) ContinueFromFile(covered);
  if (!settings.replicaof) return;
  SetRole({.is_replica = true});
  // Unless a replica of this primary wrote the loaded file, assumes that the primary has none of its data: the file may
  // contain data of a former primary, which this primary never had.
  ClassifyOwnData(IsDataOfReplicaOf(*settings.replicaof) ? History::kMaxOffset : 0);
  stream_.SetSource(ReplicationStream::Source::kPrimary);
  const bool has_history = services_.data.dataset.history.is_shared;
  primary_link_.Follow(has_history ? Handshake::MayContinue::kYes : Handshake::MayContinue::kNo,
                       PrimaryLink::Data::kOther);
}

// Returns true if a replica of `primary` (this server or another) wrote the RDB file that was loaded, while that
// replica was known to share the history of `primary`. Returns false if the data has changed since the file was loaded,
// and always with `appendonly`.
bool Replication::IsDataOfReplicaOf(const PrimaryAddress& primary) const {
  const Loading::FileHistory& file = services_.storage.loading.file_history();
  return !services_.env.settings.appendonly && file.IsWhole() && file.primary == primary.Text() &&
         services_.data.dataset.history.offset == file.offset && services_.data.dataset.stats.dirty == 0;
}

void Replication::HandleDataDropped() {
  services_.storage.backup.HandleDataReplaced("The cluster removed all keys of this node");
  // Replaces the append-only file by an empty base. The old file has no commands that remove the keys, so loading it
  // would restore them.
  AppendOnlyFile& aof = services_.storage.aof;
  if (aof.IsOn()) {
    aof.TurnOff();
    aof.TurnBackOn();
  }
  BeginNewHistory();
}

void Replication::BeginNewHistory() {
  History& history = services_.data.dataset.history;
  replicas_.CloseAll();
  stream_.End();
  // Begins the new history one offset higher if another server may have the ended history (is_shared). A former replica
  // may have stopped at exactly this offset, and elections prefer the larger offset.
  const int64_t next = history.offset + (history.is_shared ? 1 : 0);
  history.ReplaceWith(services_.data.dataset.ids.Hex(History::kIdLength), next);
  history.is_shared = false;
}

void Replication::ShareEmptyHistory(const std::string& id) {
  History& history = services_.data.dataset.history;
  history.ReplaceWith(id, 0);
  history.is_shared = true;
  replicas_.StartBacklogTtl();
  stream_.Begin();
}

// Sets History::least_offset. An append-only file does not contain the replication ID, so the server begins a new
// history after loading it. In a cluster, this history must begin above the last offset of the old one: elections
// prefer the larger offset, and replicas of the old history may have older data. The OffsetFile has covered all these
// offsets. Otherwise the new history begins where the file ends, as in Redis 8.0: after the offset in the base and the
// commands that follow.
void Replication::SetLeastOffset(int64_t covered) {
  const Loading::FileHistory& file = services_.storage.loading.file_history();
  const auto record_bytes = static_cast<int64_t>(std::min<uint64_t>(file.record_bytes, History::kMaxOffset / 2));
  const int64_t in_files = services_.env.settings.appendonly ? record_bytes + (file.IsWhole() ? file.offset : 0) : 0;
  const int64_t last = std::max(in_files, covered);
  History& history = services_.data.dataset.history;
  if (last != 0) history.least_offset = std::max(history.least_offset, last + 1);
}

// Continues the history that the loaded RDB file names, if any. A replica keeps this history. A primary begins a new
// one, with the history of the file as its former one (master_replid2). There is no former one if the data has changes
// that are not in the history (has_local_writes). The backlog begins where the file ends, so a replica with a smaller
// offset needs a full resynchronisation. On a primary, a replica with a larger offset needs one too, because the former
// history ends there. If the primary had a larger offset (`covered`) before it ended, the new history leaves out the
// offsets up to that one.
void Replication::ContinueFromFile(int64_t covered) {
  const Loading::FileHistory& file = services_.storage.loading.file_history();
  // Does nothing if the file does not contain a complete replication history, or if this server lacks the database in
  // which the stream continues.
  if (!file.IsWhole() || file.stream_db >= services_.data.dataset.keyspace.Count()) return;
  History& history = services_.data.dataset.history;
  if (services_.env.settings.replicaof) {
    history.ReplaceWith(file.id, file.offset);
    history.has_local_writes = file.has_local_writes;
  } else if (file.has_local_writes) {
    history.offset = std::max(file.offset, covered) + 1;  // as in BeginNewHistory
  } else {
    history.former_id = file.id;
    history.former_end = file.offset + 1;
    history.offset = file.offset;
    history.LeaveOutOffsetsBefore(std::max(file.offset, covered));
  }
  history.stream_db = std::max(file.stream_db, 0);
  history.is_shared = true;
  replicas_.StartBacklogTtl();
  stream_.Begin();
  if (!services_.env.settings.replicaof) PropagateDeletionsOfExpiredKeys();
}

// Propagates the deletion of keys that had expired when the file was loaded. They were not loaded here, but a replica
// that continues the history of the file still has them.
void Replication::PropagateDeletionsOfExpiredKeys() {
  const Bytes verb = services_.env.settings.lazyfree_lazy_expire ? "UNLINK" : "DEL";
  for (const auto& [db, key] : services_.storage.loading.TakeSkippedExpiredKeys()) {
    Unit unit(services_.data.dataset, 0, ExpiryRule::kIgnoreDeadlines);
    unit.RecordForReplicas(db, std::array<Bytes, 2>{verb, key});
    unit.Close();
  }
}

void Replication::Sync(Session& session, const SyncRequest& request) {
  // Ignores the request if the session is a replica already, or belongs to the primary or to MONITOR.
  if (session.kind == SessionKind::kReplica || session.kind == SessionKind::kPrimary || session.monitor) return;
  const bool is_filtered = session.replica != nullptr && session.replica->wants_functions_only;
  if (is_filtered && !session.replica->accepts_unknown_length) throw Refusal{refusals::kFilterNeedsEof};
  if (services_.clients.role.is_replica && !services_.clients.role.is_linked) throw Refusal{refusals::kNoPrimaryLink};
  if (!session.out.IsEmpty()) throw Refusal{refusals::kSyncWithPendingOutput};
  Logger& log = services_.env.log;
  if (session.replica == nullptr) session.replica = std::make_unique<Replica>();
  Replica& replica = *session.replica;
  replica.speaks_psync = request.speaks_psync;
  if (services_.env.settings.repl_disable_tcp_nodelay && session.transport != nullptr) {
    const int off = 0;
    setsockopt(session.transport->FileDescriptor(), IPPROTO_TCP, TCP_NODELAY, &off, sizeof off);
  }
  log.Notice("Replica " + Replicas::NameOf(session) + " asks for synchronization");
  replicas_.CloseOlderSessions(session);
  has_served_ = true;
  ServerStats& stats = services_.env.stats;
  if (request.speaks_psync && TryContinue(session, request)) {
    ++stats.sync_partial_ok;
    return;
  }
  if (request.speaks_psync && request.id != "?") ++stats.sync_partial_err;
  ++stats.sync_full;
  replicas_.Attach(session);
  History& history = services_.data.dataset.history;
  if (!stream_.HasBacklog()) {
    // Takes a new replication ID, unless this history is shared already. Without a backlog, the offset did not count
    // all writes, so a former replica may have other data at the present ID and offset.
    if (!history.is_shared) {
      history.ReplaceWith(services_.data.dataset.ids.Hex(History::kIdLength),
                          std::max(history.offset, history.least_offset));
    }
    history.is_shared = true;
    stream_.Begin();
    log.Notice("Replication backlog created, my new replication IDs are '" + history.id + "' and '" +
               history.former_id + "'");
  }
  full_sync_.ProvideSnapshot(session);
}

bool Replication::TryContinue(Session& session, const SyncRequest& request) {
  const History& history = services_.data.dataset.history;
  Logger& log = services_.env.log;
  const std::string name = Replicas::NameOf(session);
  if (request.id == "?") {
    log.Notice("Full resync requested by replica " + name);
    return false;
  }
  const bool is_sane = request.from > 0 && request.from <= History::kMaxOffset;
  const std::optional<int64_t> start = history.FindContinuation(request.id, request.from);
  if (!is_sane || !start) {
    log.Notice("Partial resynchronization not accepted: Replication ID mismatch (Replica asked for '" + request.id +
               "', my replication IDs are '" + history.id + "' and '" + history.former_id + "')");
    return false;
  }
  Replica& replica = *session.replica;
  // Only a replica of Respite, which has announced an ID, understands that its offset changes.
  const bool changes_offset = *start != request.from - 1;
  if (!stream_.HasBacklog() || !stream_.backlog().Has(*start) || (changes_offset && replica.id.empty())) {
    log.Notice(StrCat("Unable to partial resync with replica ", name,
                      " for lack of backlog (Replica request was: ", request.from, ")."));
    return false;
  }
  replicas_.Attach(session);
  replica.sent_offset = *start;
  replica.has_data = true;
  session.out.Append(replica.knows_psync2 ? "+CONTINUE " + history.id : "+CONTINUE");
  session.out.Append(changes_offset ? StrCat(" ", *start, "\r\n") : "\r\n");
  log.Notice(StrCat("Partial resynchronization request from ", name, " accepted. Sending ",
                    stream_.backlog().End() - *start, " bytes of backlog starting from offset ", request.from, "."));
  replicas_.PutOnline(session);
  return true;
}

void Replication::Tick() {
  const bool is_loading = services_.env.phase.load() != ServerPhase::Load::kNone;
  if (!is_loading && local_keys_.Count() != 0) {
    // A full synchronisation replaces the data, and so also the writes of clients.
    services_.data.dataset.history.has_local_writes ? local_keys_.RemoveExpired() : local_keys_.Clear();
  }
  const int64_t now_ms = services_.env.real_clock.NowMs();
  if (now_ms - ticked_at_ms_ < (IsFailingOver() ? kFailoverCronMs : kCronMs)) return;
  ticked_at_ms_ = now_ms;
  Cron();
}

void Replication::Cron() {
  services_.storage.offset_file.HandleNewFolder();
  if (services_.clients.role.is_replica) primary_link_.Cron();
  failover_.Continue();
  if (!replicas_.IsEmpty()) {
    // Sends no PING during a manual failover of the cluster, because a PING advances the offset. The replica must reach
    // the offset at which this primary has paused writes.
    const bool is_manual_failover = services_.clients.pause.IsPausedBy(Pause::kCluster);
    const bool is_held_back = services_.clients.role.is_replica || IsFailingOver() || is_manual_failover;
    replicas_.Cron(is_held_back ? Replicas::Pings::kPaused : Replicas::Pings::kAllowed);
    full_sync_.Cron();
  }
  if (!stream_.HasBacklog() || services_.clients.role.is_replica || !replicas_.IsBacklogStale()) return;
  // Drops the backlog and changes the replication ID. Without a backlog, the offset does not count writes, so a replica
  // that reconnects later must do a full resynchronisation.
  BeginNewHistory();
  services_.env.log.Notice(StrCat("Replication backlog freed after ", services_.env.settings.repl_backlog_ttl,
                                  " seconds without connected replicas."));
}

void Replication::EndTurn() {
  if (stream_.HasBacklog()) services_.storage.offset_file.Cover();
  primary_link_.EndTurn();
  failover_.Continue();
  if (!stream_.HasBacklog()) return;
  full_sync_.EndTurn();
  replicas_.Deliver();
}

void Replication::Forget(Session& session) {
  if (session.replica != nullptr && replicas_.Forget(session)) full_sync_.KillChildIfUnneeded(session.replica->state);
}

}  // namespace respite
