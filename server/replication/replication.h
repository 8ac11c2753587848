// Replication: serves the replicas of this server, or makes this server a replica. Connects the classes of this folder,
// and changes the role of the server.
//
//   propagated commands ─► ReplicationStream ─► Backlog ─► Replicas ─► their sessions        as a primary
//                                  ▲                            ▲
//                                  │                        FullSync: snapshots for replicas that cannot continue
//                                  │                        from the backlog
//   PrimaryLink: the stream of the primary, applied and sent on unchanged                    as a replica
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/late_bound.h"
#include "server/clients/role.h"
#include "server/dataset/history.h"
#include "server/replication/divergence_watch.h"
#include "server/replication/failover.h"
#include "server/replication/full_sync.h"
#include "server/replication/local_keys.h"
#include "server/replication/primary_link.h"
#include "server/replication/replicas.h"
#include "server/replication/replication_stream.h"

namespace respite {

struct Services;

class Replication final : public RoleChanger {  // serves replicas, or makes this server a replica
 public:
  explicit Replication(const Services& services);

  // Makes this server a replica. `shared_until` says how many bytes of this server's history the new primary is known
  // to share (History). nullopt: the new primary may have another history. The keys here then count as data of another
  // history (History::Data::kOther), until the new primary sends +CONTINUE or a snapshot.
  void Follow(const std::string& host, int port,  // makes this server a replica (REPLICAOF)
              std::optional<int64_t> shared_until);
  // Makes this server a primary, for REPLICAOF NO ONE and for a failover; does nothing if this server is one already.
  // The replication ID changes, and the replicas are disconnected. The data counts as complete (History::Data::kWhole)
  // from now on, even if it lacks data of the former primary; the log then has a warning.
  void Promote() override;  // makes this server a primary (REPLICAOF NO ONE, failover)
  // Called after the data was loaded at startup. First sets the smallest offset that a new history may have
  // (History::least_offset). Without `appendonly`, then continues the history that the loaded RDB file names. At last
  // follows the primary that the settings name, if any.
  void Start();  // called after loading: follows the primary that the settings name, if any

  // Sets the history of an empty server to one that other empty servers share, so that replicas can continue without a
  // snapshot. Must be called before Start. Requires: an empty keyspace.
  void ShareEmptyHistory(const std::string& id);  // takes a replication ID that other empty servers also take

  void HandleDataDropped();  // all keys were removed without commands: begins a new history and AOF
  void BeginNewHistory();    // takes a new replication ID, and disconnects the replicas; drops the backlog

  struct SyncRequest {          // what a replica sent: PSYNC id from, or SYNC
    bool speaks_psync = false;  // false: the replica sent SYNC
    std::string id;             // ID of the history that the replica has
    int64_t from = 0;           // offset of the first byte that the replica needs
  };
  void Sync(Session& session, const SyncRequest& request);  // SYNC, PSYNC: makes the client a replica, or throws

  void StartFailover(const FailoverRequest& request) { failover_.Start(request); }    // begins, or throws Refusal
  void AbortFailover(const std::string& reason) { failover_.Abort(reason); }          // ends FAILOVER, if any; logs why
  bool IsFailingOver() const { return failover_.state() != Failover::State::kNone; }  // true: FAILOVER is under way
  const Failover& failover() const { return failover_; }  // FAILOVER on this server, as the primary
  // PSYNC … FAILOVER: makes this replica the primary in place of its primary, whose history has this ID and ends before
  // the offset `from`. Throws Refusal if this server is a primary, lacks data, has another history, or has restarted
  // with older data.
  void TakeOver(const std::string& history_id, int64_t from);  // PSYNC … FAILOVER: makes this replica the primary
  void HandOver(const PrimaryAddress& target) override;  // makes this server a replica of `target`, the new primary

  void Tick();     // called by the timer: expires local keys; once a second (in FAILOVER: 10 times), does the rest
  void EndTurn();  // at the end of each turn: queues stream and snapshots for replicas, sends ACK to the primary
  void Forget(Session& session);  // for a session that closes: if it is a replica, removes it from the replicas

  Replicas& replicas() { return replicas_; }                   // the replicas of this server
  const Replicas& replicas() const { return replicas_; }       // the replicas of this server
  ReplicationStream& stream() { return stream_; }              // the commands that replicas apply
  const ReplicationStream& stream() const { return stream_; }  // the commands that replicas apply
  PrimaryLink& primary_link() { return primary_link_; }  // connection to the primary, when this server is a replica
  const PrimaryLink& primary_link() const { return primary_link_; }  // connection to the primary
  const Role& role() const;                             // whether this server is a replica, and of which primary
  void SetRoleHandler(std::function<void()> handler) {  // `handler` is called when the role may have changed
    on_role_ = std::move(handler);
  }

 private:
  void Cron();
  // Uses the replication ID and offset in the loaded RDB file, if the file names them. A replica continues this
  // history. A primary begins a new history, and the file's history becomes the previous one (master_replid2), unless
  // clients of a writable replica have changed the data.
  void ContinueFromFile(int64_t covered);  // takes over the replication ID and offset of the loaded RDB file
  void SetLeastOffset(int64_t covered);    // sets History::least_offset above the offsets before the start
  void TakeBackOffsets();  // a primary that becomes a replica: undoes History::skipped_offsets, if unknown to others
  void PropagateDeletionsOfExpiredKeys();  // propagates the deletion of keys that loading skipped as expired
  void SetRole(const Role& role);          // records the role, calls on_role_, attaches a replica's observers
  void ClassifyOwnData(std::optional<int64_t> shared_until);  // notes in History how this data relates to a new primary
  bool IsDataOfReplicaOf(const PrimaryAddress& primary) const;     // true: a replica of `primary` wrote the loaded file
  bool TryContinue(Session& session, const SyncRequest& request);  // sends +CONTINUE; false: a snapshot is needed

  const Services& services_;               // the other parts of this server
  ReplicationStream stream_;               // the commands that replicas apply
  Replicas replicas_;                      // the replicas of this server
  FullSync full_sync_;                     // snapshots for replicas that cannot continue from the backlog
  PrimaryLink primary_link_;               // connection to the primary; idle while this server is a primary
  DivergenceWatch divergence_watch_;       // detects that a command of the primary failed on this replica
  LocalKeys local_keys_;                   // keys with deadlines that clients have set on this replica
  Failover failover_;                      // FAILOVER on this server, as the primary
  bool has_served_ = false;                // true: a replica has requested data since the start
  int64_t ticked_at_ms_ = 0;               // when Cron last ran (real time)
  std::function<void()> on_role_ = [] {};  // called when the role may have changed
};

}  // namespace respite
