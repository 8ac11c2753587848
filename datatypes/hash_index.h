// HashIndex: the hash table of the keyspace. It holds pointers to items that carry their own key; it owns none of them.
//
// Shape (extendible hashing):
//
//   directory (2^depth pointers, indexed by the top bits of the hash)
//      │  several neighbours may share a page
//      ▼
//   Page = 4096 bytes = 1 line of header + 63 buckets of one cache line
//   Bucket = 7 one-byte tags | spill | 7 item pointers
//
// An item's home bucket follows from the low half of its hash. When the home is full the item goes to one of the next
// kMaxProbe buckets, and each bucket it passed over counts it in `spill`, so that a search stops at the first bucket
// over which nobody passed. When none of them has room the page splits in two by one more bit of the hash: that is the
// largest step the table ever takes (a few hundred items), however many millions it holds. There is no rehash of the
// whole. When two sibling pages are nearly empty they become one again.
//
// Item needs `Bytes Key() const`. All keys are hashed with the seed given at construction.
//
// Scanning: a cursor names a place in hash order (prefix, home bucket). Splits and merges keep items at or after their
// place, so a scan from 0 to 0 returns every item that was there all the time at least once.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/prefetch.h"
#include "base/random.h"

namespace respite {

template <class Item>
class HashIndex {
 public:
  explicit HashIndex(uint64_t seed) : seed_(seed), directory_(1, nullptr) {}
  HashIndex(HashIndex&& other) noexcept
      : seed_(other.seed_),
        size_(std::exchange(other.size_, 0)),
        pages_(std::exchange(other.pages_, 0)),
        depth_(std::exchange(other.depth_, 0)),
        directory_(std::exchange(other.directory_, std::vector<Page*>(1, nullptr))) {}
  HashIndex& operator=(HashIndex&& other) noexcept {
    std::swap(seed_, other.seed_);
    std::swap(size_, other.size_);
    std::swap(pages_, other.pages_);
    std::swap(depth_, other.depth_);
    std::swap(directory_, other.directory_);
    return *this;
  }
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;
  ~HashIndex() { FreePages(); }

  uint64_t Hash(Bytes key) const { return HashBytes(key, seed_); }
  size_t Size() const { return size_; }
  // Memory of pages and directory, without the items.
  size_t UsedBytes() const { return pages_ * sizeof(Page) + directory_.capacity() * sizeof(Page*); }
  // Slots there are, used or not.
  size_t Capacity() const { return pages_ * kBuckets * kSlots; }
  size_t Pages() const { return pages_; }

  // The item with this key, or null. Cost: O(1), typically one cache line of the table and one of the item.
  Item* Find(Bytes key, uint64_t hash) const {
    Item* const* slot = FindSlot(key, hash);
    return slot == nullptr ? nullptr : *slot;
  }

  // Hints for a batch of look-ups: first every bucket, then every item that may match, then the look-ups themselves.
  void PrefetchBucket(uint64_t hash) const {
    const Page* page = directory_[Prefix(hash)];
    if (page != nullptr) Prefetch(&page->buckets[HomeOf(hash)]);
  }
  void PrefetchItem(uint64_t hash) const {
    const Page* page = directory_[Prefix(hash)];
    if (page == nullptr) return;
    const Bucket& bucket = page->buckets[HomeOf(hash)];
    for (uint32_t match = bucket.Match(TagOf(hash)); match != 0; match &= match - 1) {
      const char* item = reinterpret_cast<const char*>(bucket.items[std::countr_zero(match)]);
      Prefetch(item);
      Prefetch(item + 64);
    }
  }

  // Puts in an item whose key is not there yet. Cost: O(1); now and then one page (kBuckets * kSlots items) is split.
  void Insert(Item* item, uint64_t hash) {
    while (!TryInsert(item, hash)) Split(Prefix(hash));
    ++size_;
  }

  // Replaces the item of the same key, after it moved in memory. Requires: `old` is in the table under `hash`.
  void Replace(const Item* old, Item* item, uint64_t hash) {
    Item** slot = SlotOf(old, hash);
    assert(slot != nullptr);
    *slot = item;
  }

  // Takes the item with this key out and returns it, or null. Cost: O(1); now and then two pages merge.
  Item* Remove(Bytes key, uint64_t hash) {
    Item** slot = FindSlot(key, hash);
    if (slot == nullptr) return nullptr;
    Item* item = *slot;
    Page* page = directory_[Prefix(hash)];
    ClearSlot(*page, slot, HomeOf(hash));
    --size_;
    if (page->used <= kMergeBelow && page->used % 16 == 0) MaybeMerge(Prefix(hash));
    return item;
  }

