// Snapshots: saves the data as an RDB file (SAVE, BGSAVE, `save` points), and keeps the results of saves for MISCONF
// and INFO.
//
// A snapshot is written to temp-<pid>.rdb, synced, and renamed, so the dump (the file dbfilename) is always a complete
// old or new one. The server locks its dump when it saves; with save points, the server already does so at startup. So
// no other Respite server overwrites the dump.
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

class Snapshots {  // saves the data as an RDB file: SAVE, BGSAVE and save points
 public:
  enum class Outcome : uint8_t { kDone, kFailed };

  struct Parts {  // the arguments of the constructor
    const Env& env;
    FileSystem& files;                // access to the disk
    KeyspaceStats& keyspace_stats;    // counts the changes since the last save
    Loading& loading;                 // tells whether data is being loaded, so nothing may be saved
    ChildProcesses& child_processes;  // starts the children that save
    const RdbContents& contents;      // everything that is saved in an RDB file
  };
  explicit Snapshots(const Parts& parts);

  bool HasDump() const { return has_dump_; }  // true: there is a dump, or a save has begun
  bool IsWorthSaving() const;                 // false: a replica without its primary's data, so keep the old file
  // Writes the RDB file while all clients wait. Errors are logged. Requires: no snapshot is running. Cost: O(data set).
  Outcome Save();                      // SAVE: writes the RDB file while all clients wait
  Outcome StartBackgroundSave();       // BGSAVE: starts a child that writes the RDB file; needs no child running
  std::string BackgroundPath() const;  // path of the last background save's file, even if dbfilename or `dir` changed
  bool InstallAsDump(const std::string& path);  // renames a received snapshot to dbfilename; false: failed, or locked
  // Removes the RDB file that a synchronisation has used. Does so only on a server that keeps nothing on disk:
  // rdb-del-sync-files is set, there are no save points, and appendonly is off.
  void RemoveSyncFile();             // after a synchronisation: removes the RDB file, if rdb-del-sync-files permits
  void RemoveBackgroundSyncFile() {  // removes the file of the last background save, if rdb-del-sync-files permits
    RemoveSyncFile(BackgroundPath());
  }
  void SetEndHandler(std::function<void(Outcome)> handler) {  // called after each background save
    on_end_ = std::move(handler);
  }
  void Schedule() { is_save_scheduled_ = true; }  // Cron will start a background save
  // Cancels a scheduled background save. Must be called when the data that it was to save no longer exists.
  void Unschedule() { is_save_scheduled_ = false; }                // Cron must not start the scheduled save
  bool IsRunning() const;                                          // true: a child is writing an RDB file now
  enum class Cancelled : uint8_t { kNone, kRunning, kScheduled };  // which save BGSAVE CANCEL has ended
  // Ends the background save that runs (returns kRunning) or that is scheduled (kScheduled). kNone: there is none.
  Cancelled Cancel();  // BGSAVE CANCEL: kills the running save, or cancels a scheduled one

  // Starts background saves that are scheduled or that a save point requires. Called by the timer, after
  // ChildProcesses::Poll.
  void Cron();  // the timer's work: starts saves that are scheduled, or due by save points
  // Called at FLUSHALL. Kills a child that writes a snapshot, also one for replicas, because its data is obsolete. If
  // `save` has save points, the empty data set is saved at the end of the event loop Turn, so after a transaction that
  // contains the FLUSHALL has ended. Does nothing while data is being loaded.
  void HandleFlushAll();  // FLUSHALL: kills a child that saves; with save points, EndTurn then saves
  void EndTurn() {        // at the end of a Turn: saves the empty data, if HandleFlushAll demands this
    if (is_save_due_) SaveFlushed();
  }

  bool MustRefuseWrites() const;  // true: the last BGSAVE failed, so writes get MISCONF (stop-writes-on-bgsave-error)

