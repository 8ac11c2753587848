// SnapshotReceiver: extracts the snapshot from the framing that a primary sends. `$<bytes>` begins a snapshot of known
// length. `$EOF:<mark>` begins one of unknown length, which ends with the mark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

class Logger;

// The destination of a snapshot. If its Write or Finish fails, that function logs the failure and returns false.
class SnapshotTarget {  // the destination of a snapshot that the primary sends
 public:
  virtual ~SnapshotTarget() = default;
  virtual bool Write(Bytes bytes) = 0;             // takes the next bytes; false: that failed
  virtual bool Finish() = 0;                       // called after all bytes were written; false: that failed
  virtual const std::string& failure() const = 0;  // why a function returned false; else empty
};

class SnapshotReceiver {  // extracts the snapshot from the framing that the primary sends
 public:
  static constexpr size_t kMarkLength = 40;  // length in bytes of the text that ends a snapshot of unknown size

  explicit SnapshotReceiver(Logger& log) : log_(log) {}

  enum class Status : uint8_t {
    kMore,    // more bytes must arrive
    kBegins,  // the framing is known: Into must be called
    kWhole,   // the whole snapshot was passed to the target
    kFailed,  // already logged
  };
  struct Progress {  // the result of Take
    Status status;   // whether the snapshot is complete, or what must happen next
    Bytes rest;      // the bytes that Take has not used
  };
  Progress Take(Bytes bytes);
  // Sets the destination of the snapshot. Called once, after kBegins. Returns kMore or, if the snapshot is empty,
  // kWhole or kFailed.
  Status Into(SnapshotTarget& target);

  std::optional<uint64_t> TotalBytes() const { return total_bytes_; }  // size of the snapshot; nullopt: unknown
  uint64_t DeliveredBytes() const { return delivered_bytes_; }         // snapshot bytes given to the target so far
  // Returns why the framing is wrong, or the error that the primary sent instead of a snapshot. Empty if neither
  // happened; then the target may have failed (SnapshotTarget::failure).
  const std::string& failure() const { return failure_; }  // wrong framing or the primary's error; empty: neither

 private:
  // kHead: the line before the snapshot ("$1000" or "$EOF:MARK"). kCounted: a snapshot of known size. kMarked: a
  // snapshot of unknown size, which ends with the 40 bytes of the mark.
  enum class Stage : uint8_t { kHead, kCounted, kMarked, kDone };
  static constexpr size_t kMaxHeaderBytes = 256;  // maximum length of the line before the snapshot

  Status TakeHeader(Bytes& bytes);       // reads the line before the snapshot, and removes it from `bytes`
  Status ParseHeader();                  // interprets the line before the snapshot: `$<bytes>` or `$EOF:<mark>`
  Status TakeCounted(Bytes& bytes);      // handles bytes of a snapshot whose size is known (`$<bytes>`)
  Status TakeMarked(Bytes& bytes);       // handles bytes of a snapshot of unknown size, which ends with the mark
  bool Write(Bytes bytes);               // passes snapshot bytes to the target; false: failed
  Status Finish();                       // tells the target that the snapshot is complete
  Status Fail(const std::string& text);  // logs the error, keeps it in failure_, returns kFailed

  Logger& log_;
  SnapshotTarget* target_ = nullptr;     // destination of the snapshot; null before Into
  Stage stage_ = Stage::kHead;           // the part of the framing that comes next
  std::string head_;                     // the line before the snapshot, while it is incomplete
  std::string mark_;                     // text that ends the snapshot, if its size is unknown
  std::string tail_;                     // with a mark: the last bytes, not written yet because they may be the mark
  std::optional<uint64_t> total_bytes_;  // size of the snapshot in bytes; nullopt: unknown
  uint64_t delivered_bytes_ = 0;         // bytes of the snapshot given to the target so far
  std::string failure_;                  // wrong framing or the primary's error; empty: neither
};

}  // namespace respite
