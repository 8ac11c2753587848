#include "datatypes/set_algebra.h"

#include <algorithm>
#include <utility>

namespace respite {

namespace {

bool AreSame(const Set& one, const Set& other) { return one.slot().entry() == other.slot().entry(); }

Set EmptySet(Database& room, Bytes key, const EncodingLimits& limits, uint32_t access) {
  Entry* entry = room.Add(
      EntryPtr(Entry::CreatePacked(key, Set::kType, Set::kInitialForm, Set::InitialPacked(), /*spare=*/0, access)));
  return Set({.slot = ValueSlot(room, entry), .limits = limits, .now_ms = 0});
}

// Returns true if SDIFF should look up each member of the first set in all other sets, because this probably costs no
// more than an iteration over all sets. As in Redis, a lookup counts half, because the lookups of a member end when one
// set has it.
bool LookupsAreCheaper(std::span<const Set> sets) {
  size_t lookups = 0;
  size_t iterations = 0;
  for (const Set& set : sets) {
    if (!set.Exists()) continue;
    lookups += sets[0].Size();
    iterations += set.Size();
  }
  return lookups / 2 <= iterations;
}

void SubtractByLookups(std::span<const Set> sets, Set& result) {
  std::vector<const Set*> others;
  for (const Set& set : sets.subspan(1))
    if (set.Exists()) others.push_back(&set);
  std::stable_sort(others.begin(), others.end(), [](const Set* a, const Set* b) { return a->Size() > b->Size(); });
  MemberFilter(others, MemberFilter::Keep::kIfInNone).Apply(sets[0], [&](const PackedElement& member) {
    result.Add(member);
    return true;
  });
}

void SubtractByIteration(std::span<const Set> sets, Set& result) {
  Unite(sets.first(1), result);
  for (const Set& set : sets.subspan(1)) {
    if (result.IsEmpty()) return;
    set.ForEach([&](const PackedElement& member) { result.Remove(member); });
  }
}

}  // namespace

SetBuilder::SetBuilder(Bytes key, const HashKey& hash_key, const EncodingLimits& limits, uint32_t access)
    : private_database_(hash_key), set_(EmptySet(private_database_, key, limits, access)) {}

void MemberFilter::RemoveRejectedCandidates() {
  for (const Set* set : sets_) {
    const MemberTable* table = set->Table();
    if (table != nullptr) PrefetchCandidates(*table);
    std::erase_if(group_, [&](const Candidate& candidate) {
      const bool found =
          table != nullptr ? table->Contains(candidate.text.View(), candidate.hash) : set->Contains(candidate.member);
      return found != (keep_ == Keep::kIfInAll);
    });
  }
}

void MemberFilter::PrefetchCandidates(const MemberTable& table) {
  for (Candidate& candidate : group_) candidate.hash = table.Hash(candidate.text.View());
  for (const Candidate& candidate : group_) table.PrefetchBucket(candidate.hash);
  for (const Candidate& candidate : group_) table.PrefetchItem(candidate.hash);
}

void Unite(std::span<const Set> sets, Set& result) {
  for (const Set& set : sets) set.ForEach([&](const PackedElement& member) { result.Add(member); });
}

void Subtract(std::span<const Set> sets, Set& result) {
  if (!sets[0].Exists()) return;
  const std::span<const Set> others = sets.subspan(1);
  if (std::any_of(others.begin(), others.end(), [&](const Set& set) { return AreSame(set, sets[0]); })) return;
  LookupsAreCheaper(sets) ? SubtractByLookups(sets, result) : SubtractByIteration(sets, result);
}

const Set* SmallestOf(std::span<const Set> sets) {
  const Set* smallest = &sets[0];
  for (const Set& set : sets)
    if (set.Size() < smallest->Size()) smallest = &set;
  return smallest->IsEmpty() ? nullptr : smallest;
}

std::vector<const Set*> OthersBySize(std::span<const Set> sets, const Set& smallest) {
  std::vector<const Set*> others;
  for (const Set& set : sets)
    if (!AreSame(set, smallest)) others.push_back(&set);
  std::stable_sort(others.begin(), others.end(), [](const Set* a, const Set* b) { return a->Size() < b->Size(); });
  return others;
}

}  // namespace respite
