// The longer functions of HashIndex (hash_index.h).
#pragma once

namespace respite {

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::Resize(int buckets) {  // gives the only page this number of buckets
  Page* old = directory_[0];
  int old_buckets = std::exchange(buckets_per_page_, buckets);
  directory_[0] = NewPage(buckets, 0);
  MoveSlotsToHalves(*old, old_buckets, {directory_[0], directory_[0]});
  MarkCollisions(*directory_[0], 0);
  DeletePage(old);
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::SplitPage(size_t prefix) {  // splits a page in two by one more bit of the hash
  Page* old = directory_[prefix];
  int depth = old->depth + 1;
  Page* low = NewPage(kBucketsPerPage, depth);
  Page* high = NewPage(kBucketsPerPage, depth);
  ++page_count_;
  if (depth == depth_) deepest_page_count_ += 2;
  MoveSlotsToHalves(*old, kBucketsPerPage, {low, high});
  size_t span = Span(*old);
  size_t first = prefix & ~(span - 1);
  for (size_t i = 0; i < span; ++i) directory_[first + i] = i < span / 2 ? low : high;
  MarkCollisions(*low, first);
  MarkCollisions(*high, first + span / 2);
  DeletePage(old);
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::MoveSlotsToHalves(const Page& from, int buckets,  // by the next bit of each hash
                                                const std::array<Page*, 2>& halves) {
  const bool by_hint =
      Cell::kHasHint && buckets == buckets_per_page_ && HintEra(from.depth) == HintEra(halves[0]->depth);
  for (int b = 0; b < buckets; ++b) {
    if (!by_hint && b + 2 < buckets) PrefetchItems(from.buckets[b + 2]);
    const Bucket& bucket = from.buckets[b];
    for (int i = 0; i < kSlotsPerBucket; ++i) {
      if (bucket.tags[i] == 0) continue;
      by_hint ? MoveToHalfByHint(bucket, i, from.depth, halves) : MoveToHalfByHash(bucket.cells[i], from.depth, halves);
    }
  }
}

// Moves one slot. The slots arrive in another order than they were inserted in, so some may find no room within
// kMaxProbe of their home bucket. Therefore PutInPage may use any bucket of the page. It does not fail, because callers
// make the new pages large enough for all slots.
template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::MoveToHalfByHint(const Bucket& bucket,  // moves one slot
                                               int i, int depth, const std::array<Page*, 2>& halves) const {
  const uint32_t hint = bucket.cells[i].Hint();
  PutInPage(*halves[HalfOfHint(hint, depth)], bucket.cells[i].Get(), {bucket.tags[i], HomeBucketOfHint(hint), hint},
            kBucketsPerPage - 1);
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::MoveToHalfByHash(const Cell& cell,  // moves one slot
                                               int depth, const std::array<Page*, 2>& halves) const {
  const Slot& slot = cell.Get();
  const uint64_t hash = Hash(SlotKey(slot));
  PutInPage(*halves[HalfOfHash(hash, depth)], slot, TraceOf(hash, halves[0]->depth), kBucketsPerPage - 1);
}

template <class Slot, class Hasher>
void HashIndex<Slot, Hasher>::MergePageIfSparse(size_t prefix) {  // with its sibling, if both are nearly empty
  Page* page = directory_[prefix];
  if (page->depth == 0) return;
  size_t span = Span(*page);
  size_t first = prefix & ~(span - 1);
  size_t sibling_first = first ^ span;
  Page* sibling = directory_[sibling_first];
  if (sibling->depth != page->depth || sibling->used + page->used > kMergedAtMost) return;
  Page* merged = NewPage(kBucketsPerPage, page->depth - 1);
  MoveSlotsToHalves(*page, kBucketsPerPage, {merged, merged});
  MoveSlotsToHalves(*sibling, kBucketsPerPage, {merged, merged});
  size_t low = first < sibling_first ? first : sibling_first;
  for (size_t i = 0; i < 2 * span; ++i) directory_[low + i] = merged;
  MarkCollisions(*merged, low);
  if (page->depth == depth_) deepest_page_count_ -= 2;
  DeletePage(page);
  DeletePage(sibling);
  --page_count_;
  // The directory shrinks with a margin, because without it the next split would double the directory again.
  while (depth_ > 0 && deepest_page_count_ == 0 && page_count_ * 4 <= directory_.size()) HalveDirectory();
}

template <class Slot, class Hasher>
template <class Visit>
uint64_t HashIndex<Slot, Hasher>::Scan(uint64_t cursor, Visit&& visit) const {
  Place place = DecodeCursor(cursor);
  const size_t at = depth_ == 0 ? 0 : static_cast<size_t>(place.prefix >> (kPrefixBits - depth_));
  const Page* page = directory_[at];
  if (page == nullptr) return 0;
  int depth = page->depth;
  uint64_t width = 1ull << (kPrefixBits - depth);
  uint64_t begin = place.prefix & ~(width - 1);
  // If the page has merged since the cursor was issued, the scan has not visited the items that followed the old page.
  // So, unless the old page was the last part of the merged page, the scan starts again at the first bucket.
  uint64_t old_end = place.prefix + (1ull << (kPrefixBits - place.depth));
  if (depth < place.depth && old_end != begin + width) place.bucket = 0;
  int bucket = place.bucket * buckets_per_page_ / kBucketsPerPage;
  VisitHome(*page, bucket, visit);
  VisitCollisions(*page, at, bucket, visit);
  if (bucket + 1 < buckets_per_page_) {
    // The cursor describes the page as it is now. If the page has split since the last cursor, the prefix of `place`
    // is in the lower half: the scan continues there, and then visits the whole upper half. If the page has merged,
    // the new prefix is the beginning of the merged page; the bucket to start from was corrected above.
    return EncodeCursor(
        {depth < place.depth ? begin : place.prefix, depth, (bucket + 1) * (kBucketsPerPage / buckets_per_page_)});
  }
  uint64_t next = begin + width;
  if (next >> kPrefixBits != 0) return 0;
  return EncodeCursor({next, depth, 0});
}

template <class Slot, class Hasher>
template <class Visit>
bool HashIndex<Slot, Hasher>::ForEachWhile(Visit&& visit) const {  // until visit(slot) is false; true: all were visited
  constexpr int kAhead = 2;                                        // buckets
  const Page* last = nullptr;
  for (const Page* page : directory_) {
    if (page == last || page == nullptr) continue;
    last = page;
    for (int b = 0; b < buckets_per_page_; ++b) {
      if (b + kAhead < buckets_per_page_) PrefetchItems(page->buckets[b + kAhead]);
      for (int i = 0; i < kSlotsPerBucket; ++i)
        if (page->buckets[b].tags[i] != 0 && !visit(page->buckets[b].cells[i].Get())) return false;
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
    if (bucket.tags[place] != 0) return bucket.cells[place].Get();
  }
}

template <class Slot, class Hasher>
template <class Visit>
void HashIndex<Slot, Hasher>::VisitRandomBucket(Random& random, Visit&& visit) const {  // visits all its slots
  if (size_ == 0) return;
  if (DrawsCollision(random, page_count_ * static_cast<size_t>(buckets_per_page_)))
    return visit(collisions_->PickRandom(random));
  const Bucket& bucket = RandomBucket(random);
  PrefetchItems(bucket);
  for (int i = 0; i < kSlotsPerBucket; ++i)
    if (bucket.tags[i] != 0) visit(bucket.cells[i].Get());
}

template <class Slot, class Hasher>
bool HashIndex<Slot, Hasher>::IsConsistent() const {  // for tests; false: the structure violates one of its rules
  size_t slots = 0;
  size_t pages = 0;
  size_t deepest = 0;
  bool good = directory_.size() == size_t{1} << depth_ && (buckets_per_page_ == kBucketsPerPage || depth_ == 0);
  const auto is_found = [&](const Slot& slot, uint64_t hash) { return Find(SlotKey(slot), hash) == slot; };
  ForEachPage([&](const Page& page) {
    ++pages;
    if (page.depth == depth_) ++deepest;
    size_t used = 0;
    for (int b = 0; b < buckets_per_page_; ++b)
      for (int i = 0; i < kSlotsPerBucket; ++i) {
        if (page.buckets[b].tags[i] == 0) continue;
        ++used;
        const Slot& slot = page.buckets[b].cells[i].Get();
        uint64_t hash = Hash(SlotKey(slot));
        if (Cell::kHasHint && page.buckets[b].cells[i].Hint() != TraceOf(hash, page.depth).hint) good = false;
        if (directory_[DirectoryIndexOf(hash)] != &page || !is_found(slot, hash)) good = false;
      }
    if (used != page.used) good = false;
    slots += used;
  });
  if (collisions_ != nullptr) {
    collisions_->ForEachBetween(0, UINT64_MAX, [&](const auto& item) {
      ++slots;
      if (item.hash != Hash(SlotKey(item.slot)) || !is_found(item.slot, item.hash)) good = false;
    });
    if (CollisionCount() == 0) good = false;
  }
  return good && slots == size_ && pages == page_count_ && deepest == deepest_page_count_;
}

}  // namespace respite
