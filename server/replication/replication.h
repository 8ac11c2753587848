// Replication: the part of a server that has replicas, or is one. It wires the pieces of this room and changes the
// role.
//
//   effects ─► ReplicationStream ─► Backlog ─► Replicas ─► their sessions        as a primary
//                    ▲                            ▲
//                    │                        FullSync: snapshots for those who cannot go on from the backlog
//   PrimaryLink: the stream of the primary, run and handed on as it came         as a replica
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

class Config;
struct Services;

class Replication final : public RoleChanger {
 public:
  struct Parts {
    Config& config;
    const Services& services;
    Pump::Parts pump;
    const LateBound<Network>& network;
    const RdbContents& contents;
    Role& role;
    CallObservers& observers;
    const Durability& durability;
  };
  explicit Replication(const Parts& parts);

  // REPLICAOF host port. `owner` says whether that
  // server may have another history; then the data here is not its own until it continues this history or sends a
  // snapshot.
  void Follow(const std::string& host, int port, History::Owner owner);
  // REPLICAOF NO ONE. Sets History::Data::kWhole: an operator has decided.
  void Promote() override;
  // The data set was read, at the start: follows the primary that the settings name. The history of the file, if it had
  // one, is in the Dataset.
  void Start();

  // The data set is empty, and has this history, which other servers have as well: replicas go on from there without a
  // snapshot. To be called before Start. Requires: an empty data set.
  void ShareEmptyHistory(const std::string& id);

  // PSYNC and SYNC. Throws Refusal.
  struct SyncRequest {
    bool speaks_psync = false;
    std::string id;
    int64_t from = 0;  // the first byte that is wanted
  };
  void Sync(Session& session, const SyncRequest& request);

  // FAILOVER. Throws Refusal.
  void StartFailover(const FailoverRequest& request) { failover_.Start(request); }
  void AbortFailover(const std::string& reason) { failover_.Abort(reason); }
  bool IsFailingOver() const { return failover_.state() != Failover::State::kNone; }
  const Failover& failover() const { return failover_; }
  // PSYNC … FAILOVER: the primary, whose history has this id, hands its role over. Throws Refusal.
  void TakeOver(const std::string& history_id);
  void HandOver(const PrimaryAddress& target) override;

  // For the timer and the ends of Turns.
  void Tick();
  void EndTurn();
  // A session closes.
  void Forget(Session& session);

  Replicas& replicas() { return replicas_; }
  const Replicas& replicas() const { return replicas_; }
  ReplicationStream& stream() { return stream_; }
  const ReplicationStream& stream() const { return stream_; }
  PrimaryLink& primary_link() { return primary_link_; }
  const PrimaryLink& primary_link() const { return primary_link_; }
  const Role& role() const { return parts_.role; }
  // Called whenever this server may have become a replica or a primary.
  void OnRole(std::function<void()> handler) { on_role_ = std::move(handler); }

 private:
  void Cron();
  void ContinueFromFile();
  void DeleteLeftOut();
  void SetRole(const Role& role);
  // What the data here is worth to a server that begins to follow another, before that one has answered.
  void JudgeOwnData(History::Owner owner);
  bool TryContinue(Session& session, const SyncRequest& request);

  const Parts parts_;
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
