// InfoReader: reads the INFO reply of a server: run id, role, replicas, primary. It also reconfigures replicas that
// have a wrong role or follow a wrong primary.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "server/sentinel/instance_list.h"
#include "server/sentinel/replicaof_sender.h"
#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class PrimaryFailover;

class InfoReader {
 public:
  InfoReader(const SentinelCore& core, SentinelEvents& events, InstanceList& list, ReplicaofSender& orders,
             PrimaryFailover& failover)
      : core_(core), events_(events), list_(list), orders_(orders), failover_(failover) {}

  void Receive(ServerInstance& server, const ReplyTree& reply);
  // Sets the handler that runs after each INFO reply.
  void OnInfo(std::function<void(Primary&)> handler) { on_info_ = std::move(handler); }

 private:
  struct Field {
    Bytes name;
    Bytes value;
  };

  void Read(ServerInstance& server, std::string info);
  void ReadField(ServerInstance& server, const Field& field);
  void ReadRunId(ServerInstance& server, Bytes id);
  void ReadReplica(Primary& primary, Bytes line);
  // Reads the fields that only replicas report.
  void ReadOfReplica(ServerInstance& server, const Field& field);
  static void ReadOfWatched(WatchedReplica& replica, const Field& field);
  void NoteRole(ServerInstance& server, ReportedRole role);

  void Judge(WatchedReplica& replica);
  // Handles a replica that reports to be a primary: either its promotion has succeeded, or it gets REPLICAOF again.
  void JudgePrimaryRole(WatchedReplica& replica);
  // Sends REPLICAOF to a replica that has followed another primary for longer than failover-timeout.
  void JudgeItsPrimary(WatchedReplica& replica);
  void FollowReconfiguration(WatchedReplica& replica);
  bool LooksSane(const Primary& primary) const;
  bool WasUpFor(const WatchedReplica& replica, int64_t ms) const;

  const SentinelCore core_;
  SentinelEvents& events_;
  InstanceList& list_;
  ReplicaofSender& orders_;
  PrimaryFailover& failover_;
  std::function<void(Primary&)> on_info_;
  size_t replicas_read_ = 0;  // replicas listed in this INFO
};

}  // namespace respite
