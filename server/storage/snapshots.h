// Snapshots: saves the data as an RDB file (SAVE, BGSAVE, `save` points), and keeps the results of saves for MISCONF
// and INFO.
//
// A snapshot is written to temp-<pid>.rdb, synced, and renamed, so the dump (the file dbfilename) is always a complete
// old or new one. The server locks its dump when it saves; with save points, it already does so at startup. So no other
// Respite server overwrites the dump.
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

class Snapshots {  // saves the data as the RDB file: SAVE, BGSAVE and save points
 public:
  enum class Outcome : uint8_t { kDone, kFailed };

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    FileSystem& files;                // the file system of the server
    KeyspaceStats& keyspace_stats;    // has the number of changes since the last save
    Loading& loading;                 // while data is being loaded, the timer saves nothing
    ChildProcesses& child_processes;  // runs background saves
    const RdbContents& contents;      // what an RDB file contains
  };
  explicit Snapshots(const Parts& parts);

  bool IsWorthSaving() const;  // false: a replica without its primary's data, so the old file stays
  // Writes the RDB file while all clients wait. Errors are logged. Requires: no snapshot is running. Cost: O(data set).
  Outcome Save();                      // SAVE: writes the RDB file while all clients wait
  Outcome StartBackgroundSave();       // BGSAVE: starts a child that saves; requires that no child runs
  std::string BackgroundPath() const;  // path of the last background save's file, even if dbfilename or `dir` changed
  // Makes a finished snapshot from the primary the dump: renames the file `path` to dbfilename. Returns false on
  // failure, which is logged.
  bool InstallAsDump(const std::string& path);  // renames a primary's finished snapshot to dbfilename; false: failed
  // Removes the dump after it was used for a synchronisation. Keeps it unless rdb-del-sync-files is set and the server
  // saves neither snapshots nor an append-only file.
  void RemoveSyncFile();  // removes the dump after a synchronisation, if rdb-del-sync-files permits
  void RemoveBackgroundSyncFile() { RemoveSyncFile(BackgroundPath()); }  // for the last background save's file
  void SetEndHandler(std::function<void(Outcome)> handler) {             // called after background saves
    on_end_ = std::move(handler);
  }
  void Schedule() { is_save_scheduled_ = true; }  // Cron starts a background save when no child runs
  // Cancels a scheduled background save. Must be called when the data that it should have saved is lost.
  void Unschedule() { is_save_scheduled_ = false; }  // cancels a scheduled background save
  bool IsRunning() const;                            // a child is writing the RDB file now
  enum class Cancelled : uint8_t { kNone, kRunning, kScheduled };
  // Kills a running background save, or cancels a scheduled one. Returns which of them it was, or kNone.
  Cancelled Cancel();  // BGSAVE CANCEL: kills a running background save, or cancels a scheduled one

  // Starts background saves that are scheduled or that a save point requires. Called by the timer, after
  // ChildProcesses::Poll.
  void Cron();  // called by the timer: starts scheduled saves and those of save points
  // Called at FLUSHALL: kills a child that writes a snapshot, also one for replicas, because its data is obsolete. With
  // save points, the empty data set is saved at the end of the Turn, when the transaction with the FLUSHALL has ended.
  void HandleFlushAll();  // FLUSHALL: kills a child that saves; with save points, saves at the end of the Turn
  void EndTurn() {        // at the end of a Turn: saves the empty data if HandleFlushAll requires it
    if (save_due_) SaveFlushed();
  }

  bool MustRefuseWrites() const;  // writes get -MISCONF, because the last snapshot has failed

  // Called at startup, before loading. Locks the dump if there are save points, and removes temporary files of
  // processes that no longer exist. Returns an error text if the server must not start, because another server has
  // locked the dump. With Redis' default save points the server starts nevertheless, but does not save (see
  // LeavesDumpToOtherServer).
  std::optional<std::string> LockDumpAtStartup();  // returns an error text if the server must not start
  // Returns whether this server does not save, because the dump belongs to another server. That is so if it has Redis'
  // default save points, has never loaded or written this dump, and has found it locked. Such a server saves only on
  // request, for example by SAVE; a successful save ends this state. Redis would overwrite the dump. But as in Redis,
  // servers that share a folder and have no `save` directive must accept writes, start and stop.
  bool LeavesDumpToOtherServer() const;  // does not save, because another server has locked the dump

  void ResetStats() { save_count_ = 0; }  // sets the number of saves to 0 (CONFIG RESETSTAT)

  struct Figures {               // values for INFO
    int64_t last_save_s;         // Unix time of the last successful save, or of the start
    Outcome last_outcome;        // outcome of the last background save; a successful SAVE also sets kDone
    int64_t last_duration_s;     // duration of the last background save, also a failed one; -1: none yet
    int64_t current_duration_s;  // how long the current background save has run; -1: none runs
    uint64_t saves;              // saves begun since the start or CONFIG RESETSTAT, also failed ones
    uint64_t last_cow_bytes;     // copy-on-write memory of the last successful background save
  };
  Figures CurrentFigures() const;  // results of saves, for INFO

 private:
  bool Write(const std::string& path, ChildReporter* reporter);                // writes the RDB file; false: failed
  bool WriteTemporary(const std::string& temporary, ChildReporter* reporter);  // writes the file; false: failed
  // Locks the RDB file `path` for this server. Returns false if another running server has locked it, so that it must
  // not be written. Returns true also if the file does not exist yet.
  bool Lock(const std::string& path);                         // locks the RDB file; false: another server has locked it
  std::string DumpPath() const;                               // full path of `dbfilename`
  void NoteSaved(uint64_t changes, const std::string& path);  // must be called when a save to `path` has succeeded
  void HandleChildEnd(const ChildEnd& end);                   // called when the child of a background save has ended
  void NoteOutcome(const ChildEnd& end);         // logs the outcome of a background save, and stores it for INFO
  void RemoveSyncFile(const std::string& path);  // removes the file, if rdb-del-sync-files permits
  void SaveFlushed();                            // saves the empty data after FLUSHALL, unless a save runs
  bool MayRetrySave() const;    // false: the last background save began less than 5 seconds ago, and failed
  void SaveIfDue();             // starts a background save if a save point requires it
  void RemoveTemporaryFiles();  // removes temp-….rdb files of processes that no longer exist

  const Parts parts_;               // other parts of the server that this class uses
  std::unique_ptr<File> lock_;      // the lock of the dump; null: not locked
  std::string owned_dump_;          // full path of the dump that this server has locked or written; empty: none
  std::string dump_left_to_other_;  // full path of the dump that this server leaves to another server; empty: none
  std::string background_folder_;   // working directory when the last background save began
  std::string background_name_;     // file name of the last background save
  bool is_save_scheduled_ = false;  // Cron starts a background save when no child runs
  bool save_due_ = false;           // EndTurn must save the empty data after a FLUSHALL
  Outcome last_outcome_ = Outcome::kDone;  // outcome of the last background save; a successful SAVE also sets kDone
  uint64_t changes_before_ = 0;            // changes since the last save, when the running background save began
  int64_t last_save_wall_s_;               // Unix time of the last successful save, or of the start
  int64_t last_save_ms_;                   // monotonic time of the last successful save, or of the start
  std::optional<int64_t> last_try_ms_;  // real elapsed time of the last attempt at a background save; nullopt: none yet
  int64_t started_ms_ = 0;              // the same time, for the duration of the background save
  int64_t last_duration_s_ = -1;        // duration of the last background save; -1: none yet
  uint64_t save_count_ = 0;             // saves begun since the start or CONFIG RESETSTAT, also failed ones
  uint64_t last_cow_bytes_ = 0;         // copy-on-write memory of the last successful background save
  std::function<void(Outcome)> on_end_ = [](Outcome) {};  // called when a background save has ended
};

}  // namespace respite
