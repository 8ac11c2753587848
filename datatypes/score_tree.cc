#include "datatypes/score_tree.h"

#include <cassert>
#include <cstring>
#include <vector>

namespace respite {

namespace {

constexpr size_t kLine = 64;

// Returns the number of scores for which is_before(score) is true; these are the first ones. The loop has no branches,
// because the processor could not predict the path through a node.
template <class IsBefore>
uint32_t CountFirst(const double* scores, uint32_t count, IsBefore&& is_before) {
  const double* base = scores;
  while (count > 1) {
    const uint32_t half = count / 2;
    base = is_before(base[half - 1]) ? base + half : base;
    count -= half;
  }
  return static_cast<uint32_t>(base - scores) + (count == 1 && is_before(*base) ? 1 : 0);
}
uint32_t CountBelow(const double* scores, uint32_t count, double score) {
  return CountFirst(scores, count, [score](double other) { return other < score; });
}
uint32_t CountNotAbove(const double* scores, uint32_t count, double score) {
  return CountFirst(scores, count, [score](double other) { return other <= score; });
}

// Returns the number of members below `member`. For kAfter, also counts members equal to `member`.
uint32_t CountMembers(ScoredMember* const* members, uint32_t count, Bytes member, ScoreTree::Side side) {
  uint32_t low = 0;
  while (count > 0) {
    const uint32_t half = count / 2;
    const int order = members[low + half]->Member().compare(member);
    if (order < 0 || (order == 0 && side == ScoreTree::Side::kAfter)) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

// Prefetches the first cache line of a node, and `bytes` bytes from offset `from` on, so that the cache misses of a
// search overlap.
void PrefetchScores(const void* node, size_t from, size_t bytes) {
  const char* start = static_cast<const char*>(node);
  Prefetch(start);
  for (size_t at = from & ~(kLine - 1); at < from + bytes; at += kLine) Prefetch(start + at);
}

}  // namespace

uint32_t ScoreTree::CountBefore(const double* scores, ScoredMember* const*, uint32_t count, const ScoreBound& bound) {
  return bound.side == Side::kBefore ? CountBelow(scores, count, bound.score)
                                     : CountNotAbove(scores, count, bound.score);
}

uint32_t ScoreTree::CountBefore(const double*, ScoredMember* const* members, uint32_t count, const LexBound& bound) {
  return CountMembers(members, count, bound.member, bound.side);
}

uint32_t ScoreTree::CountBefore(const double* scores, ScoredMember* const* members, uint32_t count,
                                const ItemBound& bound) {
  const uint32_t below = CountBelow(scores, count, bound.score);
  if (below == count || scores[below] != bound.score) return below;
  const uint32_t equal = CountNotAbove(scores + below, count - below, bound.score);
  return below + CountMembers(members + below, equal, bound.member, bound.side);
}

uint64_t ScoreTree::Inner::ItemsBefore(uint32_t index) const {
  // Adds two counts at a time, which compilers do not do by themselves.
  uint64_t even = 0;
  uint64_t odd = 0;
  for (uint32_t i = 0; i + 1 < index; i += 2) {
    uint64_t pair;
    std::memcpy(&pair, &counts[i], sizeof pair);
    even += pair & 0xffffffffu;
    odd += pair >> 32;
  }
  return even + odd + (index % 2 == 1 ? counts[index - 1] : 0);
}

// OpenGap makes room for `count` entries in a node before entry `at`.
template <class Node>
void ScoreTree::OpenGap(Node& node, uint32_t at, uint32_t count) {
  assert(node.count + count <= Node::kCapacity);
  Node::ForEachArray(node, node, [&](auto* array, auto*) {
    std::memmove(array + at + count, array + at, (node.count - at) * sizeof *array);
  });
  node.count += count;
}

template <class Node>
void ScoreTree::CloseGap(Node& node, uint32_t at, uint32_t count) {
  Node::ForEachArray(node, node, [&](auto* array, auto*) {
    std::memmove(array + at, array + at + count, (node.count - at - count) * sizeof *array);
  });
  node.count -= count;
}

// Splice moves `count` entries of node `from`, starting at entry `first`, to node `to`, before entry `at`.
template <class Node>
void ScoreTree::Splice(Node& to, uint32_t at, Node& from, uint32_t first, uint32_t count) {
  OpenGap(to, at, count);
  Node::ForEachArray(
      to, from, [&](auto* target, auto* source) { std::memcpy(target + at, source + first, count * sizeof *target); });
  CloseGap(from, first, count);
}

// --- Searching

template <class Bound>
ScoreTree::Place ScoreTree::Find(const Bound& bound) const {
  if (root_ == nullptr) return {nullptr, 0};
  const void* node = root_;
  for (uint32_t height = height_; height > 0; --height) {
    const auto& inner = *static_cast<const Inner*>(node);
    const uint32_t before = CountBefore(inner.scores, inner.members, inner.count, bound);
    node = inner.children[before == 0 ? 0 : before - 1];
    if (height == 1) PrefetchScores(node, offsetof(Leaf, scores), sizeof(Leaf::scores));
  }
  const auto* leaf = static_cast<const Leaf*>(node);
  return {leaf, CountBefore(leaf->scores, leaf->members, leaf->count, bound)};
}

template <class Bound>
size_t ScoreTree::Rank(const Bound& bound) const {
  if (root_ == nullptr) return 0;
  const void* node = root_;
  size_t rank = 0;
  for (uint32_t height = height_; height > 0; --height) {
    const auto& inner = *static_cast<const Inner*>(node);
    const uint32_t before = CountBefore(inner.scores, inner.members, inner.count, bound);
    const uint32_t index = before == 0 ? 0 : before - 1;
    node = inner.children[index];
    if (height == 1) PrefetchScores(node, offsetof(Leaf, scores), sizeof(Leaf::scores));
    rank += inner.ItemsBefore(index);
  }
  const auto* leaf = static_cast<const Leaf*>(node);
  return rank + CountBefore(leaf->scores, leaf->members, leaf->count, bound);
}

template <class Bound>
ScoreTree::Path ScoreTree::PathTo(const Bound& bound) const {
  Path path;
  void* node = root_;
  for (uint32_t level = 0; level < height_; ++level) {
    auto* inner = static_cast<Inner*>(node);
    const uint32_t before = CountBefore(inner->scores, inner->members, inner->count, bound);
    path.steps[level] = {inner, before == 0 ? 0 : before - 1};
    node = inner->children[path.steps[level].index];
    if (level + 1 == height_) PrefetchScores(node, offsetof(Leaf, scores), sizeof(Leaf::scores));
  }
  path.leaf = static_cast<Leaf*>(node);
  path.index = CountBefore(path.leaf->scores, path.leaf->members, path.leaf->count, bound);
  return path;
}

// Searches for the place after the item, and steps back to the item. A search for the place before the item could end
// on the previous leaf: the first item of a leaf equals the separator between the two leaves.
ScoreTree::Path ScoreTree::PathToItem(const ScoredMember* member) const {
  Path path = PathTo(ItemBound{member->Score(), member->Member(), Side::kAfter});
  --path.index;
  return path;
}

ScoreTree::Path ScoreTree::PathToRank(size_t rank) const {
  Path path;
  void* node = root_;
  for (uint32_t level = 0; level < height_; ++level) {
    auto* inner = static_cast<Inner*>(node);
    uint32_t index = 0;
    for (; index + 1 < inner->count && rank >= inner->counts[index]; ++index) rank -= inner->counts[index];
    path.steps[level] = {inner, index};
    node = inner->children[index];
  }
  path.leaf = static_cast<Leaf*>(node);
  path.index = static_cast<uint32_t>(rank);
  return path;
}

ScoreTree::Cursor ScoreTree::ItemAfterPlace(Place place) {
  if (place.leaf != nullptr && place.index == place.leaf->count) return {place.leaf->next, 0};
  return {place.leaf, place.index};
}

ScoreTree::Cursor ScoreTree::ItemBeforePlace(Place place) const {
  if (place.leaf == nullptr) return {};
  Cursor cursor(place.leaf, place.index);
  cursor.Previous();
  return cursor;
}

ScoreTree::Cursor ScoreTree::FirstAfter(const ScoreBound& bound) const { return ItemAfterPlace(Find(bound)); }
ScoreTree::Cursor ScoreTree::FirstAfter(const LexBound& bound) const { return ItemAfterPlace(Find(bound)); }
ScoreTree::Cursor ScoreTree::LastBefore(const ScoreBound& bound) const { return ItemBeforePlace(Find(bound)); }
ScoreTree::Cursor ScoreTree::LastBefore(const LexBound& bound) const { return ItemBeforePlace(Find(bound)); }

ScoreTree::Cursor ScoreTree::At(size_t rank) const {
  if (rank >= size_) return {};
  const Path path = PathToRank(rank);
  return {path.leaf, path.index};
}

// Returns the rank of a member of the tree. Because the member is in the tree, the search reads records on its leaf
// only if other members have an equal score.
size_t ScoreTree::RankOf(const ScoredMember* member) const {
  const ItemBound behind{member->Score(), member->Member(), Side::kAfter};
  const void* node = root_;
  size_t rank = 0;
  for (uint32_t height = height_; height > 0; --height) {
    const auto& inner = *static_cast<const Inner*>(node);
    const uint32_t index = CountBefore(inner.scores, inner.members, inner.count, behind) - 1;
    node = inner.children[index];
    if (height == 1) PrefetchScores(node, offsetof(Leaf, scores), sizeof(Leaf::scores));
    rank += inner.ItemsBefore(index);
  }
  const auto* leaf = static_cast<const Leaf*>(node);
  const uint32_t below = CountBelow(leaf->scores, leaf->count, behind.score);
  if (below + 1 == leaf->count || leaf->scores[below + 1] != behind.score) return rank + below;
  return rank + CountBefore(leaf->scores, leaf->members, leaf->count, behind) - 1;
}

size_t ScoreTree::RankOf(const ScoreBound& bound) const { return Rank(bound); }
size_t ScoreTree::RankOf(const LexBound& bound) const { return Rank(bound); }

size_t ScoreTree::UsedBytes() const { return leaf_count_ * sizeof(Leaf) + inner_count_ * sizeof(Inner); }

// --- Inserting

void ScoreTree::Insert(ScoredMember* member) {
  const Item item{member->Score(), member};
  if (root_ == nullptr) {
    root_ = first_ = last_ = new Leaf;
    ++leaf_count_;
  }
  const ItemBound bound{item.score, member->Member(), Side::kBefore};
  Path path = PathTo(bound);
  if (path.leaf->count == kMaxLeafItems && ShareWithNeighbour(path)) path = PathTo(bound);
  ++size_;
  AddToItemCounts(path, 1);
  if (path.index == 0) UpdateSeparators(path, height_, item);
  if (path.leaf->count == kMaxLeafItems) return SplitLeaf(path, item);
  OpenGap(*path.leaf, path.index, 1);
  path.leaf->Set(path.index, item);
}

bool ScoreTree::ShareWithNeighbour(const Path& path) {
  if (height_ == 0 || WhereIs(path) != Where::kInside) return false;
  const auto& [parent, index] = path.steps[height_ - 1];
  const bool takes_left = index > 0 && parent->counts[index - 1] <= kMaxToShare;
  if (!takes_left && (index + 1 == parent->count || parent->counts[index + 1] > kMaxToShare)) return false;
  Balance<Leaf>(*parent, takes_left ? index - 1 : index);
  return true;
}

void ScoreTree::AddToItemCounts(Path& path, int64_t difference) {
  for (uint32_t level = 0; level < height_; ++level) {
    uint32_t& count = path.steps[level].node->counts[path.steps[level].index];
    count = static_cast<uint32_t>(count + difference);
  }
}

void ScoreTree::UpdateSeparators(Path& path, uint32_t level, Item first) {
  for (; level > 0; --level) {
    const Step& step = path.steps[level - 1];
    step.node->Set(step.index, first);
    if (step.index != 0) return;
  }
}

// Splits a full leaf, and inserts `item` at `path`. If `item` is the new first or last item of the tree, the full leaf
// stays whole, and `item` gets a leaf of its own. The item counts and separators of the inner nodes already include
// `item`.
void ScoreTree::SplitLeaf(Path& path, Item item) {
  Leaf* left = path.leaf;
  const Where where = WhereIs(path);
  const uint32_t point = where == Where::kRightEdge ? kMaxLeafItems : where == Where::kLeftEdge ? 0 : kMaxLeafItems / 2;

  auto* right = new Leaf;
  ++leaf_count_;
  right->previous = left;
  right->next = left->next;
  (right->next != nullptr ? right->next->previous : last_) = right;
  left->next = right;
  Splice(*right, 0, *left, point, kMaxLeafItems - point);

  const bool to_right = where == Where::kRightEdge || path.index > point;
  Leaf* leaf = to_right ? right : left;
  const uint32_t index = to_right ? path.index - point : path.index;
  OpenGap(*leaf, index, 1);
  leaf->Set(index, item);
  InsertChild(path, height_, right, right->At(0), right->count, where);
}

// Adds the new node `child` to the tree, directly after the path's node at `level`, and with the same parent. `child`
// has `items` items, the first of which is `first`. Until now the parent counts these items for the node at `level`. If
// `where` is kRightEdge, the tree grows at its right edge: a full parent is then not split, but followed by a new one.
// If it is kLeftEdge, a full parent keeps only its first child and `child`, and a new node after it gets the others.
void ScoreTree::InsertChild(Path& path, uint32_t level, void* child, Item first, uint64_t items, Where where) {
  if (level == 0) return GrowRoot(child, first, items);
  const BuiltNode built{child, first, items};
  Inner* node = path.steps[level - 1].node;
  uint32_t index = path.steps[level - 1].index;
  node->counts[index] = static_cast<uint32_t>(node->counts[index] - items);
  if (node->count < kMaxChildren) {
    OpenGap(*node, index + 1, 1);
    return SetChild(*node, index + 1, built);
  }
  auto* right = new Inner;
  ++inner_count_;
  if (where == Where::kRightEdge) {
    right->count = 1;
    SetChild(*right, 0, built);
    return InsertChild(path, level - 1, right, first, items, where);
  }
  const uint32_t point = where == Where::kLeftEdge ? 1 : kMaxChildren / 2;
  Splice(*right, 0, *node, point, kMaxChildren - point);
  if (index >= point) {
    node = right;
    index -= point;
  }
  OpenGap(*node, index + 1, 1);
  SetChild(*node, index + 1, built);
  InsertChild(path, level - 1, right, right->At(0), right->ItemCount(), where);
}

void ScoreTree::SetChild(Inner& inner, uint32_t index, const BuiltNode& child) {
  inner.Set(index, child.first);
  inner.counts[index] = static_cast<uint32_t>(child.items);
  inner.children[index] = child.node;
}

void ScoreTree::GrowRoot(void* right, Item first, uint64_t items) {
  assert(height_ < kMaxHeight);
  const Item smallest = height_ == 0 ? static_cast<Leaf*>(root_)->At(0) : static_cast<Inner*>(root_)->At(0);
  auto* root = new Inner;
  ++inner_count_;
  root->count = 2;
  SetChild(*root, 0, {root_, smallest, size_ - items});
  SetChild(*root, 1, {right, first, items});
  root_ = root;
  ++height_;
}

void ScoreTree::ChangeScore(ScoredMember* member, double score) {
  const Bytes text = member->Member();
  Path path = PathToItem(member);
  Cursor before(path.leaf, path.index);
  Cursor after = before;
  before.Previous();
  after.Next();
  const auto below = [](Item item, double other_score, Bytes other) {
    return item.score < other_score || (item.score == other_score && item.member->Member() < other);
  };
  if ((before.AtEnd() || below(*before, score, text)) && (after.AtEnd() || !below(*after, score, text))) {
    member->SetScore(score);
    path.leaf->scores[path.index] = score;
    if (path.index == 0) UpdateSeparators(path, height_, {score, member});
    return;
  }
  EraseFromLeaf(path, path.index, 1);
  member->SetScore(score);
  Insert(member);
}

// --- Removing

void ScoreTree::Remove(const ScoredMember* member) {
  Path path = PathToItem(member);
  assert(path.leaf->members[path.index] == member);
  EraseFromLeaf(path, path.index, 1);
}

void ScoreTree::EraseFromLeaf(Path& path, uint32_t first, uint32_t count) {
  Leaf* leaf = path.leaf;
  CloseGap(*leaf, first, count);
  size_ -= count;
  AddToItemCounts(path, -static_cast<int64_t>(count));
  if (leaf->count == 0) {
    Drop(leaf);
    if (height_ == 0) {
      root_ = nullptr;
    } else {
      RemoveChild(path, height_);
    }
    return;
  }
  if (first == 0) UpdateSeparators(path, height_, leaf->At(0));
  if (leaf->count < kMaxLeafItems / 4) Mend<Leaf>(path, height_);
}

// Removes the entry of a freed node at `level` from its parent. Also frees a parent that has become empty, and merges
// or fills one that has few entries (Mend).
void ScoreTree::RemoveChild(Path& path, uint32_t level) {
  const Step& step = path.steps[level - 1];
  CloseGap(*step.node, step.index, 1);
  if (step.node->count == 0) {
    Drop(step.node);
    if (level > 1) return RemoveChild(path, level - 1);
    root_ = nullptr;
    height_ = 0;
    return;
  }
  if (step.index == 0) UpdateSeparators(path, level - 1, step.node->At(0));
  if (level == 1) return ShrinkRoot();
  if (step.node->count < kMaxChildren / 4) Mend<Inner>(path, level - 1);
}

void ScoreTree::ShrinkRoot() {
  while (height_ > 0 && static_cast<Inner*>(root_)->count == 1) {
    auto* old = static_cast<Inner*>(root_);
    root_ = old->children[0];
    --height_;
    Drop(old);
  }
}

// Merges the node at `level`, which has few entries, with a neighbour if both fit into three quarters of a node.
// Otherwise spreads the entries of the two nodes evenly.
template <class Node>
void ScoreTree::Mend(Path& path, uint32_t level) {
  if (level == 0) return;
  Step& step = path.steps[level - 1];
  Inner& parent = *step.node;
  if (parent.count == 1) return;  // at an edge of the tree
  const uint32_t left_index = step.index == 0 ? 0 : step.index - 1;
  auto* left = static_cast<Node*>(parent.children[left_index]);
  auto* right = static_cast<Node*>(parent.children[left_index + 1]);
  if (left->count + right->count > Node::kCapacity * 3 / 4) return Balance<Node>(parent, left_index);
  Splice(*left, left->count, *right, 0, right->count);
  parent.counts[left_index] += parent.counts[left_index + 1];
  Drop(right);
  step.index = left_index + 1;
  RemoveChild(path, level);
}

template <class Node>
void ScoreTree::Balance(Inner& parent, uint32_t left_index) {
  auto* left = static_cast<Node*>(parent.children[left_index]);
  auto* right = static_cast<Node*>(parent.children[left_index + 1]);
  const uint32_t half = (left->count + right->count) / 2;
  if (left->count < half) {
    Splice(*left, left->count, *right, 0, half - left->count);
  } else {
    Splice(*right, 0, *left, half, left->count - half);
  }
  parent.counts[left_index] = static_cast<uint32_t>(left->ItemCount());
  parent.counts[left_index + 1] = static_cast<uint32_t>(right->ItemCount());
  parent.Set(left_index + 1, right->At(0));
}

void ScoreTree::Drop(Leaf* leaf) {
  (leaf->previous != nullptr ? leaf->previous->next : first_) = leaf->next;
  (leaf->next != nullptr ? leaf->next->previous : last_) = leaf->previous;
  --leaf_count_;
  delete leaf;
}

void ScoreTree::Drop(Inner* inner) {
  --inner_count_;
  delete inner;
}

void ScoreTree::FreeBelow(void* node, uint32_t height) {
  if (height == 0) {
    delete static_cast<Leaf*>(node);
    return;
  }
  auto* inner = static_cast<Inner*>(node);
  for (uint32_t i = 0; i < inner->count; ++i) FreeBelow(inner->children[i], height - 1);
  delete inner;
}

void ScoreTree::Clear() {
  if (root_ != nullptr) FreeBelow(root_, height_);
  root_ = nullptr;
  first_ = last_ = nullptr;
  size_ = leaf_count_ = inner_count_ = 0;
  height_ = 0;
}

// --- Building

ScoreTree ScoreTree::FromSorted(std::span<const Item> items) {
  ScoreTree tree;
  if (items.empty()) return tree;
  std::vector<BuiltNode> level;
  const size_t leaves = (items.size() + kBulkItems - 1) / kBulkItems;
  for (size_t i = 0; i < leaves; ++i) {
    auto* leaf = new Leaf;
    const size_t begin = items.size() * i / leaves;
    const size_t end = items.size() * (i + 1) / leaves;
    for (size_t at = begin; at < end; ++at) leaf->Set(leaf->count++, items[at]);
    leaf->previous = tree.last_;
    (tree.last_ != nullptr ? tree.last_->next : tree.first_) = leaf;
    tree.last_ = leaf;
    level.push_back({leaf, items[begin], end - begin});
  }
  tree.size_ = items.size();
  tree.leaf_count_ = leaves;
  while (level.size() > 1) {
    level = tree.BuildLevel(level);
    ++tree.height_;
  }
  tree.root_ = level[0].node;
  return tree;
}

// Builds the inner nodes above the nodes of one level. The inner nodes are evenly filled.
std::vector<ScoreTree::BuiltNode> ScoreTree::BuildLevel(const std::vector<BuiltNode>& below) {
  std::vector<BuiltNode> level;
  const size_t nodes = (below.size() + kBulkChildren - 1) / kBulkChildren;
  for (size_t i = 0; i < nodes; ++i) {
    auto* inner = new Inner;
    ++inner_count_;
    const size_t begin = below.size() * i / nodes;
    for (size_t at = begin; at < below.size() * (i + 1) / nodes; ++at) SetChild(*inner, inner->count++, below[at]);
    level.push_back({inner, below[begin].first, inner->ItemCount()});
  }
  return level;
}

// --- Checking

class ScoreTree::Checker {
 public:
  explicit Checker(const ScoreTree& tree) : tree_(tree) {}

  bool Run() {
    if (tree_.root_ == nullptr) {
      return tree_.size_ == 0 && tree_.first_ == nullptr && tree_.last_ == nullptr && tree_.UsedBytes() == 0;
    }
    const BuiltNode whole = Visit(tree_.root_, tree_.height_, Edges{true, true, true});
    return good_ && whole.items == tree_.size_ && previous_ == tree_.last_ && previous_->next == nullptr &&
           leaf_count_ == tree_.leaf_count_ && inner_count_ == tree_.inner_count_;
  }

 private:
  // Says whether a node is the root, or at the left or right edge of the tree. Such nodes may be sparse.
  struct Edges {
    bool root, left, right;
    bool Any() const { return root || left || right; }
  };

  BuiltNode Visit(void* node, uint32_t height, Edges edges) {
    return height == 0 ? VisitLeaf(*static_cast<Leaf*>(node), edges)
                       : VisitInner(*static_cast<Inner*>(node), height, edges);
  }

  BuiltNode VisitLeaf(Leaf& leaf, Edges edges) {
    ++leaf_count_;
    Expect(leaf.count > 0 && leaf.count <= kMaxLeafItems);
    Expect(edges.Any() || leaf.count >= kMaxLeafItems / 4);
    Expect(leaf.previous == previous_ && (previous_ != nullptr ? previous_->next : tree_.first_) == &leaf);
    previous_ = &leaf;
    for (uint32_t i = 0; i < leaf.count; ++i) {
      const Item item = leaf.At(i);
      Expect(item.score == item.member->Score());
      if (last_.member != nullptr) {
        Expect(last_.score < item.score ||
               (last_.score == item.score && last_.member->Member() < item.member->Member()));
      }
      last_ = item;
    }
    return {&leaf, leaf.At(0), leaf.count};
  }

  BuiltNode VisitInner(Inner& inner, uint32_t height, Edges edges) {
    ++inner_count_;
    Expect(inner.count > (edges.root ? 1 : 0) && inner.count <= kMaxChildren);
    Expect(edges.Any() || inner.count >= kMaxChildren / 4);
    for (uint32_t i = 0; i < inner.count; ++i) {
      const Edges child_edges{false, edges.left && i == 0, edges.right && i + 1 == inner.count};
      const BuiltNode child = Visit(inner.children[i], height - 1, child_edges);
      Expect(child.items == inner.counts[i]);
      Expect(child.first.member == inner.members[i] && child.first.score == inner.scores[i]);
    }
    return {&inner, inner.At(0), inner.ItemCount()};
  }

  void Expect(bool holds) { good_ = good_ && holds; }

  const ScoreTree& tree_;
  const Leaf* previous_ = nullptr;
  Item last_{0, nullptr};
  size_t leaf_count_ = 0;
  size_t inner_count_ = 0;
  bool good_ = true;
};

bool ScoreTree::IsConsistent() const { return Checker(*this).Run(); }

}  // namespace respite
