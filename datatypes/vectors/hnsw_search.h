// HnswSearch: a search on one layer of an HnswGraph, in several steps if it is long.
//
//   HnswSearch search(graph, entries, ef, 0);
//   while (!search.Run(graph, query, 10'000, accepts)) …;     other commands may change the graph between the steps
//   std::vector<VectorHit> nearest = search.TakeHits(graph);
//
// `accepts(slot)` decides whether a node may be a hit. The search also expands nodes that are not accepted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "datatypes/vectors/hnsw_graph.h"

namespace respite {

class HnswSearch {
 public:
  enum class Verdict : uint8_t { kAccept, kReject, kStop };  // kStop: ends the search, without this node

  // `entries` are nodes of the layer with their distances. Requires: ef > 0.
  HnswSearch(const HnswGraph& graph, std::span<const VectorHit> entries, uint32_t ef, uint32_t layer)
      : ef_(ef), layer_(layer), changes_(graph.Changes()), open_(entries.begin(), entries.end()) {
    visited_ = graph.TakeVisited();
    visited_.Reset(graph.SlotLimit());
    for (const VectorHit& hit : open_) visited_.Add(hit.slot);
    std::make_heap(open_.begin(), open_.end(), IsFarther);
    fresh_.resize(graph.MaxLinksOn(layer));
    new_entries_ = open_;
  }

  // Computes about `max_distances` distances at most. Returns true if the search has ended. `graph` and `query` must be
  // those of the constructor, or have the same format.
  template <class Accepts>
  bool Run(const HnswGraph& graph, const StoredVector& query, uint64_t max_distances, Accepts&& accepts) {
    if (graph.Changes() != changes_) Refresh(graph, query);
    for (const VectorHit& hit : std::exchange(new_entries_, {})) {
      if (!Offer(hit, accepts)) return true;
    }
    for (uint64_t done = 0; !open_.empty(); done += graph.LinksOf(open_taken_, layer_).size()) {
      if (done >= max_distances) return false;
      const VectorHit nearest = open_.front();
      if (found_.size() >= ef_ && found_.front() < nearest) return true;
      std::pop_heap(open_.begin(), open_.end(), IsFarther);
      open_.pop_back();
      open_taken_ = nearest.slot;
      if (!Expand(graph, query, nearest.slot, accepts)) return true;
    }
    return true;
  }

  // Returns the hits in ascending order, with their distances now. The search must not be used afterwards.
  std::vector<VectorHit> TakeHits(const HnswGraph& graph) {
    std::sort_heap(found_.begin(), found_.end());
    graph.GiveVisited(std::move(visited_));
    return std::move(found_);
  }

 private:
  static bool IsFarther(const VectorHit& one, const VectorHit& other) { return other < one; }

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

  void ReplaceFarthest(const VectorHit& hit) {  // puts a hit in the place of the first one of the heap `found_`
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

  // Looks at the neighbours of a node. First loads their vectors into the cache, because that takes most of the time.
  template <class Accepts>
  bool Expand(const HnswGraph& graph, const StoredVector& query, uint32_t slot, Accepts& accepts) {
    size_t count = 0;
    for (const uint32_t other : graph.LinksOf(slot, layer_)) {
      if (!visited_.Add(other)) continue;
      graph.Prefetch(other);
      fresh_[count++] = other;
    }
    for (size_t i = 0; i < count; ++i) {
      const VectorHit hit{graph.DistanceOf(fresh_[i], query), fresh_[i]};
      if (found_.size() >= ef_ && !(hit < found_.front())) continue;
      open_.push_back(hit);
      std::push_heap(open_.begin(), open_.end(), IsFarther);
      if (!Offer(hit, accepts)) return false;
    }
    return true;
  }

  // Drops nodes that were removed since the last step, and computes the distances of the others again.
  void Refresh(const HnswGraph& graph, const StoredVector& query) {
    changes_ = graph.Changes();
    for (std::vector<VectorHit>* hits : {&open_, &found_, &new_entries_}) {
      std::erase_if(*hits, [&](const VectorHit& hit) {
        return hit.slot >= graph.SlotLimit() || !graph.IsUsed(hit.slot) || graph.LevelOf(hit.slot) < layer_;
      });
      for (VectorHit& hit : *hits) hit.distance = graph.DistanceOf(hit.slot, query);
    }
    std::make_heap(open_.begin(), open_.end(), IsFarther);
    std::make_heap(found_.begin(), found_.end());
    fresh_.resize(std::max<size_t>(fresh_.size(), graph.MaxLinksOn(layer_)));
  }

  uint32_t ef_;
  uint32_t layer_;
  uint64_t changes_;                    // HnswGraph::Changes() in the last step
  uint32_t open_taken_ = 0;             // the node that was expanded last
  std::vector<VectorHit> open_;         // nodes to expand: a heap, the nearest first
  std::vector<VectorHit> found_;        // the hits so far: a heap, the farthest first
  std::vector<VectorHit> new_entries_;  // entries that were not offered as hits yet
  std::vector<uint32_t> fresh_;         // neighbours that were not visited before
  VisitedSlots visited_;
};

}  // namespace respite
