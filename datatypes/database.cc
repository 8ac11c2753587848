#include "datatypes/database.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace respite {

namespace {

// Returns the capacity in bytes of a Blob that grows from `old_size` to `size` bytes. The capacity is twice `size` up
// to 1 MB. Above 1 MB, the capacity is `size` plus 1 MB or a quarter of `size`, whichever is more. So copying costs
// O(1) per byte appended, and little memory is wasted. A Blob that does not grow, or more than doubles, gets no spare
// room.
size_t CapacityFor(size_t old_size, size_t size) {
  constexpr size_t kDoubledUpTo = 1024 * 1024;
  if (size == old_size || size / 2 > old_size) return size;
  return size + std::max(std::min(size, kDoubledUpTo), size / 4);
}

BlobRef GrownBlob(Bytes text, size_t size) {
  BlobRef grown = BlobRef::OfSize(size, CapacityFor(text.size(), size));
  std::memcpy(grown.Data(), text.data(), text.size());
  std::memset(grown.Data() + text.size(), 0, size - text.size());
  return grown;
}

}  // namespace

Entry* Database::Add(Bytes key, uint64_t hash, StringContent content, int64_t deadline_ms, uint32_t access) {
  return Add(EntryPtr(Entry::Create(key, std::move(content), deadline_ms, access, pool())), hash);
}

Entry* Database::Add(EntryPtr entry) {
  const uint64_t hash = Hash(entry->Key());
  Entry* raw = entry.release();
  return Add(EntryPtr(pool() != nullptr ? Entry::MoveToPool(raw, *pool()) : Entry::MoveOutOfPool(raw)), hash);
}

Entry* Database::Add(EntryPtr entry, uint64_t hash) {
  Entry* raw = entry.release();
  entries_.Insert(raw, hash);
  if (raw->Deadline() != kNoDeadline) entries_with_deadline_.Insert(raw, hash);
  if (raw->HasFieldDeadlines()) hashes_with_field_deadlines_.Insert(raw, hash);
  if (by_slot_ != nullptr) by_slot_->Insert(raw, hash);
  return raw;
}

Entry* Database::Assign(Entry* entry, StringContent content) {
  if (entry->HasFieldDeadlines()) IndexFieldDeadlines(entry, FieldDeadlines::kNone);
  if (entry->TryAssign(content)) return entry;
  const EntryPtr old(entry);
  return UpdateMovedEntry(entry,
                          Entry::Create(entry->Key(), std::move(content), entry->Deadline(), entry->Access(), pool()));
}

Entry* Database::Grow(Entry* entry, size_t size) {
  if (entry->TryGrow(size)) return entry;
  StringText text(*entry);
  if (size > StringContent::kInlineMax) return Assign(entry, StringContent::FromBlob(GrownBlob(text.View(), size)));
  std::array<char, StringContent::kInlineMax> grown;
  std::memcpy(grown.data(), text.View().data(), text.View().size());
  std::memset(grown.data() + text.View().size(), 0, size - text.View().size());
  return Assign(entry, StringContent::Raw({grown.data(), size}));
}

Entry* Database::Resize(Entry* entry, size_t inline_size) {
  return UpdateMovedEntry(entry, Entry::Resize(entry, inline_size, pool()));
}

Entry* Database::StoreCollection(Entry* entry, ValueForm form, Bytes packed) {
  return UpdateMovedEntry(entry, Entry::StoreCollection(entry, form, packed, pool()));
}

Entry* Database::StoreCollection(Entry* entry, std::unique_ptr<Object> object) {
  return UpdateMovedEntry(entry, Entry::StoreCollection(entry, std::move(object), pool()));
}

Entry* Database::SetDeadline(Entry* entry, int64_t deadline_ms) {
  int64_t old_deadline = entry->Deadline();
  if (old_deadline == deadline_ms) return entry;
  uint64_t hash = Hash(entry->Key());
  if (deadline_ms != kNoDeadline && !entry->HasDeadlineSlot()) {
    entry = UpdateMovedEntry(entry, Entry::AddDeadlineSlot(entry, pool()));
  }
  entry->SetDeadline(deadline_ms);
  if (old_deadline == kNoDeadline) entries_with_deadline_.Insert(entry, hash);
  if (deadline_ms == kNoDeadline) entries_with_deadline_.Remove(entry->Key(), hash);
  return entry;
}

void Database::IndexFieldDeadlines(Entry* entry, FieldDeadlines deadlines) {
  const bool some = deadlines == FieldDeadlines::kSome;
  if (entry->HasFieldDeadlines() == some) return;
  const uint64_t hash = Hash(entry->Key());
  some ? entry->MarkFieldDeadlines() : entry->UnmarkFieldDeadlines();
  if (some) return hashes_with_field_deadlines_.Insert(entry, hash);
  hashes_with_field_deadlines_.Remove(entry->Key(), hash);
}

EntryPtr Database::Take(Entry* entry) {
  uint64_t hash = Hash(entry->Key());
  if (entry->HasFieldDeadlines()) hashes_with_field_deadlines_.Remove(entry->Key(), hash);
  if (entry->Deadline() != kNoDeadline) entries_with_deadline_.Remove(entry->Key(), hash);
  if (by_slot_ != nullptr) by_slot_->Remove(entry->Key(), hash);
  entries_.Remove(entry->Key(), hash);
  return EntryPtr(entry);
}

void Database::Clear() {
  entries_.ForEach([](Entry* entry) { Entry::Destroy(entry); });
  entries_.Clear();
  entries_with_deadline_.Clear();
  hashes_with_field_deadlines_.Clear();
  if (by_slot_ != nullptr) by_slot_->Clear();
  if (pool_ != nullptr) pool_->FreeSpareSlab();
}

Entry* Database::UpdateMovedEntry(Entry* from, Entry* to) {
  if (from == to) return to;
  uint64_t hash = Hash(to->Key());
  entries_.Replace(from, to, hash);
  if (to->Deadline() != kNoDeadline) entries_with_deadline_.Replace(from, to, hash);
  if (to->HasFieldDeadlines()) hashes_with_field_deadlines_.Replace(from, to, hash);
  if (by_slot_ != nullptr) by_slot_->Replace(from, to, hash);
  return to;
}

}  // namespace respite
