#include "persistence/rdb_receiver.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/crc64.h"

namespace respite {

namespace {

// An incomplete item of fewer bytes than this is short. It is read again as soon as the missing bytes have arrived. A
// longer item is read again only when its bytes have doubled, because reading it after each piece would take
// quadratic time.
constexpr size_t kShort = 256;
// The assumed size of an RDB whose sender has not announced the size (diskless replication). Limits the memory that a
// RESIZEDB item can make this server allocate in advance.
constexpr uint64_t kUnknownTotal = 64 * 1024 * 1024;
// Limits the memory that a RESIZEDB item can make this server allocate in advance, even if the sender has announced a
// larger RDB. The announced size may be false, and preallocated memory is written immediately.
constexpr uint64_t kMaxBelieved = 256 * 1024 * 1024;

}  // namespace

RdbReceiver::RdbReceiver(const RdbReadOptions& options, RdbSink& sink, std::optional<uint64_t> total)
    : options_(options), total_(total), items_(options_, sink, *this, 0) {
  items_.Use(input_, 0);
}

RdbReceiver::Status RdbReceiver::Take(Bytes bytes) {
  if (items_.IsDone()) return Status::kDone;
  if (items_.HasFailed()) return Status::kFailed;
  if (incomplete_item_.empty()) return Read(bytes);
  incomplete_item_.append(bytes);
  if (incomplete_item_.size() < retry_at_bytes_) return Status::kMore;
  const std::string whole = std::exchange(incomplete_item_, {});
  return Read(whole);
}

RdbReceiver::Status RdbReceiver::Finish() {
  retry_at_bytes_ = 0;
  const Status status = Take({});
  return status == Status::kMore ? Status::kFailed : status;
}

RdbReceiver::Status RdbReceiver::Read(Bytes bytes) {
  current_ = bytes;
  input_ = RdbInput(bytes);
  items_.Use(input_, base_);
  uint64_t read = 0;  // bytes of complete items
  while (!items_.IsDone() && items_.Next()) read = input_.Offset();
  if (items_.HasFailed()) return Status::kFailed;
  if (items_.IsDone()) {
    base_ += read;
    return Status::kDone;
  }
  const Bytes rest = bytes.substr(read);
  if (options_.checksum == RdbReadOptions::Checksum::kVerify) checksum_ = Crc64(checksum_, bytes.substr(0, read));
  base_ += read;
  const uint64_t missing = std::min(input_.MissingBytes(), std::numeric_limits<uint64_t>::max() - rest.size());
  retry_at_bytes_ = rest.size() + (rest.size() < kShort ? missing : std::max<uint64_t>(missing, rest.size()));
  incomplete_item_.assign(rest);
  return Status::kMore;
}

uint64_t RdbReceiver::Checksum(Bytes rest) {
  if (options_.checksum == RdbReadOptions::Checksum::kIgnore) return 0;
  return Crc64(checksum_, current_.substr(0, current_.size() - rest.size()));
}

uint64_t RdbReceiver::MaxBytesAhead() const {
  return std::min(std::max(total_.value_or(kUnknownTotal), base_) - base_, kMaxBelieved);
}

}  // namespace respite
