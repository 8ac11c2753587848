// SnapshotReceiver: takes the snapshot that a primary sends apart from what surrounds it: `$<bytes>`, or `$EOF:<mark>`
// for one of unknown length, which ends with the mark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

class Logger;

// Where a snapshot goes. Each call returns false if it failed, which is logged.
class SnapshotTarget {
 public:
  virtual ~SnapshotTarget() = default;
  virtual bool Write(Bytes bytes) = 0;
  // All of it was written.
  virtual bool Finish() = 0;
  // Why a call returned false; empty before.
  virtual const std::string& failure() const = 0;
};

class SnapshotReceiver {
 public:
  explicit SnapshotReceiver(Logger& log) : log_(log) {}

  enum class Status : uint8_t {
    kMore,
    kBegins,  // it is known how long the snapshot is: Into must be called
    kWhole,
    kFailed,  // logged
  };
  struct Progress {
    Status status;
    Bytes rest;  // what is behind it
  };
  Progress Take(Bytes bytes);
  // Names the target, once. Returns kMore or kWhole.
  Status Into(SnapshotTarget& target);

  // Bytes of the snapshot, if it said so.
  std::optional<uint64_t> TotalBytes() const { return total_; }
  uint64_t ReadBytes() const { return read_; }
  // Why the framing is wrong, or what the primary reported instead of a snapshot; empty: neither.
  const std::string& failure() const { return failure_; }

 private:
  enum class Stage : uint8_t { kHead, kCounted, kMarked, kDone };
  static constexpr size_t kMarkLength = 40;
  static constexpr size_t kHeadMax = 256;

  // Takes what it needs off the front.
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
  std::string tail_;  // of a marked one: its last bytes, which may be the mark, and are not written yet
  std::optional<uint64_t> total_;
  uint64_t read_ = 0;
  std::string failure_;
};

}  // namespace respite
