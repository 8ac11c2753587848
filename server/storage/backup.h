// Backup: the one backup that a server can make at a time (the commands BACKUP …). It consists of a BASE, the data when
// a child was forked; an INCR, the commands since then until BACKUP SEAL; and a manifest, which names BASE and INCR. A
// server can load it as an append-only file.
//
//   idle ─► pending ─► snapshotting ─► incrementing ─► sealed ─► idle
//                 └──────────┴───────────────┴────► failed
//
// There are two ways to make the files:
//
//   from the append-only file   BASE is the file that its rewrite has written, and INCR its last incremental file. Both
//                               get a second name (a hard link) in the directory of the backup. Rewrites wait until
//                               the backup is sealed, because a rewrite would begin another incremental file.
//   by itself                   if the append-only file is off, or its files cannot be linked: a child writes BASE, and
//                               a BackupRecorder INCR, into the directory of the backup. The append-only file and its
//                               directory stay as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "persistence/aof_manifest.h"
#include "server/runtime/env.h"
#include "server/storage/append_only_file.h"
#include "server/storage/backup_directory.h"
#include "server/storage/backup_recorder.h"
#include "server/storage/children.h"

namespace respite {

struct CurrentExecution;
class ChildProcesses;
class Loading;
class RdbContents;

class Backup final : public AofListener {  // makes a backup: a base, the commands since then, and a manifest
 public:
  enum class State : uint8_t {  // how far the backup is
    kIdle,
    kPending,       // waits until a child can be forked
    kSnapshotting,  // a child writes the base
    kIncrementing,  // the base is complete; commands are recorded
    kSealed,        // base, incremental and manifest are complete, and change no more
    kFailed,
  };

  struct Parts {  // what Backup uses
    const Env& env;
    FileSystem& files;                          // access to the disk
    Journals& journals;                         // give propagated commands to the recorder
    const CurrentExecution& current_execution;  // the command that runs now
    ChildProcesses& child_processes;            // starts the child that writes the base
    const RdbContents& contents;                // tells whether the data is worth saving
    const Loading& loading;                     // tells whether data is being loaded
    AppendOnlyFile& aof;                        // its files may become those of the backup
  };
  explicit Backup(const Parts& parts);

  // Start, Seal, Abort and CleanUp do what BACKUP START, SEAL, ABORT and CLEANUP must do. A FailureReason says why one
  // of them failed; nullopt: success. The client can repeat a failed Seal or CleanUp, because the state is unchanged.
  // There is one exception: if Seal cannot give the manifest its final name, the backup fails.
  using FailureReason = std::optional<std::string>;
  FailureReason Start();    // BACKUP START. Requires: !IsInProgress(), and the state is not kSealed
  FailureReason Seal();     // BACKUP SEAL. Requires: the state is kIncrementing
  void Abort();             // BACKUP ABORT. Requires: IsInProgress()
  FailureReason CleanUp();  // BACKUP CLEANUP: removes the files of a backup. Requires: !IsInProgress()

  State state() const { return state_; }               // how far the backup is
  const std::string& error() const { return error_; }  // why the last backup has failed; empty: it has not
  int64_t StartedAtS() const { return started_s_; }    // Unix time of the start; 0: no backup has begun
  int64_t SealedAtS() const { return sealed_s_; }      // Unix time when BACKUP SEAL completed the backup; 0: not sealed
  std::vector<std::string> ImmutableFiles() const;     // absolute paths of the backup's finished files
  bool IsInProgress() const {                          // true: pending, snapshotting or incrementing
    return state_ == State::kPending || state_ == State::kSnapshotting || state_ == State::kIncrementing;
  }
  bool IsWritingBase() const;  // true: a child of the backup itself, not of the append-only file, writes a base

  void Flush();  // at the end of a Turn: writes the recorded commands
  void Cron();   // the timer's work: starts a pending backup, removes a sealed one after backup-sealed-ttl
  // Called after all data was replaced without propagated commands, for example by a full synchronization. A backup
  // whose base was begun fails, because the commands recorded from now on would not fit the base. A pending backup
  // stays pending. `reason` is for clients and the log.
  void HandleDataReplaced(const char* reason);  // a backup fails if the data is replaced without commands
  void HandleShutdown();                        // the server stops: gives up a backup that is not sealed

  bool MustPostponeRewrite() const override;          // true: the append-only file must not be rewritten now
  void HandleRewriteEnd(bool has_new_base) override;  // a rewrite has ended: a waiting backup links its base, or fails
  void HandleTurnOff() override;                      // appendonly will be turned off: the backup continues without it

 private:
  enum class Way : uint8_t { kFromAof, kByItself };  // kFromAof: links files of the AOF; kByItself: forks a child

  bool MustWaitToFork() const;               // true: no child can be forked for the base now: another runs, loading …
  FailureReason Begin();                     // starts writing the base; nullopt: success, or a later turn must retry
  FailureReason BeginFromAof();              // rewrites the append-only file, or waits for a rewrite that runs
  FailureReason BeginByItself();             // writes the base in a child, and records changes itself
  void HandleChildEnd(const ChildEnd& end);  // called when the child that BeginByItself started for the base has ended
  void PinBase();                            // links the base of the append-only file
  void HandleBaseComplete();                 // enters kIncrementing, as the base is complete
  IoError TakeOverIncremental();             // links the AOF's last incremental; recorder_ continues it
  FailureReason SealFromAof();               // links the incremental, and lets the append-only file begin another one
  FailureReason SealByItself();              // syncs the incremental, writes the manifest; returns why that failed
  void Fail(const std::string& reason);      // gives up the backup, and removes its files
  void Forget();                             // returns to the state kIdle

  const Parts parts_;                   // what Backup uses
  BackupDirectory directory_;           // the folder backupdirname and its files
  BackupRecorder recorder_;             // writes the incremental, if the append-only file does not
  State state_ = State::kIdle;          // how far the backup is
  Way way_ = Way::kByItself;            // how the files are made, from kSnapshotting on
  bool is_linking_impossible_ = false;  // true: links to files of the AOF are impossible, so no backup tries them again
  AofManifest manifest_;                // the manifest of this backup
  std::string error_;                   // why the backup has failed; empty: it has not
  int64_t started_s_ = 0;               // Unix time of the start; 0: no backup has begun
  int64_t sealed_s_ = 0;                // Unix time when BACKUP SEAL completed the backup; 0: not sealed
  int64_t sealed_ms_ = 0;               // when BACKUP SEAL completed the backup (monotonic clock time)
};

}  // namespace respite
