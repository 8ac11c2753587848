// OrderedMap: an ordered map from numbers or IDs to small values, as a B+-tree. A stream uses such maps to find its
// blocks by their first ID, and for the pending entries of groups and consumers. An array (ARSET …) uses one to find
// its blocks of elements.
//
//   Leaf    up to 62 items (id, value) in one array, linked to both neighbours; the first leaf begins with room for 4
//   Inner   up to 63 children, with a lower bound for the IDs below each
//
// IDs are mostly added and removed in order. So a full leaf at the right edge stays full when a higher ID is added, and
// an empty leaf is removed. A sparse leaf merges with the next leaf of the same parent node if both have few items.
//
// Invariants
//   1. Every leaf is at the same depth; leaves are linked in order; a leaf is empty only if it is the only one.
//   2. bounds[i] of an inner node separates two children: each ID below child i - 1 is less than bounds[i], and each ID
//      below child i is equal or greater. bounds[0] is not used.
//
// Values are moved with memcpy. Pointers to them are valid until the next change of the map.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/out_of_memory.h"

namespace respite {

struct NoValue {};  // the value type of an OrderedMap that is only a set of IDs

template <class Key, class Value>
class OrderedMap {  // an ordered map, as a B+-tree; Key{} must be the lowest key
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_destructible_v<Key>);
  static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);

 private:
  struct Leaf;
  struct Inner;

 public:
  struct Item {
    Key id;
    [[no_unique_address]] Value value;  // what the map stores for this ID
  };

  // Any change of the map invalidates the cursor.
  class Cursor {  // iterates over the items; past either end, AtEnd() is true
   public:
    Cursor() = default;
    bool AtEnd() const { return leaf_ == nullptr; }  // true: the cursor is past either end
    // Requires: !AtEnd().
    const Key& Id() const { return leaf_->items()[index_].id; }
    const Value& Get() const { return leaf_->items()[index_].value; }
    void Next() {
      if (++index_ == leaf_->count) *this = {leaf_->next, 0};
    }
    void Previous() {  // goes to the item before; AtEnd() becomes true before the first
      if (index_-- == 0) *this = {leaf_->previous, leaf_->previous == nullptr ? 0 : leaf_->previous->count - 1};
    }

   private:
    friend class OrderedMap;
    Cursor(Leaf* leaf, uint32_t index) : leaf_(leaf), index_(index) {}

    Leaf* leaf_ = nullptr;  // leaf of the current item; null: past either end
    uint32_t index_ = 0;    // index of the current item on its leaf
  };

  OrderedMap() = default;
  OrderedMap(const OrderedMap&) = delete;
  OrderedMap& operator=(const OrderedMap&) = delete;
  OrderedMap(OrderedMap&& other) noexcept { Swap(other); }
  OrderedMap& operator=(OrderedMap&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~OrderedMap() { Clear(); }

  size_t Size() const { return size_; }
  bool IsEmpty() const { return size_ == 0; }  // true: there are no items
  size_t UsedBytes() const;                    // memory of the map in bytes; cost: O(number of leaves)

  // Cost of Find, Insert, Erase, AtOrAfter and AtOrBefore: O(log n). Insert takes O(1) amortised for an ID above all
  // others.
  Value* Find(const Key& id) {  // the value stored for this ID; null: none
    const Cursor at = AtOrAfter(id);
    return !at.AtEnd() && at.Id() == id ? &At(at) : nullptr;
  }
  const Value* Find(const Key& id) const {  // the value stored for this ID; null: none
    const Cursor at = AtOrAfter(id);
    return !at.AtEnd() && at.Id() == id ? &at.Get() : nullptr;
  }
  bool Insert(const Key& id,  // adds an item; false: the ID exists already, and nothing changes
              const Value& value);
  bool Erase(const Key& id);  // removes an item; false: there is no such ID
  void Clear();               // removes all items

  Cursor First() const { return IsEmpty() ? Cursor() : Cursor(first_, 0); }  // at the lowest ID; AtEnd(): empty map
  Cursor Last() const { return IsEmpty() ? Cursor() : Cursor(last_, last_->count - 1); }
  Cursor AtOrAfter(const Key& id) const;   // the first item with an ID not below `id`; AtEnd(): none
  Cursor AtOrBefore(const Key& id) const;  // the last item with an ID not above `id`; AtEnd(): none
  // Returns the value at a cursor of this map, for changes.
  Value& At(const Cursor& cursor) { return cursor.leaf_->items()[cursor.index_].value; }

  bool IsConsistent() const;  // for tests, O(n log n); false: the structure violates one of its rules

 private:
  static constexpr uint32_t kFirstLeafCapacity = 4;  // items for which the first leaf has room
  static constexpr uint32_t kLeafMax = 62;           // maximum number of items of a leaf
  static constexpr uint32_t kInnerMax = 63;          // maximum number of children of an inner node
  static constexpr uint32_t kSparse = kLeafMax / 4;  // a leaf with fewer items may merge with the next leaf
  static constexpr int kMaxHeight = 16;              // maximum number of levels of inner nodes

  struct Leaf {
    Leaf* previous;  // the leaf with lower IDs
    Leaf* next;
    uint32_t count;  // number of items of the leaf
    uint32_t room;   // number of items for which the leaf has memory

    Item* items() { return reinterpret_cast<Item*>(this + 1); }                    // the items of the leaf, in order
    const Item* items() const { return reinterpret_cast<const Item*>(this + 1); }  // the items of the leaf, in order
    uint32_t LowerBound(const Key& id) const {  // index of the first item not below `id`
      const Item* at = std::lower_bound(items(), items() + count, id,
                                        [](const Item& item, const Key& wanted) { return item.id < wanted; });
      return static_cast<uint32_t>(at - items());
    }
  };
  struct Inner {                // an inner node of the tree
    uint32_t count;             // number of children
    Key bounds[kInnerMax];      // bounds[i]: lower bound of the IDs under children[i]; bounds[0] is not used
    void* children[kInnerMax];  // child nodes, each a Leaf or an Inner

    uint32_t ChildIndexFor(const Key& id) const {  // index of the child whose subtree may contain `id`
      return static_cast<uint32_t>(std::upper_bound(bounds + 1, bounds + count, id) - bounds) - 1;
    }
    void Put(uint32_t at, const Key& bound, void* child) {  // inserts a child before children[at]; requires: not full
      std::copy_backward(bounds + at, bounds + count, bounds + count + 1);
      std::copy_backward(children + at, children + count, children + count + 1);
      bounds[at] = bound;
      children[at] = child;
      ++count;
    }
    void Drop(uint32_t at) {  // removes children[at] from the node, without freeing it
      std::copy(bounds + at + 1, bounds + count, bounds + at);
      std::copy(children + at + 1, children + count, children + at);
      --count;
    }
  };
  struct Path {                // the path from the root to a leaf: the inner nodes, and the child taken at each of them
    Inner* nodes[kMaxHeight];  // the inner nodes on the path, from the root down
    uint32_t taken[kMaxHeight];  // taken[i]: index of the child of nodes[i] on the path
    Leaf* leaf;
  };

  static Leaf* NewLeaf(uint32_t capacity) {  // allocates an empty leaf with room for this many items
    Leaf* leaf = static_cast<Leaf*>(AllocateOrEnd(sizeof(Leaf) + capacity * sizeof(Item)));
    *leaf = Leaf{nullptr, nullptr, 0, capacity};
    return leaf;
  }
  static void FreeNode(void* node, int height);                // frees a node and its subtree; height 0: a leaf
  static bool IsNodeConsistent(const void* node, int height);  // checks a node and its subtree; false: damaged
  Path PathTo(const Key& id) const;                            // the path from the root to the leaf where `id` belongs
  void LinkNeighboursTo(Leaf* leaf);                           // makes the neighbours of `leaf` point to it
  void ReplaceLeaf(Path& path, Leaf* leaf);  // puts `leaf` in the place of path.leaf, which is freed already
  void GrowLeaf(Path& path);                 // doubles the capacity of path.leaf, up to kLeafMax items
  void SplitLeaf(Path& path,                 // splits path.leaf, which is full; sets path.leaf to the leaf for `id`
                 const Key& id);
  void PutChild(Path& path, int level,  // inserts a child to the right of the child on the path
                const Key& bound, void* child);
  void UnlinkChild(Path& path, int level);  // removes the child taken at `level`; frees nodes that become empty
  void DropLeaf(Path& path);                // removes and frees path.leaf
  void MergeWithNextLeaf(Path& path);       // merges path.leaf with its right sibling, if both are small
  void Swap(OrderedMap& other) {
    std::swap(root_, other.root_);
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(size_, other.size_);
    std::swap(height_, other.height_);
  }

  void* root_ = nullptr;   // a Leaf if height_ is 0; null: no item was added since Clear
  Leaf* first_ = nullptr;  // the leaf with the lowest IDs
  Leaf* last_ = nullptr;
  size_t size_ = 0;
  int height_ = 0;  // number of levels of inner nodes; 0: the root is a leaf
};

}  // namespace respite

#include "datatypes/ordered_map_inl.h"
