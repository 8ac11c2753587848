// MemberTable: a large set of texts: a HashIndex of Members, which it owns.
//
// A text of up to 7 bytes costs only its slot (11 to 16 bytes including the free slots of a table).
//
// Bulk lookups: Hash each text, PrefetchBucket all of them, PrefetchItem all of them, then Contains: the cache misses
// overlap.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "datatypes/hash_index.h"
#include "datatypes/member.h"
#include "datatypes/object.h"

namespace respite {

class MemberTable final : public Object {
 public:
  explicit MemberTable(const HashKey& hash_key) : index_(hash_key) {}
  ~MemberTable() override;

  std::unique_ptr<Object> Clone() const override;
  size_t Size() const override { return index_.Size(); }
  size_t UsedBytes(size_t samples) const override;

  const HashKey& hash_key() const { return index_.hash_key(); }
  uint64_t Hash(Bytes text) const { return index_.Hash(text); }
  void PrefetchBucket(uint64_t hash) const { index_.PrefetchBucket(hash); }
  void PrefetchItem(uint64_t hash) const { index_.PrefetchItem(hash); }

  bool Contains(Bytes text) const { return Contains(text, Hash(text)); }
  bool Contains(Bytes text, uint64_t hash) const { return static_cast<bool>(index_.Find(text, hash)); }
  // Returns false if the text is already there.
  bool Add(Bytes text);
  // Adds a member that was taken out of a table. Requires: its text is not there.
  void Adopt(Member member) { index_.Insert(member, Hash(member.Text())); }
  // Returns false if the text is not there. `text` may be a view of the member itself.
  bool Remove(Bytes text);
  // Removes the member and gives it to the caller. Returns Member{} if it is not there.
  Member Take(Bytes text) { return index_.Remove(text, Hash(text)); }

  // A random member, uniformly chosen. Requires: Size() > 0. Cost: O(1) expected.
  Member PickRandom(Random& random) const { return index_.PickRandom(random); }
  // `count` different random members; each choice is equally likely. Requires: count <= Size(). Cost: O(count), or O(n)
  // if that is a third of all or more.
  std::vector<Member> Sample(size_t count, Random& random) const;

  // Calls visit(const Member&) for each, in unspecified order; ForEachWhile stops when it returns false. Views of a
  // short member are views of the table. `visit` must not change it.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    index_.ForEachWhile([&](const Member& member) {
      visit(member);
      return true;
    });
  }
  template <class Visit>
  bool ForEachWhile(Visit&& visit) const {
    return index_.ForEachWhile(visit);
  }
  // See HashIndex::Scan.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit&& visit) const {
    return index_.Scan(cursor, visit);
  }

  // For tests.
  bool CheckInvariants() const { return index_.CheckInvariants(); }

 private:
  HashIndex<Member> index_;
};

}  // namespace respite
