// The pages of HashIndex (hash_index.h): buckets of one cache line, and what a page stores of the hashes of its slots.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/byte_order.h"
#include "datatypes/slot.h"

namespace respite {

// A HashTrace consists of a tag of 7 bits and a hint of 18 bits: what a page stores of the hash of a slot, in order to
// find and move the slot without computing the hash again. Next to a pointer, a cell stores the hint (slot.h). A cell
// without room for a hint has a tag instead.
//
//   hash    top bits: directory and splits | … | tag (bits 32 to 38) | position (bits 23 to 31) | …
//   hint    nine of the top bits | position
//
// The position determines the home bucket, where a search begins. The nine bits decide which page gets the slot when a
// page splits. Which nine bits these are depends on the depth of the page: the top nine on pages of depth 0 to 6, the
// nine after the top seven on depth 7 to 13, and so on. The slots of a page agree in at most six of them, so three or
// more are left to tell them apart. In a page of 55 buckets about three bits of the position do not choose the bucket:
// together six to twelve bits.
struct HashTrace {                                                  // hash bits to find and move a slot
  static constexpr int kPositionBits = 9;                           // bits of the hash that determine the home bucket
  static constexpr int kSplitBits = kSlotHintBits - kPositionBits;  // bits of a hint that decide about page splits
  static constexpr int kWindowStep = 7;  // number of depths whose pages store the same bits of the hash for splits

  static HashTrace Of(uint64_t hash, int window) {  // of a slot with this hash, on a page with this window
    const auto split_bits = static_cast<uint32_t>((hash << (window * kWindowStep)) >> (64 - kSplitBits));
    return {TagOf(hash), split_bits << kPositionBits | HomePositionOf(hash)};
  }

  static uint8_t TagOf(uint64_t hash) {  // bit 7 set, and seven bits of the hash: never 0
    return static_cast<uint8_t>((hash >> 32) | 0x80);
  }
  static uint32_t HomePositionOf(uint64_t hash) {  // 0 to 511: how far into the page the home bucket is, in 512ths
    return static_cast<uint32_t>(hash) >> (32 - kPositionBits);
  }
  // Returns which nine bits of the hash a page of this depth stores in its hints, to decide about splits: 0 means the
  // top nine bits, 1 the nine bits after the top seven, 2 the nine bits after the top fourteen …
  static int WindowOf(int depth) { return depth / kWindowStep; }            // which nine hash bits its hints have
  uint32_t Position() const { return hint & ((1u << kPositionBits) - 1); }  // nine bits; they choose the home bucket
  // Requires: WindowOf(depth) is the window with which this HashTrace was made.
  bool IsInUpperHalf(int depth) const {  // true: when a page of this depth splits, the slot gets into the second page
    return ((hint >> (kSlotHintBits - 1 - depth % kWindowStep)) & 1) != 0;
  }

  uint8_t tag;
  uint32_t hint;
};

// The buckets of handles, which have no room for a hint: seven cells, and a tag for each.
template <class Slot>
struct alignas(64) HashBucket {     // cells of a page in one cache line; a search examines the cells that may match
  static constexpr int kSlots = 7;  // number of slots of a bucket

  uint8_t tags[kSlots];          // tags[i]: seven hash bits of the slot in cells[i], and a high 1; 0: cells[i] is free
  SlotCell<Slot> cells[kSlots];  // cells[i]: a slot; free if tags[i] is 0

  uint32_t Match(const HashTrace& trace) const { return MatchTag(trace.tag); }  // bit i: cells[i] may have this hash
  uint32_t Free() const { return MatchTag(0); }                                 // bit i: cells[i] is free
  bool IsFree(int place) const { return tags[place] == 0; }
  void Set(int place, const Slot& slot, const HashTrace& trace) {  // stores a slot, and what the page keeps of its hash
    tags[place] = trace.tag;
    cells[place].Set(slot, trace.hint);
  }
  void Clear(int place) { tags[place] = 0; }  // makes a cell free

 private:
  uint32_t MatchTag(uint8_t tag) const {  // a bit mask of the tags that equal `tag`: bit i for tags[i]
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
};

// The buckets of pointers: eight cells. A search compares their hints.
template <class Item>
struct alignas(64) HashBucket<Item*> {  // cells of a page in one cache line; a search examines the cells that may match
  static constexpr int kSlots = 8;      // number of slots of a bucket

  SlotCell<Item*> cells[kSlots];  // cells[i]: a pointer and 18 bits of its key's hash; free if the pointer is null

