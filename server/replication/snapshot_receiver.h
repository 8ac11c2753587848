// SnapshotReceiver: extracts the snapshot from the framing that a primary sends: `$<bytes>`, or `$EOF:<mark>` for one
// of unknown length, which ends with the mark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

class Logger;

// The destination of a snapshot. Each call returns false if it failed, which is logged.
class SnapshotTarget {
 public:
  virtual ~SnapshotTarget() = default;
  virtual bool Write(Bytes bytes) = 0;
  // Completes the snapshot. Called after all of it was written.
  virtual bool Finish() = 0;
  // Returns why a call returned false. Empty before.
  virtual const std::string& failure() const = 0;
};

class SnapshotReceiver {
 public:
  explicit SnapshotReceiver(Logger& log) : log_(log) {}

  enum class Status : uint8_t {
    kMore,
    kBegins,  // the framing is known: Into must be called
    kWhole,
    kFailed,  // already logged
  };
  struct Progress {
    Status status;
    Bytes rest;  // the bytes after the ones used
  };
  Progress Take(Bytes bytes);
  // Sets the destination, once. Returns kMore or kWhole.
  Status Into(SnapshotTarget& target);

  // Returns the size of the snapshot in bytes, if the primary sent it.
  std::optional<uint64_t> TotalBytes() const { return total_; }
  uint64_t ReadBytes() const { return read_; }
  // Returns why the framing is wrong, or the error that the primary sent instead of a snapshot. Empty if neither
  // happened.
  const std::string& failure() const { return failure_; }

 private:
  enum class Stage : uint8_t { kHead, kCounted, kMarked, kDone };
  static constexpr size_t kMarkLength = 40;
  static constexpr size_t kHeadMax = 256;

  // Removes the bytes that it uses from the front of `bytes`.
  Status TakeHead(Bytes& bytes);
  Status ReadHead();
  Status TakeCounted(Bytes& bytes);
  Status TakeMarked(Bytes& bytes);
  bool Write(Bytes bytes);
  Status Finish();
  Status Fail(const std::string& text);

  Logger& log_;
  SnapshotTarget* target_ = nullptr;
  Stage stage_ = Stage::kHead;
  std::string head_;
  std::string mark_;
  std::string tail_;  // with a mark: the last bytes, not written yet because they may be the mark
  std::optional<uint64_t> total_;
  uint64_t read_ = 0;
  std::string failure_;
};

}  // namespace respite
