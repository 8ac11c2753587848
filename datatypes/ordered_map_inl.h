// The longer functions of OrderedMap (ordered_map.h).
#pragma once

namespace respite {

template <class Key, class Value>
typename OrderedMap<Key, Value>::Path OrderedMap<Key, Value>::PathTo(const Key& id) const {  // path to the leaf of `id`
  Path path;
  void* node = root_;
  for (int level = 0; level < height_; ++level) {
    Inner* inner = static_cast<Inner*>(node);
    path.nodes[level] = inner;
    path.taken[level] = inner->ChildIndexFor(id);
    node = inner->children[path.taken[level]];
  }
  path.leaf = static_cast<Leaf*>(node);
  return path;
}

template <class Key, class Value>
typename OrderedMap<Key, Value>::Cursor OrderedMap<Key, Value>::AtOrAfter(
    const Key& id) const {  // the first ID >= `id`
  if (IsEmpty() || last_->items()[last_->count - 1].id < id) return {};
  void* node = root_;
  for (int level = 0; level < height_; ++level) {
    const Inner* inner = static_cast<const Inner*>(node);
    node = inner->children[inner->ChildIndexFor(id)];
  }
  Leaf* leaf = static_cast<Leaf*>(node);
  const uint32_t index = leaf->LowerBound(id);
  return index < leaf->count ? Cursor(leaf, index) : Cursor(leaf->next, 0);
}

template <class Key, class Value>
typename OrderedMap<Key, Value>::Cursor OrderedMap<Key, Value>::AtOrBefore(
    const Key& id) const {  // at the item with the greatest key <= `id`; AtEnd(): none
  Cursor at = AtOrAfter(id);
  if (at.AtEnd()) return Last();
  if (at.Id() != id) at.Previous();
  return at;
}

template <class Key, class Value>
bool OrderedMap<Key, Value>::Insert(const Key& id, const Value& value) {  // adds an item; false: the ID exists already
  if (root_ == nullptr) root_ = first_ = last_ = NewLeaf(kFirstLeafCapacity);
  Leaf* leaf = last_;
  uint32_t index = leaf->count;
  if (index == leaf->room || (index > 0 && !(leaf->items()[index - 1].id < id))) {
    Path path = PathTo(id);
    index = path.leaf->LowerBound(id);
    if (index < path.leaf->count && path.leaf->items()[index].id == id) return false;
    if (path.leaf->count == path.leaf->room) path.leaf->room < kLeafMax ? GrowLeaf(path) : SplitLeaf(path, id);
    leaf = path.leaf;
    index = leaf->LowerBound(id);
  }
  Item* at = leaf->items() + index;
  std::memmove(static_cast<void*>(at + 1), at, (leaf->count - index) * sizeof(Item));
  *at = Item{id, value};
  ++leaf->count;
  ++size_;
  return true;
}

template <class Key, class Value>
bool OrderedMap<Key, Value>::Erase(const Key& id) {  // removes an item; false: there is no such ID
  if (IsEmpty()) return false;
  Path path = PathTo(id);
  Leaf* leaf = path.leaf;
  const uint32_t index = leaf->LowerBound(id);
  if (index == leaf->count || leaf->items()[index].id != id) return false;
  Item* at = leaf->items() + index;
  std::memmove(static_cast<void*>(at), at + 1, (leaf->count - index - 1) * sizeof(Item));
  --leaf->count;
  --size_;
  if (height_ == 0) return true;  // the only leaf stays, empty or not
  if (leaf->count == 0) {
    DropLeaf(path);
  } else if (leaf->count < kSparse) {
    MergeWithNextLeaf(path);
  }
  return true;
}

// ReplaceLeaf does not free the old path.leaf: the caller (GrowLeaf) has already done so.
template <class Key, class Value>
void OrderedMap<Key, Value>::ReplaceLeaf(Path& path, Leaf* leaf) {  // puts `leaf` in the place of path.leaf
  path.leaf = leaf;
  if (height_ == 0) {
    root_ = leaf;
  } else {
    path.nodes[height_ - 1]->children[path.taken[height_ - 1]] = leaf;
  }
  LinkNeighboursTo(leaf);
}

// LinkNeighboursTo makes the neighbours of a leaf point to this leaf. At either end of the map, sets first_ or last_
// instead.
template <class Key, class Value>
void OrderedMap<Key, Value>::LinkNeighboursTo(Leaf* leaf) {  // makes the neighbours of `leaf` point to it
  (leaf->previous == nullptr ? first_ : leaf->previous->next) = leaf;
  (leaf->next == nullptr ? last_ : leaf->next->previous) = leaf;
}

template <class Key, class Value>
void OrderedMap<Key, Value>::GrowLeaf(Path& path) {  // doubles the capacity of path.leaf, up to kLeafMax items
  const uint32_t room = std::min(path.leaf->room * 2, kLeafMax);
  Leaf* grown = static_cast<Leaf*>(ReallocateOrEnd(static_cast<void*>(path.leaf), sizeof(Leaf) + room * sizeof(Item)));
  grown->room = room;
  ReplaceLeaf(path, grown);
}

template <class Key, class Value>
void OrderedMap<Key, Value>::SplitLeaf(Path& path, const Key& id) {  // splits path.leaf, so that `id` fits
  Leaf* left = path.leaf;
  const bool at_right_edge = left->next == nullptr && left->items()[left->count - 1].id < id;
  const uint32_t keep = at_right_edge ? left->count : left->count / 2;
  Leaf* right = NewLeaf(kLeafMax);
  right->count = left->count - keep;
  std::memcpy(static_cast<void*>(right->items()), left->items() + keep, right->count * sizeof(Item));
  left->count = keep;
  right->previous = left;
  right->next = left->next;
  left->next = right;
  LinkNeighboursTo(right);
  const Key bound = at_right_edge ? id : right->items()[0].id;
  PutChild(path, height_ - 1, bound, right);
  if (!(id < bound)) path.leaf = right;
}

// PutChild inserts a new child to the right of the child that the path took at this level; splits a full node in two.
// Afterwards only path.leaf is valid, not the inner nodes of the path.
template <class Key, class Value>
void OrderedMap<Key, Value>::PutChild(Path& path, int level,  // inserts a child to the right of the child on the path
                                      const Key& bound, void* child) {
  if (level < 0) {
    Inner* root = static_cast<Inner*>(AllocateOrEnd(sizeof(Inner)));
    root->count = 0;
    root->Put(0, Key{}, root_);
    root->Put(1, bound, child);
    root_ = root;
    ++height_;
    return;
  }
  Inner* node = path.nodes[level];
  const uint32_t at = path.taken[level] + 1;
  if (node->count < kInnerMax) return node->Put(at, bound, child);
  const uint32_t keep = at == kInnerMax ? kInnerMax - 1 : kInnerMax / 2;
  Inner* right = static_cast<Inner*>(AllocateOrEnd(sizeof(Inner)));
  right->count = kInnerMax - keep;
  std::copy_n(node->bounds + keep, right->count, right->bounds);
  std::copy_n(node->children + keep, right->count, right->children);
  node->count = keep;
  at <= keep ? node->Put(at, bound, child) : right->Put(at - keep, bound, child);
  PutChild(path, level - 1, right->bounds[0], right);
}

// UnlinkChild removes a child from the inner node path.nodes[level]: the child with the index path.taken[level]. If the
// node has no children left, the node is freed and removed from its parent.
template <class Key, class Value>
void OrderedMap<Key, Value>::UnlinkChild(Path& path, int level) {  // removes the child taken at `level`
  Inner* node = path.nodes[level];
  node->Drop(path.taken[level]);
  if (node->count == 0) {  // never the root, which has at least two children
    std::free(node);
    UnlinkChild(path, level - 1);
    return;
  }
  while (height_ > 0 && static_cast<Inner*>(root_)->count == 1) {
    Inner* root = static_cast<Inner*>(root_);
    root_ = root->children[0];
    std::free(root);
    --height_;
  }
}

template <class Key, class Value>
void OrderedMap<Key, Value>::DropLeaf(Path& path) {  // removes and frees path.leaf
  Leaf* leaf = path.leaf;
  (leaf->previous == nullptr ? first_ : leaf->previous->next) = leaf->next;
  (leaf->next == nullptr ? last_ : leaf->next->previous) = leaf->previous;
  std::free(leaf);
  UnlinkChild(path, height_ - 1);
}

template <class Key, class Value>
void OrderedMap<Key, Value>::MergeWithNextLeaf(Path& path) {  // merges path.leaf with its right sibling
  Inner* parent = path.nodes[height_ - 1];
  const uint32_t at = path.taken[height_ - 1];
  if (at + 1 == parent->count) return;
  Leaf* left = path.leaf;
  Leaf* right = static_cast<Leaf*>(parent->children[at + 1]);
  if (left->count + right->count > left->room || left->count + right->count > kLeafMax * 3 / 4) return;
  std::memcpy(static_cast<void*>(left->items() + left->count), right->items(), right->count * sizeof(Item));
  left->count += right->count;
  path.leaf = right;
  path.taken[height_ - 1] = at + 1;
  DropLeaf(path);
}

template <class Key, class Value>
void OrderedMap<Key, Value>::FreeNode(void* node, int height) {  // frees a node and its subtree; height 0: a leaf
  if (height > 0) {
    Inner* inner = static_cast<Inner*>(node);
    for (uint32_t i = 0; i < inner->count; ++i) FreeNode(inner->children[i], height - 1);
  }
  std::free(node);
}

template <class Key, class Value>
void OrderedMap<Key, Value>::Clear() {  // removes all items
  if (root_ != nullptr) FreeNode(root_, height_);
  root_ = nullptr;
  first_ = last_ = nullptr;
  size_ = 0;
  height_ = 0;
}

template <class Key, class Value>
size_t OrderedMap<Key, Value>::UsedBytes() const {  // memory of the map in bytes
  size_t used = 0;
  size_t leaves = 0;
  for (Leaf* leaf = first_; leaf != nullptr; leaf = leaf->next, ++leaves) used += malloc_usable_size(leaf);
  for (int level = 0; level < height_; ++level) {
    leaves = (leaves + kInnerMax - 1) / kInnerMax;
    used += leaves * sizeof(Inner);
  }
  return used;
}

template <class Key, class Value>
bool OrderedMap<Key, Value>::IsNodeConsistent(const void* node, int height) {  // checks a subtree; false: damaged
  if (height == 0) return static_cast<const Leaf*>(node)->count > 0;
  const Inner* inner = static_cast<const Inner*>(node);
  for (uint32_t i = 0; i < inner->count; ++i) {
    if (i > 1 && !(inner->bounds[i - 1] < inner->bounds[i])) return false;
    if (!IsNodeConsistent(inner->children[i], height - 1)) return false;
  }
  return inner->count > 0;
}

template <class Key, class Value>
bool OrderedMap<Key, Value>::IsConsistent() const {  // for tests; false: the structure violates one of its rules
  if (height_ > 0 && (!IsNodeConsistent(root_, height_) || static_cast<Inner*>(root_)->count < 2)) return false;
  size_t seen = 0;
  const Leaf* before = nullptr;
  for (const Leaf* leaf = first_; leaf != nullptr; before = leaf, leaf = leaf->next) {
    if (leaf->previous != before || leaf->count > leaf->room) return false;
    seen += leaf->count;
  }
  if (before != last_ || seen != size_) return false;
  Key last;
  size_t found = 0;
  for (Cursor at = First(); !at.AtEnd(); at.Next(), ++found) {
    if (found > 0 && !(last < at.Id())) return false;
    last = at.Id();
    if (Find(last) != &at.Get()) return false;
  }
  return found == size_;
}

}  // namespace respite
