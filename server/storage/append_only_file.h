// AppendOnlyFile: keeps the data in files (`appendonly yes`). A base file contains the data at some time, and
// incremental files contain the propagated commands since then. To limit their size, a child process rewrites the data
// into a new base:
//
//   base 1   incr 1 ……… | incr 2 …            the fork begins a new incremental
//   base 2 ◄── child     | incr 2 ……………        the child has ended: base 1 and incr 1 are removed
//
// AofWriter writes the commands to the disk, and AofDirectory keeps the list of files. This class decides when to write
// and rewrite.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/late_bound.h"
#include "persistence/aof_manifest.h"
#include "server/dataset/journal.h"
#include "server/runtime/env.h"
#include "server/storage/aof_directory.h"
#include "server/storage/aof_writer.h"
#include "server/storage/children.h"

namespace respite {

struct Dataset;
struct CurrentExecution;
class FileSystem;
class ChildProcesses;
class RdbContents;

// Backup implements this interface, because a backup consists of files of the append-only file.
class AofListener {  // interface: learns of rewrites, and of the end of the append-only file
 public:
  virtual ~AofListener() = default;
  virtual bool MustPostponeRewrite() const = 0;  // true: no rewrite may begin now; scheduled ones wait
  // Called after each rewrite. `has_new_base`: the manifest now names the file of this rewrite as the base.
  virtual void HandleRewriteEnd(bool has_new_base) = 0;  // a rewrite has ended; false: it failed or was killed
  // Called before the append-only file is turned off, while its last incremental file is still open.
  virtual void HandleTurnOff() = 0;  // the append-only file will be turned off now
};

class AppendOnlyFile final : public Journal {  // `appendonly yes`: keeps the data in append-only files
 public:
  enum class State : uint8_t {  // whether and how changes are written to files
    kOff,
    kOn,
    kAwaitsBase,  // turned on while the server runs: the first base is not complete yet
  };

  struct Parts {  // the arguments of the constructor
    const Env& env;
    FileSystem& files;                          // access to the disk
    Dataset& data;                              // all data of the server, which a rewrite saves
    const CurrentExecution& current_execution;  // tells whether a transaction or script runs now
    ChildProcesses& child_processes;            // starts the children that rewrite
    const RdbContents& contents;                // what the RDB file of a new base contains
  };
  explicit AppendOnlyFile(const Parts& parts);

  // --- The start of the server

  // Reads the manifest. Does so even if appendonly is off, because an invalid manifest must stop the server. If
  // appendonly is on, also creates the directory and locks the files.
  Step Prepare();  // at startup: reads the manifest; if appendonly is on, locks the files
  // Opens the last file for appending after loading, and creates missing files. `base_bytes` is the size of the loaded
  // base. Requires: Prepare has succeeded, and appendonly is on.
  Step Begin(uint64_t base_bytes);  // after loading: opens the last incremental, or creates the first files
  // Writes the data in memory as a new base, and replaces all files of the manifest by it. Then opens a file for new
  // commands, as Begin does. Requires: Prepare has succeeded, and appendonly is on. Cost: O(data set).
  Step BeginWithNewBase();  // after loading other files: writes the data as the base, and replaces all files
  AofDirectory& directory() { return directory_; }                // the folder of append-only files
  const AofDirectory& directory() const { return directory_; }    // the folder of append-only files
  IoError TruncateFile(const std::string& name, uint64_t bytes);  // truncates this file, and syncs it

  // --- Propagated commands

  void Append(const PropagatedGroup& group) override { writer_.Append(group); }  // buffers the commands
  size_t BufferedBytes() const override { return writer_.BufferedBytes(); }      // bytes not written yet
  // Must be called at the end of each event loop Turn, before replies are sent. If MustStop returns true afterwards,
  // the replies must not be sent.
  void Flush();            // at the end of a Turn, before replies are sent: writes the Turn's propagated commands
  bool MustStop() const {  // true: the disk failed with appendfsync `always`, so no replies may be sent
    return writer_.MustStop();
  }
  IoError FlushAndSync();  // writes and syncs all commands; returns the error; kNoError also if off

  // Simulates a crash of the machine: the file keeps only the part that `policy` guarantees, and nothing is appended
  // from now on. Requires: the server allows TEST.
  IoError SimulateCrash(AppendFsync policy);  // TEST: loses what a machine crash would lose; turns the AOF off

  // --- Changes while the server runs

  Step TurnOn();  // CONFIG SET appendonly yes: starts or schedules the first rewrite; kFailed: stays off
  // Turns the append-only file on again after the server itself turned it off, for example for a synchronisation. If
  // this fails, Cron tries again, because no client can be told of the failure.
  void TurnBackOn();  // turns the AOF on again; Cron retries a failure
  void TurnOff();     // stops writing, and kills a rewrite: for CONFIG SET appendonly no, or a synchronisation
  enum class RewriteStart : uint8_t { kStarted, kScheduled, kAlreadyRuns, kFailed };  // what BGREWRITEAOF has done
  RewriteStart Rewrite();  // BGREWRITEAOF: starts a rewrite, or lets Cron start one; works also if off
  // Begins a new incremental file; from now on the previous one does not change. kFailed: still writes to the previous
  // one. `moment` ends the log line "Creating AOF incr file NAME …", such as "on background rewrite".
  Step BeginNextIncremental(const char* moment);  // from now on, writes to a new incremental file
  AofBaseFormat BaseFormat() const;               // format of a new base: aof-use-rdb-preamble says it
  // Writes the data to `path` as the base of an append-only file. Returns false on failure, which is logged. Often runs
  // in a child process; `reporter` then gets the progress, otherwise it is null. Cost: O(data set).
  bool WriteBase(const std::string& path, ChildReporter* reporter);  // writes the data to `path`; false: failed
  void AttachListener(AofListener& listener) { listener_.Attach(&listener); }  // from now on, `listener` is called
  // Called by the timer. Starts rewrites that are scheduled or due, and retries TurnBackOn after a failure. Also frees
  // the records of removed files whose disk space is free now.
  void Cron();  // the timer's work: starts rewrites that are due, retries TurnBackOn, forgets removed files

