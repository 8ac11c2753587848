// Replication: the part of a server that has replicas or is one. It connects the classes of this folder and changes the
// role.
//
//   propagated commands ─► ReplicationStream ─► Backlog ─► Replicas ─► their sessions        as a primary
//                                  ▲                            ▲
//                                  │                        FullSync: snapshots for replicas that cannot continue
//                                  │                        from the backlog
//   PrimaryLink: the stream of the primary, applied and sent on unchanged                    as a replica
#pragma once

#include <cstdint>
#include <functional>
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

class Replication final : public RoleChanger {
 public:
  explicit Replication(const Services& services);

  // REPLICAOF host port. `owner` tells whether that server may have another history. In that case the data here counts
  // as foreign until the server continues this history or sends a snapshot.
  void Follow(const std::string& host, int port, History::Owner owner);
  // REPLICAOF NO ONE. Sets History::Data::kWhole, since an operator has decided.
  void Promote() override;
  // Follows the primary that the settings name. Called after the data was loaded at startup. The history of the file,
  // if any, is in the Dataset.
  void Start();

  // Sets the history of an empty server to one that other empty servers share, so that replicas can continue without a
  // snapshot. Must be called before Start. Requires: an empty keyspace.
  void ShareEmptyHistory(const std::string& id);

  // Gives this server, whose data was deleted without being propagated, a new history, which no replica can continue.
  void BeginNewHistory();

  // PSYNC and SYNC. Throws Refusal.
  struct SyncRequest {
    bool speaks_psync = false;
    std::string id;
    int64_t from = 0;  // offset of the first byte that the replica needs
  };
  void Sync(Session& session, const SyncRequest& request);

  // FAILOVER. Throws Refusal.
  void StartFailover(const FailoverRequest& request) { failover_.Start(request); }
  void AbortFailover(const std::string& reason) { failover_.Abort(reason); }
  bool IsFailingOver() const { return failover_.state() != Failover::State::kNone; }
  const Failover& failover() const { return failover_; }
  // PSYNC … FAILOVER: takes the role over from the primary, which has the history with this ID. Throws Refusal.
  void TakeOver(const std::string& history_id);
  void HandOver(const PrimaryAddress& target) override;

  // Tick does the periodic work of replication, and is called by the timer. EndTurn sends the stream to replicas, and
  // is called at the end of turns.
  void Tick();
  void EndTurn();
  // Removes a session that closes.
  void Forget(Session& session);

  Replicas& replicas() { return replicas_; }
  const Replicas& replicas() const { return replicas_; }
  ReplicationStream& stream() { return stream_; }
  const ReplicationStream& stream() const { return stream_; }
  PrimaryLink& primary_link() { return primary_link_; }
  const PrimaryLink& primary_link() const { return primary_link_; }
  const Role& role() const;
  // Sets a handler that is called whenever this server may have become a replica or a primary.
  void OnRole(std::function<void()> handler) { on_role_ = std::move(handler); }

 private:
  void Cron();
  void ContinueFromFile();
  void DeleteLeftOut();
  void SetRole(const Role& role);
  // Sets History::Data for a server that begins to follow another, before the other server has answered.
  void JudgeOwnData(History::Owner owner);
  bool TryContinue(Session& session, const SyncRequest& request);

  const Services& services_;
  ReplicationStream stream_;
  Replicas replicas_;
  FullSync full_sync_;
  PrimaryLink primary_link_;
  DivergenceWatch divergence_watch_;
  LocalKeys local_keys_;
  Failover failover_;
  int64_t ticked_at_ms_ = 0;
  std::function<void()> on_role_ = [] {};
};

}  // namespace respite
