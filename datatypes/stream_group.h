// StreamGroup: a consumer group of a stream. Stores how far the group has read, and which entries were delivered to a
// consumer and not acknowledged yet (pending).
//
//   group.pending        ID -> PendingEntry{consumer, time, deliveries}    in order of IDs
//   group.by_delivery    ID                                                in order of delivery times; built on demand
//   consumer.pending     ID                                                the IDs that are pending for this consumer
//
// A pending entry may already be deleted from the stream. A consumer keeps its address while it exists. An entry that
// XNACK has released stays pending, without a consumer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "datatypes/stream_id_map.h"

namespace respite {

struct StreamConsumer {                        // one consumer of a consumer group
  static constexpr int64_t kNeverActive = -1;  // value of active_ms: the consumer has never received an entry

  explicit StreamConsumer(int64_t now_ms) : seen_ms(now_ms) {}

  int64_t seen_ms;                    // when the consumer last tried to read or claim, or was created (Unix ms)
  int64_t active_ms = kNeverActive;   // when the consumer last received an entry (Unix ms), or kNeverActive
  StreamIdMap<NoValue> pending;       // IDs delivered and not acknowledged; changed by StreamGroup only
  const std::string* name = nullptr;  // the consumer's name: the key in the map of the group
};

struct PendingEntry {  // an entry that was delivered to a consumer and not acknowledged yet
  // Returns the time since the last delivery, or 0 if the clock was set back since then. A released entry is idle
  // forever. Requires: now_ms >= 0.
  int64_t IdleMs(int64_t now_ms) const {  // how many ms ago the entry was delivered last; released: INT64_MAX
    if (IsReleased()) return std::numeric_limits<int64_t>::max();
    return std::max<int64_t>(now_ms - delivered_ms, 0);
  }
  bool IsReleased() const { return consumer == nullptr; }  // XNACK released the entry; no consumer owns it
  Bytes ConsumerName() const { return IsReleased() ? Bytes() : Bytes(*consumer->name); }  // empty: XNACK released it

  PendingEntry WithOneMoreDelivery() const {  // a copy whose `deliveries` is higher by one, at most INT64_MAX
    return {consumer, delivered_ms, std::min<uint64_t>(deliveries + 1, std::numeric_limits<int64_t>::max())};
  }

  StreamConsumer* consumer;  // the consumer that received or claimed the entry last; null: XNACK released it
  int64_t delivered_ms;      // when the entry was last delivered (Unix ms); XCLAIM can set it; 0: released by XNACK
  uint64_t deliveries;       // number of deliveries, at most INT64_MAX; XCLAIM and XNACK can set it
};

// The pending entries of a group: first those that XNACK has released, then the others, the longest idle one first.
// Entries with the same delivery time are in the order in which Put added or moved them.
class DeliveryOrder {  // the pending entries of a group by the time of their last delivery
 public:
  using Cursor = StreamIdMap<StreamId>::Cursor;

  void Put(const StreamId& id, const PendingEntry& entry);  // adds an entry, or moves it to its new place
  void Remove(const StreamId& id);               // removes the entry of this ID; requires: Put has added the entry
  Cursor First() const { return ids_.First(); }  // at the entry that is idle longest; Get() of the cursor is its ID
  Cursor FirstIdleLessThan(int64_t below_ms,  // at the first entry that is idle for less than below_ms; AtEnd(): none
                           int64_t now_ms) const;
  // Returns the Unix time in ms of the last delivery of the entry at the cursor, or -1 if XNACK released the entry.
  static int64_t DeliveredMs(const Cursor& at) {  // Unix time in ms of the last delivery; -1: XNACK released the entry
    return static_cast<int64_t>(at.Id().ms) - 1;
  }
  size_t Size() const { return ids_.Size(); }
  size_t UsedBytes() const { return sizeof *this + ids_.UsedBytes() + places_.UsedBytes(); }  // memory in bytes

