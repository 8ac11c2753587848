// MemberTable: the value of a large set of texts. A MemberTable is a HashIndex of Members, and owns the members.
//
// A text of up to 7 bytes is stored in its slot of 8 bytes, without an allocation. With its share of the free slots, it
// costs 11 to 16 bytes.
//
// To look up many texts with overlapping cache misses, first call Hash for each text. Then call PrefetchBucket for each
// hash, then PrefetchItem for each hash, then Contains for each text.
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

class MemberTable final : public Object {  // the value of a large set: a hash table that owns its members
 public:
  explicit MemberTable(const HashKey& hash_key) : index_(hash_key) {}
  ~MemberTable() override;

  std::unique_ptr<Object> Clone() const override;  // returns a deep copy
  size_t Size() const override { return index_.Size(); }
  size_t UsedBytes(size_t samples) const override;  // bytes, estimated from `samples` members; 0: exact

  const HashKey& hash_key() const { return index_.hash_key(); }  // the secret key of the hash function
  uint64_t Hash(Bytes text) const { return index_.Hash(text); }
  void PrefetchBucket(uint64_t hash) const {  // before a lookup: prefetches the bucket of this hash
    index_.PrefetchBucket(hash);
  }
  void PrefetchItem(uint64_t hash) const { index_.PrefetchItem(hash); }  // after PrefetchBucket: prefetches the member

  bool Contains(Bytes text) const { return Contains(text, Hash(text)); }  // true: the text is a member
  bool Contains(Bytes text, uint64_t hash) const {  // true: the text is a member; `hash` is Hash(text)
    return static_cast<bool>(index_.Find(text, hash));
  }
  bool Add(Bytes text);  // adds a text as a new member; false: the text is a member already
  // Requires: `member` belongs to no table, and this table has no member with the same text.
  void Adopt(Member member) { index_.Insert(member, Hash(member.Text())); }  // adds a member, which the table then owns
  // `text` may be a view of the member itself.
  bool Remove(Bytes text);  // removes and frees the member with this text; false: there is no such member
  // Removes the member and gives it to the caller. Returns Member{} if there is no such member.
  Member Take(Bytes text) { return index_.Remove(text, Hash(text)); }

  // Each member is equally likely. Cost: O(1) expected.
  Member PickRandom(Random& random) const {  // a random member; requires: the table is not empty
    return index_.PickRandom(random);
  }
  // All combinations of members are equally likely. Requires: count <= Size(). Cost: O(count), or O(n) if `count` is at
  // least a third of the members.
  std::vector<Member> Sample(size_t count, Random& random) const;  // `count` different random members

  // ForEach and ForEachWhile visit the members in unspecified order. `visit` must not change the table. The view of a
  // short member's text points into the table.
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(const Member&) for each member
    index_.ForEachWhile([&](const Member& member) {
      visit(member);
      return true;
    });
  }
  template <class Visit>
  bool ForEachWhile(Visit&& visit) const {  // visits members until visit(member) is false; true: visited all
    return index_.ForEachWhile(visit);
  }
  // Scan calls visit(const Member&) for some members, and returns the next cursor; see HashIndex::Scan.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit&& visit) const {
    return index_.Scan(cursor, visit);
  }

  bool IsConsistent() const { return index_.IsConsistent(); }  // for tests; false: the structure is damaged

 private:
  HashIndex<Member> index_;  // the members by their text
};

}  // namespace respite
