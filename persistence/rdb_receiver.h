// RdbReceiver: reads an RDB that arrives in pieces. The receiver never waits for more bytes.
//
//   RdbReceiver receiver(options, sink, std::nullopt);
//   while (...) if (receiver.Take(piece) == RdbReceiver::Status::kFailed) Log(receiver.TakeFailure().text);
//   if (receiver.Finish() == ...)
//
// Complete items are passed to the sink: keys in batches, other items immediately. The bytes of an incomplete item are
// kept. A long item is read again only when its kept bytes have doubled, so all attempts together cost at most about
// twice as much as one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "persistence/rdb_item_reader.h"
#include "persistence/rdb_sink.h"

namespace respite {

class RdbReceiver final : private RdbInputOwner {  // reads an RDB whose bytes arrive in pieces
 public:
  // `total` is the length of the RDB in bytes; nullopt: unknown.
  RdbReceiver(const RdbReadOptions& options, RdbSink& sink, std::optional<uint64_t> total);

  enum class Status : uint8_t { kMore, kDone, kFailed };
  // Cost: O(bytes).
  Status Take(Bytes bytes);  // reads the next bytes of the RDB; ignores bytes after its end
  Status Finish();           // no more bytes come: kDone if the RDB is complete, else kFailed
  RdbFailure TakeFailure() { return items_.TakeFailure(); }  // moves out why reading failed; requires: kFailed
  uint64_t Offset() const { return base_; }                  // offset in the RDB after the last complete item

 private:
  Status Read(Bytes bytes);                 // reads the items that are complete in these bytes
  uint64_t Checksum(Bytes rest) override;   // CRC-64 of all bytes of the RDB before `rest`
  uint64_t MaxBytesAhead() const override;  // how many bytes this server expects to follow at most

  const RdbReadOptions options_;         // how to read the RDB
  const std::optional<uint64_t> total_;  // length of the whole RDB; nullopt: unknown
  RdbItemReader items_;                  // reads the complete items
  RdbInput input_{Bytes()};              // the bytes that are being parsed
  std::string incomplete_item_;          // the bytes received so far of an item that is not complete yet
  uint64_t retry_at_bytes_ = 0;          // reading incomplete_item_ is tried again when it has this many bytes
  uint64_t base_ = 0;                    // position of incomplete_item_ in the RDB
  uint64_t checksum_ = 0;                // CRC-64 of the bytes of the RDB before base_
  Bytes current_;                        // the bytes that Read is reading
};

}  // namespace respite