  // Calls `visit(Item*)` for each item of the place that `cursor` names (0: the first) and returns the next cursor, 0
  // at the end. `visit` must not change the table. Cost: O(items of one bucket).
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit&& visit) const;

  // Calls `visit(Item*)` for each item, in no useful order. `visit` must not change the table. Cost: O(n).
  template <class Visit>
  void ForEach(Visit&& visit) const {
    ForEachPage([&](const Page& page) {
      for (const Bucket& bucket : page.buckets)
        for (int i = 0; i < kSlots; ++i)
          if (bucket.tags[i] != 0) visit(bucket.items[i]);
    });
  }

  // An item drawn with equal chance for each, or null when empty. Cost: O(1) expected.
  Item* PickRandom(Random& random) const;

  // Forgets every item (the caller frees them). Cost: O(pages).
  void Clear() {
    FreePages();
    directory_.assign(1, nullptr);
    directory_.shrink_to_fit();
    size_ = 0;
    pages_ = 0;
    depth_ = 0;
  }

  // For tests: every item is where a search finds it, counters agree. Returns false at the first contradiction.
  bool CheckInvariants() const;

 private:
  static constexpr int kSlots = 7;
  static constexpr int kBuckets = 63;
  static constexpr int kMaxProbe = 8;        // buckets an insertion tries beyond the home before it splits the page
  static constexpr int kMergeBelow = 96;     // a page this empty looks for its sibling
  static constexpr int kMergedAtMost = 192;  // and joins it when both together hold no more
  static constexpr int kMaxDepth = 28;

  struct alignas(64) Bucket {
    uint8_t tags[kSlots];  // 0: free
    uint8_t spill;         // items that wanted this bucket, or one before, and live behind it
    Item* items[kSlots];

    // Bit i set: tags[i] == tag.
    uint32_t Match(uint8_t tag) const {
      constexpr uint64_t kLow = 0x0101010101010101ull;
      constexpr uint64_t kHigh = 0x8080808080808080ull;
      uint64_t word;
      std::memcpy(&word, tags, sizeof word);
      uint64_t x = (word & 0x00ffffffffffffffull) ^ (kLow * tag);
      // Exact per-byte zero test: no borrow crosses bytes.
      uint64_t zero = ~(((x & ~kHigh) + ~kHigh) | x) & kHigh;
      zero &= 0x0080808080808080ull;
      // Gathers the seven marks into the low bits.
      return static_cast<uint32_t>(((zero >> 7) * 0x0102040810204080ull) >> 56);
    }
  };

  struct alignas(64) Page {
    int32_t depth = 0;  // top hash bits that all items of this page share
    uint32_t used = 0;
    Bucket buckets[kBuckets] = {};
  };
  static_assert(sizeof(Bucket) == 64 && sizeof(Page) == 4096);

  static uint8_t TagOf(uint64_t hash) { return static_cast<uint8_t>((hash >> 32) | 0x80); }
  static int HomeOf(uint64_t hash) { return static_cast<int>(((hash & 0xffffffffull) * kBuckets) >> 32); }
  static int Next(int bucket) { return bucket + 1 == kBuckets ? 0 : bucket + 1; }
  size_t Prefix(uint64_t hash) const { return depth_ == 0 ? 0 : static_cast<size_t>(hash >> (64 - depth_)); }

  Item** FindSlot(Bytes key, uint64_t hash) const {
    Page* page = directory_[Prefix(hash)];
    if (page == nullptr) return nullptr;
    uint8_t tag = TagOf(hash);
    int at = HomeOf(hash);
    for (int probe = 0; probe < kBuckets; ++probe, at = Next(at)) {
      Bucket& bucket = page->buckets[at];
      for (uint32_t match = bucket.Match(tag); match != 0; match &= match - 1) {
        Item*& item = bucket.items[std::countr_zero(match)];
        if (item->Key() == key) return &item;
      }
      if (bucket.spill == 0) return nullptr;
    }
    return nullptr;
  }

  // As FindSlot, by identity: the item's own memory may already be gone.
  Item** SlotOf(const Item* wanted, uint64_t hash) const {
    Page* page = directory_[Prefix(hash)];
    uint8_t tag = TagOf(hash);
    int at = HomeOf(hash);
    for (int probe = 0; probe < kBuckets; ++probe, at = Next(at)) {
      Bucket& bucket = page->buckets[at];
      for (uint32_t match = bucket.Match(tag); match != 0; match &= match - 1)
        if (bucket.items[std::countr_zero(match)] == wanted) return &bucket.items[std::countr_zero(match)];
      if (bucket.spill == 0) return nullptr;
    }
    return nullptr;
  }

  bool TryInsert(Item* item, uint64_t hash) {
    Page*& page = directory_[Prefix(hash)];
    if (page == nullptr) {  // only the first page of an empty table is made here
      page = new Page;
      ++pages_;
    }
    return PutInPage(*page, item, hash, kMaxProbe);
  }