  // Bit i of the result: cells[i] may have this hash. If the hint is 0, free cells also match.
  uint32_t Match(const HashTrace& trace) const {  // bit i: cells[i] may have this hash, or may be free
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(trace.hint << (32 - kSlotHintBits)));
    const __m128i mask = _mm_set1_epi32(static_cast<int>(~0u << (32 - kSlotHintBits)));
    return Collect(_mm_cmpeq_epi32(_mm_and_si128(Halves(0, kHigh), mask), wanted),
                   _mm_cmpeq_epi32(_mm_and_si128(Halves(4, kHigh), mask), wanted));
#else
    uint32_t matches = 0;
    for (int i = 0; i < kSlots; ++i) matches |= uint32_t{cells[i].Hint() == trace.hint} << i;
    return matches;
#endif
  }
  uint32_t Free() const {  // bit i: cells[i] is free
#ifdef __SSE2__
    const __m128i zero = _mm_setzero_si128();
    return Collect(_mm_cmpeq_epi32(_mm_or_si128(Halves(0, kLow), Halves(0, kHigh)), zero),
                   _mm_cmpeq_epi32(_mm_or_si128(Halves(4, kLow), Halves(4, kHigh)), zero));
#else
    uint32_t free = 0;
    for (int i = 0; i < kSlots; ++i) free |= uint32_t{IsFree(i)} << i;
    return free;
#endif
  }
  bool IsFree(int place) const { return cells[place].IsEmpty(); }
  void Set(int place, Item* item, const HashTrace& trace) { cells[place].Set(item, trace.hint); }  // stores a slot
  void Clear(int place) { cells[place] = {}; }                                                     // makes a cell free

 private:
#ifdef __SSE2__
  static constexpr int kLow = _MM_SHUFFLE(2, 0, 2, 0);   // for Halves: the lower halves of the words
  static constexpr int kHigh = _MM_SHUFFLE(3, 1, 3, 1);  // for Halves: the higher halves of the words
  // Returns the lower or the higher halves of four cells, from `first` on, as four numbers of 32 bits.
  __m128i Halves(int first, const int which) const {
    const auto* words = reinterpret_cast<const float*>(cells + first);
    const __m128 low_pair = _mm_load_ps(words);
    const __m128 high_pair = _mm_load_ps(words + 4);
    return _mm_castps_si128(which == kLow ? _mm_shuffle_ps(low_pair, high_pair, kLow)
                                          : _mm_shuffle_ps(low_pair, high_pair, kHigh));
  }
  // Each element is all ones or all zeros. Bit i of the result is set if element i, of the eight, is all ones.
  static uint32_t Collect(__m128i first, __m128i second) {
    const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(first, second), _mm_setzero_si128());
    return static_cast<uint32_t>(_mm_movemask_epi8(bytes));
  }
#endif
};

template <class Slot>
struct alignas(64) HashPage {                       // part of a HashIndex: a header of one cache line, then buckets
  static constexpr int kMaxBuckets = 55;            // buckets of the largest page, which takes 3584 bytes
  static constexpr uint8_t kUncounted = UINT8_MAX;  // passed_counts: 255 or more, or items are in the CollisionList

  // A page has 1, 3, 7, 11, 15 … 55 buckets. With the header, it takes 128 bytes or a multiple of 256.
  static constexpr int NextBucketCount(int buckets) {  // the number of buckets of the next larger page
    return buckets < 3 ? 3 : buckets + 4;
  }
  static constexpr size_t BytesOf(int buckets) {  // size in bytes of a page with this many buckets
    return offsetof(HashPage, buckets) + static_cast<size_t>(buckets) * sizeof(HashBucket<Slot>);
  }
  void AddToPassedCount(int bucket, int by) {  // adds `by` to passed_counts[bucket], unless it is kUncounted
    uint8_t& count = passed_counts[bucket];
    if (count != kUncounted) count = static_cast<uint8_t>(count + by);
  }

  uint32_t prefix;                        // the top 32 bits of the lowest hash that belongs to this page
  uint16_t used;                          // number of cells in use
  uint8_t depth;                          // number of top hash bits in which all items of this page agree
  bool is_stored;                         // the memory is of the HashIndex's HashPageStore
  uint8_t passed_counts[kMaxBuckets];     // for each bucket: items that found it full and are in a later one
  HashBucket<Slot> buckets[kMaxBuckets];  // only as many exist as HashPageRef::BucketCount() says
};

