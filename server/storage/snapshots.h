// Snapshots: saves the data as an RDB file: SAVE, BGSAVE, `save` points, and their state for MISCONF and INFO.
//
// A snapshot is written to temp-<pid>.rdb, synced, and renamed, so the dump is always a complete old or new one. A
// server with save points locks its dump, so that no other Respite server overwrites it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "persistence/file_system.h"
#include "server/runtime/env.h"
#include "server/storage/child_processes.h"

namespace respite {

class FileSystem;
struct KeyspaceStats;
class Loading;
class ChildProcesses;
class RdbContents;

class Snapshots {
 public:
  enum class Outcome : uint8_t { kDone, kFailed };

  struct Parts {
    const Env& env;
    FileSystem& files;
    KeyspaceStats& keyspace_stats;
    Loading& loading;
    ChildProcesses& child_processes;
    const RdbContents& contents;
  };
  explicit Snapshots(const Parts& parts);

  // Returns false while a replica lacks its primary's data; see RdbContents.
  bool IsWorthSaving() const;
  // Writes a snapshot while all clients wait. Errors are logged. Requires: no snapshot is running. Cost: O(data set).
  Outcome Save();
  // Starts a child that writes a snapshot. Requires: no child runs. Cost: a fork.
  Outcome StartBackground();
  // Returns the path of the snapshot of the last background save, even if `dbfilename` or `dir` has changed since.
  std::string BackgroundPath() const;
  // Makes a finished snapshot of the primary the dump file. Returns false on failure, which is logged.
  bool Install(const std::string& path);
  // Removes a file that was used for a synchronisation, if no directive requires it (rdb-del-sync-files): the dump, or
  // the file of the last background save.
  void RemoveSyncFile();
  void RemoveBackgroundSyncFile() { RemoveSyncFile(BackgroundPath()); }
  // Sets a handler that is called when a background save has ended.
  void OnEnd(std::function<void(Outcome)> handler) { ended_ = std::move(handler); }
  // Starts a background save as soon as no other child runs.
  void Schedule() { scheduled_ = true; }
  // Drops a scheduled BGSAVE, because the data for which it was requested is lost.
  void Unschedule() { scheduled_ = false; }
  bool Running() const;
  // Stops a running background save, or otherwise cancels a scheduled one. Returns which of the two it did.
  enum class Cancelled : uint8_t { kNone, kRunning, kScheduled };
  Cancelled Cancel();

  // Starts scheduled snapshots and snapshots that a save point requires. Called by the timer, after the end of a child
  // was handled.
  void Cron();
  // FLUSHALL: stops a running snapshot, which is obsolete. With save points the empty data set is saved at the end of
  // the turn, when the transaction with the flush has ended.
  void Flushed();
  void EndTurn() {
    if (save_due_) SaveFlushed();
  }

  // Returns whether writes must be refused because the last snapshot failed.
  bool StopsWrites() const;

  // Locks the RDB file if there are save points, and removes temporary files of processes that no longer exist. Called
  // at startup, before loading. Returns an error text if the server must not start. With the default save points a
  // failed lock is no error: the server starts, but does not save (see GivesWay).
  std::optional<std::string> Claim();
  // Returns whether this server leaves the dump to another server. It does so if it has Redis' default save points, has
  // never loaded or written this dump, and has found it locked. It then saves only on request, for example by SAVE; a
  // successful save ends this state. In Redis the last server overwrites the dump. As in Redis, servers that share a
  // folder and have no save directive must accept writes, start and stop.
  bool GivesWay() const;

  // CONFIG RESETSTAT.
  void ResetStats() { saves_ = 0; }

  struct Figures {
    int64_t last_save_s;  // UNIX time; the start counts as a save, as in Redis
    Outcome last_outcome;
    int64_t last_duration_s;     // of the last background save; -1: no save yet
    int64_t current_duration_s;  // -1: no save runs
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
  std::string owned_dump_;         // full path of the dump that this server has locked or written; may be empty
  std::string left_dump_;          // full path of the dump that this server leaves to another server; may be empty
  std::string background_folder_;  // directory when the last background save began
  std::string background_name_;
  bool scheduled_ = false;
  bool save_due_ = false;
  Outcome last_outcome_ = Outcome::kDone;
  uint64_t changes_before_ = 0;  // changes that the current snapshot includes
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
