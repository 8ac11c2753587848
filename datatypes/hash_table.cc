#include "datatypes/hash_table.h"

#include <bit>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "base/byte_order.h"
#include "base/out_of_memory.h"

namespace respite {

namespace {

// Returns the size in bytes of the block that jemalloc uses for `size` bytes. The size classes are 8, the
// multiples of 16 up to 128, and then four sizes for each power of two.
size_t ClassOf(size_t size) {
  if (size <= 8) return 8;
  if (size <= 128) return (size + 15) & ~size_t{15};
  const size_t step = std::bit_floor(size - 1) / 4;
  return (size + step - 1) / step * step;
}

size_t BytesOf(size_t size) {
  size_t bytes = 1;
  for (; size >= 128; size >>= 7) ++bytes;
  return bytes;
}

uint8_t* PutSize(uint8_t* to, size_t size) {
  for (; size >= 128; size >>= 7) *to++ = static_cast<uint8_t>(size | 128);
  *to++ = static_cast<uint8_t>(size);
  return to;
}

}  // namespace

size_t HashField::Size(size_t name_size, size_t value_size, Kind kind) {
  const size_t place = kind == Kind::kTimed ? sizeof(uint32_t) : 0;
  return BytesOf(name_size << kNameShift) + BytesOf(value_size) + place + name_size + value_size;
}

size_t HashField::BlockSize(size_t value_size) const {
  const size_t size = Size(Layout(this).name_size, value_size, IsTimed() ? Kind::kTimed : Kind::kPlain);
  return IsPooled() && SlabPool::Suits(size) ? SlabPool::BlockBytes(size) : ClassOf(size);
}

HashField* HashField::Create(Bytes name, Bytes value, Kind kind, SlabPool* pool) {
  const size_t size = Size(name.size(), value.size(), kind);
  const bool is_pooled = pool != nullptr && SlabPool::Suits(size);
  void* memory = is_pooled ? pool->Allocate(size) : AllocateOrEnd(ClassOf(size));
  auto* at = static_cast<uint8_t*>(memory);
  const size_t bits = (is_pooled ? kPooledBit : 0) | (kind == Kind::kTimed ? kTimedBit : 0);
  at = PutSize(at, name.size() << kNameShift | bits);
  at = PutSize(at, value.size());
  if (kind == Kind::kTimed) at += sizeof(uint32_t);
  if (!name.empty()) std::memcpy(at, name.data(), name.size());
  if (!value.empty()) std::memcpy(at + name.size(), value.data(), value.size());
  return static_cast<HashField*>(memory);
}

void HashField::Free(HashField* field) { field->IsPooled() ? SlabPool::Free(field) : std::free(field); }

bool HashField::TryReplace(Bytes value) {
  const Layout layout(this);
  if (value.size() != layout.value_size) {
    if (BytesOf(value.size()) != BytesOf(layout.value_size)) return false;
    if (BlockSize(value.size()) != BlockSize()) return false;
    auto* bytes = reinterpret_cast<uint8_t*>(this);
    PutSize(bytes + BytesOf(layout.name_size << kNameShift), value.size());
  }
  if (!value.empty()) std::memcpy(Memory() + layout.name_at + layout.name_size, value.data(), value.size());
  return true;
}

uint32_t HashField::HeapIndex() const {
  return LoadLittle<uint32_t>(Memory() + Layout(this).name_at - sizeof(uint32_t));
}

void HashField::SetHeapIndex(uint32_t place) {
  StoreLittle<uint32_t>(Memory() + Layout(this).name_at - sizeof place, place);
}

HashTable::~HashTable() {
  index_.ForEach([](HashField* field) { HashField::Free(field); });
}

std::unique_ptr<Object> HashTable::Clone() const {
  auto copy = std::make_unique<HashTable>(index_.hash_key());
  if (heap_) copy->heap_ = std::make_unique<std::deque<TimedField>>(*heap_);
  index_.ForEach([&](const HashField* field) {
    const auto kind = field->IsTimed() ? HashField::Kind::kTimed : HashField::Kind::kPlain;
    HashField* twin = HashField::Create(field->Key(), field->Value(), kind, copy->Pool());
    if (field->IsTimed()) copy->SetHeapItem(field->HeapIndex(), {(*heap_)[field->HeapIndex()].deadline_ms, twin});
    copy->index_.Insert(twin, index_.Hash(field->Key()));
  });
  return copy;
}

size_t HashTable::UsedBytes(size_t samples) const {
  size_t seen = 0;
  size_t bytes = 0;
  const size_t wanted = samples == 0 ? Size() : samples;
  uint64_t cursor = 0;
  do {
    cursor = index_.Scan(cursor, [&](const HashField* field) {
      ++seen;
      bytes += field->BlockSize();
    });
  } while (cursor != 0 && seen < wanted);
  const size_t fields = seen == 0 ? 0 : bytes * Size() / seen;
  return sizeof(HashTable) + index_.UsedBytes() + fields + TimedCount() * sizeof(TimedField);
}

HashTable::Outcome HashTable::Set(Bytes name, Bytes value) {
  const uint64_t hash = index_.Hash(name);
  HashField* old = index_.Find(name, hash);
  if (old == nullptr) {
    index_.Insert(HashField::Create(name, value, HashField::Kind::kPlain, Pool()), hash);
    return Outcome::kAdded;
  }
  if (!old->TryReplace(value)) {
    const auto kind = old->IsTimed() ? HashField::Kind::kTimed : HashField::Kind::kPlain;
    HashField* field = HashField::Create(name, value, kind, Pool());
    if (old->IsTimed()) SetHeapItem(old->HeapIndex(), {(*heap_)[old->HeapIndex()].deadline_ms, field});
    ReplaceField(old, field, hash);
  }
  return Outcome::kReplaced;
}

bool HashTable::Remove(Bytes name) {
  HashField* field = index_.Remove(name, index_.Hash(name));
  if (field == nullptr) return false;
  if (field->IsTimed()) RemoveAt(field->HeapIndex());
  HashField::Free(field);
  if (pool_ != nullptr && index_.Size() < kPooledFrom / 4) LeavePool();
  return true;
}

void HashTable::LeavePool() {
  const std::unique_ptr<SlabPool> pool = std::move(pool_);  // is freed after its blocks
  std::vector<HashField*> fields;
  index_.ForEach([&](HashField* field) {
    if (field->IsPooled()) fields.push_back(field);
  });
  for (HashField* field : fields) {
    const auto kind = field->IsTimed() ? HashField::Kind::kTimed : HashField::Kind::kPlain;
    HashField* moved = HashField::Create(field->Key(), field->Value(), kind, nullptr);
    if (field->IsTimed()) SetHeapItem(field->HeapIndex(), {(*heap_)[field->HeapIndex()].deadline_ms, moved});
    ReplaceField(field, moved, index_.Hash(moved->Key()));
  }
}

void HashTable::ReplaceField(HashField* old, HashField* field, uint64_t hash) {
  index_.Replace(old, field, hash);
  HashField::Free(old);
}

HashField* HashTable::RecreateField(HashField* field, HashField::Kind kind, uint64_t hash) {
  HashField* made = HashField::Create(field->Key(), field->Value(), kind, Pool());
  ReplaceField(field, made, hash);
  return made;
}

int64_t HashTable::DeadlineOf(const HashField& field) const {
  return field.IsTimed() ? (*heap_)[field.HeapIndex()].deadline_ms : kNoDeadline;
}

bool HashTable::SetDeadline(Bytes name, int64_t deadline_ms) {
  const uint64_t hash = index_.Hash(name);
  HashField* field = index_.Find(name, hash);
  if (field == nullptr) return false;
  if (deadline_ms == kNoDeadline) {
    if (!field->IsTimed()) return true;
    RemoveAt(field->HeapIndex());
    RecreateField(field, HashField::Kind::kPlain, hash);
    return true;
  }
  if (!field->IsTimed()) {
    field = RecreateField(field, HashField::Kind::kTimed, hash);
    if (!heap_) heap_ = std::make_unique<std::deque<TimedField>>();
    heap_->push_back({deadline_ms, field});
    SiftUp(heap_->size() - 1);
  } else {
    const size_t place = field->HeapIndex();
    (*heap_)[place].deadline_ms = deadline_ms;
    RestoreHeapOrder(place);
  }
  return true;
}

void HashTable::SiftUp(size_t place) {
  const TimedField moving = (*heap_)[place];
  for (; place > 0; place = (place - 1) / 2) {
    const TimedField& above = (*heap_)[(place - 1) / 2];
    if (above.deadline_ms <= moving.deadline_ms) break;
    SetHeapItem(place, above);
  }
  SetHeapItem(place, moving);
}

void HashTable::SiftDown(size_t place) {
  const TimedField moving = (*heap_)[place];
  for (;;) {
    size_t child = 2 * place + 1;
    if (child >= heap_->size()) break;
    if (child + 1 < heap_->size() && (*heap_)[child + 1].deadline_ms < (*heap_)[child].deadline_ms) ++child;
    if ((*heap_)[child].deadline_ms >= moving.deadline_ms) break;
    SetHeapItem(place, (*heap_)[child]);
    place = child;
  }
  SetHeapItem(place, moving);
}

void HashTable::RestoreHeapOrder(size_t place) {
  const bool too_low = place > 0 && (*heap_)[(place - 1) / 2].deadline_ms > (*heap_)[place].deadline_ms;
  too_low ? SiftUp(place) : SiftDown(place);
}

void HashTable::RemoveAt(size_t place) {
  const TimedField last = heap_->back();
  heap_->pop_back();
  if (heap_->empty()) return heap_.reset();
  if (place == heap_->size()) return;
  SetHeapItem(place, last);
  RestoreHeapOrder(place);
}

template <class Visit>
void HashTable::VisitExpired(size_t place, int64_t now_ms, Visit&& visit) const {
  // If the item at `place` has not expired, skips all items below it in the heap, because their deadlines are not
  // earlier.
  if (place >= heap_->size() || !IsDeadlineOver((*heap_)[place].deadline_ms, now_ms)) return;
  visit((*heap_)[place]);
  VisitExpired(2 * place + 1, now_ms, visit);
  VisitExpired(2 * place + 2, now_ms, visit);
}

size_t HashTable::CountExpiredFields(int64_t now_ms) const {
  size_t count = 0;
  if (heap_) VisitExpired(0, now_ms, [&](const TimedField&) { ++count; });
  return count;
}

bool HashTable::AreAllFieldsExpired(int64_t now_ms) const {
  if (TimedCount() != Size() || Size() == 0) return false;
  // Searches for a field that has not expired. Begins at the end of the heap, because later deadlines tend to be there.
  for (size_t place = heap_->size(); place > 0; --place)
    if (!IsDeadlineOver((*heap_)[place - 1].deadline_ms, now_ms)) return false;
  return true;
}

bool HashTable::IsConsistent() const {
  size_t timed = 0;
  bool good = index_.IsConsistent() && (!heap_ || !heap_->empty());
  index_.ForEach([&](const HashField* field) {
    if (!field->IsTimed()) return;
    ++timed;
    good = good && heap_ && field->HeapIndex() < heap_->size() && (*heap_)[field->HeapIndex()].field == field;
  });
  for (size_t place = 1; place < TimedCount(); ++place)
    good = good && (*heap_)[(place - 1) / 2].deadline_ms <= (*heap_)[place].deadline_ms;
  return good && timed == TimedCount();
}

}  // namespace respite
