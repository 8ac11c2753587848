// HashIndex: the hash table of the keyspace and of large hashes, sets and sorted sets. A HashIndex holds slots of 8
// bytes: pointers to items that contain their key, or handles that hold a short key themselves. A HashIndex does not
// own the items.
//
// Structure (extendible hashing):
//
//   directory (2^depth pointers, indexed by the top bits of the hash; each also has its page's number of buckets)
//      │  several neighbours may share a page
//      ▼
//   Page = a header of one cache line + 1, 3, 7, 11, 15 … 51 or 55 buckets of one cache line each
//   Bucket = 8 slots, each with 18 bits of its item's hash       (of handles: 7 slots, and a tag of 7 bits for each)
//
// Search: nine bits of the hash, which the directory never uses, are the item's position, a number from 0 to 511. The
// home bucket of an item is bucket number position * buckets / 512. If the home is full, the item goes to one of the
// next kMaxProbe buckets. The header has a passed_count for each bucket: the number of items that found it full and are
// in a later bucket. So a search stops at the first bucket whose passed_count is 0. The value kUncounted means 255 or
// more, or that items of this home bucket are in the CollisionList (see below).
//
// Growth, if none of these buckets has room:
//
//   page less than half full    the item goes to the next bucket with room, however far
//   page of 1 to 51 buckets     replaced by a page of the next size
//   page of 55 buckets          splits in two smaller pages by one more bit of the hash; if the directory does not use
//                               this bit yet, the directory is copied to double its size
//
// So the pages of a large table are 91 % full on average. A table of millions of items grows in steps of a few
// hundred items, and is never rehashed as a whole. Pages also shrink, and two sibling pages merge if both together
// have at most kMaxMergedItems. While a table has more than kStorePages pages, new pages come from a store that
// leaves no gaps between them (hash_page_store.h).
//
// Next to a pointer, the table stores 18 bits of the item's hash (slot.h): its position, and nine bits that decide
// about splits. So scans and resizing, and six in seven splits and merges, read only the table. To read an item would
// be a cache miss.
//
// Collisions: with a good hash and a secret key, pages fill evenly, and the directory has only a few entries per page.
// A directory with kDirectoryPerPage (16) or more entries per page does not double. Then a full page may be unable to
// split, because the hashes of its items agree in too many bits. Further items of such a page are stored in a
// CollisionList. Even with chosen hashes, an item of a large table costs at most 64 bytes of table. A lookup searches
// at most one page and, in O(log n), the CollisionList. One step of a scan visits all items of one home bucket, and so
// all items of one hash.
//
// datatypes/slot.h defines a Slot. `Hasher` computes the hash of a key. The default, KeyedHasher, uses a secret key;
// others are for tests.
//
// Scanning: a cursor names a place in hash order (prefix, depth, position). Splits, merges and growth never move an
// item to an earlier place. A scan begins with cursor 0 and ends when the next cursor is 0. The scan visits every item
// that was present all the time, at least once.
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

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"
#include "datatypes/collision_list.h"
#include "datatypes/hash_page.h"
#include "datatypes/hash_page_store.h"
#include "datatypes/slot.h"

