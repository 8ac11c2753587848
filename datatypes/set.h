// Set: the value of a key of type set: different texts without order.
//
//   form        while                                                        order of iteration
//   kIntset     all are integers, up to set-max-intset-entries               ascending
//   kListpack   up to set-max-listpack-entries, none over …-listpack-value   order of insertion
//   kObject     otherwise: a MemberTable                                     unspecified
//
// The limits are checked only when members are added; a set from an RDB can have longer members. Additions convert a
// set only to larger forms. A removal never changes the form, except Pop of almost all members, as in Redis. A set
// without an entry reads as empty. Views of members are valid until the set changes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "datatypes/intset.h"
#include "datatypes/listpack.h"
#include "datatypes/member_table.h"
#include "datatypes/value_slot.h"

namespace respite {

class Set : public Collection {  // gives access to the set of one key
 public:
  static constexpr ValueType kType = ValueType::kSet;            // the type of an entry that holds a set
  static constexpr ValueForm kInitialForm = ValueForm::kIntset;  // a new, empty set is an intset
  static Bytes InitialPacked() { return Intset::Empty(); }       // the bytes of a new set: an empty intset

  explicit Set(const CollectionContext& place) : Collection(place) {}

  bool IsEmpty() const { return Size() == 0; }  // true: no members, or no such key
  // Returns the number of members; 0 if there is no such key. Cost: O(1).
  size_t Size() const;
  // Cost: O(1) in a table, O(log n) in an intset, O(n) in a listpack.
  bool Contains(Bytes member) const;                 // true: the set has this member
  bool Contains(const PackedElement& member) const;  // true: the set has this member
  static constexpr size_t kPrefetchAhead = 16;  // maximum number of members that one call of PrefetchMembers fetches
  // Does nothing for a packed set. Lets the cache misses of the lookups of the first kPrefetchAhead members overlap.
  void PrefetchMembers(std::span<const Bytes> members) const;  // prefetches what lookups of these will read in a table
  const MemberTable* Table() const;                            // the set's table; null: packed, or no such key

  // ForEach calls visit(const PackedElement&) for each member. ForEachWhile stops when `visit` returns false.
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(const PackedElement&) for each member
    ForEachWhile([&](const PackedElement& member) {
      visit(member);
      return true;
    });
  }
  template <class Visit>
  bool ForEachWhile(Visit&& visit) const;  // visits members until visit(member) is false; true: visited all

  // These functions call visit(const PackedElement&) for random members:
  //   PickRandom          one; each member is equally likely. Requires: !IsEmpty(). Cost: O(1), O(n) in a listpack.
  //   Sample              `count` different ones, in the order of iteration when packed. Requires: count <= Size().
  //                       Cost: O(count) in a table, O(n) when packed.
  //   SampleWithRepeats   `count` independent choices. Requires: !IsEmpty(). Cost: O(count + n).
  template <class Visit>
  void PickRandom(Random& random, Visit&& visit) const;  // visits one random member; requires: not empty
  template <class Visit>
  void Sample(size_t count, Random& random, Visit&& visit) const;  // visits `count` different random members
  template <class Visit>
  void SampleWithRepeats(size_t count, Random& random,  // visits `count` random members, with repeats
                         Visit&& visit) const;

  // The functions from here to TryConvertToIntset edit the set. All require: Exists().

  // SADD calls PrepareToAdd before it adds `count` members, of which `first` is one. SMOVE calls PrepareToAdd only if
  // the set is empty. An empty set takes the encoding that Redis would choose. A packed set with members becomes a
  // table if `count` exceeds the limit of its encoding: set-max-intset-entries or set-max-listpack-entries.
  void PrepareToAdd(Bytes first, size_t count);  // for SADD: chooses the encoding, before `count` members are added
  void SetFormWhileEmpty(ValueForm form);        // requires: empty and packed; sets kIntset or kListpack
  // Requires: `member` is not a view of this set.
  bool Add(Bytes member);  // adds a member; false: the member exists already
  bool Add(const PackedElement& member);
  bool Remove(Bytes member);                 // removes a member; false: there is no such member
  bool Remove(const PackedElement& member);  // removes a member; false: there is no such member
  // Pop removes `count` random members. Calls visit(const PackedElement&) for each member before its removal. Requires:
  // count <= Size(). Cost: O(count) in a table, O(n) when packed or if almost all members are removed.
  template <class Visit>
  void Pop(size_t count, Random& random, Visit&& visit);
  // Does nothing if there are more than MaxIntegers() members. Requires: all members are integers.
  void TryConvertToIntset();  // makes a set of integers an intset, unless over MaxIntegers()

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  Listpack AsListpack() const { return Listpack(slot_.View()); }         // the listpack; requires: form kListpack
  Intset AsIntset() const { return Intset(slot_.View()); }               // the intset; requires: form kIntset
  MemberTable& MutableTable() const { return slot_.As<MemberTable>(); }  // the table; requires: form kObject
  size_t MaxIntegers() const;  // maximum size of an intset: set-max-intset-entries, at most 2^30

