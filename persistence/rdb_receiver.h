// RdbReceiver: reads an RDB that arrives in pieces, without waiting for more than it has.
//
//   RdbReceiver receiver(options, sink, 0);
//   while (...) if (receiver.Take(piece) == RdbReceiver::Status::kFailed) Log(receiver.TakeFailure().text);
//   if (receiver.Finish() == ...)
//
// Items are passed to the sink as soon as they are whole. An item that is not is kept, and read again when it has
// doubled, so that reading a long one costs no more than twice what it would cost at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "persistence/rdb_file_reader.h"
#include "persistence/rdb_item_reader.h"

namespace respite {

class RdbReceiver final : private RdbItemSource {
 public:
  // `total` is the length of the RDB, if it is known.
  RdbReceiver(const RdbReadOptions& options, RdbSink& sink, std::optional<uint64_t> total);

  enum class Status : uint8_t { kMore, kDone, kFailed };
  // Takes the next bytes. Those behind the RDB are ignored. Cost: O(bytes).
  Status Take(Bytes bytes);
  // No bytes follow: the RDB is whole, or not.
  Status Finish();
  // Requires: kFailed was returned, or nothing follows.
  RdbFailure TakeFailure() { return items_.TakeFailure(); }
  // Bytes that have been read.
  uint64_t Offset() const { return base_; }

 private:
  Status Read(Bytes bytes);
  uint64_t Checksum(Bytes rest) override;
  uint64_t Ahead() const override;

  const RdbReadOptions options_;
  const std::optional<uint64_t> total_;
  RdbItemReader items_;
  RdbInput input_{Bytes()};
  std::string kept_;       // the beginning of an item
  uint64_t enough_ = 0;    // bytes of it with which it is worth another try
  uint64_t base_ = 0;      // where kept_ begins
  uint64_t checksum_ = 0;  // of what is before base_
  Bytes current_;          // during Read
};

}  // namespace respite
