// ScoreTree: the members of a large sorted set in the order of their scores. A ScoreTree is an order-statistic B+-tree
// over ScoredMember records, which the tree does not own.
//
//   order    (score, bytes of the member); -0 and 0 are the same score
//   Leaf     1 KB: links to both neighbours, up to 62 scores, then as many record pointers
//   Inner    2 KB: up to 72 children, and for each its number of items and its first item as separator
//
// Scores are in separate arrays. So a search reads a few cache lines of a node, and reads records only among members
// with equal scores. A set of a million members has three levels of inner nodes and one of leaves.
//
// Invariants
//   1. Every leaf is at the same depth; leaves are linked in order.
//   2. An inner node's separator i is the first item below child i, its count i the number of items below child i.
//   3. Nodes are at least a quarter full, except the root and the nodes at either edge of the tree.
//
// A full leaf that gets one more item shares its items with a neighbour that has room. Only if there is none, it is
// split in half, as a full inner node always is. So leaves are about 85 % full. But if the item becomes the first or
// the last of the whole tree, the item goes into a new node, and the full node stays full. So items that are added in
// order fill the leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/memory.h"
#include "datatypes/scored_member.h"

namespace respite {

class ScoreTree {  // a B+-tree of the members of a sorted set by score; also finds members by rank
 private:
  struct Leaf;
  struct Inner;

 public:
  struct Item {
    double score;          // the score of the member
    ScoredMember* member;  // the record of the member, which the tree does not own
  };

  // A bound is before (kBefore) or after (kAfter) all items that are equal to a score or member.
  enum class Side : uint8_t { kBefore, kAfter };
  struct ScoreBound {  // where a search ends: before or after all items with one score
    double score;      // the score before or after which the bound is
    Side side;
  };
  // The end of a search by member, in a tree whose items all have the same score. If the scores differ, the result of
  // the search is unspecified.
  struct LexBound {  // where a search ends: before or after a member, if all scores are equal
    Bytes member;    // the bound is before or after this member, which need not exist
    Side side;
  };

  // Any change of the tree invalidates the cursor.
  class Cursor {  // iterates over the items by rank; past either end, AtEnd() is true
   public:
    Cursor() = default;
    bool AtEnd() const { return leaf_ == nullptr; }  // true: the cursor is past either end
    // Requires: !AtEnd().
    Item operator*() const;
    void Next();
    void Previous();              // goes to the item before; AtEnd() becomes true before the first
    void PrefetchAhead() const;   // prefetches the member kPrefetchDistance items ahead
    void PrefetchBehind() const;  // prefetches the member kPrefetchDistance items back

   private:
    friend class ScoreTree;
    Cursor(const Leaf* leaf, uint32_t index) : leaf_(leaf), index_(index) {}

    const Leaf* leaf_ = nullptr;
    uint32_t index_ = 0;  // index of the current item on its leaf
  };

