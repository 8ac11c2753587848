#include "datatypes/vectors/hnsw_graph.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "base/out_of_memory.h"

namespace respite {

namespace {

constexpr size_t kPageBytes = 64 * 1024;  // a full page has at least half of these bytes, or one record

constexpr size_t Aligned(size_t bytes) { return (bytes + 7) / 8 * 8; }

// Spreads the bits of a number, as a step of splitmix64 does.
uint64_t MixedBits(uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

uint64_t NextSerial() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Records

HnswGraph::HnswGraph(const VectorFormat& format, uint32_t m, uint32_t extra_bytes)
    : format_(format), m_(m), extra_bytes_(extra_bytes), serial_(NextSerial()) {
  links_offset_ = (sizeof(Node) + format.Bytes() + 3) / 4 * 4;
  extra_offset_ = Aligned(links_offset_ + size_t{2} * m * sizeof(uint32_t));
  record_bytes_ = extra_offset_ + extra_bytes;
  prefetch_bytes_ = std::min<size_t>(sizeof(Node) + format.Bytes(), 512);
  page_shift_ = static_cast<uint32_t>(std::bit_width(std::max<size_t>(kPageBytes / record_bytes_, 1)) - 1);
  page_mask_ = (1U << page_shift_) - 1;
}

HnswGraph::HnswGraph(const HnswGraph& other) : HnswGraph(other.format_, other.m_, other.extra_bytes_) {
  slot_limit_ = other.slot_limit_;
  while (capacity_ < slot_limit_) AddRoom();
  for (uint32_t slot = 0; slot < slot_limit_; ++slot) {
    std::memcpy(Record(slot), other.Record(slot), record_bytes_);
    Node& node = At(slot);
    if (!node.used || node.upper == nullptr) continue;
    node.upper = static_cast<uint32_t*>(AllocateOrEnd(UpperBytes(node.level)));
    std::memcpy(node.upper, other.At(slot).upper, UpperBytes(node.level));
    upper_bytes_ += malloc_usable_size(node.upper);
  }
  free_ = other.free_;
  count_ = other.count_;
  entry_ = other.entry_;
  by_level_ = other.by_level_;
}

HnswGraph::~HnswGraph() {
  for (uint32_t level = 1; level <= kMaxLevel; ++level) {
    for (const uint32_t slot : by_level_[level]) std::free(At(slot).upper);
  }
  for (char* page : pages_) std::free(page);
}

size_t HnswGraph::UsedBytes() const {
  size_t bytes = pages_.capacity() * sizeof(char*) + upper_bytes_ + visited_.UsedBytes();
  for (char* page : pages_) bytes += malloc_usable_size(page);
  for (const std::vector<uint32_t>& slots : by_level_) bytes += slots.capacity() * sizeof(uint32_t);
  return bytes;
}

void HnswGraph::AddRoom() {
  const uint32_t full = page_mask_ + 1;
  if (capacity_ != 0 && capacity_ < full) {  // the first page grows, so that small graphs take little memory
    const uint32_t wanted = std::min(full, capacity_ + capacity_ / 2 + 1);
    char* page = static_cast<char*>(std::realloc(pages_[0], wanted * record_bytes_));
    if (page == nullptr) throw std::bad_alloc();
    pages_[0] = page;
    capacity_ = wanted;
    return;
  }
  const uint32_t wanted = capacity_ == 0 ? 1 : full;
  pages_.push_back(static_cast<char*>(AllocateOrEnd(wanted * record_bytes_)));
  capacity_ += wanted;
}

uint32_t HnswGraph::TakeSlot() {
  if (free_ != kNone) {
    const uint32_t slot = free_;
    free_ = At(slot).place;
    return slot;
  }
  if (slot_limit_ == capacity_) AddRoom();
  return slot_limit_++;
}

uint32_t HnswGraph::Create(const StoredVector& vector, float length, uint32_t level) {
  const uint32_t slot = TakeSlot();
  ++changes_;
  std::memset(ExtraOf(slot), 0, extra_bytes_);
  Node& node = *new (Record(slot)) Node;
  node.scale = vector.scale;
  node.length = length;
  node.level = static_cast<uint8_t>(level);
  node.used = true;
  std::memcpy(Record(slot) + sizeof(Node), vector.data, format_.Bytes());
  if (level > 0) {
    node.upper = static_cast<uint32_t*>(AllocateOrEnd(UpperBytes(level)));
    for (uint32_t layer = 1; layer <= level; ++layer) *UpperLinksOf(slot, layer) = 0;
    upper_bytes_ += malloc_usable_size(node.upper);
  }
  node.place = static_cast<uint32_t>(by_level_[level].size());
  by_level_[level].push_back(slot);
  ++count_;
  return slot;
}

void HnswGraph::Free(uint32_t slot) {
  ++changes_;
  Node& node = At(slot);
  std::vector<uint32_t>& slots = by_level_[node.level];
  slots[node.place] = slots.back();
  At(slots.back()).place = node.place;
  slots.pop_back();
  if (node.level > 0) {
    upper_bytes_ -= malloc_usable_size(node.upper);
    std::free(node.upper);
  }
  node = Node();
  node.place = free_;
  free_ = slot;
  --count_;
}

// ---------------------------------------------------------------------------------------------------------------------
// Links

void HnswGraph::SetLinkCount(uint32_t slot, uint32_t layer, uint32_t count) {
  layer == 0 ? void(At(slot).count = static_cast<uint16_t>(count)) : void(*UpperLinksOf(slot, layer) = count);
}

bool HnswGraph::HasLink(uint32_t from, uint32_t to, uint32_t layer) const {
  const std::span<const uint32_t> links = LinksOf(from, layer);
  return std::find(links.begin(), links.end(), to) != links.end();
}

void HnswGraph::PushLink(uint32_t from, uint32_t to, uint32_t layer) {
  const uint32_t count = LinkCountAt(from, layer);
  FirstLinkAt(from, layer)[count] = to;
  SetLinkCount(from, layer, count + 1);
}

void HnswGraph::RemoveLink(uint32_t from, uint32_t to, uint32_t layer) {
  uint32_t* links = FirstLinkAt(from, layer);
  const uint32_t count = LinkCountAt(from, layer);
  uint32_t* found = std::find(links, links + count, to);
  if (found == links + count) return;
  *found = links[count - 1];
  SetLinkCount(from, layer, count - 1);
}

void HnswGraph::Link(uint32_t one, uint32_t other, uint32_t layer) {
  PushLink(one, other, layer);
  PushLink(other, one, layer);
}

void HnswGraph::Unlink(uint32_t one, uint32_t other, uint32_t layer) {
  RemoveLink(one, other, layer);
  RemoveLink(other, one, layer);
}

// ---------------------------------------------------------------------------------------------------------------------
// Searching

VectorHit HnswGraph::Descend(const StoredVector& query, uint32_t layer) const {
  VectorHit best{DistanceOf(entry_, query), entry_};
  for (uint32_t at = TopLayer(); at > layer; --at) {
    for (bool moved = true; moved;) {
      moved = false;
      const std::span<const uint32_t> links = LinksOf(best.slot, at);
      for (const uint32_t slot : links) Prefetch(slot);
      for (const uint32_t slot : links) {
        const float distance = DistanceOf(slot, query);
        if (distance >= best.distance) continue;
        best = {distance, slot};
        moved = true;
      }
    }
  }
  return best;
}

std::vector<VectorHit> HnswGraph::SearchLayer(const StoredVector& query, std::span<const VectorHit> entries,
                                              uint32_t ef, uint32_t layer) const {
  HnswSearch search(*this, entries, ef, layer);
  search.Run(
      *this, query, [](uint32_t) { return HnswSearch::Verdict::kAccept; }, [] { return true; });
  return search.TakeHits(*this);
}

// ---------------------------------------------------------------------------------------------------------------------
// Inserting

uint32_t HnswGraph::LevelFor(uint64_t random_number) const {
  const double unit = (static_cast<double>(random_number >> 11) + 1) * 0x1p-53;  // above 0, at most 1
  const double level = -std::log(unit) / std::log(static_cast<double>(std::max(m_, 2U)));
  return static_cast<uint32_t>(std::min<double>(level, kMaxLevel));
}

uint32_t HnswGraph::Insert(const StoredVector& vector, float length, uint32_t level, uint32_t ef) {
  if (count_ == 0) return entry_ = Create(vector, length, level);
  const uint32_t top = TopLayer();
  const uint32_t slot = Create(vector, length, level);
  std::vector<VectorHit> nearest = {Descend(vector, std::min(level, top))};
  for (uint32_t layer = std::min(level, top) + 1; layer-- > 0;) {
    nearest = SearchLayer(vector, nearest, ef, layer);
    Connect(slot, layer, nearest);
  }
  if (level > top) entry_ = slot;
  return slot;
}

// Chooses up to `count` neighbours in different directions. First takes each candidate that is nearer to the new node
// than to all chosen ones. If these are too few, adds the nearest of the others.
std::vector<VectorHit> HnswGraph::Choose(std::span<const VectorHit> candidates, uint32_t count) const {
  std::vector<VectorHit> chosen, passed;
  for (const VectorHit& hit : candidates) {
    if (chosen.size() == count) break;
    const StoredVector vector = VectorOf(hit.slot);
    const bool is_covered = std::any_of(chosen.begin(), chosen.end(), [&](const VectorHit& other) {
      return DistanceOf(other.slot, vector) < hit.distance;
    });
    (is_covered ? passed : chosen).push_back(hit);
  }
  const size_t missing = std::min<size_t>(count - chosen.size(), passed.size());
  chosen.insert(chosen.end(), passed.begin(), passed.begin() + static_cast<ptrdiff_t>(missing));
  return chosen;
}

void HnswGraph::Connect(uint32_t slot, uint32_t layer, std::span<const VectorHit> candidates) {
  for (const VectorHit& hit : Choose(candidates, m_)) {
    if (!HasRoom(slot, layer)) break;
    if (HasLink(slot, hit.slot, layer)) continue;
    HasRoom(hit.slot, layer) ? Link(slot, hit.slot, layer) : void(LinkToFull(slot, hit, layer, false));
  }
  if (LinkCountAt(slot, layer) == 0) LinkToFull(slot, candidates.front(), layer, true);
}

// Links `slot` to full.slot, whose list of neighbours is full, so full.slot loses one neighbour, called `gone`. `gone`
// is the farthest of the neighbours that are nearer to `slot` than to full.slot. If there are none, it is the farthest
// of all neighbours. `gone` is then linked to `slot`, if `slot` has room.
// If `must` is false, the function changes nothing and returns false in two cases: (1) `gone` is not farther from
// full.slot than `slot` is; (2) `gone` is not nearer to `slot` than to full.slot, and has at most m_/2 links.
bool HnswGraph::LinkToFull(uint32_t slot, const VectorHit& full, uint32_t layer, bool must) {
  const StoredVector vector = VectorOf(full.slot);
  const StoredVector new_vector = VectorOf(slot);
  std::optional<VectorHit> covered, farthest;
  const std::span<const uint32_t> links = LinksOf(full.slot, layer);
  for (const uint32_t other : links) Prefetch(other);
  for (const uint32_t other : links) {
    const VectorHit hit{DistanceOf(other, vector), other};
    if (!farthest || *farthest < hit) farthest = hit;
    if ((!covered || *covered < hit) && DistanceOf(other, new_vector) < hit.distance) covered = hit;
  }
  const bool is_covered = covered.has_value();
  const VectorHit gone = is_covered ? *covered : *farthest;
  if (!must && gone.distance <= full.distance) return false;
  if (!is_covered && !must && LinkCountAt(gone.slot, layer) <= m_ / 2) return false;
  Unlink(full.slot, gone.slot, layer);
  Link(slot, full.slot, layer);
  if (HasRoom(slot, layer) && !HasLink(slot, gone.slot, layer)) Link(slot, gone.slot, layer);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Removing

void HnswGraph::Erase(uint32_t slot) {
  for (uint32_t layer = 0; layer <= LevelOf(slot); ++layer) {
    const std::span<const uint32_t> links = LinksOf(slot, layer);
    const std::vector<uint32_t> neighbours(links.begin(), links.end());
    for (const uint32_t other : neighbours) RemoveLink(other, slot, layer);
    Reconnect(neighbours, layer);
  }
  Free(slot);
  if (entry_ == slot) ChooseEntry();
}

// Links pairs of these nodes with each other on this layer, the nearest pair first. Skips a pair if this call has
// already given both nodes a new link, if one of them has no room for a link, or if they are linked already. Considers
// only the first 64 nodes.
void HnswGraph::Reconnect(std::span<const uint32_t> nodes, uint32_t layer) {
  struct Pair {
    float distance;
    uint32_t one, other;
  };
  const size_t considered = std::min<size_t>(nodes.size(), 64);  // bounds the work for nodes with many links
  std::vector<Pair> pairs;
  for (size_t i = 0; i < considered; ++i) {
    const StoredVector vector = VectorOf(nodes[i]);
    for (size_t k = i + 1; k < considered; ++k) {
      pairs.push_back({DistanceOf(nodes[k], vector), nodes[i], nodes[k]});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.distance < b.distance; });
  std::vector<uint32_t> served;
  const auto is_served = [&](uint32_t slot) { return std::find(served.begin(), served.end(), slot) != served.end(); };
  for (const Pair& pair : pairs) {
    if (is_served(pair.one) && is_served(pair.other)) continue;
    if (!HasRoom(pair.one, layer) || !HasRoom(pair.other, layer) || HasLink(pair.one, pair.other, layer)) continue;
    Link(pair.one, pair.other, layer);
    served.push_back(pair.one);
    served.push_back(pair.other);
  }
}

uint32_t HnswGraph::PickRandom(Random& random) const {
  uint64_t number = random.Below(count_);
  size_t level = 0;
  for (; number >= by_level_[level].size(); ++level) number -= by_level_[level].size();
  return by_level_[level][number];
}

void HnswGraph::ChooseEntry() {
  entry_ = kNone;
  for (uint32_t level = kMaxLevel + 1; level-- > 0 && entry_ == kNone;) {
    if (!by_level_[level].empty()) entry_ = by_level_[level].front();
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading and checking

uint32_t HnswGraph::AddUnlinked(const StoredVector& vector, float length, uint32_t level) {
  return Create(vector, length, level);
}

bool HnswGraph::AddRawLink(uint32_t from, uint32_t number, uint32_t layer) {
  if (!HasRoom(from, layer)) return false;
  PushLink(from, number, layer);
  return true;
}

bool HnswGraph::ResolveLinks(const std::function<uint32_t(uint32_t)>& slot_of, uint64_t secret) {
  // Each link adds a number to the sum, and the link back subtracts the same number. So the sum is 0 if every link has
  // a link back.
  uint64_t sum = 0;
  std::vector<uint64_t> linked_from(slot_limit_);  // [i]: number of the node and layer that last linked to slot i
  uint64_t node_layer = 0;
  for (uint32_t slot = 0; slot < slot_limit_; ++slot) {
    if (!IsUsed(slot)) continue;
    for (uint32_t layer = 0; layer <= LevelOf(slot); ++layer) {
      ++node_layer;
      uint32_t* links = FirstLinkAt(slot, layer);
      for (uint32_t i = 0; i < LinkCountAt(slot, layer); ++i) {
        const uint32_t other = slot_of(links[i]);
        if (other == kNone || other == slot || (layer > 0 && LevelOf(other) < layer)) return false;
        if (std::exchange(linked_from[other], node_layer) == node_layer) return false;  // the link occurs twice
        links[i] = other;
        const auto [low, high] = std::minmax(slot, other);
        const uint64_t number = MixedBits((uint64_t{low} << 32 | high) ^ MixedBits(secret + layer));
        sum += slot < other ? number : 0 - number;
      }
    }
  }
  ChooseEntry();
  return sum == 0;
}

bool HnswGraph::IsConsistent() const {
  uint32_t used = 0;
  for (uint32_t slot = 0; slot < slot_limit_; ++slot) {
    if (!IsUsed(slot)) continue;
    ++used;
    for (uint32_t layer = 0; layer <= LevelOf(slot); ++layer) {
      if (LinkCountAt(slot, layer) > MaxLinksOn(layer)) return false;
      for (const uint32_t other : LinksOf(slot, layer)) {
        if (other >= slot_limit_ || other == slot || !IsUsed(other) || LevelOf(other) < layer) return false;
        if (!HasLink(other, slot, layer)) return false;
      }
    }
  }
  return used == count_ && (entry_ != kNone) == (count_ > 0);
}

}  // namespace respite
