// SnapshotReceiver: takes a snapshot from a primary into a file: `$<octets>`, or `$EOF:<mark>` for one of unknown
// length, which ends with the mark.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "persistence/file_system.h"

namespace respite {

class Logger;

class SnapshotReceiver {
 public:
  struct Parts {
    Logger& log;
    FileSystem& files;
  };
  // `path` is where the snapshot goes; the file is removed unless Keep is called.
  SnapshotReceiver(const Parts& parts, std::string path) : parts_(parts), path_(std::move(path)) {}
  ~SnapshotReceiver();
  SnapshotReceiver(const SnapshotReceiver&) = delete;
  SnapshotReceiver& operator=(const SnapshotReceiver&) = delete;

  enum class Status : uint8_t { kMore, kWhole, kFailed };  // kFailed: logged
  struct Progress {
    Status status;
    Bytes rest;  // with kWhole: what is behind the snapshot
  };
  Progress Take(Bytes bytes);

  const std::string& path() const { return path_; }
  // The file has another name now.
  void Keep() { is_kept_ = true; }
  // Octets of the snapshot; -1: not known.
  int64_t TotalOctets() const { return total_; }
  int64_t ReadOctets() const { return read_; }

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

  const Parts parts_;
  const std::string path_;
  std::unique_ptr<File> file_;
  bool is_kept_ = false;
  Stage stage_ = Stage::kHead;
  std::string head_;
  std::string mark_;
  std::string tail_;  // of a marked one: its last octets, which may be the mark, and are not written yet
  int64_t total_ = -1;
  int64_t read_ = 0;
  int64_t synced_ = 0;
};

}  // namespace respite
