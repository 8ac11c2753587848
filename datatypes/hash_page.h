// The pages of HashIndex (hash_index.h): buckets of one cache line, and what a page stores of the hashes of its slots.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/byte_order.h"
#include "datatypes/slot.h"

namespace respite {

// A HashTrace consists of a tag of 7 bits and a hint of 19 bits, so that a page can find and move slots without
// computing their hashes again.
//
//   hash    top bits: directory and splits | … | tag (bits 32 to 38) | position (bits 23 to 31) | …
//   hint    ten of the top bits | position
//
// The position determines the home bucket, where a search begins. The ten bits decide which page gets the slot when a
// page splits: the top ten bits on pages of depth 0 to 9, the next ten on depth 10 to 19, and the ten after these on
// depth 20 and more. A cell without a hint (slot.h) stores the tag only.
struct HashTrace {                                                  // tag and hint: hash bits to find and move a slot
  static constexpr int kPositionBits = 9;                           // bits of the hash that determine the home bucket
  static constexpr int kSplitBits = kSlotHintBits - kPositionBits;  // bits of a hint that decide about page splits

  static HashTrace Of(uint64_t hash, int depth) {  // of a slot with this hash, on a page of this depth
    const auto split_bits = static_cast<uint32_t>((hash << (SplitWindowOf(depth) * kSplitBits)) >> (64 - kSplitBits));
    return {TagOf(hash), split_bits << kPositionBits | HomePositionOf(hash)};
  }

  static uint8_t TagOf(uint64_t hash) {  // bit 7 set, and seven bits of the hash: never 0; stored with each slot
    return static_cast<uint8_t>((hash >> 32) | 0x80);
  }
  static uint32_t HomePositionOf(uint64_t hash) {  // 0 to 511: how far into the page the home bucket is, in 512ths
    return static_cast<uint32_t>(hash) >> (32 - kPositionBits);
  }
  // Returns which ten bits of the hash a page of this depth stores in its hints, to decide about splits: 0 means the
  // top ten bits, 1 the next ten, 2 the ten after those.
  static int SplitWindowOf(int depth) {  // which ten hash bits its hints have; 0: the top ten; 1: the next ten …
    return depth / kSplitBits;
  }
  uint32_t Position() const { return hint & ((1u << kPositionBits) - 1); }  // nine bits; they choose the home bucket
  // Requires: SplitWindowOf(depth) is the same as for the depth with which this HashTrace was made.
  bool IsInUpperHalf(int depth) const {  // true: when a page of this depth splits, the slot gets into the second page
    return ((hint >> (kPositionBits + kSplitBits - 1 - depth % kSplitBits)) & 1) != 0;
  }

  uint8_t tag;
  uint32_t hint;
};

template <class Slot>
struct alignas(64) HashBucket {                     // seven slots and their tags, in one cache line
  static constexpr int kSlots = 7;                  // number of slots of a bucket
  static constexpr uint8_t kUncounted = UINT8_MAX;  // passed_count: 255 or more, or items are in the CollisionList

  uint8_t tags[kSlots];          // tags[i]: seven hash bits of the slot in cells[i], and a high 1; 0: cells[i] is free
  uint8_t passed_count;          // how many items found this bucket full and are in a later one; or kUncounted
  SlotCell<Slot> cells[kSlots];  // cells[i]: a slot, and for a pointer 19 bits of its key's hash; free if tags[i] is 0

  uint32_t Match(uint8_t tag) const {  // a bit mask of the tags that equal `tag`: bit i for tags[i]
    constexpr uint64_t kLow = 0x0101010101010101ull;
    constexpr uint64_t kHigh = 0x8080808080808080ull;
    const auto word = LoadLittle<uint64_t>(reinterpret_cast<const char*>(tags));
    uint64_t x = (word & 0x00ffffffffffffffull) ^ (kLow * tag);
    // `zero` gets the high bit of each byte whose byte in `x` is zero. This is exact: no carry crosses bytes.
    uint64_t zero = ~(((x & ~kHigh) + ~kHigh) | x) & kHigh;
    zero &= 0x0080808080808080ull;
    // Collects the high bits of the seven bytes in the lowest seven bits.
    return static_cast<uint32_t>(((zero >> 7) * 0x0102040810204080ull) >> 56);
  }
  void AddToPassedCount(int by) {  // adds `by` to `passed_count`, unless `passed_count` is kUncounted
    if (passed_count != kUncounted) passed_count = static_cast<uint8_t>(passed_count + by);
  }
};

template <class Slot>
struct alignas(64) HashPage {             // part of a HashIndex: a header of one cache line, then buckets
  static constexpr int kMaxBuckets = 63;  // buckets of the largest page, which takes 4096 bytes

  // A page has 1, 3, 7, 15, 23, 31, 39, 47, 55 or 63 buckets. With the header, each of these sizes is a size class of
  // jemalloc.
  static constexpr int NextBucketCount(int buckets) {  // the number of buckets of the next larger page
    return buckets < 7 ? 2 * buckets + 1 : buckets + 8;
  }
  static constexpr size_t BytesOf(int buckets) {  // size in bytes of a page with this many buckets
    return offsetof(HashPage, buckets) + static_cast<size_t>(buckets) * sizeof(HashBucket<Slot>);
  }

