// SnapshotFile: writes a snapshot of the primary to a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "persistence/file_system.h"
#include "server/replication/snapshot_receiver.h"

namespace respite {

class SnapshotFile final : public SnapshotTarget {  // writes a snapshot of the primary to a file
 public:
  struct Parts {  // the arguments of the constructor
    Logger& log;
    FileSystem& files;  // creates and syncs the file
  };
  // `path` is the file to write. The destructor removes this file unless Keep was called.
  SnapshotFile(const Parts& parts, std::string path) : parts_(parts), path_(std::move(path)) {}
  ~SnapshotFile() override;
  SnapshotFile(const SnapshotFile&) = delete;
  SnapshotFile& operator=(const SnapshotFile&) = delete;

  bool Open();                       // creates the file; false if that failed. Must be called first
  bool Write(Bytes bytes) override;  // appends to the file; false if that failed
  bool Finish() override;            // syncs the file; false if that failed
  const std::string& failure() const override { return failure_; }  // why Open, Write or Finish failed; else empty

  const std::string& path() const { return path_; }
  void Keep() { is_kept_ = true; }  // the destructor will not remove the file, because it was moved

 private:
  bool Fail(const std::string& text, IoError error);  // logs the error, keeps it in failure_, returns false

  const Parts parts_;  // the arguments of the constructor
  const std::string path_;
  std::unique_ptr<File> file_;              // null before Open
  bool is_kept_ = false;                    // the destructor must not remove the file
  uint64_t written_bytes_ = 0;              // size of the file so far, in bytes
  uint64_t writeback_requested_bytes_ = 0;  // value of written_bytes_ when writeback was last requested
  std::string failure_;                     // why a function returned false; empty: none did
};

}  // namespace respite
