// StreamProducers: the idempotent production of a stream (the options IDMP and IDMPAUTO of XADD). Stores which entry a
// producer has added with which idempotent ID. If the producer repeats the request, XADD returns the ID of that entry.
//
//   producer ID -> { idempotent ID -> ID of the entry }      at most max_size idempotent IDs per producer
//
// An idempotent ID expires `duration_s` seconds after the time in the ID of its entry. Expired IDs count as
// absent; each Add removes a few of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "base/bytes.h"
#include "datatypes/stream_id.h"

namespace respite {

struct IdempotencyLimits {  // how long, and how many idempotent IDs a stream remembers; XCFGSET sets them
  static constexpr int64_t kMaxDuration = 86400;  // maximum of duration_s: one day
  static constexpr int64_t kMaxSize = 10000;      // maximum of max_size (IDMP-MAXSIZE)

  int64_t duration_s = 100;  // seconds for which an idempotent ID is remembered
  int64_t max_size = 100;    // maximum number of idempotent IDs per producer

  bool operator==(const IdempotencyLimits&) const = default;
};

class StreamProducers {  // which entries the producers of a stream have added with which idempotent IDs
 public:
  using Entries = std::map<std::string, StreamId, std::less<>>;  // idempotent ID -> ID of the entry

  struct Producer {                                // the idempotent IDs of one producer
    Entries entries;                               // idempotent ID -> ID of the entry
    std::deque<Entries::const_iterator> in_order;  // all items of `entries`, the oldest first
  };
  using Producers = std::map<std::string, Producer, std::less<>>;  // sorted by bytes, as Redis lists them

  struct Counts {            // how many producers and idempotent IDs are remembered and have not expired
    uint64_t producers = 0;  // producers that have an idempotent ID which has not expired
    uint64_t entries = 0;    // idempotent IDs of all producers that have not expired
  };

  StreamProducers() = default;
  StreamProducers(const StreamProducers& other);
  StreamProducers(StreamProducers&&) = default;  // elements of a std::map stay where they are
  StreamProducers& operator=(const StreamProducers&) = delete;

  const IdempotencyLimits& limits() const { return limits_; }  // how long and how many IDs are remembered
  const Producers& producers() const { return producers_; }    // the producers by name, with their idempotent IDs
  void SetLimits(const IdempotencyLimits& limits);  // sets the limits; forgets all producers if that is a change
  const StreamId* Find(Bytes producer, Bytes id,    // the entry added with this ID; null: none, or expired
                       int64_t now_ms) const;
  // Remembers that `producer` has added `entry` with the idempotent ID `id`. Then forgets the oldest ID of this
  // producer if it has more than max_size IDs. Also forgets the expired IDs of this producer and of two others. Cost:
  // O(log n), amortised.
  void Add(Bytes producer, Bytes id, const StreamId& entry,  // remembers that `producer` added `entry` with `id`
           int64_t now_ms);

  uint64_t AddedCount() const { return added_count_; }          // number of idempotent IDs ever added
  uint64_t DuplicateCount() const { return duplicate_count_; }  // requests that repeated a known idempotent ID
  void CountDuplicate() { ++duplicate_count_; }                 // counts a request that repeated a known idempotent ID
  bool Load(Bytes producer, Bytes id,  // remembers an entry from a file; false: `id` is already known
            const StreamId& entry);
  void SetCounts(uint64_t added, uint64_t duplicates) {  // sets the counters, for loading files
    added_count_ = added;
    duplicate_count_ = duplicates;
  }
  Counts CountTracked(int64_t now_ms) const;  // counts what has not expired; cost: O(producers + expired IDs)
  bool IsUnused() const;                      // true: the stream is as if it had never used idempotent production
  size_t UsedBytes() const;                   // memory in bytes

 private:
  bool IsExpired(const StreamId& entry, int64_t now_ms) const;  // true: duration_s have passed since the time in the ID
  void DropOldest(Producer& producer);  // forgets the idempotent ID that the producer added first
  void DropExpired(Producer& producer,  // forgets expired idempotent IDs, the oldest first, until one has not expired
                   int64_t now_ms);
  void DropExpiredOfOthers(int64_t now_ms);  // forgets expired IDs of the next two producers; removes empty ones

  IdempotencyLimits limits_;      // how long and how many idempotent IDs are remembered
  Producers producers_;           // the producers by name, with their idempotent IDs
  std::string last_swept_;        // name of the producer that DropExpiredOfOthers has visited last
  uint64_t added_count_ = 0;      // number of idempotent IDs ever added
  uint64_t duplicate_count_ = 0;  // number of requests that repeated a known idempotent ID
};

}  // namespace respite
