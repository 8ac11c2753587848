// HashIndex: the hash table of the keyspace and of every large collection. It holds slots of 8 bytes: pointers to items
// that contain their key, or handles that hold a short key themselves. It does not own the items.
//
// Structure (extendible hashing):
//
//   directory (2^depth pointers, indexed by the top bits of the hash)
//      │  several neighbours may share a page
//      ▼
//   Page = 4096 bytes = 1 line of header + 63 buckets of one cache line
//   Bucket = 7 one-byte tags | spill | 7 slots
//
// The low half of the hash determines the home bucket of an item. If the home is full, the item goes to one of the next
// kMaxProbe buckets, and each bucket it passed counts it in `spill`. So a search stops at the first bucket that no item
// passed. If none of these buckets has room, a page with fewer than kMinItemsToSplit items uses any other bucket. A
// page with more items splits in two by one more bit of the hash. So a table of millions of items grows in steps of a
// few hundred items, and is never rehashed as a whole. Only the directory is sometimes copied to double its size. Two
// sibling pages that are nearly empty merge. A table of one page begins with one bucket (128 bytes with the header) and
// grows to 3, 7, 21 and finally 63 buckets.
//
// Next to a pointer, the table stores 16 bits of the item's hash (slot.h): the home bucket, and ten bits that decide
// about splits. So scans, and nine in ten splits and merges, read only the table and not the items. Each item would be
// a cache miss.
//
// Collisions: with a good hash and a secret key, pages fill evenly, and the directory has at most a few entries per
// page. Items with hashes that agree in too many bits for a split to separate them are stored in a CollisionList. So
// with any hashes, an item of a large table costs at most 64 bytes of table. A lookup searches at most one page and, in
// O(log n), the CollisionList. One step of a scan returns all items of one hash.
//
// datatypes/slot.h defines a Slot. `Hasher` computes the hash of a key. The default, KeyedHasher, uses a secret key;
// others are for tests.
//
// Scanning: a cursor names a place in hash order (prefix, home bucket). Splits, merges and growth never move an item to
// an earlier place. A scan begins with cursor 0 and ends when the next cursor is 0. It returns every item that was
// present all the time, at least once.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/byte_order.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"
#include "datatypes/collision_list.h"
#include "datatypes/slot.h"

namespace respite {

struct KeyedHasher {  // hashes with a secret key, so that no client can choose keys that collide
  HashKey key;
  uint64_t operator()(Bytes text) const { return HashBytes(text, key); }
};

template <class Slot, class Hasher = KeyedHasher>
class HashIndex {  // a hash table that grows page by page and never rehashes
 public:
  explicit HashIndex(const Hasher& hasher) : hasher_(hasher), directory_(1, nullptr) {}
  explicit HashIndex(const HashKey& key) requires std::is_same_v<Hasher, KeyedHasher> : HashIndex(KeyedHasher{key}) {}
  HashIndex(HashIndex&& other) noexcept
      : hasher_(other.hasher_),
        size_(std::exchange(other.size_, 0)),
        page_count_(std::exchange(other.page_count_, 0)),
        deepest_page_count_(std::exchange(other.deepest_page_count_, 0)),
        depth_(std::exchange(other.depth_, 0)),
        buckets_per_page_(std::exchange(other.buckets_per_page_, 1)),
        directory_(std::exchange(other.directory_, std::vector<Page*>(1, nullptr))),
        collisions_(std::move(other.collisions_)) {}
  HashIndex& operator=(HashIndex&& other) noexcept {
    std::swap(hasher_, other.hasher_);
    std::swap(size_, other.size_);
    std::swap(page_count_, other.page_count_);
    std::swap(deepest_page_count_, other.deepest_page_count_);
    std::swap(depth_, other.depth_);
    std::swap(buckets_per_page_, other.buckets_per_page_);
    std::swap(directory_, other.directory_);
    std::swap(collisions_, other.collisions_);
    return *this;
  }
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;
  ~HashIndex() { FreePages(); }

