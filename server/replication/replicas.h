// Replicas: the replicas of this server, also those that still wait for a snapshot or receive one. This class knows
// their addresses and acknowledged offsets, and sends the replication stream to them.
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

  void Attach(Session& session);  // adds the session to the list. Requires: Session::replica is set, session not listed
  bool Forget(Session& session);  // forgets a session that closes; true: it was in the list
  // Closes the sessions in the list that belong to the same replica (Replica::id) as `session`. Their connections are
  // broken, although this server has not noticed it: WAIT would count the replica twice, or count data that it has
  // dropped. Does nothing if the replica has no ID, like a replica of Redis. An address is no ID, because replicas
  // behind NAT may share one. Requires: `session` is not attached yet.
  void CloseOlderSessions(const Session& session);  // closes other sessions of the same replica
  const std::vector<Session*>& All() const { return all_; }
  bool IsEmpty() const { return all_.empty(); }       // true: no replica is connected, not even a waiting one
  void CloseAll();                                    // disconnects all replicas
  void CloseAllAfterOutput();                         // disconnects all; online ones get the stream so far first
  static std::string NameOf(const Session& session);  // for logs: "127.0.0.1:6380" or "client id #7"
  static std::string HostOf(const Session& session);  // announced IP of the replica, or the IP of its socket
  static Bytes StateNameOf(const Replica& replica);   // the state as in INFO: "online", "wait_bgsave" …

  // --- The stream

  void PutOnline(Session& session);  // marks the replica as online; sends it the stream after its sent_offset
  // Queues the new part of the stream for all replicas that are online. First adds REPLCONF GETACK to the stream, if
  // requested. Closes replicas above their output limit, and trims the backlog. Does nothing without a backlog. Called
  // at the end of each event loop turn, before replies are sent. Cost: O(replicas + parts of the stream).
  void Deliver();  // queues the new part of the stream for all replicas that are online

  // --- Acknowledgements

  void Acknowledge(Session& session,  // records REPLCONF ACK; after a diskless snapshot, puts the replica online
                   int64_t offset, int64_t offset_on_disk);
  void RequestAcks(int64_t offset);  // makes Deliver send REPLCONF GETACK, unless sent at or after `offset`
  bool TakeAckProgress() { return std::exchange(has_new_acks_, false); }  // true: an ACK came since the last call
  static bool IsOnlineWithData(const Replica& replica);                   // true: online, and its data is loaded
  int64_t AckedReplicaCount(int64_t offset) const;   // WAIT: online replicas with data that have acknowledged `offset`
  int64_t SyncedReplicaCount(int64_t offset) const;  // number of online replicas with `offset` on disk (WAITAOF)
  void RecountGoodReplicas();  // recounts Role::good_replicas: online, last ACK within min-replicas-max-lag

  size_t BufferBytes() const;  // memory of the backlog in bytes, with what slow replicas still need; 0: no backlog

  // --- The interface ReplicasToWaitFor, for a shutdown
  bool AreCaughtUp() const override;         // true: all replicas, except rdb-only ones, have acknowledged the stream
  void RequestAcknowledgements() override;   // Deliver will send REPLCONF GETACK, unless sent already
  void LogLaggingReplicas() const override;  // logs each replica that has not acknowledged the whole stream

  enum class Pings : uint8_t { kAllowed, kPaused };  // kPaused: adds no PING, as the stream must not grow
  // Adds PING to the stream when due, sends an empty line to replicas that wait for a snapshot, and closes silent
  // replicas. Called once a second, and ten times a second during FAILOVER, while there are replicas.
  void Cron(Pings pings);
  void StartBacklogTtl();       // notes that repl-backlog-ttl begins now, after which an unused backlog is dropped
  bool IsBacklogStale() const;  // true: no replica connected for longer than repl-backlog-ttl (if not 0)

 private:
  void SendStream(Session& session, Replica& replica);  // queues the part of the stream that the replica lacks
  void PingWaitingReplica(Session& session);            // sends an empty line, if the replica waits for a snapshot
  void RecordSignsOfLife(Session& session);             // records when the replica last sent or read something
  void CloseTimedOutReplicas();              // closes replicas that sent no ACK, or took no data, for repl-timeout
  size_t OutputBytesOutsideBacklog() const;  // memory of the replicas' output, without the Blobs of the backlog

  const Parts parts_;  // the arguments of the constructor
  std::vector<Session*> all_;
  bool wants_acks_ = false;          // true: Deliver must send REPLCONF GETACK
  int64_t last_getack_offset_ = -1;  // replication offset when GETACK was last added to the stream; -1: never
  bool has_new_acks_ = false;        // true: a replica has acknowledged since TakeAckProgress
  int64_t pinged_at_ms_ = 0;         // when PING was last added to the stream, or else the start (real time)
  int64_t no_replica_since_ms_ = 0;  // when the last replica left, or StartBacklogTtl was called (real time)
};

}  // namespace respite
