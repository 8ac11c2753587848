// InfoReader: reads the INFO reply of a server: run id, role, replicas, primary. InfoReader also reconfigures replicas
// that have a wrong role or follow a wrong primary.
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

class InfoReader {  // reads the INFO replies of servers, and corrects wrong replicas
 public:
  InfoReader(const SentinelCore& core, SentinelEvents& events, InstanceList& list, ReplicaofSender& replicaof_sender,
             PrimaryFailover& failover)
      : core_(core), events_(events), list_(list), replicaof_sender_(replicaof_sender), failover_(failover) {}

  void Receive(ServerInstance& server, const ReplyTree& reply);  // handles a reply to INFO, also an error
  void SetInfoHandler(std::function<void(Primary&)> handler) {   // `handler` is called after each reply to INFO
    on_info_ = std::move(handler);
  }

 private:
  struct Field {  // a line of INFO: name:value
    Bytes name;
    Bytes value;  // the text after the colon of the line
  };

  void Read(ServerInstance& server, std::string info);
  void ReadField(ServerInstance& server, const Field& field);  // handles run_id, downtime of the link, list of replicas
  void ReadRunId(ServerInstance& server, Bytes id);  // stores the run id; a new one means that the server has restarted
  void ReadReplicaLine(Primary& primary, Bytes line);  // reads "slave0:…" of a primary; may add the replica if new
  void ReadReplicaField(ServerInstance& server, const Field& field);  // reads a field that only replicas report
  static void ReadWatchedReplicaField(WatchedReplica& replica, const Field& field);  // handles e.g. slave_priority
  void RecordRole(ServerInstance& server, ReportedRole role);  // records the role; reports a change as an event

  void CorrectReplica(WatchedReplica& replica);          // corrects a replica whose role or primary was wrong for long
  void HandlePrimaryRole(WatchedReplica& replica);       // handles a replica that reports to be a primary
  void CorrectReportedPrimary(WatchedReplica& replica);  // sends REPLICAOF if INFO names a wrong primary for long
  void AdvanceReconfiguration(WatchedReplica& replica);  // notes whether the replica follows the new primary by now
  bool IsUpAndPrimary(const Primary& primary) const;     // true: up, and has recently reported role:master
  bool HasNotGoneDownWithin(const WatchedReplica& replica,  // true: it has not become down in the last `ms`
                            int64_t ms) const;

  const SentinelCore core_;
  SentinelEvents& events_;  // reports events in the log, on channels and to scripts
  InstanceList& list_;
  ReplicaofSender& replicaof_sender_;      // sends REPLICAOF to replicas that need a correction
  PrimaryFailover& failover_;              // is told when a replica reports its promotion
  std::function<void(Primary&)> on_info_;  // called after each reply to INFO
  size_t listed_replica_count_ = 0;        // how many replicas the INFO being read has listed so far
};

}  // namespace respite