  int32_t depth;                          // number of top hash bits in which all items of this page agree
  uint32_t used;                          // number of cells in use
  HashBucket<Slot> buckets[kMaxBuckets];  // only as many exist as HashPageRef::BucketCount() says
};

// HashPageRef holds the address of a page and the number of its buckets in one word. The address is a multiple of 64,
// which leaves six bits for the number. So a search knows the home bucket without reading the header of the page.
// HashPageRef does not own the page.
template <class Slot>
class HashPageRef {  // a pointer to a page that also contains the number of its buckets
 public:
  using Page = HashPage<Slot>;
  using Bucket = HashBucket<Slot>;
  using Cell = SlotCell<Slot>;
  static_assert(sizeof(Cell) == 8 && sizeof(Bucket) == 64 && sizeof(Page) == 4096 && alignof(Page) == 64);

  HashPageRef() = default;
  static HashPageRef New(int buckets, int depth) {  // allocates an empty page
    const size_t bytes = Page::BytesOf(buckets);
    void* memory = ::operator new (bytes, std::align_val_t{alignof(Page)});
    std::memset(memory, 0, bytes);
    HashPageRef page;
    page.word_ = reinterpret_cast<uintptr_t>(memory) | static_cast<uintptr_t>(buckets);
    page->depth = depth;
    return page;
  }
  void Delete() const { ::operator delete (Get(), std::align_val_t{alignof(Page)}); }  // frees the page

  Page* Get() const { return reinterpret_cast<Page*>(word_ & ~kCountMask); }  // the page; null: there is none
  Page* operator->() const { return Get(); }
  explicit operator bool() const { return word_ != 0; }
  friend bool operator==(HashPageRef, HashPageRef) = default;
  int BucketCount() const { return static_cast<int>(word_ & kCountMask); }  // number of buckets of the page
  uint32_t Capacity() const { return static_cast<uint32_t>(BucketCount() * Bucket::kSlots); }  // slots of the page

  int HomeBucketOf(uint64_t hash) const {  // the bucket where a search for this hash begins
    return HomeBucketAt(HashTrace::HomePositionOf(hash));
  }
  int HomeBucketAt(uint32_t position) const {  // the home bucket of items with this position
    return static_cast<int>((position * (word_ & kCountMask)) >> HashTrace::kPositionBits);
  }
  uint32_t FirstPositionOf(int bucket) const {  // the lowest position whose home bucket is `bucket`
    const auto count = static_cast<uint32_t>(BucketCount());
    return ((static_cast<uint32_t>(bucket) << HashTrace::kPositionBits) + count - 1) / count;
  }
  int Next(int bucket) const { return bucket + 1 == BucketCount() ? 0 : bucket + 1; }  // the bucket after this one

  // Search examines the cells with the tag of `hash`: first in the home bucket of `hash`, then in the buckets after it.
  // Returns the first cell for which is_wanted(slot) is true, or null if there is none. Requires: there is a page.
  template <class IsWanted>
  Cell* Search(uint64_t hash, IsWanted&& is_wanted) const {  // the first wanted cell with this hash's tag; null: none
    const uint8_t tag = HashTrace::TagOf(hash);
    int at = HomeBucketOf(hash);
    for (int probe = 0; probe < BucketCount(); ++probe, at = Next(at)) {
      Bucket& bucket = Get()->buckets[at];
      for (uint32_t match = bucket.Match(tag); match != 0; match &= match - 1) {
        Cell& cell = bucket.cells[std::countr_zero(match)];
        if (is_wanted(cell.Get())) return &cell;
      }
      if (bucket.passed_count == 0) return nullptr;
    }
    return nullptr;
  }
  // Stores the slot (the pointer or handle of one item, see slot.h) in a free cell of its home bucket, or of one of the
  // `reach` buckets after that. Returns false if none of these has a free cell.
  bool Put(const Slot& slot, const HashTrace& trace, int reach) const {  // stores the slot; false: no free cell
    const int home = HomeBucketAt(trace.Position());
    int at = home;
    for (int probe = 0; probe <= reach && probe < BucketCount(); ++probe, at = Next(at)) {
      Bucket& bucket = Get()->buckets[at];
      const uint32_t free = bucket.Match(0);
      if (free == 0) continue;
      const int place = std::countr_zero(free);
      bucket.tags[place] = trace.tag;
      bucket.cells[place].Set(slot, trace.hint);
      for (int passed = home; passed != at; passed = Next(passed)) Get()->buckets[passed].AddToPassedCount(1);
      ++Get()->used;
      return true;
    }
    return false;
  }
  void Clear(const Cell* cell, int home) const {  // makes a cell free; `home` is the home bucket of its slot
    const auto* begin = reinterpret_cast<const char*>(Get()->buckets);
    const auto offset = static_cast<size_t>(reinterpret_cast<const char*>(cell) - begin);
    const int at = static_cast<int>(offset / sizeof(Bucket));
    Bucket& bucket = Get()->buckets[at];
    bucket.tags[cell - bucket.cells] = 0;
    for (int passed = home; passed != at; passed = Next(passed)) Get()->buckets[passed].AddToPassedCount(-1);
    --Get()->used;
  }

 private:
  static constexpr uintptr_t kCountMask = 63;  // the bits of word_ with the number of buckets
  static_assert(Page::kMaxBuckets <= kCountMask);
  uintptr_t word_ = 0;  // address of the page | number of buckets
};

}  // namespace respite
