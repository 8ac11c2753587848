// HnswGraph: finds the vectors that are most similar to a vector, without looking at all of them. It is a Hierarchical
// Navigable Small World graph (Malkov and Yashunin, 2016).
//
//   layer 2   o──────────────────o            Each node is on the layers from 0 to its level. A search goes from the
//   layer 1   o────────o─────────o────o       entry node of the top layer to the nearest node of each layer. On layer
//   layer 0   o──o──o──o──o──o───o──o─o──o    0, it keeps the `ef` nearest nodes found so far, and expands those.
//
// Links are symmetric: if a node links to another, then the other links back. So a node can be removed for good, by
// visiting only its neighbours. A node has at most m links on each layer above 0, and 2 * m on layer 0.
//
// A node is one record of a page, and its number (the slot) is its address:
//
//   page  | Node | vector | links of layer 0 | extra | Node | vector | …       links are slots, 4 bytes each
//
// `extra` belongs to the owner of the graph, which stores names there. Nodes above layer 0, one of `m` on average, have
// a block for the links of their upper layers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "datatypes/vectors/vector_format.h"

namespace respite {

struct VectorHit {     // a node that a search has found
  float distance = 0;  // distance from the query, from 0 to 2
  uint32_t slot = 0;   // the number of the node

  // Orders nodes by distance, and nodes with equal distances by slot. Floats that are not negative have the same order
  // as their bits, so one comparison of integers is enough.
  bool operator<(const VectorHit& other) const { return Key() < other.Key(); }