namespace respite {

struct KeyedHasher {  // hashes with a secret key, so that no client can choose keys that collide
  HashKey key;
  uint64_t operator()(Bytes text) const { return HashBytes(text, key); }
};

template <class Slot, class Hasher = KeyedHasher>
class HashIndex {  // a hash table that grows page by page, and never rehashes all items together
 public:
  explicit HashIndex(const Hasher& hasher) : hasher_(hasher), directory_(1) {}
  explicit HashIndex(const HashKey& key) requires std::is_same_v<Hasher, KeyedHasher> : HashIndex(KeyedHasher{key}) {}
  HashIndex(HashIndex&& other) noexcept
      : hasher_(other.hasher_),
        size_(std::exchange(other.size_, 0)),
        page_count_(std::exchange(other.page_count_, 0)),
        deepest_page_count_(std::exchange(other.deepest_page_count_, 0)),
        bucket_count_(std::exchange(other.bucket_count_, 0)),
        depth_(std::exchange(other.depth_, 0)),
        directory_(std::exchange(other.directory_, std::vector<PageRef>(1))),
        next_directory_(std::exchange(other.next_directory_, {})),
        store_(std::move(other.store_)),
        collisions_(std::move(other.collisions_)) {}
  HashIndex& operator=(HashIndex&& other) noexcept {
    std::swap(hasher_, other.hasher_);
    std::swap(size_, other.size_);
    std::swap(page_count_, other.page_count_);
    std::swap(deepest_page_count_, other.deepest_page_count_);
    std::swap(bucket_count_, other.bucket_count_);
    std::swap(depth_, other.depth_);
    std::swap(directory_, other.directory_);
    std::swap(next_directory_, other.next_directory_);
    std::swap(store_, other.store_);
    std::swap(collisions_, other.collisions_);
    return *this;
  }
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;
  ~HashIndex() { FreePages(); }

  const HashKey& hash_key() const { return hasher_.key; }  // the secret key of the hash function
  uint64_t Hash(Bytes key) const { return hasher_(key); }
  size_t Size() const { return size_; }
  size_t UsedBytes() const {  // bytes of pages, directories and collisions_, without the items
    const size_t collisions = collisions_ == nullptr ? 0 : sizeof *collisions_ + collisions_->UsedBytes();
    const size_t spare = store_ == nullptr ? 0 : sizeof *store_ + store_->SpareBytes();
    const size_t directories = (directory_.capacity() + next_directory_.capacity()) * sizeof(PageRef);
    return page_count_ * Page::BytesOf(0) + bucket_count_ * sizeof(Bucket) + directories + collisions + spare;
  }
  size_t Capacity() const { return bucket_count_ * kSlotsPerBucket; }  // number of slots that the pages have room for
  size_t PageCount() const { return page_count_; }                     // number of pages

  // Returns the slot with this key, or Slot{} if there is none. Cost: O(1), typically one cache line of the table and
  // one of the item.
  Slot Find(Bytes key, uint64_t hash) const {
    const Cell* cell = FindInPage(key, hash);
    if (cell != nullptr) return cell->Get();
    const Slot* slot = MayCollide(hash) ? collisions_->Find(key, hash) : nullptr;
    return slot == nullptr ? Slot{} : *slot;
  }

  // PrefetchBucket and PrefetchItem are hints for a batch of lookups. First compute all hashes, then prefetch every
  // bucket, then every item that may match (or, if none may, the next bucket), then do the lookups.
  void PrefetchBucket(uint64_t hash) const {  // prefetches the bucket where a lookup of this hash begins
    const PageRef page = PageOf(hash);
    if (page) Prefetch(&page->buckets[page.HomeBucketOf(hash)]);
  }
  // Prefetches the bucket, and the header of the page, which an insertion changes.
  void PrefetchForInsert(uint64_t hash) const {  // prefetches what an insertion of this hash will change
    const PageRef page = PageOf(hash);
    if (!page) return;
    Prefetch(page.Get());
    Prefetch(&page->buckets[page.HomeBucketOf(hash)]);
  }
  void PrefetchItem(uint64_t hash) const {  // after PrefetchBucket: prefetches the items in this bucket that may match
    const PageRef page = PageOf(hash);
    if (!page) return;
    const int home = page.HomeBucketOf(hash);
    const Bucket& bucket = page->buckets[home];
    uint32_t match = bucket.Match(page.TraceOf(hash));
    if (match == 0) return Prefetch(&page->buckets[page.Next(home)]);  // if the key exists, it is in a later bucket
    for (; match != 0; match &= match - 1) {
      const auto* item = static_cast<const char*>(SlotMemory(bucket.cells[std::countr_zero(match)].Get()));
      if (item == nullptr) continue;
      // An item of up to 88 bytes, such as an Entry of 16 + 64, may be in three cache lines.
      Prefetch(item);
      Prefetch(item + 64);
      Prefetch(item + 87);
    }
  }