  // AddInteger and AddToListpack make the set a table if the new member exceeds the limits.
  bool AddInteger(int64_t value);                                 // adds to an intset; false: exists already
  bool AddToListpack(const EncodedElement& element, Bytes text);  // adds to a listpack; false: exists already
  bool RemoveFromListpack(const EncodedElement& element);  // removes a member from a listpack; false: it was no member
  void ConvertToTable();                                   // makes a packed set a MemberTable
  bool TryConvertToListpack(Bytes text);  // makes an intset a listpack, before `text` is added; false: over the limits

  PackedElement PackedAt(size_t index) const;  // the member at `index` in order of iteration; requires: packed
  std::vector<PackedElement> All() const;
  // The indexes are different and below `size`. All combinations are equally likely.
  static std::vector<size_t> ChooseIndexes(size_t count, size_t size,  // `count` random indexes, ascending
                                           Random& random);
  // VisitIndexes and RemoveAtIndexes require: the set is packed, and `indexes` ascend.
  template <class Visit>
  void VisitIndexes(const std::vector<size_t>& indexes, Visit&& visit) const;  // visits the members at these indexes
  void RemoveAtIndexes(const std::vector<size_t>& indexes);                    // removes the members at these indexes

  // Takes `count` random members out of the table; the caller then owns them. If almost all members must be removed,
  // Pop takes out the few members that stay (so `count` is their number), and makes a new set of them (ReplaceBy), as
  // Redis does. Requires: the set is a table.
  std::vector<Member> TakeRandomMembers(size_t count, Random& random);  // takes `count` random members out of the table
  void ReplaceBy(const std::vector<Member>& members);  // makes `members` the whole set, as a new listpack or table
};

template <class Visit>
bool Set::ForEachWhile(Visit&& visit) const {  // visits members until visit(member) is false
  if (!Exists()) return true;
  if (const MemberTable* table = Table())
    return table->ForEachWhile([&](const Member& member) { return visit(PackedElement{.text = member.Text()}); });
  if (slot_.Form() == ValueForm::kListpack) {
    const Listpack listpack = AsListpack();
    for (size_t at = listpack.Begin(); at != listpack.End(); at = listpack.Next(at))
      if (!visit(listpack.At(at))) return false;
    return true;
  }
  const Intset intset = AsIntset();
  for (size_t i = 0; i < intset.Count(); ++i)
    if (!visit(PackedElement{.text = {}, .integer = intset.At(i), .is_integer = true})) return false;
  return true;
}

template <class Visit>
void Set::PickRandom(Random& random, Visit&& visit) const {  // visits one random member
  if (const MemberTable* table = Table()) {
    const Member member = table->PickRandom(random);
    return visit(PackedElement{.text = member.Text()});
  }
  visit(PackedAt(random.Below(Size())));
}

template <class Visit>
void Set::Sample(size_t count, Random& random, Visit&& visit) const {  // visits `count` different random members
  if (const MemberTable* table = Table()) {
    for (const Member& member : table->Sample(count, random)) visit(PackedElement{.text = member.Text()});
    return;
  }
  VisitIndexes(ChooseIndexes(count, Size(), random), visit);
}

template <class Visit>
void Set::SampleWithRepeats(size_t count, Random& random,  // visits `count` random members, with repeats
                            Visit&& visit) const {
  const std::vector<PackedElement> packed = slot_.Form() == ValueForm::kListpack ? All() : std::vector<PackedElement>();
  for (; count > 0; --count) {
    packed.empty() ? PickRandom(random, visit) : visit(packed[random.Below(packed.size())]);
  }
}

template <class Visit>
void Set::VisitIndexes(const std::vector<size_t>& indexes, Visit&& visit) const {  // visits members at these indexes
  if (indexes.size() == 1) return visit(PackedAt(indexes[0]));
  size_t index = 0;
  auto next = indexes.begin();
  ForEachWhile([&](const PackedElement& member) {
    if (next == indexes.end()) return false;
    if (*next != index++) return true;
    visit(member);
    ++next;
    return true;
  });
}

template <class Visit>
void Set::Pop(size_t count, Random& random, Visit&& visit) {
  constexpr size_t kManyTimes = 5;  // Redis: builds a new set if removed / remaining members is at least this
  if (slot_.Form() != ValueForm::kObject) {
    const std::vector<size_t> indexes = ChooseIndexes(count, Size(), random);
    VisitIndexes(indexes, visit);
    return RemoveAtIndexes(indexes);
  }
  if ((Size() - count) * kManyTimes <= count) {
    const std::vector<Member> kept = TakeRandomMembers(Size() - count, random);
    ForEach(visit);
    return ReplaceBy(kept);
  }
  for (const Member& member : MutableTable().Sample(count, random)) {
    visit(PackedElement{.text = member.Text()});
    MutableTable().Remove(member.Text());
  }
}

}  // namespace respite
