// FullSync: snapshots for replicas that cannot continue from the backlog.
//
//   disk      a child writes the dump file, which is then sent to all waiting replicas ($<bytes>)
//   diskless  a child writes into a pipe, and the server sends the data on to all replicas that waited when the child
//             began ($EOF:<mark>)
//
// One child serves many replicas. The backlog keeps the stream from the moment of the fork until each replica has the
// snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/late_bound.h"
#include "server/clients/replica.h"
#include "server/clients/session.h"
#include "server/net/link.h"
#include "server/replication/snapshot_pipe.h"
#include "server/runtime/env.h"
#include "server/storage/children.h"
#include "server/storage/snapshots.h"

namespace respite {

class Clients;
struct Dataset;
class ChildProcesses;
class RdbContents;
class Replicas;
class ReplicationStream;

class FullSync {  // sends snapshots to replicas that cannot continue from the backlog
 public:
  struct Parts {  // the arguments of the constructor
    const Env& env;
    Dataset& data;
    Clients& clients;                 // the sessions of all clients
    ChildProcesses& child_processes;  // runs the child that writes a snapshot
    Snapshots& snapshots;             // SAVE and BGSAVE
    const RdbContents& contents;      // what every RDB file of this server contains
    Replicas& replicas;               // the replicas of this server
    ReplicationStream& stream;        // the commands that replicas apply
  };
  explicit FullSync(const Parts& parts) : parts_(parts) {}

  void ProvideSnapshot(Session& session);  // lets a replica join the running BGSAVE, or begins a snapshot now or later
  // Called after a replica has left. Kills the child that writes a snapshot, if no replica needs it. With save points,
  // a child that writes the dump file is not killed.
  void KillChildIfUnneeded(   // kills the child that writes a snapshot, if no replica needs it
      Replica::State state);  // the state of the replica that has left
  void Cron();                // begins a snapshot that is due; called at least once a second
  // Queues more snapshot data for replicas whose output has room. Called at the end of each event loop turn, before
  // output is sent.
  void EndTurn();  // queues more snapshot data for replicas whose output has room; removes a file that was sent to all
  // Called after any background save. Sends the saved file to the replicas in kAwaitsEnd. If the save has failed,
  // closes these replicas.
  void HandleSnapshotEnd(Snapshots::Outcome outcome);     // after a BGSAVE: sends its file to replicas that wait for it
  bool IsStreaming() const { return pipe_.has_value(); }  // true: replicas receive a snapshot through a pipe

 private:
  std::vector<Session*> ReplicasIn(Replica::State state) const;  // the replicas in this state
  enum class Source : uint8_t { kFile, kPipe };
  // Returns the replicas that now receive a snapshot from a file (kFile) or through the pipe from a child process
  // (kPipe). There may be replicas of both kinds at the same time.
  std::vector<Session*> ReceivingFrom(Source source) const;  // the replicas that receive a snapshot from `source`
  bool JoinRunningSnapshot(Session& session);  // lets a replica use the BGSAVE that runs for others; false: none fits
  bool IsDue(const std::vector<Session*>& waiting) const;  // whether the snapshot for these replicas must begin now
  bool GoesThroughPipe(const std::vector<Session*>& waiting) const;  // whether to use a pipe instead of a file
  void StartForWaitingReplicas();                                    // begins a snapshot for the waiting replicas
  void StartOnDisk(const std::vector<Session*>& waiting);            // begins a BGSAVE whose file is then sent
  void StartThroughPipe(const std::vector<Session*>& waiting);       // forks a child, and passes on what it writes
  struct Contents {                   // what the snapshot for the waiting replicas contains
    bool has_functions_only = false;  // true: only the functions of the server, no keys
    bool is_for_redis_70 = false;     // true: RDB format of Redis 7.0, because a replica may be older than 7.2
  };
  static Contents ContentsFor(const std::vector<Session*>& waiting);  // what the snapshot for these replicas contains
  bool WriteIntoPipe(ChildReporter& reporter,  // in the child: writes the snapshot, then the mark; false: failed
                     const std::string& mark, Contents contents) const;
  void SendFullResync(Session& session, Replica::State state);   // sends +FULLRESYNC (not after SYNC); sets the state
  void SendErrorAndClose(const std::vector<Session*>& waiting);  // sends -ERR to these replicas, then closes them
  void ForwardSnapshotBytes(Bytes bytes);                        // sends bytes from the pipe to the replicas
  void HandlePipeEnd(bool is_whole);          // end of the child's data: awaits ACK of the replicas, or closes them
  void ContinueReading();                     // resumes the paused pipe if all its replicas have room for more
  void SendFiles();                           // queues the next part of the snapshot file for each replica
  void CloseAfterSnapshot(Session& session);  // closes a replica that wanted only a snapshot, after its output
  void SendFilePart(Session& session);        // queues the next part of the snapshot file for one replica
  void OpenFile(Session& session);  // begins to send the snapshot file to one replica; on failure closes its session

  const Parts parts_;                 // the arguments of the constructor
  std::optional<SnapshotPipe> pipe_;  // reads what the child writes; empty: no snapshot goes through a pipe
  bool has_begun_file_ = false;       // true: a BGSAVE for replicas has begun, whose file rdb-del-sync-files may remove
};

}  // namespace respite
