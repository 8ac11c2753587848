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

class FullSync {
 public:
  struct Parts {
    const Env& env;
    Dataset& data;
    Clients& clients;
    ChildProcesses& child_processes;
    Snapshots& snapshots;
    const RdbContents& contents;
    Replicas& replicas;
    ReplicationStream& stream;
  };
  explicit FullSync(const Parts& parts) : parts_(parts) {}

  // Gives an attached replica a snapshot: from the child that runs, or from the next child.
  void Enter(Session& session);
  // Kills a child that no other replica needs. Called after a replica has left.
  void Left(Replica::State state);
  // Begins a snapshot that is due. Called once a second.
  void Cron();
  // Sends snapshot data to replicas that have room for it. Called at the end of a turn, before replies are sent.
  void EndTurn();
  // Called after any background save. Sends the file to the replicas in kAwaitsEnd, or closes them if the save has
  // failed.
  void SnapshotEnded(Snapshots::Outcome outcome);
  // Returns whether a snapshot is being sent to replicas through a pipe.
  bool IsStreaming() const { return pipe_.has_value(); }

 private:
  std::vector<Session*> In(Replica::State state) const;
  // Returns the replicas that receive a snapshot from a file or through the pipe. Both can happen at the same time.
  enum class Source : uint8_t { kFile, kPipe };
  std::vector<Session*> ReceivingFrom(Source source) const;
  // Lets the replica share the snapshot that is being written for other replicas. Returns false if it cannot use one.
  bool JoinRunning(Session& session);
  // Returns whether the next snapshot must begin now. Requires: a replica waits, and no child runs.
  bool IsDue(const std::vector<Session*>& waiting) const;
  bool GoesThroughPipe(const std::vector<Session*>& waiting) const;
  void Start();
  void StartOnDisk(const std::vector<Session*>& waiting);
  void StartThroughPipe(const std::vector<Session*>& waiting);
  // Contents of the snapshot that a child writes for the waiting replicas
  struct Contents {
    bool functions_only = false;
    bool for_70 = false;  // in the format of Redis 7.0
  };
  static Contents ContentsFor(const std::vector<Session*>& waiting);
  bool WriteIntoPipe(ChildReporter& reporter, const std::string& mark, Contents contents) const;
  // Sends +FULLRESYNC and sets the state. The snapshot contains the history up to Replica::sent_to.
  void Begin(Session& session, Replica::State state);
  void FailAll(const std::vector<Session*>& waiting);
  void HandOn(Bytes bytes);
  void PipeEnded(bool is_whole);
  void ContinueReading();
  void SendFiles();
  void Served(Session& session);
  void SendFile(Session& session);
  void OpenFile(Session& session);

  const Parts parts_;
  std::optional<SnapshotPipe> pipe_;
  bool has_made_file_ = false;  // for replicas: see rdb-del-sync-files
};

}  // namespace respite
