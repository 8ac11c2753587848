// AofWriter: the end of the append-only file: gathers effects during a Turn, writes them when it ends, and has them
// synced as `appendfsync` says.
//
//   always     synced before anybody is told: one sync serves everybody of the Turn. If the disk fails there is no
//              honest way on: MustStop.
//   everysec   synced once a second by another thread. A write would wait for a sync that is under way, so it is put
//              off, by two seconds at most.
//   no         the system decides.
//
// If a write fails under one of the latter two, what was written of it is cut off again and the rest is kept and tried
// again each Turn; meanwhile Trouble() makes the server refuse writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "persistence/file_system.h"
#include "server/config/settings.h"
#include "server/dataset/journal.h"
#include "server/dataset/latency.h"

namespace respite {

class AofWriter {
 public:
  // All must outlive the writer.
  struct Parts {
    FileSystem& files;
    const Settings& settings;
    const Clock& clock;
    const Pace& pace;
    Logger& log;
    LatencyMonitor& latency;
  };
  enum class Urgency : uint8_t { kRelaxed, kNow };  // kNow: nothing is put off
  enum class Child : uint8_t { kNone, kRuns };      // for no-appendfsync-on-rewrite and the names of latency events

  explicit AofWriter(const Parts& parts);
  // Waits for the sync that is under way.
  ~AofWriter();

  // Goes on at the end of `file`, which has `octets`. The file before it, if there is one, is synced and closed in the
  // background; what is still in the buffer goes into the new one.
  void Open(std::unique_ptr<File> file, uint64_t octets);
  // Forgets what is in the buffer: something else holds it.
  void Discard() {
    written_ += buffer_.size();
    buffer_.clear();
  }
  // Writes, syncs, and closes. What cannot be written is lost, with a line in the log.
  void Close();
  bool IsOpen() const { return file_ != nullptr; }

  void Append(const UnitEffects& effects);
  // To be called at the end of each Turn. Cost: a compare when there is nothing to do.
  void Flush(Urgency urgency, Child child);
  // Syncs what was written, here and now.
  IoError SyncNow();

  // The disk failed under `always`: nothing that was not told yet may be told any more.
  bool MustStop() const { return must_stop_; }
  // Why nothing can be written or synced at present; nothing: all is well.
  std::optional<IoError> Trouble() const;
  bool WriteFailed() const { return write_error_ != kNoError; }

  uint64_t FileOctets() const { return octets_; }
  size_t BufferOctets() const { return buffer_.size(); }
  bool HasUnwritten() const { return !buffer_.empty(); }
  uint64_t PendingSyncs() const { return sync_.Pending() ? 1 : 0; }
  uint64_t DelayedWrites() const { return delayed_writes_; }
  void ResetDelayedWrites() { delayed_writes_ = 0; }

  // Octets ever appended, and how many of them are on the disk: for those who wait for the disk (WAITAOF).
  uint64_t Appended() const { return appended_; }
  uint64_t Synced();

 private:
  class SyncTask final : public FileTask {
   public:
    void Run() override { error = file->Sync(); }

    std::shared_ptr<File> file;
    uint64_t covers = 0;  // of Appended()
    std::atomic<IoError> error = kNoError;
  };

  // The last sync of a file that is done with.
  struct Closing;

  // Something is not on the disk, or was not when it was to be.
  bool WantsSync() const { return written_ != synced_ || sync_.error != kNoError; }
  void AppendTimestamp();
  void AppendEntry(const JournalEntry& entry);
  bool PutOff(int64_t now_ms);
  void Write(Child child);
  void HandleFailure(const IoProgress& progress);
  void Sync(Child child, int64_t now_ms);
  void StopServing(const std::string& reason);
  // Takes over what a finished sync has done.
  void Collect();
  void AwaitSync();
  void NoteLatency(const char* event, int64_t started_us);

  Parts parts_;
  std::shared_ptr<File> file_;
  std::string buffer_;
  uint64_t octets_ = 0;      // of the file
  int selected_db_ = -1;     // by what was appended to this file; -1: none yet
  int64_t timestamp_s_ = 0;  // of the last annotation
  uint64_t appended_ = 0;
  uint64_t written_ = 0;  // of appended_
  uint64_t synced_ = 0;
  SyncTask sync_;
  bool sync_collected_ = true;
  std::vector<std::unique_ptr<Closing>> closings_;
  int64_t synced_at_ms_ = 0;  // monotonic: when the last sync began
  int64_t put_off_since_ms_ = -1;
  uint64_t delayed_writes_ = 0;
  IoError write_error_ = kNoError;
  int64_t error_logged_ms_ = INT64_MIN / 2;
  bool must_stop_ = false;
};

}  // namespace respite
