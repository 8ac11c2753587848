// HashTable: the value of a hash too large to stay packed. A HashTable is an index of fields. Each field is ONE
// allocation with name and value.
//
//   field   | name size × 4 + pooled × 2 + timed | value size | [index in the deadline heap 4] | name … | value … |
//   sizes   groups of 7 bits, least significant first; the high bit of a byte means that another group follows
//
// A name of 14 bytes with a value of 12 takes 28 bytes. jemalloc would use its size class of 32. So the fields that are
// added to a hash of kPooledFrom fields or more get their memory from a SlabPool of the hash, until few are left. A
// block is always as large as its size class, so a new value of nearly equal size is often stored in place.
//
// Deadlines of fields are kept in a min-heap; a field stores its index in the heap, and the heap points to the field.
// So the next deadline is known immediately, and a search for expired fields reads hardly any other fields. A field
// without a deadline costs nothing extra.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/random.h"
#include "datatypes/entry.h"
#include "datatypes/hash_index.h"
#include "datatypes/object.h"
#include "datatypes/slab_pool.h"

namespace respite {

// Each field has a memory block of its own. Only HashTable creates and frees fields.
class HashField {  // a field of a large hash: name and value; with a deadline, also a heap index
 public:
  HashField(const HashField&) = delete;
  HashField& operator=(const HashField&) = delete;

  Bytes Key() const {
    const Layout layout(this);
    return {Memory() + layout.name_at, layout.name_size};
  }
  Bytes Value() const {  // the value of this field; a view of the field
    const Layout layout(this);
    return {Memory() + layout.name_at + layout.name_size, layout.value_size};
  }
  bool IsTimed() const { return (*RawBytes(this) & kTimedBit) != 0; }  // true: the field has a deadline

 private:
  friend class HashTable;

  static constexpr size_t kTimedBit = 1;   // in the first size: the field has a deadline
  static constexpr size_t kPooledBit = 2;  // in the first size: the memory comes from a SlabPool
  static constexpr int kNameShift = 2;     // position of the size of the name in the first size

  HashField() = default;

  bool IsPooled() const { return (*RawBytes(this) & kPooledBit) != 0; }  // true: the memory comes from a SlabPool
  static const uint8_t* RawBytes(const HashField* field) {               // the first byte of the field's memory
    return reinterpret_cast<const uint8_t*>(field);
  }
  const char* Memory() const { return reinterpret_cast<const char*>(this); }  // the first byte of this field's memory
  char* Memory() { return reinterpret_cast<char*>(this); }                    // the first byte of this field's memory
  struct Layout {  // offsets and sizes of name and value in a field's memory
    explicit Layout(const HashField* field) {
      const uint8_t* at = RawBytes(field);
      const size_t first = TakeSize(at);
      name_size = first >> kNameShift;
      value_size = TakeSize(at);
      const size_t place_size = (first & kTimedBit) != 0 ? sizeof(uint32_t) : 0;
      name_at = static_cast<size_t>(at - RawBytes(field)) + place_size;
    }
    static size_t TakeSize(const uint8_t*& at) {  // reads a size of 7 bits per byte; moves `at` past the size
      size_t size = *at & 127u;
      for (int shift = 7; *at++ >= 128; shift += 7) size |= size_t{*at & 127u} << shift;
      return size;
    }
    size_t name_at;     // offset of the name from the start of the field; the value follows the name
    size_t name_size;   // bytes of the name
    size_t value_size;  // bytes of the value
  };
  enum class Kind : uint8_t { kPlain, kTimed };  // kTimed: has room for a heap index

  // The memory comes from `pool` if there is one and it suits.
  static HashField* Create(Bytes name, Bytes value, Kind kind, SlabPool* pool);  // allocates a field
  static void Free(HashField* field);
  static size_t Size(size_t name_size, size_t value_size, Kind kind);  // bytes of the contents of a field
  bool TryReplace(Bytes value);               // stores a new value in place; false: needs another block
  size_t BlockSize(size_t value_size) const;  // bytes of the block that a value of this size needs, where this field is
  size_t BlockSize() const { return BlockSize(Layout(this).value_size); }  // bytes of memory that this field takes
  // Requires: IsTimed().
  uint32_t HeapIndex() const;         // the field's index in the heap of deadlines; requires: IsTimed()
  void SetHeapIndex(uint32_t place);  // stores the field's index in the heap of deadlines; requires: IsTimed()
};

class HashTable final : public Object {  // the value of a large hash: fields by name, and by deadline
 public:
  explicit HashTable(const HashKey& hash_key) : index_(hash_key) {}
  ~HashTable() override;

  std::unique_ptr<Object> Clone() const override;  // returns a deep copy
  size_t Size() const override { return index_.Size(); }
  size_t UsedBytes(size_t samples) const override;  // bytes of the hash, estimated from `samples` fields; 0: exact

