// AppendOnlyFile: the journal in files (`appendonly yes`). A base file contains the data at some time, and incremental
// files contain the propagated commands since then. To limit their size, a child rewrites them into a new base:
//
//   base 1   incr 1 ……… | incr 2 …            the fork begins a new incremental
//   base 2 ◄── child     | incr 2 ……………        the child has ended: base 1 and incr 1 are removed
//
// AofWriter writes the commands to the disk, AofDirectory keeps the list of files, and this class decides when.
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

class AppendOnlyFile final : public Journal {  // appendonly yes: decides when to write and rewrite
 public:
  enum class State : uint8_t {
    kOff,
    kOn,
    kAwaitsBase,  // turned on by CONFIG SET: the first base is not complete yet
  };

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    FileSystem& files;
    Dataset& data;
    const CurrentExecution& current_execution;
    ChildProcesses& child_processes;
    const RdbContents& contents;  // what the RDB of a new base contains, and in which format
  };
  explicit AppendOnlyFile(const Parts& parts);

  // --- The start of the server

  // Reads the manifest, even if appendonly is off: an invalid manifest stops the server. If appendonly is on, also
  // creates the directory and locks the files.
  Step Prepare();  // reads the manifest and locks the files, before loading
  // Opens the loaded file for appending, and creates missing files. Requires: Prepare, and appendonly is on.
  Step Begin(uint64_t base_bytes);  // opens the loaded file for appending, and creates missing files
  AofDirectory& directory() { return directory_; }
  const AofDirectory& directory() const { return directory_; }
  IoError TruncateLastIncremental(const std::string& name, uint64_t bytes);  // to this size; for a damaged end

  // --- Propagated commands

  void Append(const PropagatedGroup& commands) override { writer_.Append(commands); }  // adds them to the buffer
  size_t BufferedBytes() const override { return writer_.BufferedBytes(); }            // bytes not yet written
  // Writes this Turn's propagated commands to the file. Must be called at the end of each Turn, before replies are
  // sent. Afterwards MustStop says whether the replies may be sent.
  void Flush();            // writes this turn's propagated commands to the file, before replies are sent
  bool MustStop() const {  // the disk failed under appendfsync always, so no reply may be sent
    return writer_.MustStop();
  }
  IoError FlushAndSync();  // writes and syncs all commands: before DEBUG LOADAOF, and when the server stops

  // Simulates a crash of the machine: the file keeps the part that `policy` guarantees, and nothing is appended from
  // now on. Requires: the server allows TEST.
  IoError SimulateCrash(AppendFsync policy);  // simulates a crash of the machine (TEST)

  // --- Changes while the server runs

  Step TurnOn();  // CONFIG SET appendonly yes; after kFailed nothing has changed
  // Turns the file on again after the server itself turned it off. No client learns of a failure, so Cron retries it.
  void TurnBackOn();  // turns it on after the server itself turned it off; Cron retries after a failure
  void TurnOff();     // CONFIG SET appendonly no
  enum class RewriteStart : uint8_t { kStarted, kScheduled, kAlreadyRuns, kFailed };
  RewriteStart Rewrite();  // BGREWRITEAOF: starts a child, or schedules a rewrite after the current child
  // Starts rewrites that are due, and retries TurnBackOn after a failure. Called by the timer.
  void Cron();

  // --- For INFO

  State state() const { return state_; }
  bool IsOn() const { return state_ != State::kOff; }
  AofWriter& writer() { return writer_; }  // writes to the incremental in use
  const AofWriter& writer() const { return writer_; }
  uint64_t TotalBytes() const { return closed_bytes_ + writer_.FileBytes(); }  // size of all files (aof_current_size)
  uint64_t BaseBytes() const { return base_bytes_; }                 // size after the last rewrite (aof_base_size)
  bool IsRewriting() const;                                          // a child rewrites the file now
  bool IsRewriteScheduled() const { return is_rewrite_scheduled_; }  // it starts after the current child
  int64_t LastRewriteSeconds() const { return last_rewrite_s_; }     // duration; -1: none yet
  int64_t CurrentRewriteSeconds() const;                             // so far; -1: no rewrite runs
  bool LastRewriteSucceeded() const { return last_rewrite_succeeded_; }
  uint64_t RewriteCount() const { return rewrite_count_; }  // successful rewrites since the start or CONFIG RESETSTAT
  uint64_t ConsecutiveFailures() const { return consecutive_failures_; }  // failed rewrites since the last success
  uint64_t LastCowBytes() const { return last_cow_bytes_; }               // copy-on-write memory of the last rewrite
  uint64_t FailedCommandCount() const { return failed_command_count_; }   // when the file was last loaded
  void SetFailedCommandCount(uint64_t count) { failed_command_count_ = count; }
  void ResetStats() {  // sets the counts to 0 (CONFIG RESETSTAT)
    rewrite_count_ = consecutive_failures_ = 0;
    writer_.ResetDelayedWrites();
  }

 private:
  struct Backoff {         // after repeated failures, the delay before automatic rewrites grows
    int64_t minutes = 0;   // the current delay
    int64_t until_ms = 0;  // monotonic; 0: not waiting
  };

  Step LockFiles();                            // locks the last incremental, which protects all
  Step CreateFirstBase();                      // when there are no files yet
  Step CreateIncremental(const char* moment);  // continues in a new file; `moment` is for the log
  Step OpenIncremental(const std::string& name, FileSystem::Mode mode);  // continues in this file
  Step StartIncremental();      // creates the file for the commands after the fork of a rewrite
  RewriteStart StartRewrite();  // starts a rewrite in a child now
  bool WriteBase(const std::string& path, ChildReporter* reporter);  // false: failed; `reporter` may be null
  void HandleRewriteEnd(const ChildEnd& end);                        // called when the child has ended
  void HandleOutcome(const ChildEnd& end);                           // uses or drops the child's new base
  void DropTemporaryIncremental();                                   // removes it after the first rewrite failed
  Step InstallNewBase();                                             // makes the child's file the base in the manifest
  Step RenameInto(const std::string& from, const std::string& to, const char* what);  // `what` is for the log
  void NoteFailure();                                                                 // counts a failed rewrite
  bool CheckBackoff();                   // true while failed rewrites delay the next one; updates backoff_
  bool HasGrownEnoughToRewrite() const;  // by auto-aof-rewrite-percentage since the last rewrite, so a rewrite is due

  const Parts parts_;       // other parts of the server that this class uses
  AofDirectory directory_;  // keeps the list of the files
  AofWriter writer_;        // writes to the incremental in use
  State state_ = State::kOff;
  bool is_rewrite_scheduled_ = false;  // a rewrite starts after the current child
  bool must_turn_back_on_ = false;     // TurnBackOn has failed, and Cron must retry it
  uint64_t closed_bytes_ = 0;          // size of all files except the current incremental
  uint64_t base_bytes_ = 0;            // size of all files after the last rewrite, or of the loaded base
  int64_t rewrite_started_ms_ = 0;     // Pace time when the last rewrite began
  int64_t last_rewrite_s_ = -1;        // duration; -1: none yet
  bool last_rewrite_succeeded_ = true;
  uint32_t incrementals_after_base_ = 0;  // number of incrementals that the base of the last rewrite does not contain
  uint64_t rewrite_count_ = 0;            // number of successful rewrites since the start or CONFIG RESETSTAT
  uint64_t consecutive_failures_ = 0;     // number of failed rewrites since the last success
  uint64_t failed_command_count_ = 0;     // number of commands that failed when the file was last loaded
  uint64_t last_cow_bytes_ = 0;           // copy-on-write memory of the last rewrite
  Backoff backoff_;                       // delay after failed rewrites
};

}  // namespace respite
