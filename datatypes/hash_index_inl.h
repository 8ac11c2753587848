// What HashIndex (hash_index.h) does inside: its walks and its checks.
#pragma once

namespace respite {

template <class Slot, class Hasher>
template <class Visit>
uint64_t HashIndex<Slot, Hasher>::Scan(uint64_t cursor, Visit&& visit) const {
  Place place = Decode(cursor);
  const size_t at = depth_ == 0 ? 0 : static_cast<size_t>(place.prefix >> (kPrefixBits - depth_));
  const Page* page = directory_[at];
  if (page == nullptr) return 0;
  int depth = page->depth;
  uint64_t width = 1ull << (kPrefixBits - depth);
  uint64_t begin = place.prefix & ~(width - 1);
  // The page has merged since then. Its other half, after the old page, has not been visited, unless the old page was
  // the second half itself.
  uint64_t old_end = place.prefix + (1ull << (kPrefixBits - place.depth));
  if (depth < place.depth && old_end != begin + width) place.bucket = 0;
  int bucket = place.bucket * buckets_ / kBuckets;
  VisitHome(*page, bucket, visit);
  VisitCollisions(*page, at, bucket, visit);
  if (bucket + 1 < buckets_) {
    // If the page has split, keeps its own, smaller end; if it has merged, starts from the beginning of the merged
    // page.
    return Encode({depth < place.depth ? begin : place.prefix, depth, (bucket + 1) * (kBuckets / buckets_)});
  }
  uint64_t next = begin + width;
  if (next >> kPrefixBits != 0) return 0;
  return Encode({next, depth, 0});
}

template <class Slot, class Hasher>
template <class Visit>
bool HashIndex<Slot, Hasher>::ForEachWhile(Visit&& visit) const {
  constexpr int kAhead = 2;  // buckets
  const Page* last = nullptr;
  for (const Page* page : directory_) {
    if (page == last || page == nullptr) continue;
    last = page;
    for (int b = 0; b < buckets_; ++b) {
      if (b + kAhead < buckets_) PrefetchItems(page->buckets[b + kAhead]);
      for (int i = 0; i < kSlots; ++i)
        if (page->buckets[b].tags[i] != 0 && !visit(page->buckets[b].slots[i])) return false;
    }
  }
  return collisions_ == nullptr || collisions_->ForEachWhile(visit);
}

template <class Slot, class Hasher>
Slot HashIndex<Slot, Hasher>::PickRandom(Random& random) const {
  if (size_ == 0) return Slot{};
  if (DrawsCollision(random, size_ - Collisions())) return collisions_->PickRandom(random);
  for (;;) {
    const Bucket& bucket = RandomBucket(random);
    int place = static_cast<int>(random.Below(kSlots));
    if (bucket.tags[place] != 0) return bucket.slots[place];
  }
}

template <class Slot, class Hasher>
template <class Visit>
void HashIndex<Slot, Hasher>::VisitRandomBucket(Random& random, Visit&& visit) const {
  if (size_ == 0) return;
  if (DrawsCollision(random, pages_ * static_cast<size_t>(buckets_))) return visit(collisions_->PickRandom(random));
  const Bucket& bucket = RandomBucket(random);
  PrefetchItems(bucket);
  for (int i = 0; i < kSlots; ++i)
    if (bucket.tags[i] != 0) visit(bucket.slots[i]);
}

template <class Slot, class Hasher>
bool HashIndex<Slot, Hasher>::CheckInvariants() const {
  size_t slots = 0;
  size_t pages = 0;
  size_t deepest = 0;
  bool good = directory_.size() == size_t{1} << depth_ && (buckets_ == kBuckets || depth_ == 0);
  const auto is_found = [&](const Slot& slot, uint64_t hash) { return Find(SlotKey(slot), hash) == slot; };
  ForEachPage([&](const Page& page) {
    ++pages;
    if (page.depth == depth_) ++deepest;
    size_t used = 0;
    for (int b = 0; b < buckets_; ++b)
      for (int i = 0; i < kSlots; ++i) {
        if (page.buckets[b].tags[i] == 0) continue;
        ++used;
        const Slot& slot = page.buckets[b].slots[i];
        uint64_t hash = Hash(SlotKey(slot));
        if (directory_[Prefix(hash)] != &page || !is_found(slot, hash)) good = false;
      }
    if (used != page.used) good = false;
    slots += used;
  });
  if (collisions_ != nullptr) {
    collisions_->ForEachBetween(0, UINT64_MAX, [&](const auto& item) {
      ++slots;
      if (item.hash != Hash(SlotKey(item.slot)) || !is_found(item.slot, item.hash)) good = false;
    });
    if (Collisions() == 0) good = false;
  }
  return good && slots == size_ && pages == pages_ && deepest == deepest_pages_;
}

}  // namespace respite
