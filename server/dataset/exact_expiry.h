// ExactExpiry: removes keys and fields exactly at their deadline, in order, while a test moves the clock (TEST CLOCK).
// At other times, Expiry samples keys and removes the expired ones some time after their deadline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/late_bound.h"
#include "server/dataset/dataset.h"
#include "server/dataset/expiry.h"
#include "server/runtime/timers.h"

namespace respite {

class ExactExpiry final : public Timers::Source {  // removes keys exactly at their deadline when TEST CLOCK moves time
 public:
  ExactExpiry(Dataset& data, const Clock& clock, const LateBound<const KeyRemovalPermission>& removal)
      : data_(data), clock_(clock), removal_(removal) {}

  // Lets RunDue remove keys and fields at their deadlines from now on, up to the deadline `until_wall_ms`. Deadlines
  // that are set after this call are not planned. Cost: O(n log n) for n deadlines.
  void Begin(int64_t until_wall_ms);  // lets RunDue remove keys with deadlines up to this Unix time
  void End();                         // forgets the planned deadlines: from now on, active expiry removes expired keys

  struct EarliestExpiry {  // the key, or the field of a hash, that expires first
    int64_t wall_ms;       // the deadline, a Unix time
    int db;
    std::string key;
    bool is_field;  // true: a field of the hash `key` expires, not the key itself
  };
  // Returns the key or field that expires first, or that has expired but was not removed yet. If several have the same
  // deadline, returns the one with the lowest database number and then the lowest key name. Returns nullopt if nothing
  // has a deadline, or if this server may not remove keys now. Ignores keys of slots that are being imported. Cost:
  // O(n) for n deadlines.
  std::optional<EarliestExpiry> FindEarliest() const;  // the next key or field; nullopt: none, or none may be removed

  int64_t NextDueMs() const override;         // next deadline, on the monotonic clock; kNever: none, or no removals now
  void RunDue(int64_t now_ms) override;       // removes all keys and fields that have the next deadline
  std::string NextDueText() const override {  // describes the next deadline, for users of TEST CLOCK
    return "key " + std::string(KeyOf(EarliestDeadline())) + " expires";
  }

 private:
  struct Deadline {   // when a key, or the next fields of a hash, expire
    int64_t wall_ms;  // the deadline, a Unix time
    int db;
    uint32_t key_size;  // length of the key's name in bytes
    size_t key_begin;   // where the key's name begins in the text keys_
    uint64_t hash;      // hash of the key
  };

  Bytes KeyOf(const Deadline& deadline) const {  // the name of the key that expires at this deadline
    return Bytes(keys_).substr(deadline.key_begin, deadline.key_size);
  }
  bool IsLater(const Deadline& one, const Deadline& other) const;  // order of the heap: `one` is due after `other`
  bool IsNextDueAgain() const;  // whether the next deadline is in hashes_due_again_, not in planned_deadlines_
  const Deadline& EarliestDeadline() const {  // the next deadline; requires !IsEmpty()
    return IsNextDueAgain() ? hashes_due_again_.front() : planned_deadlines_.back();
  }
  Deadline Take();
  void Prefetch() const;  // fetches the keys that expire next into the CPU cache
  bool IsEmpty() const { return planned_deadlines_.empty() && hashes_due_again_.empty(); }  // no deadline is left
  bool IsInPlannedTime(int64_t deadline_ms) const {  // true: not kNoDeadline, and not later than until_wall_ms_
    return deadline_ms != kNoDeadline && deadline_ms <= until_wall_ms_;
  }
  // Calls visit(entry, deadline, is_field) for each key with a deadline, and for each hash with deadlines on fields.
  // Keys of slots that are being imported (hidden slots) are skipped: the node from which they come decides about them.
  template <class Visit>
  void VisitEntriesWithDeadlines(int db,  // visits each entry that has a deadline, or fields with one
                                 Visit&& visit) const;
  void CollectDeadlines(int db);  // adds the database's deadlines up to until_wall_ms_ to planned_deadlines_
  // Removes the key that has this deadline, or the expired fields if the key is a hash. If the hash has another field
  // deadline up to until_wall_ms_, adds that deadline to hashes_due_again_.
  void Remove(const Deadline& deadline);  // removes the key of a deadline, or its expired fields

  Dataset& data_;
  const Clock& clock_;                                    // the clock that TEST CLOCK can move
  const LateBound<const KeyRemovalPermission>& removal_;  // says whether expired keys may be removed now
  int64_t until_wall_ms_ = 0;  // limit given to Begin (Unix time): later deadlines are ignored
  // The planned deadlines are sorted only once, because for a million keys sorting once is faster than a heap.
  std::vector<Deadline> planned_deadlines_;  // deadlines found by Begin, sorted; the next one last
  std::vector<Deadline> hashes_due_again_;   // next deadlines of hashes with several; a heap, the earliest first
  std::string keys_;                         // the names of all keys in planned_deadlines_ and hashes_due_again_
};

}  // namespace respite