  ScoreTree() = default;
  ScoreTree(ScoreTree&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)),
        first_(std::exchange(other.first_, nullptr)),
        last_(std::exchange(other.last_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        height_(std::exchange(other.height_, 0)),
        leaf_count_(std::exchange(other.leaf_count_, 0)),
        inner_count_(std::exchange(other.inner_count_, 0)) {}
  ScoreTree& operator=(ScoreTree&&) = delete;
  ~ScoreTree() { Clear(); }

  // Fills each leaf with at most 56 items, which leaves some room for later insertions. Cost: O(n).
  static ScoreTree FromSorted(std::span<const Item> items);  // builds a tree from items in the order of the tree

  size_t Size() const { return size_; }
  size_t UsedBytes() const;  // bytes of the nodes, without the ScoredMembers, which the tree does not own

  // Requires: no item has this score and text. Cost: O(log n); sometimes splits a node.
  void Insert(ScoredMember* member);  // adds a record at the place that its score and text determine
  // Requires: the record is in the tree, and since its insertion only ChangeScore has changed its score. Cost: O(log
  // n).
  void Remove(const ScoredMember* member);  // removes a record from the tree, without freeing the record
  // Stores another record with the same score and text. Requires: `old` is in the tree. Cost: O(log n).
  void Replace(const ScoredMember* old, ScoredMember* record);  // stores `record` where `old` was
  // Changes only one leaf if the order of the members stays as it was. Requires: the record is in the tree.
  void ChangeScore(ScoredMember* member, double score);  // sets the score, and moves the record to its new place
  // RemoveRange removes `count` items from rank `first` on, and calls visit(ScoredMember*) for each. `visit` may free
  // the record. Requires: first + count <= Size(). Cost: O(count), and O(log n) for each leaf with removed items.
  template <class Visit>
  void RemoveRange(size_t first, size_t count, Visit&& visit);  // removes items from rank `first` on, and visits each
  // Removes all items, without freeing their ScoredMembers. Cost: O(nodes).
  void Clear();  // removes all items

  // Requires: the record is in the tree. Cost: O(log n).
  size_t RankOf(const ScoredMember* member) const;  // number of items before this record, which is its rank
  size_t RankOf(const ScoreBound& bound) const;     // number of items before this bound
  size_t RankOf(const LexBound& bound) const;       // number of items before this bound

  // Cost: O(1).
  Cursor First() const { return {first_, 0}; }  // the item with the lowest rank
  Cursor Last() const;
  // Returns a cursor at the item of this rank. If there is none, the cursor is past the end (AtEnd). Cost: O(log n).
  Cursor At(size_t rank) const;
  // FirstAfter returns a cursor at the first item after the bound. LastBefore returns a cursor at the last item before
  // the bound. Cost: O(log n).
  Cursor FirstAfter(const ScoreBound& bound) const;  // the first item after this bound, or AtEnd()
  Cursor FirstAfter(const LexBound& bound) const;    // the first item after this bound, or AtEnd()
  Cursor LastBefore(const ScoreBound& bound) const;  // the last item before this bound, or AtEnd()
  Cursor LastBefore(const LexBound& bound) const;    // the last item before this bound, or AtEnd()

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  static constexpr uint32_t kMaxLeafItems = 62;     // maximum number of items on a leaf
  static constexpr uint32_t kMaxToShare = 52;       // a leaf with more items takes none from a full neighbour
  static constexpr uint32_t kMaxChildren = 72;      // maximum number of children of an inner node
  static constexpr uint32_t kBulkItems = 56;        // most items per leaf of a tree that is built from sorted items
  static constexpr uint32_t kBulkChildren = 64;     // most children per inner node of a tree built from sorted items
  static constexpr uint32_t kPrefetchDistance = 6;  // distance in items from the cursor at which members are prefetched
  static constexpr uint32_t kMaxHeight = 12;        // maximum number of levels of inner nodes, above the leaves

  // Leaf and Inner store scores and members in separate arrays, so that most searches read only the scores.
  // ForEachArray calls visit(array of one node, same array of another node) for each array, so that OpenGap, CloseGap
  // and Splice move items in all arrays.
  struct alignas(64) Leaf {
    static constexpr uint32_t kCapacity = kMaxLeafItems;  // maximum number of items
    Leaf* previous = nullptr;                             // the neighbour with lower scores
    Leaf* next = nullptr;
    uint32_t count = 0;                // number of items on this leaf
    double scores[kCapacity];          // the items' scores, ascending; the first `count` are in use
    ScoredMember* members[kCapacity];  // the items' members: members[i] has scores[i]

    uint64_t ItemCount() const { return count; }  // number of items on this leaf
    Item At(uint32_t index) const { return {scores[index], members[index]}; }
    void Set(uint32_t index, Item item) {
      scores[index] = item.score;
      members[index] = item.member;
    }
    template <class Visit>
    static void ForEachArray(Leaf& to, Leaf& from, Visit&& visit) {  // visit(array of `to`, of `from`) for each array
      visit(to.scores, from.scores);
      visit(to.members, from.members);
    }
  };
  struct alignas(64) Inner {                             // an inner node of the tree
    static constexpr uint32_t kCapacity = kMaxChildren;  // maximum number of children
    uint32_t count = 0;                                  // number of children
    uint32_t counts[kCapacity];                          // counts[i]: number of items below children[i]
    double scores[kCapacity];                            // scores[i]: the score of the first item below children[i]
    ScoredMember* members[kCapacity];                    // members[i]: the member of the first item below children[i]
    void* children[kCapacity];                           // child nodes, each a Leaf or an Inner, in order

    uint64_t ItemCount() const { return ItemsBefore(count); }  // number of items below this node
    uint64_t ItemsBefore(uint32_t index) const;                // number of items below the children before `index`
    Item At(uint32_t index) const { return {scores[index], members[index]}; }
    void Set(uint32_t index, Item item) {
      scores[index] = item.score;
      members[index] = item.member;
    }
    template <class Visit>
    static void ForEachArray(Inner& to, Inner& from, Visit&& visit) {  // visits each array of `to` and of `from`
      visit(to.counts, from.counts);
      visit(to.scores, from.scores);
      visit(to.members, from.members);
      visit(to.children, from.children);
    }
  };
  static_assert(sizeof(Leaf) == 1024 && sizeof(Inner) == 2048);

  struct ItemBound {  // where a search ends: before or after the place of one item (score and member)
    double score;     // the score of this item, which need not exist
    Bytes member;     // the member of this item
    Side side;
  };
  struct BuiltNode {  // a new node, and what its parent must store about it
    void* node;
    Item first;      // the first item below the node
    uint64_t items;  // number of items below the node
  };
  // One step of a Path: an inner node, and the index of the child that the path takes from it.
  struct Step {
    Inner* node;
    uint32_t index;  // index of the child that the path takes
  };
  struct Path {
    Step steps[kMaxHeight];  // from the root down
    Leaf* leaf;
    uint32_t index;  // on the leaf: index of the item, or number of items before the bound
  };
  struct Place {  // a place between two items: before item `index` of `leaf`, or at its end
    const Leaf* leaf;
    uint32_t index;  // index on the leaf of the item after this place; the leaf's count: none is after it
  };
  // Where a new item comes in the order of the whole tree: before all other items (kLeftEdge), after all (kRightEdge),
  // or between them (kInside). It decides how a full node is split. kInside: into halves. At an edge, the items of a
  // full leaf stay together, and the new item begins another leaf; a full inner node also stays full, or all but its
  // first child move to a new node. So inserts in order leave full nodes.
  enum class Where : uint8_t { kInside, kLeftEdge, kRightEdge };

  static uint32_t CountBefore(const double* scores,  // number of entries of a node before the bound
                              ScoredMember* const* members, uint32_t count, const ScoreBound&);
  static uint32_t CountBefore(const double* scores,  // number of entries of a node before the bound
                              ScoredMember* const* members, uint32_t count, const LexBound&);
  static uint32_t CountBefore(const double* scores,  // number of entries of a node before the bound
                              ScoredMember* const* members, uint32_t count, const ItemBound&);

  template <class Node>
  static void OpenGap(Node& node, uint32_t at, uint32_t count);  // makes room for `count` entries before entry `at`
  template <class Node>
  static void CloseGap(Node& node, uint32_t at, uint32_t count);  // removes `count` entries from `at` on
  template <class Node>
  static void Splice(Node& to, uint32_t at, Node& from,  // moves `count` entries of `from` into `to`
                     uint32_t first, uint32_t count);
  template <class Bound>
  Place Find(const Bound& bound) const;  // the place of the bound in its leaf
  template <class Bound>
  size_t Rank(const Bound& bound) const;  // number of items before the bound
  template <class Bound>
  Path PathTo(const Bound& bound) const;              // the path from the root to this bound
  Path PathToItem(const ScoredMember* member) const;  // the path from the root to this item
  Path PathToRank(size_t rank) const;                 // the path from the root to the item of this rank
  static Cursor ItemAfterPlace(Place place);          // the item after this gap; AtEnd(): there is none
  Cursor ItemBeforePlace(Place place) const;          // the item before `place`; AtEnd(): none

  // In these functions, `level` is the number of inner nodes above a node: the root has level 0. The parent of the node
  // is steps[level - 1] of the path.
  static Where WhereIs(const Path& path) {  // where in the whole tree an item comes that is inserted at `path`
    if (path.leaf->next == nullptr && path.index == path.leaf->count) return Where::kRightEdge;
    return path.leaf->previous == nullptr && path.index == 0 ? Where::kLeftEdge : Where::kInside;
  }
  bool ShareWithNeighbour(const Path& path);  // makes room on a full leaf; false: its neighbours have too little room
  void SplitLeaf(Path& path, Item item);      // splits the full leaf of `path`, and inserts `item`
  void InsertChild(Path& path, uint32_t level, void* child, Item first,  // adds a node that a split made to its parent
                   uint64_t items, Where where);
  void GrowRoot(void* right, Item first, uint64_t items);  // makes a new root above the old root and `right`
  void AddToItemCounts(Path& path, int64_t difference);    // adds `difference` to the item counts along the path
  static void UpdateSeparators(Path& path,  // `first` now begins the node at `level`: updates the nodes above
                               uint32_t level, Item first);

  void EraseFromLeaf(Path& path, uint32_t first, uint32_t count);  // erases items of a leaf; mends the nodes above
  void RemoveChild(Path& path, uint32_t level);                    // removes the freed node at `level` from its parent
  void ShrinkRoot();  // makes the root's only child the root, as often as necessary
  template <class Node>
  void Mend(Path& path, uint32_t level);  // merges the sparse node at `level` with a sibling, or fills both equally
  template <class Node>
  static void Balance(Inner& parent, uint32_t left_index);  // fills two neighbouring children equally
  void Drop(Leaf* leaf);                                    // unlinks the leaf from its neighbours, and frees it
  void Drop(Inner* inner);                                  // frees the node
  void FreeBelow(void* node, uint32_t height);              // frees a node and all nodes below it

  static void SetChild(Inner& inner, uint32_t index, const BuiltNode& child);  // stores `child` as child number `index`
  std::vector<BuiltNode> BuildLevel(const std::vector<BuiltNode>& below);      // makes parents for these nodes
  class Checker;

  void* root_ = nullptr;   // a Leaf when height_ is 0, else an Inner
  Leaf* first_ = nullptr;  // the leaf with the lowest scores
  Leaf* last_ = nullptr;
  size_t size_ = 0;
  uint32_t height_ = 0;     // number of levels of inner nodes; 0: the root is a leaf
  size_t leaf_count_ = 0;   // number of leaves
  size_t inner_count_ = 0;  // number of inner nodes
};

inline ScoreTree::Item ScoreTree::Cursor::operator*() const { return leaf_->At(index_); }

inline void ScoreTree::Cursor::Next() {
  if (++index_ < leaf_->count) return;
  leaf_ = leaf_->next;
  index_ = 0;
}

inline void ScoreTree::Cursor::Previous() {  // goes to the item before
  if (index_ > 0) {
    --index_;
    return;
  }
  leaf_ = leaf_->previous;
  if (leaf_ != nullptr) index_ = leaf_->count - 1;
}

inline void ScoreTree::Cursor::PrefetchAhead() const {  // prefetches the member kPrefetchDistance items ahead
  if (index_ + kPrefetchDistance < leaf_->count) return Prefetch(leaf_->members[index_ + kPrefetchDistance]);
  const Leaf* next = leaf_->next;
  const uint32_t index = index_ + kPrefetchDistance - leaf_->count;
  if (next != nullptr && index < next->count) Prefetch(next->members[index]);
}

inline void ScoreTree::Cursor::PrefetchBehind() const {  // prefetches the member kPrefetchDistance items back
  if (index_ >= kPrefetchDistance) return Prefetch(leaf_->members[index_ - kPrefetchDistance]);
  const Leaf* previous = leaf_->previous;
  const uint32_t distance = kPrefetchDistance - index_;
  if (previous != nullptr && distance <= previous->count) Prefetch(previous->members[previous->count - distance]);
}

inline void ScoreTree::Replace(const ScoredMember* old, ScoredMember* record) {  // stores `record` where `old` was
  Path path = PathToItem(old);
  path.leaf->members[path.index] = record;
  if (path.index == 0) UpdateSeparators(path, height_, {record->Score(), record});
}

inline ScoreTree::Cursor ScoreTree::Last() const {
  return last_ == nullptr ? Cursor() : Cursor(last_, last_->count - 1);
}

template <class Visit>
void ScoreTree::RemoveRange(size_t first, size_t count, Visit&& visit) {  // removes items from rank `first` on
  while (count > 0) {
    Path path = PathToRank(first);
    const uint32_t in_leaf = path.leaf->count - path.index;
    const auto taken = static_cast<uint32_t>(count < in_leaf ? count : in_leaf);
    ScoredMember* removed[kMaxLeafItems];
    for (uint32_t i = 0; i < taken; ++i) removed[i] = path.leaf->members[path.index + i];
    EraseFromLeaf(path, path.index, taken);
    for (uint32_t i = 0; i < taken; ++i) visit(removed[i]);
    count -= taken;
  }
}

}  // namespace respite