  const HashKey& hash_key() const { return hasher_.key; }  // the secret key of the hash function
  uint64_t Hash(Bytes key) const { return hasher_(key); }
  size_t Size() const { return size_; }
  // Returns the memory of pages, directory and collisions, without the items.
  size_t UsedBytes() const {  // memory of the table, without the items
    const size_t collisions = collisions_ == nullptr ? 0 : sizeof *collisions_ + collisions_->UsedBytes();
    return page_count_ * PageBytes(buckets_per_page_) + directory_.capacity() * sizeof(Page*) + collisions;
  }
  size_t Capacity() const { return page_count_ * static_cast<size_t>(buckets_per_page_) * kSlotsPerBucket; }
  size_t PageCount() const { return page_count_; }  // number of pages

  // Returns the slot with this key, or Slot{}. Cost: O(1), typically one cache line of the table and one of the item.
  Slot Find(Bytes key, uint64_t hash) const {
    const Cell* cell = FindInPage(key, hash);
    if (cell != nullptr) return cell->Get();
    const Slot* slot = MayCollide(hash) ? collisions_->Find(key, hash) : nullptr;
    return slot == nullptr ? Slot{} : *slot;
  }

  // PrefetchBucket and PrefetchItem are hints for a batch of lookups. First prefetch every bucket, then every item that
  // may match, then do the lookups.
  void PrefetchBucket(uint64_t hash) const {  // prefetches the bucket where a lookup of this hash begins
    const Page* page = directory_[DirectoryIndexOf(hash)];
    if (page != nullptr) Prefetch(&page->buckets[HomeBucketOf(hash)]);
  }
  // Prefetches the bucket of a key that may be inserted, and the header of the page, which an insertion changes.
  void PrefetchForInsert(uint64_t hash) const {  // prefetches what an insertion of this hash will change
    const Page* page = directory_[DirectoryIndexOf(hash)];
    if (page == nullptr) return;
    Prefetch(page);
    Prefetch(&page->buckets[HomeBucketOf(hash)]);
  }
  void PrefetchItem(uint64_t hash) const {  // after PrefetchBucket: the items that may have this hash
    const Page* page = directory_[DirectoryIndexOf(hash)];
    if (page == nullptr) return;
    const Bucket& bucket = page->buckets[HomeBucketOf(hash)];
    for (uint32_t match = bucket.Match(TagOf(hash)); match != 0; match &= match - 1) {
      const auto* item = static_cast<const char*>(SlotMemory(bucket.cells[std::countr_zero(match)].Get()));
      if (item == nullptr) continue;
      Prefetch(item);
      Prefetch(item + 64);
    }
  }

  // Inserts a slot. Requires: its key is not in the table. Cost: O(1); sometimes splits a page (at most kBucketsPerPage
  // * kSlotsPerBucket items), and rarely also doubles the directory.
  void Insert(Slot slot, uint64_t hash) {  // adds a slot; requires: the key is not in the table
    const bool has_room = TryInsert(slot, hash) || (GrowOrSplitPage(hash) && TryInsert(slot, hash));
    if (!has_room) AddCollision(slot, hash);
    ++size_;
  }

  // Creates the pages for about `count` slots in advance, so that inserting them splits almost no page. Does nothing if
  // the table has items or `count` is at most kReservedPerPage. Cost: O(count), 10 to 21 bytes of memory for each slot.
  void Reserve(size_t count) {  // makes pages for this many slots in an empty table
    if (size_ != 0 || depth_ != 0 || count <= kReservedPerPage) return;
    FreePages();
    while (depth_ < kMaxDepth && count >> depth_ > kReservedPerPage) ++depth_;
    buckets_per_page_ = kBucketsPerPage;
    page_count_ = deepest_page_count_ = size_t{1} << depth_;
    directory_.assign(page_count_, nullptr);
    for (Page*& page : directory_) page = NewPage(kBucketsPerPage, depth_);
  }

