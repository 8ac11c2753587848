// Snapshots: the data set as an RDB file: SAVE, BGSAVE, `save` points, and their state for MISCONF and INFO.
//
// A snapshot is written to temp-<pid>.rdb, synced, and renamed, so the dump is always a complete old or new one. A
// server with save points locks its dump, so that no other server of ours overwrites it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "persistence/file_system.h"
#include "server/storage/child_processes.h"

namespace respite {

class Clock;
class Pace;
class FileSystem;
class Keyspace;
struct KeyspaceStats;
class LatencyMonitor;
class Loading;
class Logger;
class ChildProcesses;
class RdbContents;
struct Settings;

class Snapshots {
 public:
  enum class Outcome : uint8_t { kDone, kFailed };

  struct Parts {
    const Settings& settings;
    const Clock& clock;
    const Pace& pace;
    Logger& log;
    FileSystem& files;
    KeyspaceStats& keyspace_stats;
    Loading& loading;
    ChildProcesses& child_processes;
    const RdbContents& contents;
    LatencyMonitor& latency;
  };
  explicit Snapshots(const Parts& parts);

  // See RdbContents.
  bool IsWorthSaving() const;
  // Writes a snapshot while everything else waits. Errors are logged. Requires: no snapshot is running. Cost: O(data
  // set).
  Outcome Save();
  // Starts a child that writes a snapshot. Requires: no child runs. Cost: a fork.
  Outcome StartBackground();
  // Where the last background save writes its snapshot, whatever `dbfilename` and `dir` say meanwhile.
  std::string BackgroundPath() const;
  // Makes a finished snapshot (of the primary) the dump file. What went wrong is in the log.
  bool Install(const std::string& path);
  // A snapshot has served a synchronisation: the dump file, or that of the last background save. Removes it if nothing
  // else keeps it (rdb-del-sync-files).
  void RemoveSyncFile();
  void RemoveBackgroundSyncFile() { RemoveSyncFile(BackgroundPath()); }
  // Has `handler` run when a background save has ended.
  void OnEnd(std::function<void(Outcome)> handler) { ended_ = std::move(handler); }
  // Starts one as soon as no other child runs.
  void Schedule() { scheduled_ = true; }
  bool Running() const;
  // Stops a background save, or else unschedules one. Returns which of them there was.
  enum class Cancelled : uint8_t { kNone, kRunning, kScheduled };
  Cancelled Cancel();

  // For the timer, after the end of a child was handled: starts scheduled snapshots and those of save points.
  void Cron();
  // FLUSHALL: stops a running snapshot, which is obsolete. With save points the empty data set is saved at the end of
  // the Turn, when the transaction with the flush has ended.
  void Flushed();
  void EndTurn() {
    if (save_due_) SaveFlushed();
  }

  // Whether writes must be refused because the last snapshot failed.
  bool StopsWrites() const;

  // At the start, before loading: locks the dump if there are save points, and removes temporary files of dead servers.
  // Returns why the server cannot start, if so. With default save points it starts.
  std::optional<std::string> Claim();
  // Whether this server leaves the dump to another one: it has Redis' default save points, has never loaded or written
  // this dump, and has found it locked. Then it saves only on request, for example by SAVE; such a save ends this.
  // Redis lets the last server overwrite the dump. Servers that were started in one folder from files that say nothing
  // about saving must accept writes, start and end here as well.
  bool GivesWay() const;

  // CONFIG RESETSTAT.
  void ResetStats() { saves_ = 0; }

  struct Figures {
    int64_t last_save_s;  // UNIX time; the start counts as a save, as in Redis
    Outcome last_outcome;
    int64_t last_duration_s;     // of the last background save; -1: none yet
    int64_t current_duration_s;  // -1: none runs
    uint64_t saves;
    uint64_t last_cow_bytes;
  };
  Figures Survey() const;

 private:
  bool Write(const std::string& path, ChildReporter* reporter);
  bool WriteTemporary(const std::string& temporary, ChildReporter* reporter);
  // Returns whether this server may write the dump `path`.
  bool Lock(const std::string& path);
  std::string DumpPath() const;
  void Saved(uint64_t changes, const std::string& path);
  void Ended(const ChildEnd& end);
  void TakeOutcome(const ChildEnd& end);
  void RemoveSyncFile(const std::string& path);
  void SaveFlushed();
  bool MayTryAgain() const;
  void SaveIfDue();
  void RemoveLeftovers();

  const Parts parts_;
  std::unique_ptr<File> lock_;
  std::string owned_dump_;         // whole path of the dump that this server has locked or written; empty: none
  std::string left_dump_;          // whole path of the dump that this server leaves to another one; empty: none
  std::string background_folder_;  // when the last background save began
  std::string background_name_;
  bool scheduled_ = false;
  bool save_due_ = false;
  Outcome last_outcome_ = Outcome::kDone;
  uint64_t changes_before_ = 0;  // those that the current snapshot includes
  int64_t last_save_wall_s_;
  int64_t last_save_ms_;  // monotonic
  std::optional<int64_t> last_try_ms_;
  int64_t started_ms_ = 0;
  int64_t last_duration_s_ = -1;
  uint64_t saves_ = 0;
  uint64_t last_cow_bytes_ = 0;
  std::function<void(Outcome)> ended_ = [](Outcome) {};
};

}  // namespace respite
