// Intersection, union and difference of sets.
//
// A result is visited member by member, or built in a SetBuilder. The set of a SetBuilder changes its encoding when
// Redis does, so that the order of members and the encoding equal Redis' result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "datatypes/database.h"
#include "datatypes/set.h"

namespace respite {

// A SetBuilder contains a new set and the key under which the set will be stored. Neither is in the keyspace yet.
// SUNION and SDIFF store nothing, so they give an empty key.
class SetBuilder {  // builds the result of SUNION, SDIFF, SINTERSTORE and similar commands, outside the keyspace
 public:
  // `hash_key` must be the secret hash key of the database where the set will be stored; `limits` must outlive the
  // result. `access` are the LRU or LFU bits of the new key (NewKeyUsage).
  SetBuilder(Bytes key, const HashKey& hash_key, const EncodingLimits& limits, uint32_t access);
  SetBuilder(const SetBuilder&) = delete;
  SetBuilder& operator=(const SetBuilder&) = delete;

  Set& set() { return set_; }
  // Returns the new key with its set. The SetBuilder must not be used afterwards.
  EntryPtr Release() { return private_database_.Take(set_.slot().entry()); }  // moves out the new key

 private:
  Database private_database_;  // holds only the new set and its key; not part of the keyspace
  Set set_;
};

// MemberFilter looks up groups of members, so that the cache misses of a group overlap.
class MemberFilter {  // finds the members of a set that all given other sets have, or that none of them has
 public:
  static constexpr size_t kGroupSize = 16;  // number of members that are looked up together
  enum class Keep : uint8_t { kIfInAll, kIfInNone };

  // `sets` must outlive the filter.
  MemberFilter(std::span<const Set* const> sets, Keep keep) : sets_(sets), keep_(keep) { group_.reserve(kGroupSize); }

  // Apply calls visit(const PackedElement&) for the members of `candidates` that pass the filter, until `visit` returns
  // false. Cost: at most one lookup in each set for each candidate.
  template <class Visit>
  void Apply(const Set& candidates, Visit&& visit) {  // visits the members of `candidates` that pass the filter
    const bool all = candidates.ForEachWhile([&](const PackedElement& member) {
      group_.emplace_back(member);
      return group_.size() < kGroupSize || Pass(visit);
    });
    if (all) Pass(visit);
  }

 private:
  struct Candidate {  // a member that may pass the filter
    explicit Candidate(const PackedElement& m) : member(m), text(m) {}
    PackedElement member;  // the member as its set stores it
    ElementText text;
    uint64_t hash = 0;
  };

  template <class Visit>
  bool Pass(Visit&& visit) {
    RemoveRejectedCandidates();
    for (const Candidate& candidate : group_)
      if (!visit(candidate.member)) return false;
    group_.clear();
    return true;
  }
  void RemoveRejectedCandidates();                    // removes from group_ the members that do not pass the filter
  void PrefetchCandidates(const MemberTable& table);  // hashes the members in group_, and prefetches what `table` needs

  std::span<const Set* const> sets_;
  Keep keep_;
  std::vector<Candidate> group_;  // up to kGroupSize members that are examined together
};

void Unite(std::span<const Set> sets, Set& result);  // SUNION: adds the members of all sets to `result`
// Chooses the way that is probably less work: looks up each member of the first set in the other sets, or copies the
// first set and removes the members of all others.
void Subtract(std::span<const Set> sets, Set& result);  // SDIFF: adds to `result` what only the first set has
// Intersect calls visit(const PackedElement&) for the members that all sets have, in the order of the smallest set,
// until `visit` returns false. Requires: at least one set.
template <class Visit>
void Intersect(std::span<const Set> sets, Visit&& visit);  // SINTER: visits the members that all sets have
// Returns the set with the fewest members, over which Intersect iterates. If several sets have equally few, returns the
// first of them.
const Set* SmallestOf(std::span<const Set> sets);  // the set with the fewest members; null: a set is empty
// Skips every set that is stored at the same key as `smallest`, because a command may name a key twice.
std::vector<const Set*> OthersBySize(std::span<const Set> sets, const Set& smallest);  // all other sets, smallest first

template <class Visit>
void Intersect(std::span<const Set> sets, Visit&& visit) {  // visits the members that all sets have
  const Set* smallest = SmallestOf(sets);
  if (smallest == nullptr) return;
  const std::vector<const Set*> others = OthersBySize(sets, *smallest);
  MemberFilter(others, MemberFilter::Keep::kIfInAll).Apply(*smallest, visit);
}

}  // namespace respite
