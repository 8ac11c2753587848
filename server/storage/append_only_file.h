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

class AppendOnlyFile final : public Journal {
 public:
  enum class State : uint8_t {
    kOff,
    kOn,
    kAwaitsBase,  // turned on by CONFIG SET: the first base is not complete yet
  };

  struct Parts {
    const Env& env;
    FileSystem& files;
    Dataset& data;
    const CurrentExecution& current_execution;
    ChildProcesses& child_processes;
    const RdbContents& contents;
  };
  explicit AppendOnlyFile(const Parts& parts);

  // --- The start of the server

  // Reads the manifest, even if appendonly is off: an invalid manifest stops the server.
  Step Prepare();
  // Opens the loaded file for appending, and creates missing files. Requires: Prepare, and appendonly is on.
  Step Begin(uint64_t base_bytes);
  AofDirectory& directory() { return directory_; }
  const AofDirectory& directory() const { return directory_; }
  // Truncates the last incremental before an incomplete record.
  IoError CutLast(const std::string& name, uint64_t bytes);

  // --- Propagated commands

  void Append(const UnitEffects& effects) override { writer_.Append(effects); }
  size_t BufferedBytes() const override { return writer_.BufferBytes(); }
  // Writes this turn's propagated commands to the file. Must be called at the end of each turn, before replies are
  // sent. Then MustStop says whether they may be sent.
  void Flush();
  bool MustStop() const { return writer_.MustStop(); }
  // Writes and syncs everything (before DEBUG LOADAOF, and when the server stops).
  IoError FlushAndSync();

  // Simulates a crash of the machine: the file keeps the part that this policy guarantees, and nothing is appended from
  // now on. Requires: the server allows TEST.
  IoError Crash(AppendFsync policy);

  // --- Changes while the server runs

  // CONFIG SET appendonly yes. After kFailed nothing has changed; the reason is logged.
  Step TurnOn();
  // Turns the file on again after the server itself turned it off. No client learns of a failure, so Cron retries it.
  void TurnBackOn();
  void TurnOff();
  enum class RewriteStart : uint8_t { kStarted, kScheduled, kAlreadyRuns, kFailed };
  // BGREWRITEAOF: starts a child, or schedules a rewrite after the current child.
  RewriteStart Rewrite();
  // Starts rewrites that are due. Called by the timer.
  void Cron();

  // --- For INFO

  State state() const { return state_; }
  bool IsOn() const { return state_ != State::kOff; }
  AofWriter& writer() { return writer_; }
  const AofWriter& writer() const { return writer_; }
  uint64_t TotalBytes() const { return closed_bytes_ + writer_.FileBytes(); }
  uint64_t BaseBytes() const { return base_bytes_; }
  bool Rewrites() const;
  bool IsScheduled() const { return scheduled_; }
  int64_t LastRewriteSeconds() const { return last_rewrite_s_; }
  int64_t CurrentRewriteSeconds() const;
  bool LastRewriteSucceeded() const { return last_rewrite_succeeded_; }
  uint64_t RewriteCount() const { return rewrites_; }
  uint64_t ConsecutiveFailures() const { return consecutive_failures_; }
  uint64_t LastCowBytes() const { return last_cow_bytes_; }
  // Returns the number of commands that failed when the file was last loaded.
  uint64_t FailedReplays() const { return failed_replays_; }
  void SetFailedReplays(uint64_t count) { failed_replays_ = count; }
  // CONFIG RESETSTAT.
  void ResetStats() {
    rewrites_ = consecutive_failures_ = 0;
    writer_.ResetDelayedWrites();
  }

 private:
  // After repeated failures, the delay before automatic rewrites grows.
  struct Backoff {
    int64_t minutes = 0;
    int64_t until_ms = 0;  // monotonic; 0: not waiting
  };

  Step LockFiles();
  Step CreateFirstBase();
  // Continues in a new file, which the manifest names. `moment` is for the log.
  Step CreateIncremental(const char* moment);
  // Continues in this file of the directory.
  Step OpenIncremental(const std::string& name, FileSystem::Mode mode);
  // Directs propagated commands to the incremental after the new base.
  Step StartIncremental();
  RewriteStart StartRewrite();
  // Writes a base file. `reporter` may be null.
  bool WriteBase(const std::string& path, ChildReporter* reporter);
  void RewriteEnded(const ChildEnd& end);
  void TakeOver(const ChildEnd& end);
  void DropTemporaryIncremental();
  Step TakeNewBase();
  Step RenameInto(const std::string& from, const std::string& to, const char* what);
  void NoteFailure();
  bool IsBackingOff();
  bool HasGrown() const;

  const Parts parts_;
  AofDirectory directory_;
  AofWriter writer_;
  State state_ = State::kOff;
  bool scheduled_ = false;
  bool comes_back_ = false;    // TurnBackOn has failed, and Cron must retry it
  uint64_t closed_bytes_ = 0;  // size of all files except the current incremental
  uint64_t base_bytes_ = 0;    // size of all files after the last rewrite, or of the loaded base
  int64_t rewrite_started_ms_ = 0;
  int64_t last_rewrite_s_ = -1;
  bool last_rewrite_succeeded_ = true;
  uint32_t parts_since_fork_ = 0;  // number of incrementals that the base of the last rewrite does not contain
  uint64_t rewrites_ = 0;
  uint64_t consecutive_failures_ = 0;
  uint64_t failed_replays_ = 0;
  uint64_t last_cow_bytes_ = 0;
  Backoff backoff_;
};

}  // namespace respite