  // Locks the dump if there are save points, and removes temporary files of processes that no longer exist. Called at
  // startup, before loading. Returns an error text if the server must not start, because another server has locked the
  // dump. With Redis' default save points the server starts nevertheless, but does not save (see
  // LeavesDumpToOtherServer).
  std::optional<std::string> LockDumpAtStartup();  // locks the RDB file; returns an error that must end startup
  void ReleaseLock() { lock_.reset(); }  // releases the lock of the RDB file: this server will not save any more
  // Returns whether this server does not save by itself, because the dump belongs to another server: this server has
  // Redis' default save points, has never locked or written this dump, and has found it locked. A request such as SAVE
  // still saves; its success ends this state. (Redis would overwrite the dump. But as in Redis, servers that share a
  // folder and have no `save` directive must accept writes, start and stop.)
  bool LeavesDumpToOtherServer() const;  // true: never saves by itself, as another server has locked the file

  void ResetStats() { save_count_ = 0; }  // CONFIG RESETSTAT: sets the number of saves to 0

  struct Figures {               // results of saves, for INFO
    int64_t last_save_s;         // Unix time of the last successful save, or of the start
    Outcome last_outcome;        // how the last background save ended; a successful SAVE sets kDone
    int64_t last_duration_s;     // how long the last background save took; -1: none has ended
    int64_t current_duration_s;  // how long the current background save has run; -1: none runs
    uint64_t saves;              // number of saves since the start or CONFIG RESETSTAT, also failed ones
    uint64_t failures_in_a_row;  // number of failed background saves since the last successful save
    uint64_t last_cow_bytes;     // memory that the last successful background save copied on write
  };
  Figures CurrentFigures() const;  // results of saves, for INFO

 private:
  bool Write(const std::string& path, ChildReporter* reporter);                // writes the RDB file; false: failed
  bool WriteTemporary(const std::string& temporary, ChildReporter* reporter);  // writes all data; false: failed
  // Locks the RDB file `path` for this server. Returns false if another running server has locked it: it must not be
  // written then. Returns true if the file does not exist yet.
  bool Lock(const std::string& path);  // locks this RDB file; false: another server holds the lock
  std::string DumpPath() const;        // full path of `dbfilename`
  void NoteSaved(uint64_t changes, const std::string& path);  // after a successful save: updates figures and lock
  void HandleChildEnd(const ChildEnd& end);                   // called when the child of a background save has ended
  void NoteOutcome(const ChildEnd& end);                      // logs how a background save ended, and keeps it for INFO
  void RemoveSyncFile(const std::string& path);               // with rdb-del-sync-files and no persistence: removes it
  void SaveFlushed();                                         // saves the empty data after FLUSHALL, unless a save runs
  bool MayRetrySave() const;    // false: the last background save failed, and began at most 5 s ago
  void SaveIfDue();             // starts a background save if a save point requires one
  void RemoveTemporaryFiles();  // removes temp-….rdb files of processes that have ended

  const Parts parts_;                      // the arguments of the constructor
  std::unique_ptr<File> lock_;             // the lock of the RDB file; null: not locked
  std::string owned_dump_;                 // path of the RDB file that this server has locked or written; empty: none
  std::string dump_left_to_other_;         // path of an RDB file that another server has locked; empty: none
  std::string background_dump_folder_;     // folder in which the last background save began
  std::string background_dump_name_;       // `dbfilename` when the last background save began
  bool has_dump_ = false;                  // true: there was a dump at startup, or a save has begun since
  bool is_save_scheduled_ = false;         // true: Cron starts a background save when no child runs
  bool is_save_due_ = false;               // true: EndTurn must save, because of a FLUSHALL
  Outcome last_outcome_ = Outcome::kDone;  // how the last background save ended; a SAVE sets kDone
  uint64_t failures_in_a_row_ = 0;         // number of failed background saves since the last successful save
  uint64_t changes_before_ = 0;            // changes since the last save, when the running save began
  int64_t last_save_wall_s_;               // Unix time of the last successful save, or of the start
  int64_t last_save_ms_;                   // clock time of the last successful save, or of the start
  std::optional<int64_t> last_try_ms_;     // when a background save was last tried (real time); nullopt: never
  int64_t started_ms_ = 0;                 // when the last background save began (real time)
  int64_t last_duration_s_ = -1;           // how long the last background save took, in s; -1: none yet
  uint64_t save_count_ = 0;                // number of saves since the start or CONFIG RESETSTAT, also failed ones
  uint64_t last_cow_bytes_ = 0;            // memory that the last successful background save copied on write
  std::function<void(Outcome)> on_end_ = [](Outcome) {};  // called when a background save has ended
};

}  // namespace respite
