#include "server/replication/snapshot_receiver.h"

#include <algorithm>

#include "base/log.h"
#include "base/number_text.h"

namespace respite {

SnapshotReceiver::Progress SnapshotReceiver::Take(Bytes bytes) {
  Status status = Status::kMore;
  while (!bytes.empty() && status == Status::kMore) {
    if (stage_ == Stage::kHead) {
      status = TakeHeader(bytes);
    } else if (stage_ == Stage::kCounted) {
      status = TakeCounted(bytes);
    } else {
      status = TakeMarked(bytes);
    }
  }
  return {status, bytes};
}

SnapshotReceiver::Status SnapshotReceiver::Into(SnapshotTarget& target) {
  target_ = &target;
  return total_bytes_ == 0u ? Finish() : Status::kMore;
}

// Reads the line before the snapshot. Skips empty lines before it, by which the primary shows that it is alive.
SnapshotReceiver::Status SnapshotReceiver::TakeHeader(Bytes& bytes) {
  const size_t end = bytes.find('\n');
  head_.append(bytes.substr(0, end));
  bytes.remove_prefix(end == Bytes::npos ? bytes.size() : end + 1);
  if (head_.size() > kMaxHeaderBytes) return Fail("Bad protocol from MASTER, the first byte is not '$'");
  if (end == Bytes::npos) return Status::kMore;
  if (head_.ends_with('\r')) head_.pop_back();
  const Status status = head_.empty() ? Status::kMore : ParseHeader();
  head_.clear();
  return status;
}

SnapshotReceiver::Status SnapshotReceiver::ParseHeader() {
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
  } else {
    const auto bytes = ParseInteger(Bytes(head_).substr(1));
    if (!bytes || *bytes < 0) return Fail("Bad protocol from MASTER, the length of the RDB is not one");
    total_bytes_ = static_cast<uint64_t>(*bytes);
    stage_ = Stage::kCounted;
  }
  return Status::kBegins;
}

SnapshotReceiver::Status SnapshotReceiver::TakeCounted(Bytes& bytes) {
  const Bytes wanted = bytes.substr(0, *total_bytes_ - delivered_bytes_);
  bytes.remove_prefix(wanted.size());
  if (!Write(wanted)) return Status::kFailed;
  return delivered_bytes_ == *total_bytes_ ? Finish() : Status::kMore;
}

// Takes bytes of a snapshot of unknown length. Such a snapshot ends with a mark: 40 random characters, which the
// primary has announced in the header. The mark counts only if no bytes follow it, because the primary sends nothing
// after the mark until this replica acknowledges the snapshot.
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
  if (!target_->Write(bytes)) return false;
  delivered_bytes_ += bytes.size();
  return true;
}

SnapshotReceiver::Status SnapshotReceiver::Finish() {
  stage_ = Stage::kDone;
  return target_->Finish() ? Status::kWhole : Status::kFailed;
}

SnapshotReceiver::Status SnapshotReceiver::Fail(const std::string& text) {
  log_.Warning(text);
  failure_ = text;
  return Status::kFailed;
}

}  // namespace respite
