// ExactExpiry: removes keys and fields exactly at their deadline, in order, while a test moves the clock. At other
// times Expiry samples keys; clients cannot see the difference while time passes by itself.
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

class ExactExpiry final : public Timers::Source {  // removes keys exactly at their deadline (test clock)
 public:
  ExactExpiry(Dataset& data, const Clock& clock, const LateBound<const KeyRemovalPermission>& removal)
      : data_(data), clock_(clock), removal_(removal) {}

  // From now on, removes each key and field with a deadline up to this wall time at its deadline. Ignores deadlines
  // that are set later. Cost: O(n log n) for n deadlines.
  void Begin(int64_t until_wall_ms);  // for the deadlines up to this time
  void End();

  struct Earliest {   // the key or field that expires first
    int64_t wall_ms;  // its deadline, UNIX time
    int db;
    std::string key;
    bool is_field;  // a field of this hash expires
  };
  // Returns the key or field that expires first; the lowest database and name if there are several. Returns nullopt if
  // this server may not remove keys. Cost: O(n) for n deadlines.
  std::optional<Earliest> FindEarliest() const;  // nullopt: none, or keys may not be removed

  int64_t NextDueMs() const override;    // monotonic time of the next deadline
  void RunDue(int64_t now_ms) override;  // removes all keys and fields with the next deadline
  std::string NextDueText() const override { return "key " + std::string(KeyOf(EarliestDeadline())) + " expires"; }

 private:
  struct Deadline {  // of a key, or of the first fields of a hash
    int64_t wall_ms;
    int db;
    uint32_t key_size;
    size_t key_begin;  // in keys_
    uint64_t hash;     // of the key
  };

  Bytes KeyOf(const Deadline& deadline) const { return Bytes(keys_).substr(deadline.key_begin, deadline.key_size); }
  bool IsLater(const Deadline& one, const Deadline& other) const;  // order of the heap
  bool IsNextDueAgain() const;                                     // the next deadline is in hashes_due_again_
  // Returns the next deadline. Requires: !IsEmpty().
  const Deadline& EarliestDeadline() const { return IsNextDueAgain() ? hashes_due_again_.front() : planned_.back(); }
  Deadline Take();
  void Prefetch() const;  // the keys of the following deadlines, while others are removed
  bool IsEmpty() const { return planned_.empty() && hashes_due_again_.empty(); }
  bool IsInTime(int64_t deadline_ms) const {  // Begin's limit includes this deadline
    return deadline_ms != kNoDeadline && deadline_ms <= until_wall_ms_;
  }
  // Calls visit(entry, deadline, is_field) for each key and each hash with timed fields of the database.
  template <class Visit>
  void VisitTimed(int db, Visit&& visit) const;  // each entry with a deadline or with fields that have one
  void CollectDeadlines(int db);                 // adds the database's deadlines to planned_
  // Removes the key, or its expired fields. A hash with another deadline before the end is added to hashes_due_again_.
  void Remove(const Deadline& deadline);

  Dataset& data_;
  const Clock& clock_;
  const LateBound<const KeyRemovalPermission>& removal_;  // says whether expired keys may be removed now
  int64_t until_wall_ms_ = 0;                             // ignores later deadlines
  // A million keys are sorted once, which is faster than a heap.
  std::vector<Deadline> planned_;           // sorted, next one last
  std::vector<Deadline> hashes_due_again_;  // hashes with several deadlines: a heap, next one first
  std::string keys_;
};

}  // namespace respite