// HashPageRef holds in one word the address of a page, the number of its buckets, and the window of its hints
// (HashTrace). The address is a multiple of 64 below 2^48, so six bits are left below it and 16 above. So a search
// knows the home bucket and the hint without reading the header of the page. HashPageRef does not own the page.
template <class Slot>
class HashPageRef {  // a pointer to a page that also contains the number of its buckets and the window of its hints
 public:
  using Page = HashPage<Slot>;
  using Bucket = HashBucket<Slot>;
  using Cell = SlotCell<Slot>;
  static_assert(sizeof(Cell) == 8 && sizeof(Bucket) == 64 && sizeof(Page) == 3584 && alignof(Page) == 64);

  HashPageRef() = default;
  HashPageRef(void* memory, int buckets, int depth)  // refers to the page at this address
      : word_(reinterpret_cast<uintptr_t>(memory) | static_cast<uintptr_t>(buckets) |
              static_cast<uintptr_t>(HashTrace::WindowOf(depth)) << kWindowShift) {}
  // Makes `memory`, of BytesOf(buckets) bytes, an empty page.
  static HashPageRef Create(void* memory, int buckets, int depth, uint32_t prefix, bool is_stored) {
    std::memset(memory, 0, Page::BytesOf(buckets));
    const HashPageRef page(memory, buckets, depth);
    page->prefix = prefix;
    page->depth = static_cast<uint8_t>(depth);
    page->is_stored = is_stored;
    return page;
  }

  Page* Get() const { return reinterpret_cast<Page*>(word_ & kAddressMask); }  // the page; null: there is none
  Page* operator->() const { return Get(); }
  explicit operator bool() const { return word_ != 0; }
  friend bool operator==(HashPageRef, HashPageRef) = default;
  int BucketCount() const { return static_cast<int>(word_ & kCountMask); }  // number of buckets of the page
  uint32_t Capacity() const { return static_cast<uint32_t>(BucketCount() * Bucket::kSlots); }  // slots of the page
  HashTrace TraceOf(uint64_t hash) const {  // what this page stores of the hash
    return HashTrace::Of(hash, static_cast<int>(word_ >> kWindowShift));
  }

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

  // Search examines the cells that may have this hash: first in the home bucket, then in the buckets after it. Returns
  // the first cell for which is_wanted(slot) is true, or null if there is none. Requires: there is a page.
  template <class IsWanted>
  Cell* Search(uint64_t hash, IsWanted&& is_wanted) const {  // the first wanted cell that may have this hash, or null
    const HashTrace trace = TraceOf(hash);
    int at = HomeBucketOf(hash);
    for (int probe = 0; probe < BucketCount(); ++probe, at = Next(at)) {
      Bucket& bucket = Get()->buckets[at];
      for (uint32_t match = bucket.Match(trace); match != 0; match &= match - 1) {
        Cell& cell = bucket.cells[std::countr_zero(match)];
        if (!cell.IsEmpty() && is_wanted(cell.Get())) return &cell;
      }
      if (Get()->passed_counts[at] == 0) return nullptr;
    }
    return nullptr;
  }
  // Stores the slot (the pointer or handle of one item, see slot.h) in a free cell of its home bucket, or of one of the
  // `reach` buckets after that. Returns false if none of these has a free cell.
  bool Put(const Slot& slot, const HashTrace& trace, int reach) const {  // stores the slot; false: no free cell
    const int home = HomeBucketAt(trace.Position());
    int at = home;
    for (int probe = 0; probe <= reach && probe < BucketCount(); ++probe, at = Next(at)) {
      const uint32_t free = Get()->buckets[at].Free();
      if (free == 0) continue;
      Get()->buckets[at].Set(std::countr_zero(free), slot, trace);
      for (int passed = home; passed != at; passed = Next(passed)) Get()->AddToPassedCount(passed, 1);
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
    bucket.Clear(static_cast<int>(cell - bucket.cells));
    for (int passed = home; passed != at; passed = Next(passed)) Get()->AddToPassedCount(passed, -1);
    --Get()->used;
  }

 private:
  static constexpr uintptr_t kCountMask = 63;                           // the bits of word_ with the number of buckets
  static constexpr int kWindowShift = 56;                               // the window is in the bits above this one
  static constexpr uintptr_t kAddressMask = (uintptr_t{1} << 48) - 64;  // the bits of word_ with the address
  static_assert(Page::kMaxBuckets <= kCountMask);
  uintptr_t word_ = 0;  // window | address of the page | number of buckets
};

}  // namespace respite
