// FullSync: snapshots for replicas that cannot go on from the backlog.
//
//   disk      a child writes the dump file, which is then sent to all who wait for it ($<bytes>)
//   diskless  a child writes into a pipe, and the server hands on what it reads, to all who were there when the child
//             began ($EOF:<mark>)
//
// One child serves many replicas. The stream from the moment of the fork waits in the backlog until a replica has the
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
#include "server/storage/children.h"
#include "server/storage/snapshots.h"

namespace respite {

class Clients;
struct Dataset;
class FileSystem;
class Host;
class Logger;
class ChildProcesses;
class Pace;
class RdbContents;
class Replicas;
class ReplicationStream;
struct Settings;

class FullSync {
 public:
  struct Parts {
    const Settings& settings;
    const Pace& pace;
    Logger& log;
    FileSystem& files;
    const LateBound<Host>& host;
    const LateBound<Network>& network;
    Dataset& data;
    Clients& clients;
    ChildProcesses& child_processes;
    Snapshots& snapshots;
    const RdbContents& contents;
    Replicas& replicas;
    ReplicationStream& stream;
  };
  explicit FullSync(const Parts& parts) : parts_(parts) {}

  // The replica, which is attached, needs a snapshot: of the child that runs, or of the next.
  void Enter(Session& session);
  // A replica has left: its child may have nobody to work for.
  void Left(Replica::State state);
  // Begins the snapshot that is due; for the timer, once a second.
  void Cron();
  // At the end of a Turn, before replies leave: hands on what replicas have room for.
  void EndTurn();
  // A background save has ended.
  void SnapshotEnded(Snapshots::Outcome outcome);
  // A snapshot goes to replicas through a pipe.
  bool IsStreaming() const { return pipe_.has_value(); }

 private:
  std::vector<Session*> In(Replica::State state) const;
  // Those who receive a snapshot from a file, or through the pipe. There may be both at the same time.
  enum class Source : uint8_t { kFile, kPipe };
  std::vector<Session*> ReceivingFrom(Source source) const;
  // The replica gets the snapshot that is being written for others. False: there is none that it can use.
  bool JoinRunning(Session& session);
  // Whether the next snapshot begins now. Requires: somebody waits, and no child runs.
  bool IsDue(const std::vector<Session*>& waiting) const;
  bool GoesThroughPipe(const std::vector<Session*>& waiting) const;
  void Start();
  void StartOnDisk(const std::vector<Session*>& waiting);
  void StartThroughPipe(const std::vector<Session*>& waiting);
  // What a child writes for those who wait.
  struct Contents {
    bool functions_only = false;
    bool for_70 = false;  // for Redis 7.0
  };
  static Contents ContentsFor(const std::vector<Session*>& waiting);
  bool WriteIntoPipe(ChildReporter& reporter, const std::string& mark, Contents contents) const;
  // The history up to now is what the snapshot has.
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