  // False when neither the home nor the `reach` buckets behind it have room.
  static bool PutInPage(Page& page, Item* item, uint64_t hash, int reach) {
    int home = HomeOf(hash);
    int at = home;
    for (int probe = 0; probe <= reach; ++probe, at = Next(at)) {
      Bucket& bucket = page.buckets[at];
      uint32_t free = bucket.Match(0);
      if (free == 0) continue;
      int slot = std::countr_zero(free);
      bucket.tags[slot] = TagOf(hash);
      bucket.items[slot] = item;
      for (int passed = home; passed != at; passed = Next(passed)) ++page.buckets[passed].spill;
      ++page.used;
      return true;
    }
    return false;
  }

  static void ClearSlot(Page& page, Item** slot, int home) {
    size_t offset = static_cast<size_t>(reinterpret_cast<char*>(slot) - reinterpret_cast<char*>(page.buckets));
    int at = static_cast<int>(offset / sizeof(Bucket));
    Bucket& bucket = page.buckets[at];
    bucket.tags[slot - bucket.items] = 0;
    for (int passed = home; passed != at; passed = Next(passed)) --page.buckets[passed].spill;
    --page.used;
  }

  void Split(size_t prefix) {
    Page* old = directory_[prefix];
    if (old->depth == depth_) {
      DoubleDirectory();
      prefix *= 2;
    }
    assert(old->depth < kMaxDepth);
    int depth = old->depth + 1;
    auto* low = new Page;
    auto* high = new Page;
    low->depth = high->depth = depth;
    ++pages_;
    Distribute(*old, [&](uint64_t hash) { return (hash >> (64 - depth)) & 1 ? high : low; });
    size_t span = size_t{1} << (depth_ - old->depth);
    size_t first = prefix & ~(span - 1);
    for (size_t i = 0; i < span; ++i) directory_[first + i] = i < span / 2 ? low : high;
    delete old;
  }

  // Moves every item of `from` to the page that `choose(hash)` names. The keys are fetched ahead in small groups, since
  // each is a cache miss of its own.
  template <class Choose>
  void Distribute(const Page& from, Choose&& choose) {
    for (int b = 0; b < kBuckets; ++b) {
      if (b + 2 < kBuckets)
        for (int i = 0; i < kSlots; ++i)
          if (from.buckets[b + 2].tags[i] != 0) Prefetch(from.buckets[b + 2].items[i]);
      for (int i = 0; i < kSlots; ++i) {
        if (from.buckets[b].tags[i] == 0) continue;
        Item* item = from.buckets[b].items[i];
        uint64_t hash = Hash(item->Key());
        // In another order an item may come to lie farther than kMaxProbe from home; a page that has room takes it.
        [[maybe_unused]] bool placed = PutInPage(*choose(hash), item, hash, kBuckets - 1);
        assert(placed);
      }
    }
  }

  void DoubleDirectory() {
    std::vector<Page*> wider(directory_.size() * 2);
    for (size_t i = 0; i < directory_.size(); ++i) wider[2 * i] = wider[2 * i + 1] = directory_[i];
    directory_ = std::move(wider);
    ++depth_;
  }

  void MaybeMerge(size_t prefix) {
    Page* page = directory_[prefix];
    if (page->depth == 0) return;
    size_t span = size_t{1} << (depth_ - page->depth);
    size_t first = prefix & ~(span - 1);
    size_t sibling_first = first ^ span;
    Page* sibling = directory_[sibling_first];
    if (sibling->depth != page->depth || sibling->used + page->used > kMergedAtMost) return;
    auto merged = std::make_unique<Page>();
    merged->depth = page->depth - 1;
    Distribute(*page, [&](uint64_t) { return merged.get(); });
    Distribute(*sibling, [&](uint64_t) { return merged.get(); });
    Page* kept = merged.release();
    size_t low = first < sibling_first ? first : sibling_first;
    for (size_t i = 0; i < 2 * span; ++i) directory_[low + i] = kept;
    delete page;
    delete sibling;
    --pages_;
    MaybeHalveDirectory();
  }

  // Looks for a page that still needs the last bit only when the table is small against its directory.
  void MaybeHalveDirectory() {
    if (depth_ == 0 || pages_ * 4 > directory_.size()) return;
    for (size_t i = 0; i < directory_.size(); i += 2)
      if (directory_[i] != directory_[i + 1]) return;
    std::vector<Page*> narrower(directory_.size() / 2);
    for (size_t i = 0; i < narrower.size(); ++i) narrower[i] = directory_[2 * i];
    directory_ = std::move(narrower);
    --depth_;
  }