 private:
  StreamIdMap<StreamId> ids_;     // {delivery time + 1, serial number} -> ID of the entry; the time is 0 if released
  StreamIdMap<StreamId> places_;  // the key in ids_ of each entry, by the ID of the entry
  uint64_t next_serial_ = 0;      // serial number of the next key in ids_
};

class StreamGroup {  // a consumer group: how far it has read, and its pending entries
 public:
  static constexpr int64_t kUnknownCount = -1;  // value of entries_read: the number is unknown
  using Pending = StreamIdMap<PendingEntry>;
  using Consumers = std::map<std::string, StreamConsumer, std::less<>>;  // sorted by bytes, as Redis lists them

  StreamGroup(const StreamId& last, int64_t read_count) : last_id(last), entries_read(read_count) {}
  StreamGroup(const StreamGroup&) = delete;
  StreamGroup& operator=(const StreamGroup&) = delete;

  StreamId last_id;      // entries above this ID are new to the group
  int64_t entries_read;  // number of entries added up to last_id, as counted or set by XGROUP; or kUnknownCount

  const Consumers& consumers() const { return consumers_; }  // the consumers by name
  StreamConsumer* FindConsumer(Bytes name);                  // the consumer of this name; null: there is none
  const StreamConsumer* FindConsumer(Bytes name) const;      // the consumer of this name; null: there is none
  StreamConsumer& CreateConsumer(Bytes name,  // adds a consumer, last seen at now_ms; requires: the name is new
                                 int64_t now_ms);
  // Cost: O(pending entries of the consumer * log n).
  void DeleteConsumer(StreamConsumer& consumer);  // removes the consumer and its pending entries

  const Pending& pending() const { return pending_; }          // the pending entries of all consumers, by ID
  const PendingEntry* FindPending(const StreamId& id) const {  // the pending entry of this ID; null: not pending
    return pending_.Find(id);
  }
  // The entry need not be pending yet. Requires: entry.consumer is not null. Cost: O(log n), or O(1) for an ID above
  // all pending IDs.
  void Assign(const StreamId& id, const PendingEntry& entry);  // makes the entry pending for entry.consumer only
  // Requires: the entry is pending.
  void DeliverAgain(const StreamId& id, int64_t now_ms);  // counts another delivery, at now_ms, to the same consumer
  // Cost: O(log n).
  bool RemovePending(const StreamId& id);  // makes an entry no longer pending, as XACK does; false: was not pending
  // Makes the entry pending for no consumer, with this number of deliveries. The entry may have been pending for a
  // consumer or, for XNACK FORCE, not at all. Cost: O(log n). The first call of Release or ByDelivery also sorts all
  // pending entries: O(n log n).
  void Release(const StreamId& id, uint64_t deliveries);    // XNACK: makes the entry pending for no consumer
  size_t ReleasedCount() const { return released_count_; }  // number of pending entries without a consumer
  bool IsUnreadOrPending(const StreamId& id) const {        // true: the group has not read or not acknowledged `id`
    return id > last_id || pending_.Find(id) != nullptr;
  }
  const DeliveryOrder& ByDelivery();  // the pending entries by delivery time; the first call sorts them: O(n log n)
  const DeliveryOrder* KnownDeliveryOrder() const { return by_delivery_.get(); }  // null: ByDelivery was not called yet

  size_t UsedBytes() const;   // memory of the group in bytes
  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  friend class StreamLog;
  void CopyFrom(const StreamGroup& other);  // copies consumers and pending entries; requires: this group has none

  Pending pending_;                             // the pending entries of all consumers, by ID
  Consumers consumers_;                         // the consumers of this group by name
  size_t released_count_ = 0;                   // number of pending entries without a consumer
  std::unique_ptr<DeliveryOrder> by_delivery_;  // the entries of pending_ by delivery time; null until first needed
};

}  // namespace respite