  // Cost: O(1); sometimes copies a page (at most kMaxBuckets * kSlotsPerBucket items), and rarely also doubles the
  // directory.
  void Insert(Slot slot, uint64_t hash) {  // adds a slot; requires: the key is not in the table
    if (!TryInsert(slot, hash) && !InsertInLargerPage(slot, hash)) AddCollision(slot, hash);
    ++size_;
  }

  // Inserting `count` slots afterwards splits almost no page. Does nothing if the table has items or several pages, or
  // if `count` is at most kReservedPerPage. Cost: O(count), 10 to 15 bytes of memory for each slot.
  void Reserve(size_t count) {  // creates the pages for about `count` slots in an empty table
    if (size_ != 0 || depth_ != 0 || count <= kReservedPerPage) return;
    FreePages();
    while (depth_ < kMaxDepth && count >> depth_ > kReservedPerPage) ++depth_;
    directory_.assign(size_t{1} << depth_, PageRef());
    for (size_t i = 0; i < directory_.size(); ++i)
      directory_[i] = NewPage(BucketsFor(count >> depth_), depth_, static_cast<uint32_t>(i << (32 - depth_)));
  }

  // Call this when an item has moved in memory. Changes nothing if `old` is not stored with this hash. Requires: no
  // other item with the key of `slot` is in the table.
  bool Replace(Slot old, Slot slot, uint64_t hash) {  // stores `slot` where `old` was; false: `old` is not stored
    Cell* const cell = SearchPage(hash, [&](const Slot& found) { return found == old; });
    if (cell != nullptr) {
      cell->Replace(slot);
      return true;
    }
    Slot* const place = MayCollide(hash) ? collisions_->FindSlot(old, SlotKey(slot), hash) : nullptr;
    if (place == nullptr) return false;
    *place = slot;
    return true;
  }

  // Returns true if `slot` itself is in the table under `hash`. The item may be freed already, because only slots are
  // compared. Cost: O(1).
  bool Has(Slot slot, uint64_t hash) const {
    if (SearchPage(hash, [&](const Slot& found) { return found == slot; }) != nullptr) return true;
    return MayCollide(hash) && collisions_->Has(slot, hash);
  }

  // Cost: O(1); sometimes replaces a page by a smaller page, or merges two pages.
  Slot Remove(Bytes key, uint64_t hash) {  // removes and returns the slot with this key; Slot{}: there is none
    const Cell* const cell = FindInPage(key, hash);
    if (cell == nullptr) return RemoveCollision(key, hash);
    Slot slot = cell->Get();
    const size_t at = DirectoryIndexOf(hash);
    const PageRef page = directory_[at];
    page.Clear(cell, page.HomeBucketOf(hash));
    --size_;
    const bool is_sparse = page->used < kMinItemsPerBucket * static_cast<uint32_t>(page.BucketCount());
    if (is_sparse && BucketsFor(page->used) < page.BucketCount()) ResizePage(at, BucketsFor(page->used));
    const size_t used = directory_[at]->used;
    if (depth_ != 0 && used % 16 == 0 && used <= kMaxMergedItems / 2) MergePageIfSparse(at);
    FillHoles();
    if (store_ != nullptr && page_count_ < kStorePages / 4) LeaveStore();
    return slot;
  }

  // Scan calls `visit(slot)` for each slot whose home is the bucket that `cursor` names. Cursor 0 names the first
  // bucket. Returns the next cursor, 0 at the end. `visit` must not change the table. Cost: O(items of one home
  // bucket).
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit&& visit) const;