  // Replaces the slot of an item that has moved in memory. Returns false and changes nothing if `old` is not stored
  // with this hash.
  bool Replace(Slot old, Slot slot, uint64_t hash) {  // stores `slot` where `old` was; false: `old` is not stored
    Cell* const cell = SearchPage(hash, [&](const Slot& found) { return found == old; });
    if (cell != nullptr) {
      cell->Replace(slot);
      return true;
    }
    Slot* const place = MayCollide(hash) ? collisions_->FindSame(old, SlotKey(slot), hash) : nullptr;
    if (place == nullptr) return false;
    *place = slot;
    return true;
  }

  // Returns true if this very slot is in the table under `hash`. The item may be freed already, because only slots are
  // compared. Cost: O(1).
  bool Has(Slot slot, uint64_t hash) const {
    if (SearchPage(hash, [&](const Slot& found) { return found == slot; }) != nullptr) return true;
    return MayCollide(hash) && collisions_->Has(slot, hash);
  }

  // Removes the slot with this key and returns it, or returns Slot{}. Cost: O(1); sometimes merges two pages.
  Slot Remove(Bytes key, uint64_t hash) {  // removes and returns the slot; Slot{}: there is none
    const Cell* const cell = FindInPage(key, hash);
    if (cell == nullptr) return RemoveCollision(key, hash);
    Slot slot = cell->Get();
    Page* page = directory_[DirectoryIndexOf(hash)];
    ClearCell(*page, cell, HomeBucketOf(hash));
    --size_;
    if (depth_ == 0) {
      if (buckets_per_page_ > 1 && page->used * 8 < Capacity()) Resize(NextSmallerBucketCount(buckets_per_page_));
    } else if (page->used <= kMergeBelow && page->used % 16 == 0) {
      MergePageIfSparse(DirectoryIndexOf(hash));
    }
    return slot;
  }

  // Calls `visit(slot)` for each slot of the place that `cursor` names. Cursor 0 names the first place. Returns the
  // next cursor, 0 at the end. `visit` must not change the table. Cost: O(items of one bucket).
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit&& visit) const;

