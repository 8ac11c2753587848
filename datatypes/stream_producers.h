// StreamProducers: the idempotent production of a stream (the options IDMP and IDMPAUTO of XADD). It stores which entry
// a producer has added with which idempotent ID. If the producer repeats the request, XADD returns the ID of that
// entry.
//
//   producer ID -> { idempotent ID -> ID of the entry }      at most max_size idempotent IDs per producer
//
// An idempotent ID expires `duration_s` seconds after the time in the ID of its entry. Expired ones are treated as
// absent; Add removes a few of them.
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
  static constexpr int64_t kMaxDuration = 86400;
  static constexpr int64_t kMaxSize = 10000;

  int64_t duration_s = 100;  // how many seconds an idempotent ID is remembered
  int64_t max_size = 100;    // maximum number of idempotent IDs of a producer

  bool operator==(const IdempotencyLimits&) const = default;
};

class StreamProducers {  // which entries the producers of a stream have added
 public:
  using Entries = std::map<std::string, StreamId, std::less<>>;  // idempotent ID -> ID of the entry

  struct Producer {  // the idempotent IDs of one producer
    Entries entries;
    std::deque<Entries::const_iterator> in_order;  // all entries, the oldest first
  };
  using Producers = std::map<std::string, Producer, std::less<>>;  // sorted by bytes, as Redis lists them

  struct Counts {  // the numbers of tracked producers and idempotent IDs
    uint64_t producers = 0;
    uint64_t entries = 0;
  };

  StreamProducers() = default;
  StreamProducers(const StreamProducers& other);
  StreamProducers(StreamProducers&&) = default;  // elements of a std::map stay where they are
  StreamProducers& operator=(const StreamProducers&) = delete;

  const IdempotencyLimits& limits() const { return limits_; }
  const Producers& producers() const { return producers_; }
  // Sets the limits. Forgets all producers if they differ from the old ones, as Redis does.
  void SetLimits(const IdempotencyLimits& limits);  // forgets all producers if the limits change
  // Returns the entry that the producer has added with this idempotent ID, or null.
  const StreamId* Find(Bytes producer, Bytes id, int64_t now_ms) const;  // the entry added with this ID; null: none
  // Remembers an entry. Forgets the oldest one of the producer if it has more than max_size, and expired ones of this
  // and two other producers. Cost: O(log n), amortised.
  void Add(Bytes producer, Bytes id, const StreamId& entry, int64_t now_ms);  // remembers an entry of a producer

  uint64_t AddedCount() const { return added_count_; }          // number of idempotent IDs ever added
  uint64_t DuplicateCount() const { return duplicate_count_; }  // number of requests that were duplicates
  void CountDuplicate() { ++duplicate_count_; }
  // Remembers an entry from a file. Returns false if the producer already has this idempotent ID.
  bool Load(Bytes producer, Bytes id, const StreamId& entry);  // remembers an entry from a file; false: it is known
  void SetCounts(uint64_t added, uint64_t duplicates) {        // sets the counters, for loading files
    added_count_ = added;
    duplicate_count_ = duplicates;
  }
  Counts CountTracked(int64_t now_ms) const;  // numbers without those that have expired; cost: O(producers + expired)
  // Returns true if nothing here differs from a stream that has never used idempotent production.
  bool IsUnused() const;  // true: the stream is as if it had never used idempotent production
  size_t UsedBytes() const;

 private:
  bool IsExpired(const StreamId& entry, int64_t now_ms) const;
  void DropOldest(Producer& producer);
  void DropExpired(Producer& producer,
                   int64_t now_ms);          // forgets expired entries, up to the first that has not expired
  void DropExpiredOfOthers(int64_t now_ms);  // as DropExpired, for the next two producers

  IdempotencyLimits limits_;
  Producers producers_;
  std::string swept_;  // the producer that DropExpiredOfOthers has visited last
  uint64_t added_count_ = 0;
  uint64_t duplicate_count_ = 0;
};

}  // namespace respite