  // ForEach visits the slots of all pages and of collisions_. `visit` must not change the table. Cost: O(n).
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(slot) for each slot, in no order
    ForEachPage([&](PageRef page) {
      for (int b = 0; b < page.BucketCount(); ++b)
        for (int i = 0; i < kSlotsPerBucket; ++i)
          if (!page->buckets[b].IsFree(i)) visit(page->buckets[b].cells[i].Get());
    });
    if (collisions_ == nullptr) return;
    collisions_->ForEachWhile([&](const Slot& slot) {
      visit(slot);
      return true;
    });
  }

  // Calls visit(slot) for each slot, until `visit` returns false. Meanwhile prefetches the items of the slots that
  // follow. `visit` must not change the table.
  template <class Visit>
  bool ForEachWhile(Visit&& visit) const;  // visits slots until visit(slot) is false; true: visited all

  // Each slot is equally likely. Cost: O(1) expected.
  Slot PickRandom(Random& random) const;  // a random slot; Slot{}: the table is empty

  // VisitRandomBucket chooses a random bucket, which may be empty, prefetches its items, and calls `visit(slot)` for
  // each of its slots. Sometimes it visits one random slot of the CollisionList instead, so that each slot of the table
  // is equally likely. Cost: one cache line for the bucket, and one for each item.
  template <class Visit>
  void VisitRandomBucket(Random& random, Visit&& visit) const;  // visits the slots of a random bucket, perhaps none

  // Cost: O(pages).
  void Clear() {  // removes all slots, without freeing the items
    FreePages();
    directory_.assign(1, PageRef());
    directory_.shrink_to_fit();
    next_directory_ = std::vector<PageRef>();  // frees the memory, which `= {}` would keep
    collisions_.reset();
    size_ = 0;
    depth_ = 0;
  }
  size_t CollisionCount() const { return collisions_ == nullptr ? 0 : collisions_->Size(); }  // slots in collisions_

  // For tests. Returns true if a search finds every item and all counters agree with the contents of the pages.
  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  static constexpr int kMaxProbe = 20;  // buckets that an insertion tries after the home, before the page grows
  static constexpr uint32_t kMinItemsPerBucket =  // a page with fewer items per bucket is replaced by a smaller one
      HashBucket<Slot>::kSlots / 2;
  static constexpr size_t kItemsPerNewBucket =  // items per bucket when a page is made for a known number of items
      HashBucket<Slot>::kSlots - 1;
  static constexpr size_t kMaxMergedItems = 192;   // sibling pages merge if they hold at most this many items together
  static constexpr int kMaxDepth = 28;             // maximum depth of pages and directory, in bits of the hash
  static constexpr size_t kReservedPerPage = 330;  // Reserve plans pages with at most this many slots
  static constexpr size_t kStorePages = 512;       // a table with more pages has a HashPageStore for new pages
  static constexpr size_t kDirectoryPerPage = 16;  // the directory doubles only below this number of entries per page
  static constexpr size_t kPreparedDirectory = 1024;  // a directory of this size or more prepares its doubling
  using Cell = SlotCell<Slot>;
  using Bucket = HashBucket<Slot>;
  using Page = HashPage<Slot>;
  using PageRef = HashPageRef<Slot>;
  static constexpr int kSlotsPerBucket = Bucket::kSlots;   // slots of a bucket: 8, or 7 of handles
  static constexpr int kMaxBuckets = Page::kMaxBuckets;    // buckets of the largest page: 55
  static constexpr uint8_t kUncounted = Page::kUncounted;  // passed_count: 255 or more, or items are in collisions_

  static int BucketsFor(size_t items) {  // the number of buckets of a new page for `items` items
    int buckets = 1;
    while (buckets < kMaxBuckets && kItemsPerNewBucket * static_cast<size_t>(buckets) < items)
      buckets = Page::NextBucketCount(buckets);
    return buckets;
  }
  PageRef NewPage(int buckets, int depth, uint32_t prefix);  // allocates an empty page for hashes from `prefix` on
  void DeletePage(PageRef page);                             // frees a page; does nothing for a null reference
  void LeaveStore();                                         // moves all pages out of the store, and frees it
  void FillHoles();  // moves pages into the places of those that DeletePage has freed, and corrects the directory

  size_t DirectoryIndexOf(uint64_t hash) const {  // the index in directory_ of the page of this hash
    return depth_ == 0 ? 0 : static_cast<size_t>(hash >> (64 - depth_));
  }
  PageRef PageOf(uint64_t hash) const { return directory_[DirectoryIndexOf(hash)]; }  // the page of this hash, or null

  uint32_t PositionOfCell(const Cell& cell) const {  // where on its page a slot belongs: nine hash bits
    if constexpr (Cell::kHasHint) return HashTrace{0, cell.Hint()}.Position();
    return HashTrace::HomePositionOf(Hash(SlotKey(cell.Get())));
  }

  Cell* FindInPage(Bytes key, uint64_t hash) const {  // the cell with this key; null: not in the page of `hash`
    return SearchPage(hash, [&](const Slot& slot) { return SlotKey(slot) == key; });
  }
  template <class IsWanted>
  Cell* SearchPage(uint64_t hash, IsWanted&& is_wanted) const {  // the first wanted cell of the hash's page, or null
    const PageRef page = PageOf(hash);
    return page ? page.Search(hash, is_wanted) : nullptr;
  }

  // Reads only the header of the page, which the preceding search has loaded into the cache already.
  bool MayCollide(uint64_t hash) const {  // true: an item of this hash may be in collisions_
    const PageRef page = PageOf(hash);
    return page && page->passed_counts[page.HomeBucketOf(hash)] == kUncounted && collisions_ != nullptr;
  }
  void AddCollision(const Slot& slot, uint64_t hash) {  // puts a slot in collisions_: its page is full, no split helps
    if (collisions_ == nullptr) collisions_ = std::make_unique<CollisionList<Slot>>();
    collisions_->Insert(slot, hash);
    const PageRef page = PageOf(hash);
    page->passed_counts[page.HomeBucketOf(hash)] = kUncounted;
  }
  Slot RemoveCollision(Bytes key, uint64_t hash) {  // removes and returns a slot; Slot{}: not in collisions_
    if (!MayCollide(hash)) return Slot{};
    const Slot* place = collisions_->Find(key, hash);
    if (place == nullptr) return Slot{};
    const Slot slot = *place;
    collisions_->Remove(key, hash);
    if (collisions_->Size() == 0) collisions_.reset();
    --size_;
    return slot;
  }
  void MarkCollisions(size_t at) const {  // sets kUncounted in buckets of page directory_[at] with items in collisions_
    if (collisions_ == nullptr) return;
    const PageRef page = directory_[at];
    const auto [first, last] = HashRangeOf(at);
    collisions_->ForEachBetween(
        first, last, [&](const auto& item) { page->passed_counts[page.HomeBucketOf(item.hash)] = kUncounted; });
  }
  std::pair<uint64_t, uint64_t> HashRangeOf(size_t at) const {  // first and last hash of page directory_[at]
    const int depth = directory_[at]->depth;
    if (depth == 0) return {0, UINT64_MAX};
    const uint64_t rest = UINT64_MAX >> depth;
    const uint64_t first = (static_cast<uint64_t>(at) << (64 - depth_)) & ~rest;
    return {first, first | rest};
  }

  // Stores the slot near its home bucket. If no bucket there has room, and the page is less than half full, any bucket
  // of the page takes the item, so the page does not grow or split. Otherwise hashes with one home bucket would spread
  // over many almost empty pages.
  bool TryInsert(const Slot& slot, uint64_t hash) {  // stores a slot in its page; false: the page must grow or split
    PageRef& page = directory_[DirectoryIndexOf(hash)];
    if (!page) page = NewPage(1, 0, 0);  // the first page of an empty table
    const HashTrace trace = page.TraceOf(hash);
    if (page.Put(slot, trace, kMaxProbe)) return true;
    return page->used * 2 < page.Capacity() && page.Put(slot, trace, kMaxBuckets);
  }
  bool InsertInLargerPage(const Slot& slot, uint64_t hash) {  // grows or splits the page; false: still no room
    if (!GrowOrSplitPage(hash)) return false;
    // A split may put most items in one half, whose page is then full. Then this page grows.
    if (const PageRef page = PageOf(hash); page->used == page.Capacity() && page.BucketCount() < kMaxBuckets)
      GrowOrSplitPage(hash);
    FillHoles();
    const PageRef page = PageOf(hash);
    return page.Put(slot, page.TraceOf(hash), kMaxBuckets);
  }

  // Replaces the page of this hash by a larger one, or splits it. Returns false if the page cannot split because it has
  // depth kMaxDepth, or because the directory would become too large for the number of pages. In these cases, the
  // hashes of the items on the page probably agree in too many bits for a split.
  bool GrowOrSplitPage(uint64_t hash) {  // makes room for an item; false: the page cannot grow and cannot split
    const PageRef page = PageOf(hash);
    if (page.BucketCount() < kMaxBuckets) {
      ResizePage(DirectoryIndexOf(hash), Page::NextBucketCount(page.BucketCount()));
      return true;
    }
    if (page->depth == kMaxDepth) return false;
    if (page->depth == depth_) {
      if (directory_.size() >= page_count_ * kDirectoryPerPage) return false;
      DoubleDirectory();
    }
    SplitPage(DirectoryIndexOf(hash));
    return true;
  }

  // ResizePage, SplitPage and MergePageIfSparse replace the page directory_[at]. SplitPage requires that the page's
  // depth is less than the directory's.
  void ResizePage(size_t at, int buckets);  // replaces the page by a page with `buckets` buckets
  void SplitPage(size_t at);                // splits a page in two by one more bit of the hash
  void MergePageIfSparse(size_t at);        // merges a page with its sibling if both are nearly empty
  void SetDirectory(size_t first, size_t count, PageRef page) {  // stores `page` in `count` entries from `first` on
    for (size_t i = 0; i < count; ++i) directory_[first + i] = page;
  }

  static void PrefetchItems(const Bucket& bucket) {  // prefetches all items of the bucket
    for (int i = 0; i < kSlotsPerBucket; ++i) {
      const void* item = bucket.IsFree(i) ? nullptr : SlotMemory(bucket.cells[i].Get());
      if (item != nullptr) Prefetch(item);
    }
  }

  // Puts each slot into its home bucket, or into the next bucket with room. (HashIndex::TryInsert usually looks only at
  // kMaxProbe buckets. Here the slots arrive in another order than they were inserted, so this could fail.) A bucket is
  // filled from its first place on, because nothing is removed meanwhile. A full page is replaced by a larger page.
  class PageFiller {  // fills a new page with the slots of other pages
   public:
    PageFiller(HashIndex& index, int buckets, int depth, uint32_t prefix)
        : index_(index), page_(index.NewPage(buckets, depth, prefix)) {}
    PageRef Page() const { return page_; }                // the page, which Put may replace
    void Put(const Slot& slot, const HashTrace& trace) {  // stores a slot
      if (page_->used == page_.Capacity()) MoveToLargerPage();
      int at = page_.HomeBucketAt(trace.Position());
      while (used_[static_cast<size_t>(at)] == kSlotsPerBucket) {
        page_->AddToPassedCount(at, 1);
        at = page_.Next(at);
      }
      const int place = used_[static_cast<size_t>(at)]++;
      page_->buckets[at].Set(place, slot, trace);
      ++page_->used;
    }

   private:
    void MoveToLargerPage() {  // replaces page_ by a page with more buckets
      PageFiller larger(index_, Page::NextBucketCount(page_.BucketCount()), page_->depth, page_->prefix);
      index_.MoveSlots(page_, larger, larger);
      index_.DeletePage(page_);
      page_ = larger.page_;
      used_ = larger.used_;
    }

    HashIndex& index_;  // the table to which the page will belong
    PageRef page_;
    std::array<uint8_t, kMaxBuckets> used_{};  // number of slots in each bucket
  };

  // Moves all slots of `from` to new pages. If a page is split, `low` gets the slots in whose hash the next bit is 0,
  // and `high` those with a 1. In a merge or a resize, `low` and `high` are the same PageFiller. The hint of a slot
  // stores nine bits of the hash for splits (HashTrace). If the new depth needs other bits, or the slots have no hints,
  // computes the hashes from the keys, and prefetches the items two buckets ahead.
  void MoveSlots(PageRef from, PageFiller& low, PageFiller& high);  // moves slots to low or high by their next hash bit

  // The first use of new memory costs more time than copying the directory: on a virtual machine about 10 µs for 4 KB.
  // So the memory for the next directory is used step by step, in proportion to the number of pages whose split would
  // need it.
  void PrepareDoubling() {  // writes to more of the memory for the next directory
    if (directory_.size() < kPreparedDirectory) return;
    next_directory_.reserve(directory_.size() * 2);
    if (next_directory_.size() < deepest_page_count_ * 2) next_directory_.resize(deepest_page_count_ * 2);
  }
  void DoubleDirectory() {  // lets the directory use one more bit of the hash
    std::vector<PageRef> wider = std::exchange(next_directory_, {});
    wider.resize(directory_.size() * 2);
    for (size_t i = 0; i < directory_.size(); ++i) wider[2 * i] = wider[2 * i + 1] = directory_[i];
    directory_ = std::move(wider);
    ++depth_;
    deepest_page_count_ = 0;
  }

  // Requires: every page has at least two entries in the directory, so the last bit of a directory index makes no
  // difference.
  void HalveDirectory() {  // lets the directory use one bit of the hash less
    std::vector<PageRef> narrower(directory_.size() / 2);
    for (size_t i = 0; i < narrower.size(); ++i) narrower[i] = directory_[2 * i];
    directory_ = std::move(narrower);
    next_directory_ = std::vector<PageRef>();
    --depth_;
    deepest_page_count_ = 0;
    ForEachPage([&](PageRef page) { deepest_page_count_ += page->depth == depth_ ? 1 : 0; });
  }

  // Requires: there is a page. Cost: a few random numbers; O(√(size of directory_)) if a large table has only a few
  // keys left, with neighbouring hashes.
  const Bucket& RandomBucket(Random& random) const {  // a random bucket; all buckets are equally likely
    if (page_count_ == 1) {
      const PageRef page = directory_[0];
      return page->buckets[random.Below(static_cast<uint64_t>(page.BucketCount()))];
    }
    for (;;) {
      const PageRef page = RandomPage(random);
      // Pages have different numbers of buckets. If this page has no bucket `at`, draws both a page and a bucket again,
      // so that all buckets of the table are equally likely.
      const auto at = static_cast<int>(random.Below(kMaxBuckets));
      if (at < page.BucketCount()) return page->buckets[at];
    }
  }
  PageRef RandomPage(Random& random) const {  // a random page; all pages are equally likely
    if (directory_.size() / page_count_ > page_count_)
      return directory_[DirectoryIndexOfPage(random.Below(page_count_))];
    for (;;) {
      const size_t at = random.Below(directory_.size());
      // A page fills Span(page) adjacent entries of the directory, and the index of the first one is a multiple of
      // Span(page). Accepts only this first entry, and draws again otherwise, so that all pages are equally likely.
      if ((at & (Span(directory_[at]) - 1)) == 0) return directory_[at];
    }
  }
  // Pages are numbered in the order of hashes. Cost: O(number).
  size_t DirectoryIndexOfPage(uint64_t number) const {  // index in directory_ of the first entry that refers to a page
    size_t at = 0;
    for (; number != 0; --number) at += Span(directory_[at]);
    return at;
  }
  // Returns the number of directory entries of this page.
  size_t Span(PageRef page) const { return size_t{1} << (depth_ - page->depth); }

  template <class Visit>
  void ForEachPage(Visit&& visit) const {  // visits each page once
    PageRef last;
    for (const PageRef page : directory_) {
      if (page == last) continue;
      last = page;
      visit(page);
    }
  }

  void FreePages();  // frees all pages of the directory

  // VisitHome calls visit(slot) for each slot of `page` whose hash selects bucket `home` as its home bucket.
  template <class Visit>
  void VisitHome(PageRef page, int home, Visit&& visit) const {  // visits the slots of the page with this home bucket
    int at = home;
    for (int probe = 0; probe < page.BucketCount(); ++probe, at = page.Next(at)) {
      const Bucket& bucket = page->buckets[at];
      for (int i = 0; i < kSlotsPerBucket; ++i) {
        if (bucket.IsFree(i) || page.HomeBucketAt(PositionOfCell(bucket.cells[i])) != home) continue;
        visit(bucket.cells[i].Get());
      }
      if (page->passed_counts[at] == 0) return;
    }
  }
  // Calls visit(slot) for each slot in collisions_ that belongs to the page directory_[page_at], and whose home bucket
  // there is `home`. (A slot is in collisions_ if its page had no room for it.)
  template <class Visit>
  void VisitCollisions(size_t page_at, int home,  // visits slots in collisions_ whose home bucket is this one
                       Visit&& visit) const {
    const PageRef page = directory_[page_at];
    if (collisions_ == nullptr || page->passed_counts[home] != kUncounted) return;
    const auto [first, last] = HashRangeOf(page_at);
    collisions_->ForEachBetween(first, last, [&](const auto& item) {
      if (page.HomeBucketOf(item.hash) == home) visit(item.slot);
    });
  }
  // Decides at random whether the caller takes a slot of collisions_ (true) or chooses in the pages (false). `others`
  // is the number of choices in the pages: slots, or buckets if the caller takes a whole bucket. If collisions_ has c
  // slots, the probability of true is c / (c + others), so each choice is equally likely.
  bool DrawsCollision(Random& random, size_t others) const {  // random; true: take a slot of collisions_
    return collisions_ != nullptr && random.Below(collisions_->Size() + others) < collisions_->Size();
  }

  // A scan cursor has three parts: prefix (38 bits) | page depth (5 bits) | position (9 bits of a hash, which choose
  // the home bucket in a page of any size). So a cursor stays valid if a page gets another number of buckets. A cursor
  // is below 2^53, so that JavaScript can represent the number.
  static constexpr int kPrefixBits = 38;  // number of bits of a cursor that hold the top bits of a hash
  static constexpr int kDepthBits = 5;    // number of bits of a cursor that hold the depth
  static constexpr int kPositionBits = HashTrace::kPositionBits;  // number of bits of a cursor that hold the position
  struct Place {        // a decoded scan cursor: a place in the order of hashes
    uint64_t prefix;    // the top kPrefixBits bits of a hash of the page, usually of its first
    int depth;          // depth of the page when the cursor was issued
    uint32_t position;  // nine bits of a hash; they choose the home bucket where the scan continues
  };
  static_assert(kMaxDepth < 1 << kDepthBits && kMaxDepth <= kPrefixBits);
  static Place DecodeCursor(uint64_t cursor) {  // the place for which a scan cursor stands
    Place place{(cursor >> (kDepthBits + kPositionBits)) & ((1ull << kPrefixBits) - 1),
                static_cast<int>((cursor >> kPositionBits) & ((1u << kDepthBits) - 1)),
                static_cast<uint32_t>(cursor & ((1u << kPositionBits) - 1))};
    if (place.depth > kMaxDepth) place.depth = kMaxDepth;
    return place;
  }
  static uint64_t EncodeCursor(Place place) {  // the scan cursor that stands for this place
    return (((place.prefix << kDepthBits) | static_cast<uint64_t>(place.depth)) << kPositionBits) | place.position;
  }

  [[no_unique_address]] Hasher hasher_;  // computes the hash of a key
  size_t size_ = 0;
  size_t page_count_ = 0;                 // number of pages; a page with several directory entries counts once
  size_t deepest_page_count_ = 0;         // number of pages with the same depth as the directory
  size_t bucket_count_ = 0;               // number of buckets of all pages
  int depth_ = 0;                         // the directory has 2^depth_ entries
  std::vector<PageRef> directory_;        // page of each value of the top hash bits; neighbours may share one
  std::vector<PageRef> next_directory_;   // memory for a directory of double size; its contents mean nothing
  std::unique_ptr<HashPageStore> store_;  // memory of pages that a large table has created; null: none
  std::unique_ptr<CollisionList<Slot>> collisions_;  // slots whose hashes no split can separate; null: there are none
};

}  // namespace respite

#include "datatypes/hash_index_inl.h"
