// SnapshotFile: writes a snapshot of the primary to a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "persistence/file_system.h"
#include "server/replication/snapshot_receiver.h"

namespace respite {

class SnapshotFile final : public SnapshotTarget {
 public:
  struct Parts {
    Logger& log;
    FileSystem& files;
  };
  // The destructor removes the file unless Keep was called.
  SnapshotFile(const Parts& parts, std::string path) : parts_(parts), path_(std::move(path)) {}
  ~SnapshotFile() override;
  SnapshotFile(const SnapshotFile&) = delete;
  SnapshotFile& operator=(const SnapshotFile&) = delete;

  // Creates the file. Must be called first.
  bool Open();
  bool Write(Bytes bytes) override;
  bool Finish() override;
  const std::string& failure() const override { return failure_; }

  const std::string& path() const { return path_; }
  // Keeps the file, which has been renamed.
  void Keep() { is_kept_ = true; }

 private:
  bool Fail(const std::string& text, IoError error);

  const Parts parts_;
  const std::string path_;
  std::unique_ptr<File> file_;
  bool is_kept_ = false;
  uint64_t written_ = 0;
  uint64_t sent_back_ = 0;  // bytes for which writeback was requested
  std::string failure_;
};

}  // namespace respite
