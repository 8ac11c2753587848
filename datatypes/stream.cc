#include "datatypes/stream.h"

#include <algorithm>
#include <array>

namespace respite {

namespace {

using Key = std::array<char, 16>;

// Returns the number of nodes of Redis' radix tree (rax) for these keys, for radix-tree-nodes of XINFO STREAM. The keys
// are the IDs of the stream's blocks, sorted. All keys begin with the same `depth` bytes, for which no nodes are
// counted. There is a compressed node for each run of bytes without a branch, a node for each branch, and an end node
// for each key.
uint64_t NodesBelow(std::span<const Key> keys, size_t depth) {
  if (keys.size() == 1) return depth == Key().size() ? 1 : 2;
  size_t fork = depth;
  while (keys.front()[fork] == keys.back()[fork]) ++fork;
  uint64_t nodes = fork > depth ? 2 : 1;
  for (size_t begin = 0; begin < keys.size();) {
    size_t end = begin + 1;
    while (end < keys.size() && keys[end][fork] == keys[begin][fork]) ++end;
    nodes += NodesBelow(keys.subspan(begin, end - begin), fork + 1);
    begin = end;
  }
  return nodes;
}

}  // namespace

StreamLog::~StreamLog() {
  for (auto at = blocks_.First(); !at.AtEnd(); at.Next()) StreamBlock::Destroy(at.Get());
}

std::unique_ptr<Object> StreamLog::Clone() const {
  auto copy = std::make_unique<StreamLog>();
  for (auto at = blocks_.First(); !at.AtEnd(); at.Next()) {
    copy->blocks_.Insert(at.Id(), StreamBlock::Clone(*at.Get()));
  }
  copy->length_ = length_;
  copy->entries_added_ = entries_added_;
  copy->first_id_ = first_id_;
  copy->last_id_ = last_id_;
  copy->last_live_id_ = last_live_id_;
  copy->max_deleted_id_ = max_deleted_id_;
  for (const auto& [name, group] : groups_) {
    copy->CreateGroup(name, group.last_id, group.entries_read)->CopyFrom(group);
  }
  if (producers_ != nullptr) copy->producers_ = std::make_unique<StreamProducers>(*producers_);
  return copy;
}

size_t StreamLog::Size() const {
  size_t size = blocks_.Size();
  for (const auto& [name, group] : groups_) size += 1 + group.pending().Size();
  if (producers_ != nullptr) size += producers_->producers().size();
  return size;
}

size_t StreamLog::UsedBytes(size_t samples) const {
  size_t block_bytes = 0;
  size_t seen = 0;
  for (auto at = blocks_.First(); !at.AtEnd() && (samples == 0 || seen < samples); at.Next(), ++seen) {
    block_bytes += at.Get()->UsedBytes();
  }
  if (seen > 0) block_bytes = block_bytes * blocks_.Size() / seen;
  size_t used = sizeof *this + blocks_.UsedBytes() + block_bytes;
  for (const auto& [name, group] : groups_) used += name.capacity() + group.UsedBytes();
  if (producers_ != nullptr) used += producers_->UsedBytes();
  return used;
}

StreamId StreamLog::FirstStoredId() const {
  if (blocks_.IsEmpty()) return StreamId::Max();
  const auto first = blocks_.First();
  return StreamBlock::Cursor(*first.Get(), first.Id()).Get().id;
}

std::optional<StreamId> StreamLog::AutoId(uint64_t now_ms) const {
  return now_ms > last_id_.ms ? StreamId{now_ms, 0} : last_id_.Next();
}

std::optional<StreamId> StreamLog::AutoSequence(uint64_t ms) const {
  if (ms != last_id_.ms) return StreamId{ms, 0};
  if (last_id_.seq == UINT64_MAX) return std::nullopt;
  return StreamId{ms, last_id_.seq + 1};
}

void StreamLog::BeginBlock(const StreamId& id, StreamBlock* block) {
  if (!blocks_.IsEmpty()) {
    StreamBlock*& last = LastBlock();
    last = StreamBlock::Seal(last);
  }
  blocks_.Insert(id, block);
}

// Prepares the end of the stream for a new entry with this ID. Frees the blocks at the end that have only deleted
// entries and a last ID that is not below `id`; they exist after XSETID has lowered the last ID of the stream. Returns
// true if a block is left, and all its entries are below `id`.
bool StreamLog::DropDeletedTail(const StreamId& id) {
  while (!blocks_.IsEmpty()) {
    StreamBlock* block = blocks_.Last().Get();
    if (block->LastId() < id) return true;
    if (block->LiveCount() > 0) return false;
    DropBlock(StreamId(blocks_.Last().Id()), block);
  }
  return false;
}

void StreamLog::Add(const StreamId& id, std::span<const Bytes> fields_and_values, const StreamBlock::Limits& limits) {
  if (!DropDeletedTail(id) || !blocks_.Last().Get()->HasCapacityFor(fields_and_values, limits)) {
    BeginBlock(id, StreamBlock::Create(id, fields_and_values));
  }
  const auto last = blocks_.Last();
  StreamBlock*& block = blocks_.At(last);
  block = StreamBlock::Append(block, last.Id(), id, fields_and_values, StreamBlock::EntryState::kLive);
  ++length_;
  if (entries_added_ < INT64_MAX) ++entries_added_;  // XSETID can set any count
  last_id_ = last_live_id_ = id;
  if (length_ == 1) first_id_ = id;
}

StreamLog::Place StreamLog::Find(const StreamId& id) const {
  Place place{blocks_.AtOrBefore(id), {}};
  if (place.block.AtEnd()) return place;
  for (StreamBlock::Cursor at(*place.block.Get(), place.block.Id()); at.IsValid(); at.Next()) {
    if (at.Get().id < id) continue;
    if (at.Get().id > id || at.Get().state == StreamBlock::EntryState::kDeleted) break;
    place.entry = at.Get();
    return place;
  }
  return {};
}

bool StreamLog::Contains(const StreamId& id) const { return !Find(id).block.AtEnd(); }

uint64_t StreamLog::CountRange(const StreamId& from, const StreamId& to, uint64_t max_count) const {
  if (from > to || length_ == 0) return 0;
  if (from <= first_id_ && to >= last_live_id_) return std::min(length_, max_count);
  auto at = blocks_.AtOrBefore(from);
  if (at.AtEnd()) at = blocks_.First();
  uint64_t count = 0;
  for (; !at.AtEnd() && at.Id() <= to && count < max_count; at.Next()) {
    if (at.Id() >= from && at.Get()->LastId() <= to) {
      count += at.Get()->LiveCount();
      continue;
    }
    for (StreamBlock::Cursor entry(*at.Get(), at.Id()); entry.IsValid() && count < max_count; entry.Next()) {
      const StreamId& id = entry.Get().id;
      if (entry.Get().state == StreamBlock::EntryState::kLive && id >= from && id <= to) ++count;
    }
  }
  return std::min(count, max_count);
}

void StreamLog::DropBlock(const StreamId& id, StreamBlock* block) {
  StreamBlock::Destroy(block);
  blocks_.Erase(id);
}

bool StreamLog::Delete(const StreamId& id) {
  const Place place = Find(id);
  if (place.block.AtEnd()) return false;
  StreamBlock* block = place.block.Get();
  if (block->LiveCount() == 1) {
    DropBlock(StreamId(place.block.Id()), block);
  } else {
    block->MarkDeleted(place.entry);
  }
  --length_;
  max_deleted_id_ = std::max(max_deleted_id_, id);
  if (length_ == 0 || id == first_id_) UpdateFirstId();
  if (id == last_live_id_) UpdateLastLiveId();
  return true;
}

void StreamLog::UpdateFirstId() {
  const Walk walk(*this, StreamId::Min(), StreamId::Max());
  first_id_ = walk.IsValid() ? walk.Id() : StreamId{};
}

void StreamLog::UpdateLastLiveId() {
  const Walk walk(*this, StreamId::Min(), StreamId::Max(), Order::kBackward);
  last_live_id_ = walk.IsValid() ? walk.Id() : StreamId{};
}

bool StreamLog::MayDropWholeBlock(const StreamTrim& trim, const StreamBlock& block) const {
  if (trim.strategy == StreamTrim::Strategy::kMinId) return block.LastId() < trim.min_id;
  return length_ - block.LiveCount() >= trim.max_length;
}

uint64_t StreamLog::Trim(const StreamTrim& trim, const EntryVisitor& before_removal) {
  if (trim.strategy == StreamTrim::Strategy::kNone) return 0;
  if (trim.references != GroupReferences::kKeep) return TrimWithReferences(trim, before_removal);
  const bool by_length = trim.strategy == StreamTrim::Strategy::kMaxLength;
  uint64_t removed = 0;
  while (!blocks_.IsEmpty() && !(by_length && length_ <= trim.max_length)) {
    const StreamId id = blocks_.First().Id();
    StreamBlock* block = blocks_.First().Get();
    const uint64_t live = block->LiveCount();
    if (trim.limit != 0 && removed + live > trim.limit) break;
    if (!MayDropWholeBlock(trim, *block)) {
      if (trim.precision == StreamTrim::Precision::kExact) removed += TrimInsideBlock(trim, id, *block);
      break;
    }
    DropBlock(id, block);
    length_ -= live;
    removed += live;
  }
  if (removed > 0) UpdateFirstId();
  if (length_ == 0) first_id_ = last_live_id_ = {};
  return removed;
}

uint64_t StreamLog::TrimInsideBlock(const StreamTrim& trim, const StreamId& block_id, StreamBlock& block,
                                    const EntryVisitor& before_removal) {
  uint64_t removed = 0;
  for (StreamBlock::Cursor at(block, block_id); at.IsValid(); at.Next()) {
    if (KeepsFrom(trim, at.Get().id)) break;
    if (at.Get().state == StreamBlock::EntryState::kDeleted) continue;
    if (trim.references == GroupReferences::kMustBeAcknowledged && IsReferenced(at.Get().id)) continue;
    if (before_removal) before_removal(at.Get().id);
    if (trim.references == GroupReferences::kDelete) DropReferences(at.Get().id);
    block.MarkDeleted(at.Get());
    --length_;
    ++removed;
  }
  return removed;
}

uint64_t StreamLog::TrimWithReferences(const StreamTrim& trim, const EntryVisitor& before_removal) {
  uint64_t removed = 0;
  for (auto at = blocks_.First(); !at.AtEnd() && !KeepsFrom(trim, at.Id());) {
    const StreamId id = at.Id();
    StreamBlock* block = at.Get();
    if (trim.limit != 0 && removed + block->LiveCount() > trim.limit) break;
    // As in Redis, an empty block stays if its last entry, which is deleted, is not older than MINID.
    const bool may_drop = MayDropWholeBlock(trim, *block);
    removed += TrimInsideBlock(trim, id, *block, before_removal);
    if (block->LiveCount() > 0 || !may_drop) {
      at.Next();
      continue;
    }
    DropBlock(id, block);
    at = blocks_.AtOrAfter(id);
  }
  if (removed == 0) return 0;
  UpdateFirstId();
  UpdateLastLiveId();
  return removed;
}

// ---- groups

StreamGroup* StreamLog::FindGroup(Bytes name) {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

const StreamGroup* StreamLog::FindGroup(Bytes name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

StreamGroup* StreamLog::CreateGroup(Bytes name, const StreamId& last_id, int64_t entries_read) {
  const auto [place, is_new] = groups_.try_emplace(std::string(name), last_id, entries_read);
  if (!is_new) return nullptr;
  SetGroupPosition(place->second, last_id, entries_read);
  return &place->second;
}

void StreamLog::SetGroupPosition(StreamGroup& group, const StreamId& last_id, int64_t entries_read) const {
  group.last_id = last_id;
  group.entries_read = std::min(entries_read, static_cast<int64_t>(entries_added_));
}

void StreamLog::SetEntriesAdded(uint64_t count) {
  entries_added_ = count;
  for (auto& [name, group] : groups_) SetGroupPosition(group, group.last_id, group.entries_read);
}

bool StreamLog::DestroyGroup(Bytes name) {
  const auto found = groups_.find(name);
  if (found == groups_.end()) return false;
  groups_.erase(found);
  return true;
}

bool StreamLog::IsReferenced(const StreamId& id) const {
  return std::ranges::any_of(groups_, [&](const auto& item) { return item.second.IsUnreadOrPending(id); });
}

bool StreamLog::DropReferences(const StreamId& id) {
  bool was_pending = false;
  for (auto& [name, group] : groups_) was_pending |= group.RemovePending(id);
  return was_pending;
}

// Returns true if XDEL removed an entry (left a tombstone, as Redis says) at or after `id` and at or after the first
// live entry. For kValkey81, deletions before the first live entry count too.
bool StreamLog::HasTombstonesFrom(const StreamId& id, ReadCounting counting) const {
  if (length_ == 0 || max_deleted_id_.IsZero() || id > max_deleted_id_) return false;
  return counting == ReadCounting::kValkey81 || first_id_ <= max_deleted_id_;
}

int64_t StreamLog::EstimateEntriesRead(const StreamId& id, ReadCounting counting) const {
  const int64_t added = static_cast<int64_t>(entries_added_);
  if (added == 0) return 0;
  if (id == last_id_ || (length_ == 0 && id <= last_id_)) return added;
  if (id > last_id_) return StreamGroup::kUnknownCount;
  if (counting == ReadCounting::kValkey81 && !id.IsZero() && id < max_deleted_id_) return StreamGroup::kUnknownCount;
  if (!max_deleted_id_.IsZero() && max_deleted_id_ >= first_id_) return StreamGroup::kUnknownCount;
  if (id < first_id_) return added - static_cast<int64_t>(length_);
  if (id == first_id_) return added - static_cast<int64_t>(length_) + 1;
  return StreamGroup::kUnknownCount;
}

// Returns true if the group's count of read entries is exact. Then the count grows by one when the group reads its next
// entry, whose ID is `next`.
bool StreamLog::IsReadCountExact(const StreamGroup& group, const StreamId& next, ReadCounting counting) const {
  if (group.entries_read == StreamGroup::kUnknownCount) return false;
  if (counting != ReadCounting::kRedis70 && group.last_id < first_id_) return false;
  return !HasTombstonesFrom(counting == ReadCounting::kRedis70 ? next : group.last_id, counting);
}

void StreamLog::AdvanceGroup(StreamGroup& group, const StreamId& id, ReadCounting counting) const {
  if (IsReadCountExact(group, id, counting)) {
    if (group.entries_read < static_cast<int64_t>(entries_added_))
      ++group.entries_read;  // XGROUP SETID can set any count
  } else if (entries_added_ > 0) {
    group.entries_read = EstimateEntriesRead(id, counting);
  }
  group.last_id = id;
}

std::optional<int64_t> StreamLog::LagOf(const StreamGroup& group, ReadCounting counting) const {
  const int64_t added = static_cast<int64_t>(entries_added_);
  if (counting == ReadCounting::kRedis72) {
    if (length_ == 0) return 0;
    if (group.last_id < first_id_ && max_deleted_id_ < first_id_) return static_cast<int64_t>(length_);
  }
  if (added == 0) return 0;
  int64_t read = group.entries_read;
  if (read == StreamGroup::kUnknownCount || HasTombstonesFrom(group.last_id, counting)) {
    read = EstimateEntriesRead(group.last_id, counting);
  }
  if (read == StreamGroup::kUnknownCount) return std::nullopt;
  return added - read;
}

// ---- loading files

bool StreamLog::LoadBlock(const StreamId& id, std::span<const Bytes> names) {
  DropEmptyTailBlock();
  if (length_ > 0 && id <= last_live_id_) return false;
  DropDeletedTail(id);
  BeginBlock(id, StreamBlock::CreateWithFieldNames(id, names));
  return true;
}

bool StreamLog::LoadEntry(const StreamId& id, std::span<const Bytes> fields_and_values, StreamBlock::EntryState state) {
  const bool is_live = state == StreamBlock::EntryState::kLive;
  const auto last = blocks_.Last();
  StreamBlock*& block = blocks_.At(last);
  const bool is_first = block->LiveCount() + block->DeletedCount() == 0;
  if (is_first ? id < last.Id() : id <= block->LastId()) {
    if (!is_live) return true;  // a deleted entry can be dropped
    if (is_first || id <= last.Id() || (length_ > 0 && id <= last_live_id_)) return false;
    DropDeletedTail(id);
    BeginBlock(id, StreamBlock::Create(id, fields_and_values));
    return LoadEntry(id, fields_and_values, state);
  }
  block = StreamBlock::Append(block, last.Id(), id, fields_and_values, state);
  if (is_live) {
    ++length_;
    last_live_id_ = id;
  }
  return true;
}

// Frees the last block if the block is empty. The block can be empty because LoadEntry drops deleted entries that are
// out of order.
void StreamLog::DropEmptyTailBlock() {
  if (blocks_.IsEmpty()) return;
  StreamBlock* block = blocks_.Last().Get();
  if (block->LiveCount() + block->DeletedCount() == 0) DropBlock(StreamId(blocks_.Last().Id()), block);
}

void StreamLog::FinishLoading() {
  DropEmptyTailBlock();
  UpdateFirstId();
  UpdateLastLiveId();
}

// ---- other functions

uint64_t StreamLog::RadixTreeNodes() const {
  std::vector<std::array<char, 16>> keys;
  keys.reserve(blocks_.Size());
  for (auto at = blocks_.First(); !at.AtEnd(); at.Next()) keys.push_back(at.Id().RawBytes());
  return keys.empty() ? 1 : NodesBelow(keys, 0);
}

bool StreamLog::IsConsistent() const {
  if (!blocks_.IsConsistent()) return false;
  uint64_t live = 0;
  StreamId first_live;
  StreamId last_live;
  for (auto at = blocks_.First(); !at.AtEnd(); at.Next()) {
    uint64_t block_live = 0;
    StreamId last = at.Id();
    uint64_t seen = 0;
    for (StreamBlock::Cursor entry(*at.Get(), at.Id()); entry.IsValid(); entry.Next(), ++seen) {
      if (seen > 0 ? entry.Get().id <= last : entry.Get().id < last) return false;
      last = entry.Get().id;
      if (entry.Get().state == StreamBlock::EntryState::kDeleted) continue;
      if (live + block_live > 0 && last <= last_live) return false;
      if (live + block_live == 0) first_live = last;
      last_live = last;
      ++block_live;
    }
    if (block_live != at.Get()->LiveCount() || seen != block_live + at.Get()->DeletedCount()) return false;
    if (last != at.Get()->LastId()) return false;
    live += block_live;
  }
  if (live != length_ || first_live != first_id_ || last_live != last_live_id_ || last_live > last_id_) return false;
  return std::all_of(groups_.begin(), groups_.end(), [](const auto& item) { return item.second.IsConsistent(); });
}

// ---- Walk

StreamLog::Walk::Walk(const StreamLog& log, const StreamId& from, const StreamId& to, Order order)
    : from_(from), to_(to), order_(order) {
  if (from > to) return;
  if (order == Order::kForward) {
    block_ = log.blocks_.AtOrBefore(from);
    if (block_.AtEnd()) block_ = log.blocks_.First();
    if (block_.AtEnd()) return;
    at_.emplace(*block_.Get(), block_.Id());
    is_valid_ = true;
    if (at_->IsValid() && IsWanted(at_->Get())) {
      entry_ = at_->Get();
    } else {
      StepForward();
    }
    return;
  }
  block_ = log.blocks_.AtOrBefore(to);
  if (block_.AtEnd()) return;
  is_valid_ = true;
  CollectBlockEntries();
  StepBackward();
}

void StreamLog::Walk::StepForward() {
  for (;;) {
    if (at_->IsValid()) at_->Next();
    while (!at_->IsValid()) {
      block_.Next();
      if (block_.AtEnd() || block_.Id() > to_) {
        is_valid_ = false;
        return;
      }
      at_.emplace(*block_.Get(), block_.Id());
    }
    if (IsWanted(at_->Get())) break;
    if (at_->Get().id > to_ && at_->Get().state == StreamBlock::EntryState::kLive) {
      is_valid_ = false;
      return;
    }
  }
  entry_ = at_->Get();
}

void StreamLog::Walk::CollectBlockEntries() {
  for (StreamBlock::Cursor at(*block_.Get(), block_.Id()); at.IsValid() && at.Get().id <= to_; at.Next()) {
    if (IsWanted(at.Get())) unvisited_entries_.push_back(at.Get());
  }
}

void StreamLog::Walk::StepBackward() {
  while (unvisited_entries_.empty()) {
    if (block_.Id() <= from_) {
      is_valid_ = false;
      return;
    }
    block_.Previous();
    if (block_.AtEnd()) {
      is_valid_ = false;
      return;
    }
    CollectBlockEntries();
  }
  entry_ = unvisited_entries_.back();
  unvisited_entries_.pop_back();
}

}  // namespace respite
