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

class AppendOnlyFile final : public Journal {  // the append-only file (appendonly): decides when to write and rewrite
 public:
  enum class State : uint8_t {
    kOff,
    kOn,
    kAwaitsBase,  // turned on by CONFIG SET: the first base is not complete yet
  };

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    FileSystem& files;                          // the file system of the server
    Dataset& data;                              // the data to save, and where propagated commands come from
    const CurrentExecution& current_execution;  // the command that runs now
    ChildProcesses& child_processes;            // runs the rewrites
    const RdbContents& contents;                // which data and format the RDB of a new base has
  };
  explicit AppendOnlyFile(const Parts& parts);

  // --- The start of the server

  // Reads the manifest, even if appendonly is off, because an invalid manifest must stop the server. If appendonly is
  // on, also creates the directory and locks the files.
  Step Prepare();  // at startup: reads the manifest and, if appendonly is on, locks the files
  // Opens the last file for appending after loading, and creates missing files. `base_bytes` is the size of the loaded
  // base. Requires: Prepare, and appendonly is on.
  Step Begin(uint64_t base_bytes);                              // after loading: turns the append-only file on
  AofDirectory& directory() { return directory_; }              // the list of its files
  const AofDirectory& directory() const { return directory_; }  // the list of its files
  IoError TruncateLastIncremental(const std::string& name, uint64_t bytes);  // truncates it to `bytes` bytes

  // --- Propagated commands

  void Append(const PropagatedGroup& group) override { writer_.Append(group); }  // buffers the commands
  size_t BufferedBytes() const override { return writer_.BufferedBytes(); }      // bytes not yet written
  // Writes this Turn's propagated commands to the file. Must be called at the end of each Turn, before replies are
  // sent. Afterwards MustStop says whether the replies must not be sent.
  void Flush();            // at the end of each Turn, before replies are sent: writes the commands
  bool MustStop() const {  // the disk failed under appendfsync always, so no reply may be sent
    return writer_.MustStop();
  }
  IoError FlushAndSync();  // writes and syncs all commands: before DEBUG LOADAOF, and when the server stops

  // Simulates a crash of the machine: the file keeps only the part that `policy` guarantees, and nothing is appended
  // from now on. Requires: the server allows TEST.
  IoError SimulateCrash(AppendFsync policy);  // loses what a machine crash would lose; turns the file off

  // --- Changes while the server runs

  Step TurnOn();  // CONFIG SET appendonly yes; after kFailed the file is off
  // Turns the append-only file on again after the server itself turned it off, for example for a synchronisation. If
  // this fails, Cron retries it, because no client learns of the failure.
  void TurnBackOn();  // TurnOn, but if it fails, Cron retries it
  void TurnOff();     // CONFIG SET appendonly no; also kills a rewrite
  enum class RewriteStart : uint8_t { kStarted, kScheduled, kAlreadyRuns, kFailed };
  RewriteStart Rewrite();  // BGREWRITEAOF: starts a rewrite, or schedules it for when no child or MULTI runs
  // Starts rewrites that are scheduled or due, and retries TurnBackOn after a failure. Called by the timer.
  void Cron();  // called by the timer: starts rewrites, retries TurnBackOn

  // --- For INFO

  State state() const { return state_; }               // kAwaitsBase: on, but the first rewrite has not ended
  bool IsOn() const { return state_ != State::kOff; }  // kAwaitsBase counts as on
  AofWriter& writer() { return writer_; }              // writes to the last incremental
  const AofWriter& writer() const { return writer_; }  // writes to the last incremental
  uint64_t TotalBytes() const { return closed_bytes_ + writer_.FileBytes(); }  // size of all files (aof_current_size)
  uint64_t BaseBytes() const { return base_bytes_; }  // aof_base_size: after the last rewrite, or of the loaded base
  bool IsRewriting() const;                           // a child rewrites the append-only file now
  bool IsRewriteScheduled() const { return is_rewrite_scheduled_; }  // true: Cron will start a rewrite
  int64_t LastRewriteSeconds() const { return last_rewrite_s_; }     // duration, also of a failed one; -1: none yet
  int64_t CurrentRewriteSeconds() const;  // how long the current rewrite has run; -1: none runs
  bool LastRewriteSucceeded() const { return last_rewrite_succeeded_; }  // also true before the first rewrite
  uint64_t RewriteCount() const { return rewrite_count_; }  // successful rewrites since the start or CONFIG RESETSTAT
  uint64_t ConsecutiveFailures() const { return consecutive_failures_; }  // rewrites failed in a row; a reset sets 0
  uint64_t LastCowBytes() const { return last_cow_bytes_; }               // copy-on-write memory of the last rewrite
  uint64_t FailedCommandCount() const { return failed_command_count_; }   // commands that failed at the last loading
  void SetFailedCommandCount(uint64_t count) { failed_command_count_ = count; }  // called after loading
  void ResetStats() {  // sets the counts to 0 (CONFIG RESETSTAT)
    rewrite_count_ = consecutive_failures_ = 0;
    writer_.ResetDelayedWrites();
  }

 private:
  struct Backoff {         // the delay of rewrites after repeated failures
    int64_t minutes = 0;   // length of the current delay; doubles after each, up to 60
    int64_t until_ms = 0;  // real elapsed time when the delay ends; 0: no delay now
  };

  Step LockFiles();        // locks the last incremental, which protects all files; kDone if there is none
  Step CreateFirstBase();  // writes a base at startup if there are no files yet
  Step CreateIncremental(const char* moment);  // adds a new incremental and writes to it; `moment` is for the log
  Step OpenIncremental(const std::string& name, FileSystem::Mode mode);  // opens this file to append to it
  Step StartIncremental();      // before the fork of a rewrite: opens the file for later commands
  RewriteStart StartRewrite();  // starts a rewrite in a child now
  bool WriteBase(const std::string& path, ChildReporter* reporter);  // writes the data; `reporter` may be null
  void HandleRewriteEnd(const ChildEnd& end);                        // called when the child of a rewrite has ended
  void HandleOutcome(const ChildEnd& end);                           // installs the child's new base, or removes it
  void DropTemporaryIncremental();  // kAwaitsBase: removes the file with the commands since the fork
  Step InstallNewBase();            // makes the child's file the base in the manifest
  Step RenameInto(const std::string& from, const std::string& to, const char* what);  // renames; `what` is for the log
  void NoteFailure();                                                                 // counts a failed rewrite
  bool CheckBackoff();                   // true: failures delay the next rewrite now; starts and ends the delay
  bool HasGrownEnoughToRewrite() const;  // as auto-aof-rewrite-percentage and -min-size say

  const Parts parts_;                     // other parts of the server that this class uses
  AofDirectory directory_;                // keeps the list of the files
  AofWriter writer_;                      // writes to the last incremental
  State state_ = State::kOff;             // kAwaitsBase: on, but the first rewrite has not ended
  bool is_rewrite_scheduled_ = false;     // Cron starts a rewrite as soon as no child runs and no delay is left
  bool must_turn_back_on_ = false;        // TurnBackOn has failed, and Cron must retry it
  uint64_t closed_bytes_ = 0;             // size of all files except the current incremental
  uint64_t base_bytes_ = 0;               // size of all files after the last rewrite, or of the loaded base
  int64_t rewrite_started_ms_ = 0;        // real elapsed time when the last rewrite began
  int64_t last_rewrite_s_ = -1;           // duration of the last rewrite; -1: none yet
  bool last_rewrite_succeeded_ = true;    // also true before the first rewrite
  uint32_t incrementals_after_base_ = 0;  // how many last incrementals stay when the running rewrite ends: 0 or 1
  uint64_t rewrite_count_ = 0;            // number of successful rewrites since the start or CONFIG RESETSTAT
  uint64_t consecutive_failures_ = 0;     // rewrites failed since a success, a scheduled Rewrite or CONFIG RESETSTAT
  uint64_t failed_command_count_ = 0;     // number of commands that failed when the file was last loaded
  uint64_t last_cow_bytes_ = 0;           // copy-on-write memory of the last rewrite, also of a failed one
  Backoff backoff_;                       // delay after repeated failures
};

}  // namespace respite
