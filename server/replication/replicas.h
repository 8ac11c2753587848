// Replicas: the replicas of this server. This class knows their addresses and acknowledged offsets, and sends the
// stream to them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/clients/replica.h"
#include "server/clients/session.h"
#include "server/runtime/env.h"
#include "server/storage/shutdown.h"

namespace respite {

class ClientLimits;
class Clients;
class Pause;
struct Dataset;
class ReplicationStream;
struct Role;

class Replicas final : public ReplicasToWaitFor {  // the replicas of this server, their offsets, and the stream to them
 public:
  struct Parts {  // the arguments of the constructor
    const Env& env;
    Dataset& data;
    Clients& clients;           // the sessions of all clients
    ClientLimits& limits;       // enforces the limits of output buffers
    ReplicationStream& stream;  // the commands that replicas apply
    const Pause& pause;         // a pause for a cluster failover delays REPLCONF GETACK
    Role& role;                 // is told how many replicas are good, for min-replicas-to-write
  };
  explicit Replicas(const Parts& parts);

  // --- The list of replicas

  void Attach(Session& session);  // makes the session a replica, not online yet. Requires: the session is no replica
  bool Forget(Session& session);  // forgets a session that closes; true: it was a replica
  const std::vector<Session*>& All() const { return all_; }
  bool IsEmpty() const { return all_.empty(); }       // true: no replica is connected
  void CloseAll();                                    // disconnects all replicas
  void CloseAllAfterOutput();                         // disconnects all, but first sends online ones the stream so far
  static std::string NameOf(const Session& session);  // for logs and INFO: "127.0.0.1:6380" or "client id #7"
  static std::string HostOf(const Session& session);  // announced IP of the replica, or the IP of its socket
  static Bytes StateNameOf(const Replica& replica);   // the state as in INFO: "online", "wait_bgsave" …

  // --- The stream

  void PutOnline(Session& session);  // from now on, sends the replica the stream after Replica::sent_offset
  // Also trims the backlog. Called at the end of each event loop turn, before replies are sent. Cost: O(replicas +
  // parts of the stream).
  void Deliver();  // sends the new part of the stream to all replicas that are online

  // --- Acknowledgements

  void Acknowledge(Session& session, int64_t offset, int64_t offset_on_disk);  // records REPLCONF ACK of a replica
  void RequestAcks(int64_t offset);  // makes Deliver send REPLCONF GETACK, unless sent for `offset` before
  bool TakeAckProgress() { return std::exchange(has_new_acks_, false); }  // true: an ACK came since the last call
  static bool IsOnlineWithData(const Replica& replica);                   // true: online, and its data is loaded
  int64_t AckedReplicaCount(int64_t offset) const;   // number of replicas that have acknowledged `offset` (WAIT)
  int64_t SyncedReplicaCount(int64_t offset) const;  // number of replicas with `offset` on disk (WAITAOF)
  void RecountGoodReplicas();  // counts online replicas that have acknowledged within min-replicas-max-lag

  size_t BufferBytes() const;  // memory of the backlog in bytes, with all that slow replicas still need

  // --- The interface ReplicasToWaitFor, for a shutdown
  bool AreCaughtUp() const override;         // true: all replicas have acknowledged the whole stream
  void RequestAcknowledgements() override;   // requests acknowledgements of the whole stream
  void LogLaggingReplicas() const override;  // logs which replicas have not acknowledged the whole stream

  enum class Pings : uint8_t { kAllowed, kPaused };  // kPaused: the stream must not grow (FAILOVER)
  // Pings replicas, and closes silent ones. Called once a second, and ten times a second during FAILOVER.
  void Cron(Pings pings);
  void StartBacklogTtl();       // notes that repl-backlog-ttl begins now, after which an unused backlog is dropped
  bool IsBacklogStale() const;  // true: no replica was connected for repl-backlog-ttl seconds

 private:
  void SendStream(Session& session, Replica& replica);  // queues the part of the stream that the replica lacks
  void PingWaitingReplica(Session& session);            // sends an empty line to a replica that waits for its snapshot
  void RecordSignsOfLife(Session& session);             // records when the replica last sent or read something
  void CloseTimedOutReplicas();  // disconnects replicas that were silent, or read nothing, for repl-timeout
  size_t OwnBytes() const;       // memory of the replicas' output in bytes, without the Blobs of the backlog

  const Parts parts_;  // the arguments of the constructor
  std::vector<Session*> all_;
  bool wants_acks_ = false;          // true: Deliver must send REPLCONF GETACK
  int64_t acks_requested_to_ = -1;   // replication offset for which acknowledgements were last requested; -1: none
  bool has_new_acks_ = false;        // true: a replica has acknowledged since TakeAckProgress
  int64_t pinged_at_ms_ = 0;         // when PING was last added to the stream (real time)
  int64_t no_replica_since_ms_ = 0;  // since when no replica has been connected (real time)
};

}  // namespace respite