  template <class Visit>
  void ForEachPage(Visit&& visit) const {
    const Page* last = nullptr;
    for (const Page* page : directory_) {
      if (page == last || page == nullptr) continue;
      last = page;
      visit(*page);
    }
  }

  void FreePages() {
    Page* last = nullptr;
    for (Page* page : directory_) {
      if (page == last) continue;
      delete last;
      last = page;
    }
    delete last;
  }

  // Calls visit for the items of `page` whose home is bucket `home`.
  template <class Visit>
  void VisitHome(const Page& page, int home, Visit&& visit) const {
    int at = home;
    for (int probe = 0; probe < kBuckets; ++probe, at = Next(at)) {
      const Bucket& bucket = page.buckets[at];
      for (int i = 0; i < kSlots; ++i)
        if (bucket.tags[i] != 0 && HomeOf(Hash(bucket.items[i]->Key())) == home) visit(bucket.items[i]);
      if (bucket.spill == 0) return;
    }
  }

  // A cursor is prefix (kPrefixBits) | page depth (5 bits) | bucket (6 bits): under 2^53, which JavaScript can hold.
  static constexpr int kPrefixBits = 40;
  struct Place {
    uint64_t prefix;  // top kPrefixBits of the hashes where the page begins
    int depth;        // depth of the page when the cursor was given out
    int bucket;
  };
  static Place Decode(uint64_t cursor) {
    Place place{(cursor >> 11) & ((1ull << kPrefixBits) - 1), static_cast<int>((cursor >> 6) & 31),
                static_cast<int>(cursor & 63)};
    if (place.bucket >= kBuckets) place.bucket = 0;
    if (place.depth > kMaxDepth) place.depth = kMaxDepth;
    return place;
  }
  static uint64_t Encode(Place place) {
    return (place.prefix << 11) | (static_cast<uint64_t>(place.depth) << 6) | static_cast<uint64_t>(place.bucket);
  }

  uint64_t seed_;
  size_t size_ = 0;
  size_t pages_ = 0;
  int depth_ = 0;
  std::vector<Page*> directory_;
};

template <class Item>
template <class Visit>
uint64_t HashIndex<Item>::Scan(uint64_t cursor, Visit&& visit) const {
  Place place = Decode(cursor);
  const Page* page = directory_[depth_ == 0 ? 0 : static_cast<size_t>(place.prefix >> (kPrefixBits - depth_))];
  if (page == nullptr) return 0;
  int depth = page->depth;
  uint64_t width = 1ull << (kPrefixBits - depth);
  uint64_t begin = place.prefix & ~(width - 1);
  // The page was merged since: its other half, behind the old page, has not been seen at all unless the old page was
  // the last part of it.
  uint64_t old_end = place.prefix + (1ull << (kPrefixBits - place.depth));
  if (depth < place.depth && old_end != begin + width) place.bucket = 0;
  VisitHome(*page, place.bucket, visit);
  if (place.bucket + 1 < kBuckets) {
    // A page that split since keeps its own, smaller end; one that merged starts from its own beginning.
    return Encode({depth < place.depth ? begin : place.prefix, depth, place.bucket + 1});
  }
  uint64_t next = begin + width;
  if (next >> kPrefixBits != 0) return 0;
  return Encode({next, depth, 0});
}

template <class Item>
Item* HashIndex<Item>::PickRandom(Random& random) const {
  if (size_ == 0) return nullptr;
  for (;;) {
    size_t at = random.Below(directory_.size());
    const Page* page = directory_[at];
    // A shallow page stands in the directory several times: accept only its first place, so that pages are equal.
    size_t span = size_t{1} << (depth_ - page->depth);
    if ((at & (span - 1)) != 0) continue;
    const Bucket& bucket = page->buckets[random.Below(kBuckets)];
    int slot = static_cast<int>(random.Below(kSlots));
    if (bucket.tags[slot] != 0) return bucket.items[slot];
  }
}

template <class Item>
bool HashIndex<Item>::CheckInvariants() const {
  size_t items = 0;
  size_t pages = 0;
  bool good = directory_.size() == size_t{1} << depth_;
  ForEachPage([&](const Page& page) {
    ++pages;
    size_t used = 0;
    for (const Bucket& bucket : page.buckets)
      for (int i = 0; i < kSlots; ++i) {
        if (bucket.tags[i] == 0) continue;
        ++used;
        uint64_t hash = Hash(bucket.items[i]->Key());
        if (directory_[Prefix(hash)] != &page || Find(bucket.items[i]->Key(), hash) != bucket.items[i]) good = false;
      }
    if (used != page.used) good = false;
    items += used;
  });
  return good && items == size_ && pages == pages_;
}

}  // namespace respite
