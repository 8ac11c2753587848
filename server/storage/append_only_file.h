// AppendOnlyFile: the journal that is a file (`appendonly yes`): a base, which is the data set at some time, and
// incremental files with the effects of what came after. A rewrite makes a new base in a child, so that the file does
// not grow for ever:
//
//   base 1   incr 1 ……… | incr 2 …            a new incremental begins when the child is forked
//   base 2 ◄── child     | incr 2 ……………        the child is done: base 1 and incr 1 are history, and removed
//
// AofWriter knows how effects get to the disk, AofDirectory which files there are; here is when.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/dataset/journal.h"
#include "server/storage/aof_directory.h"
#include "server/storage/aof_writer.h"
#include "server/storage/children.h"

namespace respite {

class Clock;
class Pace;
struct Dataset;
struct DebugSwitches;
class Executor;
class FileSystem;
class LatencyMonitor;
class Logger;
class Nursery;
class RdbContents;
struct Settings;

class AppendOnlyFile final : public Journal {
 public:
  enum class State : uint8_t {
    kOff,
    kOn,
    kAwaitsBase,  // turned on while the server ran: effects are kept beside the first base, which is being made
  };

  struct Parts {
    const Settings& settings;
    const Clock& clock;
    const Pace& pace;
    Logger& log;
    FileSystem& files;
    Dataset& data;
    Executor& executor;
    Nursery& nursery;
    const RdbContents& contents;
    LatencyMonitor& latency;
    DebugSwitches& debug;
  };
  explicit AppendOnlyFile(const Parts& parts);

  // --- The start of the server.

  // Reads the manifest, also when the file is off: a broken one stops the server.
  Step Prepare();
  // Opens the file to go on in it, once it is loaded; makes what is missing. Requires: Prepare, and it is to be on.
  Step Begin(uint64_t base_octets);
  AofDirectory& directory() { return directory_; }
  const AofDirectory& directory() const { return directory_; }
  // The last incremental was cut: a record at its end was torn.
  IoError CutLast(const std::string& name, uint64_t octets);

  // --- Effects.

  void Append(const UnitEffects& effects) override { writer_.Append(effects); }
  size_t BufferedBytes() const override { return writer_.BufferOctets(); }
  // At the end of each Turn, before replies leave. Afterwards MustStop says whether they may.
  void Flush();
  bool MustStop() const { return writer_.MustStop(); }
  // Writes and syncs everything (before DEBUG LOADAOF, at the end of the server).
  IoError FlushAndSync();

  // --- Changes while the server runs.

  // CONFIG SET appendonly. kFailed: nothing has changed, see the log.
  Step TurnOn();
  void TurnOff();
  enum class RewriteStart : uint8_t { kStarted, kScheduled, kAlreadyRuns, kFailed };
  // BGREWRITEAOF: starts a child, or waits for the one that runs.
  RewriteStart Rewrite();
  // For the timer: rewrites that are due.
  void Cron();

  // --- What INFO tells.

  State state() const { return state_; }
  bool IsOn() const { return state_ != State::kOff; }
  AofWriter& writer() { return writer_; }
  const AofWriter& writer() const { return writer_; }
  uint64_t TotalOctets() const { return closed_octets_ + writer_.FileOctets(); }
  uint64_t BaseOctets() const { return base_octets_; }
  bool Rewrites() const;
  bool IsScheduled() const { return scheduled_; }
  int64_t LastRewriteSeconds() const { return last_rewrite_s_; }
  int64_t CurrentRewriteSeconds() const;
  bool LastRewriteSucceeded() const { return last_rewrite_succeeded_; }
  uint64_t RewriteCount() const { return rewrites_; }
  uint64_t ConsecutiveFailures() const { return consecutive_failures_; }
  uint64_t LastCowBytes() const { return last_cow_bytes_; }
  // Commands that failed when the file was loaded last.
  uint64_t FailedReplays() const { return failed_replays_; }
  void SetFailedReplays(uint64_t count) { failed_replays_ = count; }
  // CONFIG RESETSTAT.
  void ResetStats() {
    rewrites_ = consecutive_failures_ = 0;
    writer_.ResetDelayedWrites();
  }

 private:
  // After several failures rewrites that nobody asked for wait longer and longer.
  struct Patience {
    int64_t minutes = 0;
    int64_t until_ms = 0;  // monotonic; 0: not waiting
  };

  Step LockFiles();
  Step CreateFirstBase();
  // Goes on in a new file, which the manifest names; `moment` is for the log.
  Step CreateIncremental(const char* moment);
  // Goes on in this file of the directory.
  Step OpenIncremental(const std::string& name, FileSystem::Mode mode);
  // Effects from now on belong to what comes after the new base.
  Step StartIncremental();
  RewriteStart StartRewrite();
  // `reporter` may be null.
  bool WriteBase(const std::string& path, ChildReporter* reporter);
  void RewriteEnded(const ChildEnd& end);
  void TakeOver(const ChildEnd& end);
  void DropTemporaryIncremental();
  Step TakeNewBase();
  Step RenameInto(const std::string& from, const std::string& to, const char* what);
  void NoteFailure();
  bool IsPatient();
  bool HasGrown() const;

  const Parts parts_;
  AofDirectory directory_;
  AofWriter writer_;
  State state_ = State::kOff;
  bool scheduled_ = false;
  uint64_t closed_octets_ = 0;  // of base and incrementals but the one that is written to
  uint64_t base_octets_ = 0;    // of all when the last rewrite had ended, or of the base that was loaded
  int64_t rewrite_started_ms_ = 0;
  int64_t last_rewrite_s_ = -1;
  bool last_rewrite_succeeded_ = true;
  uint32_t parts_since_fork_ = 0;  // the last incrementals, which have what the base of the last rewrite lacks
  uint64_t rewrites_ = 0;
  uint64_t consecutive_failures_ = 0;
  uint64_t failed_replays_ = 0;
  uint64_t last_cow_bytes_ = 0;
  Patience patience_;
};

}  // namespace respite
