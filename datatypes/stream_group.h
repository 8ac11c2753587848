// StreamGroup: a consumer group of a stream. It stores how far the group has read, and which entries were delivered to
// a consumer and not acknowledged yet (pending).
//
//   group.pending     ID -> PendingEntry{consumer, time, deliveries}    in order of IDs
//   consumer.pending  ID                                                the IDs that are pending for this consumer
//
// A pending entry may already be deleted from the stream. A consumer keeps its address while it exists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "base/bytes.h"
#include "datatypes/stream_id_map.h"

namespace respite {

struct StreamConsumer {                        // one consumer of a consumer group
  static constexpr int64_t kNeverActive = -1;  // as active_ms: the consumer has never received an entry

  explicit StreamConsumer(int64_t now_ms) : seen_ms(now_ms) {}

  int64_t seen_ms;                    // when the consumer last tried to read or claim, or was created (Unix ms)
  int64_t active_ms = kNeverActive;   // when the consumer last received an entry (Unix ms)
  StreamIdMap<NoValue> pending;       // IDs delivered and not acknowledged; changed by StreamGroup only
  const std::string* name = nullptr;  // the consumer's name: the key in the map of the group
};

struct PendingEntry {  // an entry that was delivered to a consumer and not acknowledged yet
  // Returns the time since the last delivery, or 0 if the clock was set back since then. Requires: now_ms >= 0.
  int64_t IdleMs(int64_t now_ms) const {  // how many ms ago the entry was delivered last
    return std::max<int64_t>(now_ms - delivered_ms, 0);
  }

  // Returns a copy of this entry in which the number of deliveries is higher by one.
  PendingEntry WithOneMoreDelivery() const {  // a copy whose `deliveries` is higher by one
    return {consumer, delivered_ms, std::min<uint64_t>(deliveries + 1, std::numeric_limits<int64_t>::max())};
  }

  StreamConsumer* consumer;  // the consumer that received or claimed the entry last
  int64_t delivered_ms;      // when the entry was last delivered (Unix ms, not negative); XCLAIM can set it
  uint64_t deliveries;       // number of deliveries, at most INT64_MAX; XCLAIM can set it
};

class StreamGroup {  // a consumer group: how far it has read, and its pending entries
 public:
  static constexpr int64_t kUnknownCount = -1;  // as entries_read: the number is unknown
  using Pending = StreamIdMap<PendingEntry>;
  using Consumers = std::map<std::string, StreamConsumer, std::less<>>;  // sorted by bytes, as Redis lists them

  StreamGroup(const StreamId& last, int64_t read_count) : last_id(last), entries_read(read_count) {}
  StreamGroup(const StreamGroup&) = delete;
  StreamGroup& operator=(const StreamGroup&) = delete;

  StreamId last_id;      // entries above this ID are new to the group
  int64_t entries_read;  // how many entries were added with IDs up to last_id, or kUnknownCount

  const Consumers& consumers() const { return consumers_; }  // the consumers by name
  // FindConsumer returns the consumer of this name, or null if there is none.
  StreamConsumer* FindConsumer(Bytes name);              // the consumer of this name; null: there is none
  const StreamConsumer* FindConsumer(Bytes name) const;  // the consumer of this name; null: there is none
  // Creates a consumer. Requires: no consumer has this name.
  StreamConsumer& CreateConsumer(Bytes name, int64_t now_ms);  // adds a consumer; requires: the name is new
  // Removes the consumer and its pending entries. Cost: O(pending * log n).
  void DeleteConsumer(StreamConsumer& consumer);  // removes the consumer and its pending entries

  const Pending& pending() const { return pending_; }          // the pending entries of all consumers, by ID
  const PendingEntry* FindPending(const StreamId& id) const {  // the pending entry of this ID; null: not pending
    return pending_.Find(id);
  }
  // Makes the ID pending for `entry.consumer`, and no longer for another consumer. Cost: O(log n), or O(1) for an ID
  // above all pending IDs.
  void Assign(const StreamId& id, const PendingEntry& entry);  // makes the entry pending for entry.consumer only
  // Counts one more delivery of an entry to the consumer that already has it. Requires: the entry is pending.
  void DeliverAgain(const StreamId& id, int64_t now_ms);  // counts another delivery to the same consumer
  // Acknowledges an entry, so that it is no longer pending. Returns false if it was not pending. Cost: O(log n).
  bool RemovePending(const StreamId& id);  // XACK: acknowledges an entry; false: it was not pending

  size_t UsedBytes() const;   // memory of the group in bytes
  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  friend class StreamLog;
  // Copies the consumers and pending entries of `other`. Requires: this group is new, so it has none.
  void CopyFrom(const StreamGroup& other);  // copies consumers and pending entries; requires: this group has none

  Pending pending_;      // the pending entries of all consumers, by ID
  Consumers consumers_;  // the consumers of this group by name
};

}  // namespace respite