  // Returns the field with this name, or null if there is no such field. The pointer is valid until the field, its
  // value or its deadline changes, or any field is removed. Cost: O(1).
  const HashField* Find(Bytes name) const { return index_.Find(name, index_.Hash(name)); }

  enum class Outcome : uint8_t { kAdded, kReplaced };
  // Sets the value of a field; the deadline stays. Cost: O(1).
  Outcome Set(Bytes name, Bytes value);
  // Cost: O(1), or O(log n) for a field with a deadline. If few fields are left, gives the pool up, which moves them.
  bool Remove(Bytes name);  // removes a field; false: there is no such field

  int64_t DeadlineOf(const HashField& field) const;  // the field's deadline in Unix ms, or kNoDeadline
  // Cost: O(log n).
  bool SetDeadline(Bytes name, int64_t deadline_ms);  // Unix ms, or kNoDeadline to remove; false: no such field

  size_t TimedCount() const { return heap_ ? heap_->size() : 0; }  // number of fields with a deadline
  int64_t NextDeadline() const {  // the earliest deadline of any field in Unix ms; kNoDeadline: no field has one
    return TimedCount() == 0 ? kNoDeadline : heap_->front().deadline_ms;
  }
  // Cost: O(expired fields).
  size_t CountExpiredFields(int64_t now_ms) const;  // number of fields that are expired but not removed yet
  // Cost: usually O(1), O(n) if all or almost all fields are expired.
  bool AreAllFieldsExpired(int64_t now_ms) const;        // true: there are fields, and all are expired
  const HashField* FirstExpired(int64_t now_ms) const {  // the field that expired first; null: no field is expired
    return TimedCount() != 0 && IsDeadlineOver(heap_->front().deadline_ms, now_ms) ? heap_->front().field : nullptr;
  }

  // Scan calls visit(const HashField*) for some fields, and returns the next cursor, as HashIndex::Scan does.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit&& visit) const {
    return index_.Scan(cursor, [&](const HashField* field) { visit(field); });
  }
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(const HashField*) for each field, expired or not
    index_.ForEach([&](const HashField* field) { visit(field); });
  }
  const HashField* PickRandom(Random& random) const {  // a random field, which may be expired; null: there are none
    return index_.PickRandom(random);
  }
  void PrefetchBucket(uint64_t hash) const {  // before a lookup: prefetches the bucket of this hash
    index_.PrefetchBucket(hash);
  }
  void PrefetchField(uint64_t hash) const { index_.PrefetchItem(hash); }  // after PrefetchBucket: prefetches the field
  uint64_t Hash(Bytes name) const { return index_.Hash(name); }

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  struct TimedField {     // an item of heap_: a field and its deadline
    int64_t deadline_ms;  // Unix ms
    HashField* field;     // the field that has this deadline
  };

  SlabPool* Pool() {  // the memory for a new field; null: jemalloc's
    if (pool_ == nullptr && index_.Size() >= kPooledFrom) pool_ = std::make_unique<SlabPool>();
    return pool_.get();
  }
  void LeavePool();                                                    // moves all fields out of the pool, and frees it
  void ReplaceField(HashField* old, HashField* field, uint64_t hash);  // index_ gets `field` for `old`; frees `old`
  // The copy has room for a heap index (kTimed) or not (kPlain). Frees the old field.
  HashField* RecreateField(HashField* field, HashField::Kind kind,  // replaces a field by a copy; returns the copy
                           uint64_t hash);
  void SetHeapItem(size_t place, TimedField timed) {  // sets heap_[place], and stores `place` in its field
    timed.field->SetHeapIndex(static_cast<uint32_t>(place));
    (*heap_)[place] = timed;
  }
  void SiftUp(size_t place);    // moves the item at index `place` of heap_ up while its parent has a later deadline
  void SiftDown(size_t place);  // moves the item at index `place` of heap_ down while a child has an earlier deadline
  void RestoreHeapOrder(size_t place);  // moves the item at index `place` of heap_ after its deadline has changed
  void RemoveAt(size_t place);          // removes the item at index `place` of heap_
  template <class Visit>
  void VisitExpired(size_t place, int64_t now_ms, Visit&& visit) const;  // visits expired fields at and below `place`

  static constexpr size_t kPooledFrom = 4096;  // number of fields from which on there is a pool

  std::unique_ptr<SlabPool> pool_;  // memory of small fields that were added to a large hash; null: there are none
  HashIndex<HashField*> index_;     // the fields by name
  // The heap is in a deque, which grows without copying its items.
  std::unique_ptr<std::deque<TimedField>> heap_;  // fields with deadlines, earliest first (min-heap); null: none
};

}  // namespace respite
