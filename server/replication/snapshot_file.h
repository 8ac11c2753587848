// SnapshotFile: a snapshot of the primary on its way into a file.
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
  // The file is removed with this unless Keep is called.
  SnapshotFile(const Parts& parts, std::string path) : parts_(parts), path_(std::move(path)) {}
  ~SnapshotFile() override;
  SnapshotFile(const SnapshotFile&) = delete;
  SnapshotFile& operator=(const SnapshotFile&) = delete;

  // Creates the file; must be called first.
  bool Open();
  bool Write(Bytes bytes) override;
  bool Finish() override;
  const std::string& failure() const override { return failure_; }

  const std::string& path() const { return path_; }
  // The file has another name now.
  void Keep() { is_kept_ = true; }

 private:
  bool Fail(const std::string& text, IoError error);

  const Parts parts_;
  const std::string path_;
  std::unique_ptr<File> file_;
  bool is_kept_ = false;
  uint64_t written_ = 0;
  uint64_t sent_back_ = 0;  // bytes that the system was asked to write back
  std::string failure_;
};

}  // namespace respite
