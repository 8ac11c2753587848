#include "server/replication/snapshot_file.h"

#include "base/log.h"

namespace respite {

namespace {

// The number of written bytes after which the system is asked to write them to the disk, so that the sync at the end is
// short.
constexpr uint64_t kWritebackEvery = 8 * 1024 * 1024;

}  // namespace

SnapshotFile::~SnapshotFile() {
  file_.reset();
  if (!is_kept_) parts_.files.Remove(path_);
}

bool SnapshotFile::Open() {
  auto file = parts_.files.Open(path_, FileSystem::Mode::kCreate);
  if (!file) return Fail("Opening the temp file needed for MASTER <-> REPLICA synchronization: ", file.error());
  file_ = std::move(file).value();
  return true;
}

bool SnapshotFile::Write(Bytes bytes) {
  const IoProgress written = file_->Write(bytes);
  if (written.error != kNoError) {
    return Fail(
        "Write error or short write writing to the DB dump file needed for MASTER <-> REPLICA synchronization: ",
        written.error);
  }
  written_bytes_ += bytes.size();
  if (written_bytes_ - writeback_requested_bytes_ >= kWritebackEvery) {
    writeback_requested_bytes_ = written_bytes_;
    file_->StartWriteback();
  }
  return true;
}

bool SnapshotFile::Finish() {
  if (const IoError error = file_->Sync(); error != kNoError) {
    return Fail("Failed trying to sync the temp DB to disk in MASTER <-> REPLICA synchronization: ", error);
  }
  file_.reset();
  return true;
}

bool SnapshotFile::Fail(const std::string& text, IoError error) {
  failure_ = text + IoErrorText(error);
  parts_.log.Warning(failure_);
  return false;
}

}  // namespace respite