  // Calls `visit(slot)` for each slot, in unspecified order. `visit` must not change the table. Cost: O(n).
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(slot) for each slot, in no order
    ForEachPage([&](const Page& page) {
      for (int b = 0; b < buckets_per_page_; ++b)
        for (int i = 0; i < kSlotsPerBucket; ++i)
          if (page.buckets[b].tags[i] != 0) visit(page.buckets[b].cells[i].Get());
    });
    if (collisions_ == nullptr) return;
    collisions_->ForEachWhile([&](const Slot& slot) {
      visit(slot);
      return true;
    });
  }

  // Calls `visit(slot)` for each slot until `visit` returns false, and prefetches the memory of the items. Returns true
  // if all slots were visited. `visit` must not change the table.
  template <class Visit>
  bool ForEachWhile(Visit&& visit) const;  // stops when visit(slot) is false; true: all were visited

  // Returns a random slot, uniformly chosen, or Slot{} if the table is empty. Cost: O(1) expected.
  Slot PickRandom(Random& random) const;  // a random slot; Slot{}: the table is empty

  // Calls `visit(slot)` for each slot of a random bucket, which may be empty, or for one slot of the CollisionList.
  // First prefetches the items of the bucket. Each slot of the table is visited with the same probability. Cost: one
  // cache line of the table, one of each item.
  template <class Visit>
  void VisitRandomBucket(Random& random, Visit&& visit) const;  // visits the slots of one random bucket, perhaps none

  // Removes every item without freeing it. Cost: O(pages).
  void Clear() {  // removes all slots, without freeing the items
    FreePages();
    directory_.assign(1, nullptr);
    directory_.shrink_to_fit();
    collisions_.reset();
    size_ = 0;
    page_count_ = 0;
    deepest_page_count_ = 0;
    depth_ = 0;
    buckets_per_page_ = 1;
  }
  size_t CollisionCount() const { return collisions_ == nullptr ? 0 : collisions_->Size(); }  // 0 with any good hash

  // For tests. Returns true if a search finds every item and all counters agree with what the pages hold.
  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  static constexpr int kSlotsPerBucket = 7;   // slots per bucket
  static constexpr int kBucketsPerPage = 63;  // buckets of a page, unless it is the only page
  static constexpr int kMaxProbe = 8;     // buckets that an insertion tries after the home, before it splits the page
  static constexpr int kMergeBelow = 96;  // a page with this few items tries, now and then, to merge with its sibling
  static constexpr int kMergedAtMost = 192;          // two pages merge if they hold at most this many items together
  static constexpr int kMaxDepth = 28;               // maximum depth of pages and directory, in bits of the hash
  static constexpr size_t kReservedPerPage = 400;    // slots that Reserve plans for each page
  static constexpr uint32_t kMinItemsToSplit = 220;  // a page with fewer items may place them at any distance from home
  static constexpr size_t kDirectoryPerPage = 16;    // maximum directory entries per page; even pages need one or two
  static constexpr uint8_t kManySpilled = UINT8_MAX;  // value of `spill`: too many to count, or items in collisions_

  using Cell = SlotCell<Slot>;

  struct alignas(64) Bucket {       // one cache line
    uint8_t tags[kSlotsPerBucket];  // 0: free
    uint8_t spill;                  // slots whose home is this bucket or an earlier one and that are stored after it
    Cell cells[kSlotsPerBucket];    // a slot and its hint; free if the tag is 0

    uint32_t Match(uint8_t tag) const {  // bit i is set if tags[i] == tag
      constexpr uint64_t kLow = 0x0101010101010101ull;
      constexpr uint64_t kHigh = 0x8080808080808080ull;
      const auto word = LoadLittle<uint64_t>(reinterpret_cast<const char*>(tags));
      uint64_t x = (word & 0x00ffffffffffffffull) ^ (kLow * tag);
      // Sets the high bit of each byte of `zero` whose byte in `x` is zero. This is exact: no carry crosses bytes.
      uint64_t zero = ~(((x & ~kHigh) + ~kHigh) | x) & kHigh;
      zero &= 0x0080808080808080ull;
      // Collects the high bits of the seven bytes in the lowest seven bits.
      return static_cast<uint32_t>(((zero >> 7) * 0x0102040810204080ull) >> 56);
    }
  };

  struct alignas(64) Page {
    int32_t depth;  // top hash bits that all items of this page share
    uint32_t used;
    Bucket buckets[kBucketsPerPage];  // the first buckets_per_page_ of them
  };
  static_assert(sizeof(Cell) == 8 && sizeof(Bucket) == 64 && sizeof(Page) == 4096);

  // The only page of a small table has 1, 3, 7, 21 or 63 buckets. Each of these numbers divides kBucketsPerPage,
  // because cursors rely on that.
  static constexpr int NextSmallerBucketCount(int buckets) {  // for the only page: 63, 21, 7, 3, 1
    return buckets == 63 ? 21 : buckets == 21 ? 7 : buckets == 7 ? 3 : 1;
  }
  static constexpr int NextLargerBucketCount(int buckets) {  // for the only page: 1, 3, 7, 21, 63
    return buckets == 1 ? 3 : buckets == 3 ? 7 : buckets == 7 ? 21 : 63;
  }
  static constexpr size_t PageBytes(int buckets) {  // size of a page with this many buckets
    return offsetof(Page, buckets) + static_cast<size_t>(buckets) * sizeof(Bucket);
  }
  static Page* NewPage(int buckets, int depth) {  // allocates an empty page
    size_t bytes = PageBytes(buckets);
    void* memory = ::operator new (bytes, std::align_val_t{alignof(Page)});
    std::memset(memory, 0, bytes);
    auto* page = static_cast<Page*>(memory);
    page->depth = depth;
    return page;
  }
  static void DeletePage(Page* page) { ::operator delete (page, std::align_val_t{alignof(Page)}); }

  static uint8_t TagOf(uint64_t hash) { return static_cast<uint8_t>((hash >> 32) | 0x80); }  // 7 bits of the hash
  int HomeBucketOf(uint64_t hash) const {  // the bucket where the search begins
    return static_cast<int>(((hash & 0xffffffffull) * static_cast<uint64_t>(buckets_per_page_)) >> 32);
  }
  int Next(int bucket) const { return bucket + 1 == buckets_per_page_ ? 0 : bucket + 1; }
  size_t DirectoryIndexOf(uint64_t hash) const { return depth_ == 0 ? 0 : static_cast<size_t>(hash >> (64 - depth_)); }

  struct Trace {  // the bits of a slot's hash that the page stores
    uint8_t tag;
    int home;
    uint32_t hint;  // stored in the cell: the home, and the bits of the hash for splits
  };
  // A hint contains ten bits of the hash: those that decide about splits of pages of depth 0 to 9, of depth 10 to 19,
  // or of depth 20 and more.
  static constexpr int kHomeBits = 6;                             // bits of a hint that tell the home bucket
  static constexpr int kSplitBits = Cell::kHintBits - kHomeBits;  // hash bits in a hint; each split of a page tests one
  static constexpr int HintEra(int depth) { return depth / kSplitBits; }  // which ten hash bits are in the hint

  Trace TraceOf(uint64_t hash, int depth) const {  // what a page of this depth stores of the hash
    const int home = HomeBucketOf(hash);
    if constexpr (!Cell::kHasHint) return {TagOf(hash), home, 0};
    const uint64_t bits = (hash << (HintEra(depth) * kSplitBits)) >> (64 - kSplitBits);
    return {TagOf(hash), home, static_cast<uint32_t>(bits << kHomeBits) | static_cast<uint32_t>(home)};
  }
  static int HomeBucketOfHint(uint32_t hint) { return static_cast<int>(hint & ((1u << kHomeBits) - 1)); }
  int HomeBucketOfCell(const Cell& cell) const {  // the bucket where a search for its slot begins
    if constexpr (Cell::kHasHint) return HomeBucketOfHint(cell.Hint());
    return HomeBucketOf(Hash(SlotKey(cell.Get())));
  }
  // Returns the half of a page of this depth to which a hash or a hint belongs: low (0) or high (1).
  static size_t HalfOfHash(uint64_t hash, int depth) { return (hash >> (63 - depth)) & 1; }
  static size_t HalfOfHint(uint32_t hint, int depth) {  // where the item goes in a split: 0 low, 1 high
    return (hint >> (kHomeBits + kSplitBits - 1 - depth % kSplitBits)) & 1;
  }

  Cell* FindInPage(Bytes key, uint64_t hash) const {  // the cell of this key; null: its page does not have it
    return SearchPage(hash, [&](const Slot& slot) { return SlotKey(slot) == key; });
  }
  template <class IsWanted>
  Cell* SearchPage(uint64_t hash, IsWanted&& is_wanted) const {  // the first wanted cell of the page; null: none
    Page* page = directory_[DirectoryIndexOf(hash)];
    if (page == nullptr) return nullptr;
    uint8_t tag = TagOf(hash);
    int at = HomeBucketOf(hash);
    for (int probe = 0; probe < buckets_per_page_; ++probe, at = Next(at)) {
      Bucket& bucket = page->buckets[at];
      for (uint32_t match = bucket.Match(tag); match != 0; match &= match - 1) {
        Cell& cell = bucket.cells[std::countr_zero(match)];
        if (is_wanted(cell.Get())) return &cell;
      }
      if (bucket.spill == 0) return nullptr;
    }
    return nullptr;
  }

  // Returns true if an item of this hash may be among the collisions. Reads only the home bucket, which the preceding
  // search has already read.
  bool MayCollide(uint64_t hash) const {  // true: an item of this hash may be in collisions_
    const Page* page = directory_[DirectoryIndexOf(hash)];
    return page != nullptr && page->buckets[HomeBucketOf(hash)].spill == kManySpilled && collisions_ != nullptr;
  }
  void AddCollision(const Slot& slot, uint64_t hash) {  // stores a slot in collisions_, as its page cannot take it
    if (collisions_ == nullptr) collisions_ = std::make_unique<CollisionList<Slot>>();
    collisions_->Insert(slot, hash);
    directory_[DirectoryIndexOf(hash)]->buckets[HomeBucketOf(hash)].spill = kManySpilled;
  }
  Slot RemoveCollision(Bytes key, uint64_t hash) {  // removes and returns it; Slot{}: not in collisions_
    if (!MayCollide(hash)) return Slot{};
    const Slot* place = collisions_->Find(key, hash);
    if (place == nullptr) return Slot{};
    const Slot slot = *place;
    collisions_->Remove(key, hash);
    if (collisions_->Size() == 0) collisions_.reset();
    --size_;
    return slot;
  }
  void MarkCollisions(Page& page, size_t prefix) const {  // sets `spill` in home buckets of collisions
    if (collisions_ == nullptr) return;
    const auto [first, last] = HashRangeOf(page, prefix);
    collisions_->ForEachBetween(first, last,
                                [&](const auto& item) { page.buckets[HomeBucketOf(item.hash)].spill = kManySpilled; });
  }
  // Returns the first and the last hash of the page at `prefix` of the directory.
  std::pair<uint64_t, uint64_t> HashRangeOf(const Page& page, size_t prefix) const {  // first and last hash of a page
    if (page.depth == 0) return {0, UINT64_MAX};
    const uint64_t rest = UINT64_MAX >> page.depth;
    const uint64_t first = (static_cast<uint64_t>(prefix) << (64 - depth_)) & ~rest;
    return {first, first | rest};
  }

  bool TryInsert(const Slot& slot, uint64_t hash) {  // stores it in its page; false: no bucket has room
    Page*& page = directory_[DirectoryIndexOf(hash)];
    if (page == nullptr) {  // happens only for the first page of an empty table
      page = NewPage(buckets_per_page_, 0);
      ++page_count_;
      ++deepest_page_count_;
    }
    const Trace trace = TraceOf(hash, page->depth);
    if (PutInPage(*page, slot, trace, kMaxProbe)) return true;
    // No bucket near the home has room. A page with few items does not split for that: any of its buckets takes the
    // item. If such pages did split, hashes with the same home bucket would spread over many almost empty pages.
    return buckets_per_page_ == kBucketsPerPage && page->used < kMinItemsToSplit &&
           PutInPage(*page, slot, trace, kBucketsPerPage - 1);
  }

  // Stores the slot in its home bucket or in one of the `reach` buckets after it. Returns false if none of these has
  // room.
  bool PutInPage(Page& page, const Slot& slot, const Trace& trace,  // stores it near its home; false: no room
                 int reach) const {
    int at = trace.home;
    for (int probe = 0; probe <= reach && probe < buckets_per_page_; ++probe, at = Next(at)) {
      Bucket& bucket = page.buckets[at];
      uint32_t free = bucket.Match(0);
      if (free == 0) continue;
      int place = std::countr_zero(free);
      bucket.tags[place] = trace.tag;
      bucket.cells[place].Set(slot, trace.hint);
      for (int passed = trace.home; passed != at; passed = Next(passed)) AddToSpill(page.buckets[passed], 1);
      ++page.used;
      return true;
    }
    return false;
  }
  static void AddToSpill(Bucket& bucket, int by) {  // adds `by` to the count of items that passed the bucket
    if (bucket.spill != kManySpilled) bucket.spill = static_cast<uint8_t>(bucket.spill + by);
  }

  void ClearCell(Page& page, const Cell* cell, int home) const {  // frees the cell, and lowers the spill counts
    const auto* begin = reinterpret_cast<const char*>(page.buckets);
    const auto offset = static_cast<size_t>(reinterpret_cast<const char*>(cell) - begin);
    int at = static_cast<int>(offset / sizeof(Bucket));
    Bucket& bucket = page.buckets[at];
    bucket.tags[cell - bucket.cells] = 0;
    for (int passed = home; passed != at; passed = Next(passed)) AddToSpill(page.buckets[passed], -1);
    --page.used;
  }

  // Grows or splits a page. Returns false if the page already has depth kMaxDepth, or if the directory would become too
  // large for the number of pages. In these cases, the hashes of the items on the page probably agree in too many bits
  // for a split.
  bool GrowOrSplitPage(uint64_t hash) {  // makes room for an item; false: it cannot grow and cannot split
    if (buckets_per_page_ < kBucketsPerPage) {
      Resize(NextLargerBucketCount(buckets_per_page_));
      return true;
    }
    const Page& page = *directory_[DirectoryIndexOf(hash)];
    if (page.depth == kMaxDepth) return false;
    if (page.depth == depth_) {
      if (directory_.size() >= page_count_ * kDirectoryPerPage) return false;
      DoubleDirectory();
    }
    SplitPage(DirectoryIndexOf(hash));
    return true;
  }

  // Changes the number of buckets of the only page. Requires: its items fit.
  void Resize(int buckets);  // gives the only page this number of buckets
  // Splits the page at index `prefix` of the directory in two. Requires: the page's depth is less than the directory's.
  void SplitPage(size_t prefix);          // splits a page in two by one more bit of the hash
  void MergePageIfSparse(size_t prefix);  // merges a page with its sibling if both are nearly empty

  static void PrefetchItems(const Bucket& bucket) {  // prefetches all items of the bucket
    for (int i = 0; i < kSlotsPerBucket; ++i) {
      const void* item = bucket.tags[i] == 0 ? nullptr : SlotMemory(bucket.cells[i].Get());
      if (item != nullptr) Prefetch(item);
    }
  }

  // Moves every slot of `from` to halves[0] or halves[1], as the next bit of its hash says. The halves are pages of
  // equal depth, and may be the same page. If the hints do not have this bit, the function reads the keys, and
  // prefetches them in small groups.
  void MoveSlotsToHalves(const Page& from, int buckets,  // moves all slots, by the next bit of each hash
                         const std::array<Page*, 2>& halves);
  void MoveToHalfByHint(const Bucket& bucket, int i, int depth,  // moves one slot
                        const std::array<Page*, 2>& halves) const;
  void MoveToHalfByHash(const Cell& cell, int depth, const std::array<Page*, 2>& halves) const;  // moves one slot

  void DoubleDirectory() {  // lets the directory use one more bit of the hash
    std::vector<Page*> wider(directory_.size() * 2);
    for (size_t i = 0; i < directory_.size(); ++i) wider[2 * i] = wider[2 * i + 1] = directory_[i];
    directory_ = std::move(wider);
    ++depth_;
    deepest_page_count_ = 0;
  }

  // Requires: every page has at least two entries in the directory, so the last bit of an index makes no difference.
  void HalveDirectory() {  // lets the directory use one bit of the hash less
    std::vector<Page*> narrower(directory_.size() / 2);
    for (size_t i = 0; i < narrower.size(); ++i) narrower[i] = directory_[2 * i];
    directory_ = std::move(narrower);
    --depth_;
    deepest_page_count_ = 0;
    ForEachPage([&](const Page& page) { deepest_page_count_ += page.depth == depth_ ? 1 : 0; });
  }

  // Returns a random bucket, uniformly chosen. Requires: there is a page. Cost: a few random numbers; O(√directory) if
  // a client has emptied a large table except for a few keys with neighbouring hashes.
  const Bucket& RandomBucket(Random& random) const {  // any bucket with the same probability
    return RandomPage(random).buckets[random.Below(static_cast<uint64_t>(buckets_per_page_))];
  }
  const Page& RandomPage(Random& random) const {  // any page with the same probability
    if (directory_.size() / page_count_ > page_count_)
      return *directory_[DirectoryIndexOfPage(random.Below(page_count_))];
    for (;;) {
      const size_t at = random.Below(directory_.size());
      // A page may have several entries. Only the first of them is accepted, so that all pages are equally likely.
      if ((at & (Span(*directory_[at]) - 1)) == 0) return *directory_[at];
    }
  }
  // Returns the index in the directory of page `number` in the order of hashes. Cost: O(number).
  size_t DirectoryIndexOfPage(uint64_t number) const {  // index of page `number` in the order of hashes
    size_t at = 0;
    for (; number != 0; --number) at += Span(*directory_[at]);
    return at;
  }
  // Returns the number of directory entries of this page.
  size_t Span(const Page& page) const { return size_t{1} << (depth_ - page.depth); }

  template <class Visit>
  void ForEachPage(Visit&& visit) const {  // visits each page once
    const Page* last = nullptr;
    for (const Page* page : directory_) {
      if (page == last || page == nullptr) continue;
      last = page;
      visit(*page);
    }
  }

  void FreePages() {  // frees all pages of the directory
    Page* last = nullptr;
    for (Page* page : directory_) {
      if (page == last) continue;
      DeletePage(last);
      last = page;
    }
    DeletePage(last);
  }

  // Calls visit for the slots of `page` whose home is bucket `home`.
  template <class Visit>
  void VisitHome(const Page& page, int home, Visit&& visit) const {  // the slots whose home is this bucket
    int at = home;
    for (int probe = 0; probe < buckets_per_page_; ++probe, at = Next(at)) {
      const Bucket& bucket = page.buckets[at];
      for (int i = 0; i < kSlotsPerBucket; ++i)
        if (bucket.tags[i] != 0 && HomeBucketOfCell(bucket.cells[i]) == home) visit(bucket.cells[i].Get());
      if (bucket.spill == 0) return;
    }
  }
  // Calls visit for the slots of the CollisionList that belong to bucket `home` of this page. The page is at index
  // `prefix` of the directory.
  template <class Visit>
  void VisitCollisions(const Page& page, size_t prefix,  // visits slots in collisions_ that belong to this bucket
                       int home, Visit&& visit) const {
    if (collisions_ == nullptr || page.buckets[home].spill != kManySpilled) return;
    const auto [first, last] = HashRangeOf(page, prefix);
    collisions_->ForEachBetween(first, last, [&](const auto& item) {
      if (HomeBucketOf(item.hash) == home) visit(item.slot);
    });
  }
  // Decides at random where a random slot is taken from. Returns true (from the CollisionList) with the probability c /
  // (c + `others`), where c is the number of slots in this list.
  bool DrawsCollision(Random& random, size_t others) const {  // true, at random: take a random slot from collisions_
    return collisions_ != nullptr && random.Below(collisions_->Size() + others) < collisions_->Size();
  }

  // A cursor is prefix (kPrefixBits) | page depth (5 bits) | bucket (6 bits). It is below 2^53, which JavaScript can
  // represent. A bucket of a small page gets the number of the full page's bucket that begins at the same hash.
  static constexpr int kPrefixBits = 40;  // number of bits of a cursor that hold the top bits of a hash
  struct Place {                          // what a scan cursor means: a place in the order of hashes
    uint64_t prefix;                      // top kPrefixBits of the hashes where the page begins
    int depth;                            // depth of the page when the cursor was issued
    int bucket;                           // the bucket, numbered as in a page with kBucketsPerPage
  };
  static Place DecodeCursor(uint64_t cursor) {  // the place that a scan cursor names
    Place place{(cursor >> 11) & ((1ull << kPrefixBits) - 1), static_cast<int>((cursor >> 6) & 31),
                static_cast<int>(cursor & 63)};
    if (place.bucket >= kBucketsPerPage) place.bucket = 0;
    if (place.depth > kMaxDepth) place.depth = kMaxDepth;
    return place;
  }
  static uint64_t EncodeCursor(Place place) {  // the scan cursor that names the place
    return (place.prefix << 11) | (static_cast<uint64_t>(place.depth) << 6) | static_cast<uint64_t>(place.bucket);
  }

  [[no_unique_address]] Hasher hasher_;  // computes the hash of a key
  size_t size_ = 0;
  size_t page_count_ = 0;                            // number of pages
  size_t deepest_page_count_ = 0;                    // number of pages with the same depth as the directory
  int depth_ = 0;                                    // the directory has 2^depth_ entries
  int buckets_per_page_ = 1;                         // kBucketsPerPage as soon as there are two pages
  std::vector<Page*> directory_;                     // pages by the top bits of the hash; neighbours may share a page
  std::unique_ptr<CollisionList<Slot>> collisions_;  // slots whose hashes no split can separate; null: there are none
};

}  // namespace respite

#include "datatypes/hash_index_inl.h"
