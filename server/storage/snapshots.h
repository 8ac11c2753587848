// Snapshots: the data set as an RDB file: SAVE, BGSAVE, `save` points, and what MISCONF and INFO tell of them.
//
// A snapshot is written beside the old one, as temp-<pid>.rdb, synced, and renamed: the dump file is the old one or the
// new one, whatever happens. A server that saves holds a lock on its dump, so that no other of ours overwrites it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "persistence/file_system.h"
#include "server/storage/nursery.h"

namespace respite {

class Clock;
class Pace;
class FileSystem;
class Keyspace;
struct KeyspaceStats;
class LatencyMonitor;
class Loading;
class Logger;
class Nursery;
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
    Nursery& nursery;
    const RdbContents& contents;
    LatencyMonitor& latency;
  };
  explicit Snapshots(const Parts& parts);

  // Writes the snapshot now; others wait. What went wrong is in the log. Requires: no snapshot is under way. Cost:
  // O(data set).
  Outcome Save();
  // Has a child write it. Requires: no child runs. Cost: that of a fork.
  Outcome StartBackground();
  // Starts one as soon as no other child runs.
  void Schedule() { scheduled_ = true; }
  bool Running() const;

  // For the timer, after the end of a child was told: starts what was scheduled and what save points ask for.
  void Cron();
  // FLUSHALL: what is being written has gone. With save points the empty data set is saved at the end of the Turn, when
  // the transaction that flushed is over.
  void Flushed();
  void EndTurn() {
    if (save_due_) SaveFlushed();
  }

  // Writes shall be refused, since the last snapshot failed.
  bool StopsWrites() const;

  // At the start, before anything is loaded: takes the lock if there are save points, and removes what snapshots of
  // dead servers have left. Returns why the server cannot start, or nothing.
  std::optional<std::string> Claim();

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
  bool Lock(const std::string& path);
  void Saved(uint64_t changes);
  void Ended(const ChildEnd& end);
  void SaveFlushed();
  bool MayTryAgain() const;
  void SaveIfDue();
  void RemoveLeftovers();

  const Parts parts_;
  std::unique_ptr<File> lock_;
  bool scheduled_ = false;
  bool save_due_ = false;
  Outcome last_outcome_ = Outcome::kDone;
  uint64_t changes_before_ = 0;  // those that the snapshot under way has
  int64_t last_save_wall_s_;
  int64_t last_save_ms_;  // monotonic
  std::optional<int64_t> last_try_ms_;
  int64_t started_ms_ = 0;
  int64_t last_duration_s_ = -1;
  uint64_t saves_ = 0;
  uint64_t last_cow_bytes_ = 0;
};

}  // namespace respite
