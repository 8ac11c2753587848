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
    Role& role;                 // min-replicas-to-write reads the number of good replicas there
  };
  explicit Replicas(const Parts& parts);

  // --- The list of replicas

  void Attach(Session& session);  // makes the session a replica, not online yet. Requires: it is not one
  bool Forget(Session& session);  // removes a session that closes; true: it was a replica
  const std::vector<Session*>& All() const { return all_; }
  bool IsEmpty() const { return all_.empty(); }       // no replica is connected
  void CloseAll();                                    // disconnects all replicas
  void CloseAllAfterOutput();                         // disconnects all; online ones first receive the stream so far
  static std::string NameOf(const Session& session);  // for the log and INFO: "127.0.0.1:6380"
  static std::string HostOf(const Session& session);  // announced address of the replica, or its socket's address
  static Bytes StateNameOf(const Replica& replica);   // as in INFO: "online", "wait_bgsave" …

  // --- The stream

  void PutOnline(Session& session);  // sends the stream to the replica from now on, from Replica::sent_offset
  // Sends the new part of the stream to all replicas that are online, and trims the backlog. Called at the end of a
  // turn, before replies are sent. Cost: O(replicas + parts of the stream).
  void Deliver();  // sends the new part of the stream to all replicas that are online

  // --- Acknowledgements

  void Acknowledge(Session& session, int64_t offset, int64_t offset_on_disk);  // records REPLCONF ACK of a replica
  void RequestAcks(int64_t offset);  // sends REPLCONF GETACK at the end of the turn, once for each offset
  bool TakeAckProgress() { return std::exchange(has_new_acks_, false); }  // a replica has sent ACK since the last call
  static bool IsOnlineWithData(const Replica& replica);  // the replica is online and has loaded its data
  int64_t AckedReplicaCount(int64_t offset) const;       // replicas that have acknowledged this offset, for WAIT
  int64_t SyncedReplicaCount(int64_t offset) const;      // replicas that have it on disk, for WAITAOF
  void RecountGoodReplicas();  // counts the online replicas that have acknowledged within min-replicas-max-lag

  size_t BufferBytes() const;  // memory of the backlog, and of what slow replicas still need

  // --- The interface ReplicasToWaitFor, for a shutdown
  bool AreCaughtUp() const override;         // true: all replicas have acknowledged the whole stream
  void RequestAcknowledgements() override;   // requests acknowledgements of the whole stream
  void LogLaggingReplicas() const override;  // logs which replicas have not acknowledged the whole stream

  enum class Pings : uint8_t { kAllowed, kPaused };  // kPaused: the stream must not grow (FAILOVER)
  // Pings replicas, and closes silent ones. Called once a second, and ten times a second during FAILOVER.
  void Cron(Pings pings);
  void StartBacklogTtl();       // starts repl-backlog-ttl, after which an unused backlog is dropped
  bool IsBacklogStale() const;  // there was no replica for repl-backlog-ttl seconds (0: false)

 private:
  void SendStream(Session& session, Replica& replica);  // queues the stream that it has not got yet
  void PingWaitingReplica(Session& session);            // sends an empty line to a replica that waits for its snapshot
  void RecordSignsOfLife(Session& session);             // records when it last sent or read something
  void CloseTimedOutReplicas();  // disconnects replicas that were silent, or read nothing, for repl-timeout
  size_t OwnBytes() const;       // memory of the replicas' output, without the Blobs of the backlog

  const Parts parts_;  // the arguments of the constructor
  std::vector<Session*> all_;
  bool wants_acks_ = false;          // REPLCONF GETACK is due at the end of the turn
  int64_t acks_requested_to_ = -1;   // the history offset when acknowledgements were last requested; -1: never
  bool has_new_acks_ = false;        // a replica has acknowledged since TakeAckProgress
  int64_t pinged_at_ms_ = 0;         // real elapsed time at which PING was last appended to the stream
  int64_t no_replica_since_ms_ = 0;  // real elapsed time since when no replica has been connected
};

}  // namespace respite
