// The longer functions of HashIndex (hash_index.h).
#pragma once

namespace respite {

template <class Slot, class Hasher>
auto HashIndex<Slot, Hasher>::NewPage(int buckets, int depth, uint32_t prefix) -> PageRef {
  ++page_count_;
  deepest_page_count_ += depth == depth_ ? 1 : 0;
  bucket_count_ += static_cast<size_t>(buckets);
  const size_t bytes = Page::BytesOf(buckets);
  const bool is_stored = page_count_ > kStorePages && bytes % HashPageStore::kStep == 0;
  if (is_stored && store_ == nullptr) store_ = std::make_unique<HashPageStore>();
  void* memory = is_stored ? store_->Allocate(bytes) : ::operator new (bytes, std::align_val_t{alignof(Page)});
  return PageRef::Create(memory, buckets, depth, prefix, is_stored);
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::DeletePage(PageRef page) {  // frees a page; does nothing for a null reference
  if (!page) return;
  --page_count_;
  deepest_page_count_ -= page->depth == depth_ ? 1 : 0;
  bucket_count_ -= static_cast<size_t>(page.BucketCount());
  if (page->is_stored)
    store_->Free(page.Get(), Page::BytesOf(page.BucketCount()));
  else
    ::operator delete (page.Get(), std::align_val_t{alignof(Page)});
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::FillHoles() {  // moves pages into the places of freed pages, and corrects the directory
  if (store_ == nullptr) return;
  store_->FillHoles([&](void* memory, size_t bytes) {
    const auto* page = static_cast<const Page*>(memory);
    const PageRef moved(memory, static_cast<int>((bytes - Page::BytesOf(0)) / sizeof(Bucket)), page->depth);
    SetDirectory(DirectoryIndexOf(uint64_t{page->prefix} << 32), Span(moved), moved);
  });
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::LeaveStore() {  // moves all pages out of the store, and frees it
  for (size_t at = 0; at < directory_.size(); at += Span(directory_[at])) {
    const PageRef page = directory_[at];
    if (!page->is_stored) continue;
    const size_t bytes = Page::BytesOf(page.BucketCount());
    void* memory = ::operator new (bytes, std::align_val_t{alignof(Page)});
    std::memcpy(memory, page.Get(), bytes);
    const PageRef moved(memory, page.BucketCount(), page->depth);
    moved->is_stored = false;
    SetDirectory(at, Span(moved), moved);
  }
  store_.reset();
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::FreePages() {  // frees all pages of the directory
  ForEachPage([&](PageRef page) {
    if (page && !page->is_stored) ::operator delete (page.Get(), std::align_val_t{alignof(Page)});
  });
  store_.reset();
  page_count_ = deepest_page_count_ = bucket_count_ = 0;
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::ResizePage(size_t at, int buckets) {  // replaces the page directory_[at] by a new one
  const PageRef old = directory_[at];
  PageFiller filler(*this, buckets, old->depth, old->prefix);
  MoveSlots(old, filler, filler);
  const size_t first = at & ~(Span(old) - 1);
  SetDirectory(first, Span(old), filler.Page());
  MarkCollisions(first);
  DeletePage(old);
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::SplitPage(size_t at) {  // splits a page in two by one more bit of the hash
  const PageRef old = directory_[at];
  const int buckets = BucketsFor(old->used / 2);
  PageFiller low(*this, buckets, old->depth + 1, old->prefix);
  PageFiller high(*this, buckets, old->depth + 1, old->prefix | (1u << 31) >> old->depth);
  MoveSlots(old, low, high);
  const size_t half = Span(old) / 2;
  const size_t first = at & ~(Span(old) - 1);
  SetDirectory(first, half, low.Page());
  SetDirectory(first + half, half, high.Page());
  MarkCollisions(first);
  MarkCollisions(first + half);
  DeletePage(old);
  PrepareDoubling();
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::MoveSlots(PageRef from,  // moves slots to low or high by their next hash bit
                                        PageFiller& low, PageFiller& high) {
  const int depth = from->depth;
  const int new_depth = low.Page()->depth;
  const int window = HashTrace::WindowOf(depth);
  const int new_window = HashTrace::WindowOf(new_depth);
  const bool by_hint = Cell::kHasHint && window == new_window;
  for (int b = 0; b < from.BucketCount(); ++b) {
    if (!by_hint && b + 2 < from.BucketCount()) PrefetchItems(from->buckets[b + 2]);
    const Bucket& bucket = from->buckets[b];
    for (int i = 0; i < kSlotsPerBucket; ++i) {
      if (bucket.IsFree(i)) continue;
      const Slot& slot = bucket.cells[i].Get();
      if (by_hint) {
        const HashTrace trace{0, bucket.cells[i].Hint()};
        (trace.IsInUpperHalf(depth) ? high : low).Put(slot, trace);
      } else {
        const uint64_t hash = Hash(SlotKey(slot));
        const bool is_high = HashTrace::Of(hash, window).IsInUpperHalf(depth);
        (is_high ? high : low).Put(slot, HashTrace::Of(hash, new_window));
      }
    }
  }
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::MergePageIfSparse(size_t at) {  // merges a page with its sibling if both are nearly empty
  const PageRef page = directory_[at];
  if (page->depth == 0) return;
  const size_t span = Span(page);
  const size_t first = at & ~(span - 1);
  const size_t sibling_first = first ^ span;
  const PageRef sibling = directory_[sibling_first];
  const size_t used = size_t{sibling->used} + page->used;
  if (sibling->depth != page->depth || used > kMaxMergedItems) return;
  const uint32_t prefix = page->prefix < sibling->prefix ? page->prefix : sibling->prefix;
  PageFiller merged(*this, BucketsFor(used), page->depth - 1, prefix);
  MoveSlots(page, merged, merged);
  MoveSlots(sibling, merged, merged);
  const size_t low = first < sibling_first ? first : sibling_first;
  SetDirectory(low, 2 * span, merged.Page());
  MarkCollisions(low);
  DeletePage(page);
  DeletePage(sibling);
  // The directory shrinks only if it has four entries per page or more. Otherwise the next split might double the
  // directory again.
  while (depth_ > 0 && deepest_page_count_ == 0 && page_count_ * 4 <= directory_.size()) HalveDirectory();
}

template <class Slot, class Hasher>
template <class Visit>
uint64_t HashIndex<Slot, Hasher>::Scan(uint64_t cursor, Visit&& visit) const {
  Place place = DecodeCursor(cursor);
  const size_t at = depth_ == 0 ? 0 : static_cast<size_t>(place.prefix >> (kPrefixBits - depth_));
  const PageRef page = directory_[at];
  if (!page) return 0;
  int depth = page->depth;
  uint64_t width = 1ull << (kPrefixBits - depth);
  uint64_t begin = place.prefix & ~(width - 1);
  // Starts at the first position of the page if the page was merged with its neighbours after the cursor was issued,
  // because the scan has not visited the items of the neighbours after the old page. (If the old page was the last one,
  // there are none.)
  uint64_t old_end = place.prefix + (1ull << (kPrefixBits - place.depth));
  if (depth < place.depth && old_end != begin + width) place.position = 0;
  const int bucket = page.HomeBucketAt(place.position);
  VisitHome(page, bucket, visit);
  VisitCollisions(at, bucket, visit);
  if (bucket + 1 < page.BucketCount()) {
    // Returns the cursor of the next bucket. Since the scan got its last cursor, the page may have merged or split.
    // After a merge (depth < place.depth), `begin` is the prefix of the merged page. If the scan must visit the whole
    // merged page, place.position is 0 here, so this call has visited its first bucket.
    // After a split, place.prefix is in the lower half. The scan finishes that half, and then visits the whole upper
    // half, so it may visit items again.
    return EncodeCursor({depth < place.depth ? begin : place.prefix, depth, page.FirstPositionOf(bucket + 1)});
  }
  uint64_t next = begin + width;
  if (next >> kPrefixBits != 0) return 0;
  return EncodeCursor({next, depth, 0});
}

template <class Slot, class Hasher>
template <class Visit>
bool HashIndex<Slot, Hasher>::ForEachWhile(Visit&& visit) const {  // visits slots until visit(slot) is false
  constexpr int kAhead = 2;                                        // buckets
  PageRef last;
  for (const PageRef page : directory_) {
    if (page == last) continue;
    last = page;
    for (int b = 0; b < page.BucketCount(); ++b) {
      if (b + kAhead < page.BucketCount()) PrefetchItems(page->buckets[b + kAhead]);
      for (int i = 0; i < kSlotsPerBucket; ++i)
        if (!page->buckets[b].IsFree(i) && !visit(page->buckets[b].cells[i].Get())) return false;
    }
  }
  return collisions_ == nullptr || collisions_->ForEachWhile(visit);
}

template <class Slot, class Hasher>
Slot HashIndex<Slot, Hasher>::PickRandom(Random& random) const {  // a random slot; Slot{}: the table is empty
  if (size_ == 0) return Slot{};
  if (DrawsCollision(random, size_ - CollisionCount())) return collisions_->PickRandom(random);
  for (;;) {
    const Bucket& bucket = RandomBucket(random);
    int place = static_cast<int>(random.Below(kSlotsPerBucket));
    if (!bucket.IsFree(place)) return bucket.cells[place].Get();
  }
}

template <class Slot, class Hasher>
template <class Visit>
void HashIndex<Slot, Hasher>::VisitRandomBucket(Random& random,  // visits the slots of a random bucket, perhaps none
                                                Visit&& visit) const {
  if (size_ == 0) return;
  if (DrawsCollision(random, bucket_count_)) return visit(collisions_->PickRandom(random));
  const Bucket& bucket = RandomBucket(random);
  PrefetchItems(bucket);
  for (int i = 0; i < kSlotsPerBucket; ++i)
    if (!bucket.IsFree(i)) visit(bucket.cells[i].Get());
}

template <class Slot, class Hasher>
bool HashIndex<Slot, Hasher>::IsConsistent() const {  // for tests; false: the structure violates one of its rules
  size_t slots = 0;
  size_t pages = 0;
  size_t deepest = 0;
  size_t buckets = 0;
  bool good = directory_.size() == size_t{1} << depth_;
  const auto is_found = [&](const Slot& slot, uint64_t hash) { return Find(SlotKey(slot), hash) == slot; };
  ForEachPage([&](PageRef page) {
    ++pages;
    buckets += static_cast<size_t>(page.BucketCount());
    if (page->depth == depth_) ++deepest;
    size_t used = 0;
    for (int b = 0; b < page.BucketCount(); ++b)
      for (int i = 0; i < kSlotsPerBucket; ++i) {
        if (page->buckets[b].IsFree(i)) continue;
        ++used;
        const Slot& slot = page->buckets[b].cells[i].Get();
        uint64_t hash = Hash(SlotKey(slot));
        if (Cell::kHasHint && page->buckets[b].cells[i].Hint() != page.TraceOf(hash).hint) good = false;
        if (PageOf(hash) != page || !is_found(slot, hash)) good = false;
      }
    if (used != page->used || PageOf(uint64_t{page->prefix} << 32) != page) good = false;
    slots += used;
  });
  if (collisions_ != nullptr) {
    collisions_->ForEachBetween(0, UINT64_MAX, [&](const auto& item) {
      ++slots;
      if (item.hash != Hash(SlotKey(item.slot)) || !is_found(item.slot, item.hash)) good = false;
    });
    if (CollisionCount() == 0) good = false;
  }
  return good && slots == size_ && pages == page_count_ && deepest == deepest_page_count_ && buckets == bucket_count_;
}

}  // namespace respite
