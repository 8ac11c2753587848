#include "server/replication/snapshot_receiver.h"

#include <algorithm>

#include "base/log.h"
#include "base/number_text.h"

namespace respite {

namespace {

// Written back step by step, so that the sync at the end does not hold everything up.
constexpr int64_t kWritebackEvery = 8 * 1024 * 1024;

}  // namespace

SnapshotReceiver::~SnapshotReceiver() {
  file_.reset();
  if (!is_kept_) parts_.files.Remove(path_);
}

SnapshotReceiver::Progress SnapshotReceiver::Take(Bytes bytes) {
  Status status = Status::kMore;
  while (!bytes.empty() && status == Status::kMore) {
    if (stage_ == Stage::kHead) {
      status = TakeHead(bytes);
    } else if (stage_ == Stage::kCounted) {
      status = TakeCounted(bytes);
    } else {
      status = TakeMarked(bytes);
    }
  }
  return {status, bytes};
}

// Empty lines before it say that the primary is still there.
SnapshotReceiver::Status SnapshotReceiver::TakeHead(Bytes& bytes) {
  const size_t end = bytes.find('\n');
  head_.append(bytes.substr(0, end));
  bytes.remove_prefix(end == Bytes::npos ? bytes.size() : end + 1);
  if (head_.size() > kHeadMax) return Fail("Bad protocol from MASTER, the first byte is not '$'");
  if (end == Bytes::npos) return Status::kMore;
  if (head_.ends_with('\r')) head_.pop_back();
  const Status status = head_.empty() ? Status::kMore : ReadHead();
  head_.clear();
  return status;
}

SnapshotReceiver::Status SnapshotReceiver::ReadHead() {
  if (head_.front() == '-') return Fail("MASTER aborted replication with an error: " + head_.substr(1));
  if (head_.front() != '$') {
    return Fail("Bad protocol from MASTER, the first byte is not '$' (we received " + Quoted(head_) +
                "), are you sure the host and port are right?");
  }
  constexpr Bytes kEof = "$EOF:";
  if (head_.starts_with(kEof)) {
    mark_ = head_.substr(kEof.size());
    if (mark_.size() != kMarkLength) return Fail("Bad protocol from MASTER, the EOF mark is not one");
    stage_ = Stage::kMarked;
    parts_.log.Notice("MASTER <-> REPLICA sync: receiving streamed RDB from master with EOF to disk");
  } else {
    const auto octets = ParseInteger(Bytes(head_).substr(1));
    if (!octets || *octets < 0) return Fail("Bad protocol from MASTER, the length of the RDB is not one");
    total_ = *octets;
    stage_ = Stage::kCounted;
    parts_.log.Notice("MASTER <-> REPLICA sync: receiving " + std::to_string(total_) + " bytes from master to disk");
  }
  auto file = parts_.files.Open(path_, FileSystem::Mode::kCreate);
  if (!file) {
    return Fail("Opening the temp file needed for MASTER <-> REPLICA synchronization: " + IoErrorText(file.error()));
  }
  file_ = std::move(file).value();
  return total_ == 0 ? Finish() : Status::kMore;
}

SnapshotReceiver::Status SnapshotReceiver::TakeCounted(Bytes& bytes) {
  const Bytes wanted = bytes.substr(0, static_cast<size_t>(total_ - read_));
  bytes.remove_prefix(wanted.size());
  if (!Write(wanted)) return Status::kFailed;
  return read_ == total_ ? Finish() : Status::kMore;
}

// The primary sends nothing behind the mark before it is told that the snapshot has come.
SnapshotReceiver::Status SnapshotReceiver::TakeMarked(Bytes& bytes) {
  tail_.append(bytes);
  bytes = {};
  const size_t kept = std::min(tail_.size(), kMarkLength);
  if (!Write(Bytes(tail_).substr(0, tail_.size() - kept))) return Status::kFailed;
  tail_.erase(0, tail_.size() - kept);
  return tail_ == mark_ ? Finish() : Status::kMore;
}

bool SnapshotReceiver::Write(Bytes bytes) {
  if (bytes.empty()) return true;
  const IoProgress written = file_->Write(bytes);
  if (written.error != kNoError) {
    Fail("Write error or short write writing to the DB dump file needed for MASTER <-> REPLICA synchronization: " +
         IoErrorText(written.error));
    return false;
  }
  read_ += static_cast<int64_t>(bytes.size());
  if (read_ - synced_ >= kWritebackEvery) {
    synced_ = read_;
    file_->StartWriteback();
  }
  return true;
}

SnapshotReceiver::Status SnapshotReceiver::Finish() {
  stage_ = Stage::kDone;
  if (const IoError error = file_->Sync(); error != kNoError) {
    return Fail("Failed trying to sync the temp DB to disk in MASTER <-> REPLICA synchronization: " +
                IoErrorText(error));
  }
  file_.reset();
  return Status::kWhole;
}

SnapshotReceiver::Status SnapshotReceiver::Fail(const std::string& text) {
  parts_.log.Warning(text);
  return Status::kFailed;
}

}  // namespace respite