 private:
  uint64_t Key() const { return uint64_t{std::bit_cast<uint32_t>(distance)} << 32 | slot; }
};

class VisitedSlots {  // the slots of the nodes that one search has visited
 public:
  void Reset(uint32_t slots) {  // empties the set, and makes room for slots below this number
    bits_.assign((size_t{slots} + 63) / 64, 0);
  }
  bool Add(uint32_t slot) {  // adds a slot; false: the set has it already, or Reset made no room for it
    if (slot / 64 >= bits_.size()) return false;
    uint64_t& word = bits_[slot / 64];
    const uint64_t bit = uint64_t{1} << (slot % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  size_t UsedBytes() const { return bits_.capacity() * sizeof(uint64_t); }  // memory in bytes

 private:
  std::vector<uint64_t> bits_;  // bit i: the set contains slot i
};

class HnswGraph {  // vectors and the links between them
 public:
  static constexpr uint32_t kNone = UINT32_MAX;  // no slot
  static constexpr uint32_t kMaxLevel = 16;      // the highest level of a node
  static constexpr uint32_t kMaxM = 4096;        // the greatest `m`; layer 0 has up to 2 * m links

  // `m`: maximum number of links per node and layer above 0; `extra_bytes`: memory per node for the owner, a multiple
  // of 8, filled with zeros at first. Requires: 0 < m <= kMaxM.
  HnswGraph(const VectorFormat& format, uint32_t m, uint32_t extra_bytes);
  HnswGraph(const HnswGraph& other);  // copies all nodes, with their slots, links and extra bytes
  HnswGraph& operator=(const HnswGraph&) = delete;
  ~HnswGraph();

  const VectorFormat& format() const { return format_; }      // encoding and dimensions of the vectors
  uint32_t m() const { return m_; }                           // maximum number of links per node and layer above 0
  uint32_t Count() const { return count_; }                   // number of nodes
  uint32_t SlotLimit() const { return slot_limit_; }          // all slots are below this number
  bool IsUsed(uint32_t slot) const { return At(slot).used; }  // false: there is no node; requires: slot < SlotLimit()
  uint32_t Entry() const { return entry_; }  // slot of the node where searches begin; kNone: empty graph
  uint32_t TopLayer() const { return count_ == 0 ? 0 : At(entry_).level; }  // the highest layer that has nodes
  size_t UsedBytes() const;                                                 // memory of the graph; cost: O(pages)

  uint32_t PickRandom(Random& random) const;  // the slot of any node, each with the same chance; requires: Count() > 0

  // The functions from here to DistanceOf require that the slot is used.
  uint32_t LevelOf(uint32_t slot) const { return At(slot).level; }  // the highest layer of this node
  StoredVector VectorOf(uint32_t slot) const {  // the vector of a node, as a view that is valid until the next Insert
    return {Record(slot) + sizeof(Node), At(slot).scale};
  }
  float LengthOf(uint32_t slot) const { return At(slot).length; }  // length of the vector before it was normalised
  // The memory of a node that the owner of the graph uses for its own data. The address is valid until the next Insert.
  char* ExtraOf(uint32_t slot) { return Record(slot) + extra_offset_; }  // the owner's memory in the node's record
  const char* ExtraOf(uint32_t slot) const { return Record(slot) + extra_offset_; }  // the owner's memory in the record
  std::span<const uint32_t> LinksOf(uint32_t slot, uint32_t layer) const {  // neighbours; requires layer <= level
    return {FirstLinkAt(slot, layer), LinkCountAt(slot, layer)};
  }
  uint32_t MaxLinksOn(uint32_t layer) const { return layer == 0 ? 2 * m_ : m_; }  // limit of links per node
  float DistanceOf(uint32_t slot, const StoredVector& query) const {  // distance of a node from a vector, from 0 to 2
    return format_.Distance(VectorOf(slot), query);
  }

  // On average, each layer has 1 / m of the nodes of the layer below. The level of a node is its highest layer.
  uint32_t LevelFor(uint64_t random_number) const;  // a random level for a new node, from 64 random bits
  // Returns the nodes in ascending order of distance. `entries` are nodes of this layer, where the search begins.
  std::vector<VectorHit> SearchLayer(const StoredVector& query,  // the `ef` nodes of a layer nearest to `query`
                                     std::span<const VectorHit> entries, uint32_t ef, uint32_t layer) const;
  // Adds a node, and links it on each layer with some of the nearest `ef` nodes that a search of the layer finds. Cost:
  // O(ef * m * log n) distances.
  uint32_t Insert(const StoredVector& vector, float length,  // adds a node and links it; returns its slot
                  uint32_t level, uint32_t ef);
  // Removes the node and its links. Then links former neighbours of the node with each other, the nearest pairs first.
  // Cost: O(m * m) distances, m being the number of links of a node; at most 64 nodes of a layer are linked. If the
  // node was the entry and no node is left above layer 0, also O(SlotLimit()).
  void Erase(uint32_t slot);  // removes a node and its links

  // An interrupted search compares this number, to notice that the graph has changed since its last step.
  uint64_t Changes() const { return changes_; }  // a number that changes whenever the graph changes
  uint64_t Serial() const { return serial_; }    // a number that no other graph of this process has or had
  VisitedSlots TakeVisited() const { return std::move(visited_); }  // memory for a search; GiveVisited takes it back
  void GiveVisited(VisitedSlots visited) const {                    // keeps the memory of a search that has ended
    visited_ = std::move(visited);
  }
  // The search is greedy and begins at the entry node. Requires: the graph is not empty.
  VectorHit Descend(const StoredVector& query, uint32_t layer) const;  // near `query`; a search of `layer` begins there

  // The functions from here to ResolveLinks build a graph from a file. The reader adds all nodes with AddUnlinked, and
  // then their links with AddRawLink, which takes the ids that nodes have in the file. At the end, ResolveLinks
  // replaces the ids by slots.
  uint32_t AddUnlinked(const StoredVector& vector, float length, uint32_t level);  // adds a node, returns its slot
  void SetScaleAndLength(uint32_t slot, float scale, float length) {  // sets StoredVector::scale, and the length
    At(slot).scale = scale;
    At(slot).length = length;
  }
  bool AddRawLink(uint32_t from, uint32_t number, uint32_t layer);  // adds a link to the id `number`; false: no room
  // `slot_of` returns the slot for an id, or kNone. Returns false if an id stands for no node of the layer, if a link
  // occurs twice, or if a link has no link back. The graph must not be used in these cases. `secret` is a random number
  // that the author of the file does not know; it helps to find missing links. Cost: O(n * m).
  bool ResolveLinks(const std::function<uint32_t(uint32_t)>& slot_of,  // sets the links read from a file; false: bad
                    uint64_t secret);

  void Prefetch(uint32_t slot) const {  // prefetches the vector of a node
    const char* at = Record(slot);
    for (size_t i = 0; i < prefetch_bytes_; i += 64) __builtin_prefetch(at + i);
  }
  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  struct Node {                 // the head of a record
    uint32_t* upper = nullptr;  // links of layers 1 to `level`: for each layer a count, and m slots; null: level is 0
    float scale = 0;            // kInt8: the number that 127 stands for; otherwise unused
    float length = 0;           // length of the vector before it was normalised
    uint32_t place = 0;         // index in by_level_[level]; of a free record: the slot of the next free record
    uint16_t count = 0;         // number of links on layer 0
    uint8_t level = 0;          // the highest layer of this node
    bool used = false;          // false: the record is free
  };

  // Record, At, UpperLinksOf and FirstLinkAt return addresses in the memory of a node. The next AddRoom may move this
  // memory. UpperLinksOf returns the address of the number of links on a layer above 0; the links follow that number.
  char* Record(uint32_t slot) { return pages_[slot >> page_shift_] + size_t{slot & page_mask_} * record_bytes_; }
  const char* Record(uint32_t slot) const {  // address of the node's record
    return pages_[slot >> page_shift_] + size_t{slot & page_mask_} * record_bytes_;
  }
  Node& At(uint32_t slot) { return *reinterpret_cast<Node*>(Record(slot)); }
  const Node& At(uint32_t slot) const { return *reinterpret_cast<const Node*>(Record(slot)); }
  uint32_t* UpperLinksOf(uint32_t slot, uint32_t layer) {  // layer above 0: number of links, then the links
    return At(slot).upper + size_t{layer - 1} * (m_ + 1);
  }
  const uint32_t* UpperLinksOf(uint32_t slot, uint32_t layer) const {  // layer above 0: number of links, then the links
    return At(slot).upper + size_t{layer - 1} * (m_ + 1);
  }
  uint32_t* FirstLinkAt(uint32_t slot, uint32_t layer) {  // the first of LinkCountAt(slot, layer) links
    return layer == 0 ? reinterpret_cast<uint32_t*>(Record(slot) + links_offset_) : UpperLinksOf(slot, layer) + 1;
  }
  const uint32_t* FirstLinkAt(uint32_t slot, uint32_t layer) const {  // the first of LinkCountAt(slot, layer) links
    return layer == 0 ? reinterpret_cast<const uint32_t*>(Record(slot) + links_offset_) : UpperLinksOf(slot, layer) + 1;
  }
  uint32_t LinkCountAt(uint32_t slot, uint32_t layer) const {  // number of links of the node on this layer
    return layer == 0 ? At(slot).count : *UpperLinksOf(slot, layer);
  }
  void SetLinkCount(uint32_t slot, uint32_t layer, uint32_t count);  // sets the number of links on a layer
  size_t UpperBytes(uint32_t level) const {                          // bytes of the links of the layers 1 to `level`
    return size_t{level} * (m_ + 1) * sizeof(uint32_t);
  }

  uint32_t TakeSlot();  // returns an unused slot for a new node; makes room if necessary
  void AddRoom();       // makes room for more nodes: adds a page of records, or enlarges the first page
  uint32_t Create(const StoredVector& vector, float length, uint32_t level);  // makes a node without links
  void Free(uint32_t slot);                                                   // frees the record of a node

  bool HasLink(uint32_t from, uint32_t to, uint32_t layer) const;  // true: `from` has a link to `to`
  bool HasRoom(uint32_t slot, uint32_t layer) const {              // true: the node may have one more link
    return LinkCountAt(slot, layer) < MaxLinksOn(layer);
  }
  void PushLink(uint32_t from, uint32_t to, uint32_t layer);    // adds a link in one direction; requires: there is room
  void RemoveLink(uint32_t from, uint32_t to, uint32_t layer);  // removes a link in one direction, if it exists
  void Link(uint32_t one, uint32_t other, uint32_t layer);      // links two nodes that both have room
  void Unlink(uint32_t one, uint32_t other, uint32_t layer);    // removes the links between two nodes
  void Connect(uint32_t slot, uint32_t layer,                   // links a new node with the best of the candidates
               std::span<const VectorHit> candidates);
  // Links `slot` with a node that has no room, and removes a link of that node. If `must` is true, links them even if
  // `slot` is a worse neighbour than all that the node has. Returns false if they were not linked.
  bool LinkToFull(uint32_t slot,  // links `slot` to the node `full`, which loses another link; false: not linked
                  const VectorHit& full, uint32_t layer, bool must);
  std::vector<VectorHit> Choose(std::span<const VectorHit> candidates,  // up to `count` neighbours in many directions
                                uint32_t count) const;
  void Reconnect(std::span<const uint32_t> nodes, uint32_t layer);  // links nodes that have lost a common neighbour
  void ChooseEntry();  // makes a node of the highest level the start of searches (entry_)

  VectorFormat format_;       // encoding and dimensions of the vectors
  uint32_t m_;                // maximum number of links per node and layer above 0
  uint32_t extra_bytes_;      // memory of the owner in each record
  size_t links_offset_;       // where the links of layer 0 begin in a record; the vector begins after the Node
  size_t extra_offset_;       // where the extra_bytes_ begin in a record
  size_t record_bytes_;       // size of the record of one node, in bytes
  size_t prefetch_bytes_;     // how many bytes at the start of a record are prefetched: Node and vector, at most 512
  uint32_t page_shift_;       // log2 of the number of records of a full page
  uint32_t page_mask_;        // number of records of a full page, minus one
  std::vector<char*> pages_;  // pages of records, all full-sized except the first one of a small graph
  uint32_t capacity_ = 0;     // number of records in all pages
  uint32_t slot_limit_ = 0;   // all records from this slot on were never used
  uint32_t free_ = kNone;     // the first free record; others follow by Node::place
  uint32_t count_ = 0;        // number of nodes
  uint32_t entry_ = kNone;    // a node of the highest level
  size_t upper_bytes_ = 0;    // memory of the links of upper layers
  std::array<std::vector<uint32_t>, kMaxLevel + 1> by_level_;  // slots of the nodes by their highest layer
  uint64_t changes_ = 0;                                       // how often the graph has changed
  const uint64_t serial_;                                      // a number that no other graph of the process has
  mutable VisitedSlots visited_;                               // marks of visited nodes, reused by the next search
};

// A search on one layer of an HnswGraph, in several steps if it is long.
//
//   HnswSearch search(graph, entries, ef, 0);
//   while (!search.Run(graph, query, accepts, has_time)) …;   other commands may change the graph between the steps
//   std::vector<VectorHit> nearest = search.TakeHits(graph);
//
// `accepts(slot)` decides whether a node may be a hit. The search also expands nodes that are not accepted.
class HnswSearch {  // a search on one layer, which may be interrupted
 public:
  enum class Verdict : uint8_t { kAccept, kReject, kStop };  // kStop: ends the search, without this node

  // `entries` are nodes of the layer with their distances. Requires: ef > 0.
  HnswSearch(const HnswGraph& graph, std::span<const VectorHit> entries, uint32_t ef, uint32_t layer)
      : ef_(ef), layer_(layer), changes_(graph.Changes()), open_(entries.begin(), entries.end()) {
    visited_ = graph.TakeVisited();
    visited_.Reset(graph.SlotLimit());
    for (const VectorHit& hit : open_) visited_.Add(hit.slot);
    std::make_heap(open_.begin(), open_.end(), IsFarther);
    neighbours_.resize(std::max<size_t>(graph.MaxLinksOn(layer), entries.size()));
    for (const VectorHit& hit : entries) neighbours_[count_++] = hit.slot;
    has_entries_ = true;
  }

  // Continues the search. Calls has_time() before each distance, and stops if it returns false. Returns true if the
  // search has ended. `graph` is the graph that the constructor got; it may have changed since then. `query` is the
  // vector that is searched for, from which the distances of the constructor's `entries` were computed.
  template <class Accepts, class HasTime>
  bool Run(const HnswGraph& graph, const StoredVector& query, Accepts&& accepts, HasTime&& has_time) {
    const bool has_changed = graph.Changes() != changes_;
    const auto is_gone = [&](uint32_t slot) {
      return has_changed && (!graph.IsUsed(slot) || graph.LevelOf(slot) < layer_);
    };
    for (;;) {
      for (; next_ < count_; ++next_) {
        if (!has_time()) return false;
        if (is_gone(neighbours_[next_])) continue;
        if (!Visit({graph.DistanceOf(neighbours_[next_], query), neighbours_[next_]}, accepts)) return true;
      }
      has_entries_ = false;
      if (open_.empty()) return true;
      const VectorHit nearest = open_.front();
      if (found_.size() >= ef_ && found_.front() < nearest) return true;
      std::pop_heap(open_.begin(), open_.end(), IsFarther);
      open_.pop_back();
      if (!is_gone(nearest.slot)) CollectNeighbours(graph, nearest.slot);
    }
  }

  // Returns the hits, nearest first. If the graph has changed since the constructor, a node may have been removed, or
  // have another distance now. The search must not be used afterwards.
  std::vector<VectorHit> TakeHits(const HnswGraph& graph) {  // moves out the hits, nearest first
    std::sort_heap(found_.begin(), found_.end());
    graph.GiveVisited(std::move(visited_));
    return std::move(found_);
  }

 private:
  static bool IsFarther(const VectorHit& one, const VectorHit& other) { return other < one; }  // true: `one` is farther

  template <class Accepts>
  bool Offer(const VectorHit& hit, Accepts& accepts) {  // adds a hit if it is accepted; false: the search ends
    const Verdict verdict = accepts(hit.slot);
    if (verdict == Verdict::kStop) return false;
    if (verdict == Verdict::kReject) return true;
    if (found_.size() >= ef_) {
      ReplaceFarthest(hit);
      return true;
    }
    found_.push_back(hit);
    std::push_heap(found_.begin(), found_.end());
    return true;
  }

  void ReplaceFarthest(const VectorHit& hit) {  // replaces the farthest of found_, if `hit` is nearer
    if (!(hit < found_.front())) return;
    size_t at = 0;
    for (size_t child = 1; child < found_.size(); child = 2 * at + 1) {
      if (child + 1 < found_.size() && found_[child] < found_[child + 1]) ++child;
      if (!(hit < found_[child])) break;
      found_[at] = found_[child];
      at = child;
    }
    found_[at] = hit;
  }

  template <class Accepts>
  bool Visit(const VectorHit& hit, Accepts& accepts) {  // looks at a new node; false: the search ends
    if (!has_entries_) {
      if (found_.size() >= ef_ && !(hit < found_.front())) return true;
      open_.push_back(hit);
      std::push_heap(open_.begin(), open_.end(), IsFarther);
    }
    return Offer(hit, accepts);
  }

  // Finds the neighbours of a node that were not visited before. Loads their vectors into the cache, because that takes
  // most of the time.
  void CollectNeighbours(const HnswGraph& graph, uint32_t slot) {  // sets neighbours_ to the new neighbours of a node
    next_ = count_ = 0;
    for (const uint32_t other : graph.LinksOf(slot, layer_)) {
      if (!visited_.Add(other)) continue;
      graph.Prefetch(other);
      neighbours_[count_++] = other;
    }
  }

  uint32_t ef_;
  uint32_t layer_;                    // the layer that is searched
  uint64_t changes_;                  // HnswGraph::Changes() when the search began
  std::vector<VectorHit> open_;       // nodes to expand: a heap, the nearest first
  std::vector<VectorHit> found_;      // the hits so far: a heap, the farthest first
  std::vector<uint32_t> neighbours_;  // the neighbours of the node that is expanded; at first the entries
  size_t next_ = 0;                   // the next of `neighbours_` to visit
  size_t count_ = 0;                  // number of slots in `neighbours_`
  bool has_entries_ = false;          // true: `neighbours_` has the entries, which are in open_ already
  VisitedSlots visited_;              // the slots that the search has visited
};

}  // namespace respite