  // --- For INFO

  State state() const { return state_; }                      // off, on, or on without a complete base
  bool IsOn() const { return state_ != State::kOff; }         // true: on, maybe without a complete base
  AofWriter& writer() { return writer_; }                     // appends commands to the last file
  const AofWriter& writer() const { return writer_; }         // appends commands to the last file
  bool MustTurnBackOn() const { return must_turn_back_on_; }  // true: off, because TurnBackOn has failed
  uint64_t TotalBytes() const { return closed_bytes_ + writer_.FileBytes(); }  // size of all files (aof_current_size)
  uint64_t BaseBytes() const { return base_bytes_; }  // bytes of all files after a rewrite, or of the loaded base
  bool IsRewriting() const;                           // true: a child is rewriting the files now
  bool IsRewriteScheduled() const { return is_rewrite_scheduled_; }  // true: Cron will start a rewrite
  int64_t LastRewriteSeconds() const { return last_rewrite_s_; }  // duration of the last one, even if failed; -1: none
  int64_t CurrentRewriteSeconds() const;                          // how long the current rewrite has run; -1: none runs
  bool LastRewriteSucceeded() const { return last_rewrite_succeeded_; }  // true also before the first
  uint64_t RewriteCount() const { return rewrite_count_; }  // successful rewrites since the start or CONFIG RESETSTAT
  uint64_t ConsecutiveFailures() const { return consecutive_failures_; }  // failed rewrites since a success or reset
  uint64_t LastCowBytes() const { return last_cow_bytes_; }               // bytes that the last rewrite copied on write
  uint64_t FailedCommandCount() const { return failed_command_count_; }   // commands that failed at the last loading
  void SetFailedCommandCount(uint64_t count) {  // called after loading, with the number of commands that failed
    failed_command_count_ = count;
  }
  void ResetStats() {  // CONFIG RESETSTAT: sets counts to 0
    rewrite_count_ = consecutive_failures_ = 0;
    writer_.ResetDelayedWrites();
  }

 private:
  struct Backoff {             // after repeated failures: how long to wait until the next rewrite
    int64_t wait_minutes = 0;  // how long the wait is; doubles each time, up to 60
    int64_t until_ms = 0;      // when the wait ends (real time); 0: no wait
  };

  Step LockFiles();        // locks the last incremental, and thereby all files; kDone also without files
  Step CreateFirstBase();  // at startup: writes a base with the current data, and adds it to the manifest
  Step CreateIncremental(const char* moment);  // begins a new incremental; `moment` is for the log
  Step OpenIncremental(const std::string& name, FileSystem::Mode mode);  // opens this incremental to append to it
  Step StartIncremental();      // before a fork: if on, opens a file for the commands after the fork
  RewriteStart StartRewrite();  // forks the child of a rewrite now
  bool MustPostponeRewrite() const { return listener_ && listener_->MustPostponeRewrite(); }  // true: none may begin
  void HandleRewriteEnd(const ChildEnd& end);  // called when the child of a rewrite has ended
  void HandleOutcome(const ChildEnd& end);     // makes the child's file the new base; after a failure, removes the file
  void DropTemporaryIncremental();             // kAwaitsBase: removes the file of commands since the fork
  Step InstallNewBase();                       // makes the child's file the base in the manifest
  Step RenameInto(const std::string& from, const std::string& to,  // renames a file; `what` names it in the log
                  const char* what);
  void NoteFailure();                    // a rewrite has failed, or did not start: counts it
  bool UpdateBackoff();                  // begins or ends the wait after repeated failures; true: no rewrite now
  bool HasGrownEnoughToRewrite() const;  // true: a rewrite is due (auto-aof-rewrite-percentage and -min-size)

  const Parts parts_;                     // the arguments of the constructor
  LateBound<AofListener> listener_;       // learns of rewrites; not attached: nothing does
  AofDirectory directory_;                // the folder of append-only files
  AofWriter writer_;                      // appends commands to the last file
  State state_ = State::kOff;             // off, on, or on without a complete base
  bool is_rewrite_scheduled_ = false;     // true: Cron starts a rewrite as soon as it may
  bool must_turn_back_on_ = false;        // true: TurnBackOn has failed, and Cron retries it
  uint64_t closed_bytes_ = 0;             // size of all files except the incremental that is open for appending
  uint64_t base_bytes_ = 0;               // size of all files after the last rewrite, or of the loaded base
  int64_t rewrite_started_ms_ = 0;        // when the last rewrite began (real time)
  int64_t last_rewrite_s_ = -1;           // how long the last rewrite took, in s; -1: none yet
  bool last_rewrite_succeeded_ = true;    // true: the last rewrite succeeded, or there was none
  uint32_t incrementals_after_base_ = 0;  // how many newest incrementals stay when the running rewrite ends: 0 or 1
  uint64_t rewrite_count_ = 0;            // number of successful rewrites since the start or CONFIG RESETSTAT
  uint64_t consecutive_failures_ = 0;     // rewrites failed since a success, a scheduled Rewrite or CONFIG RESETSTAT
  uint64_t failed_command_count_ = 0;     // number of commands that failed when the files were last loaded
  uint64_t last_cow_bytes_ = 0;           // memory that the last rewrite copied on write, in bytes
  Backoff backoff_;                       // delays the next rewrite after repeated failures
};

}  // namespace respite
