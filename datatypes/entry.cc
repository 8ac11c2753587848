#include "datatypes/entry.h"

#include <malloc.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <new>

#include "base/out_of_memory.h"

namespace respite {

Entry* Entry::NewBlock(size_t bytes, SlabPool* pool) {
  if (pool == nullptr || !SlabPool::Suits(bytes)) return new (AllocateOrEnd(bytes)) Entry;
  auto* entry = new (pool->Allocate(bytes)) Entry;
  entry->sizes_ = kPooledBit;
  return entry;
}

size_t Entry::BlockBytes() const {
  return IsPooled() ? SlabPool::SizeOf(this) : malloc_usable_size(const_cast<Entry*>(this));
}

void Entry::FreeBlock(Entry* entry) { entry->IsPooled() ? SlabPool::Free(entry) : std::free(entry); }

Entry* Entry::Moved(Entry* entry, size_t bytes, SlabPool* pool) {
  if (!entry->IsPooled() && (pool == nullptr || !SlabPool::Suits(bytes)))
    return static_cast<Entry*>(ReallocateOrEnd(static_cast<void*>(entry), bytes));
  Entry* moved = NewBlock(bytes, pool);
  const uint32_t pooled_bit = moved->sizes_;
  std::memcpy(static_cast<void*>(moved), static_cast<const void*>(entry), std::min(bytes, entry->BlockBytes()));
  moved->sizes_ = (moved->sizes_ & ~kPooledBit) | pooled_bit;
  FreeBlock(entry);
  return moved;
}

Entry* Entry::MoveToPool(Entry* entry, SlabPool& pool) {
  if (entry->IsPooled() && SlabPool::Of(entry) == &pool) return entry;
  const size_t bytes = entry->ValueOffset() + entry->InlineSize();
  const bool is_tight = SlabPool::Suits(bytes) && entry->BlockBytes() < bytes + 16;
  return entry->IsPooled() || is_tight ? Moved(entry, bytes, &pool) : entry;
}

Entry* Entry::MoveOutOfPool(Entry* entry) {
  return entry->IsPooled() ? Moved(entry, entry->ValueOffset() + entry->InlineSize(), nullptr) : entry;
}

Entry* Entry::Allocate(Bytes key, size_t inline_size, int64_t deadline_ms, uint32_t access, SlabPool* pool,
                       size_t spare) {
  const bool timed = deadline_ms != kNoDeadline;
  const bool wide = NeedsWide(key.size(), inline_size);
  const size_t header = sizeof(Entry) + (wide ? sizeof(WideSizes) : 0);
  const size_t bytes = header + (timed ? sizeof(int64_t) : 0) + key.size() + inline_size + spare;
  Entry* entry = NewBlock(bytes, pool);
  if (wide) entry->sizes_ = kWideMarker;
  entry->bits_ = (access & kAccessMask) | (timed ? kDeadlineBit : 0u);
  entry->SetSizes(key.size(), inline_size);
  if (timed) Store(entry->Payload(), deadline_ms);
  std::memcpy(entry->Payload() + entry->DeadlineBytes(), key.data(), key.size());
  return entry;
}

Entry* Entry::AllocateLike(const Entry& entry, Bytes key, int64_t deadline_ms, uint32_t access) {
  Entry* made = Allocate(key, entry.InlineSize(), deadline_ms, access, /*pool=*/nullptr);
  made->SetTypeAndForm(entry.Type(), entry.Form());
  made->bits_ |= entry.bits_ & kFieldDeadlinesBit;
  return made;
}

void Entry::SetSizes(size_t key_size, size_t inline_size) {
  assert(IsWide() ? inline_size <= UINT32_MAX : !NeedsWide(key_size, inline_size));
  if (IsWide()) {
    Store(Memory() + sizeof(Entry),
          WideSizes{.key = static_cast<uint32_t>(key_size), .inlined = static_cast<uint32_t>(inline_size)});
  } else {
    sizes_ = (sizes_ & kPooledBit) | static_cast<uint32_t>(key_size | (inline_size << kInlineShift));
  }
}

Entry* Entry::Widen(Entry* entry) {
  const size_t key_size = entry->KeySize();
  const size_t inline_size = entry->InlineSize();
  const size_t payload = entry->ValueOffset() + inline_size - sizeof(Entry);
  entry = Moved(entry, sizeof(Entry) + sizeof(WideSizes) + payload, /*pool=*/nullptr);
  std::memmove(entry->Memory() + sizeof(Entry) + sizeof(WideSizes), entry->Memory() + sizeof(Entry), payload);
  entry->sizes_ = kWideMarker;
  entry->SetSizes(key_size, inline_size);
  return entry;
}

Entry* Entry::Create(Bytes key, StringContent content, int64_t deadline_ms, uint32_t access, SlabPool* pool) {
  Entry* entry = Allocate(key, content.InlineSize(), deadline_ms, access, pool);
  entry->WriteValue(content);
  return entry;
}

Entry* Entry::CreatePacked(Bytes key, ValueType type, ValueForm form, Bytes packed, size_t spare, uint32_t access,
                           SlabPool* pool) {
  Entry* entry = Allocate(key, packed.size(), kNoDeadline, access, pool, spare);
  entry->SetTypeAndForm(type, form);
  std::memcpy(entry->MutableValue(), packed.data(), packed.size());
  return entry;
}

Entry* Entry::CreateWithObject(Bytes key, ValueType type, std::unique_ptr<Object> object, uint32_t access,
                               SlabPool* pool) {
  Entry* entry = Allocate(key, sizeof(Object*), kNoDeadline, access, pool);
  entry->SetTypeAndForm(type, ValueForm::kObject);
  Store(entry->MutableValue(), object.release());
  return entry;
}

Entry* Entry::Clone(const Entry& entry, Bytes key, int64_t deadline_ms, uint32_t access) {
  Entry* copy = AllocateLike(entry, key, deadline_ms, access);
  switch (entry.Form()) {
    case ValueForm::kBlob:
      Store(copy->MutableValue(), entry.Blob().Release());
      break;
    case ValueForm::kObject:
      Store(copy->MutableValue(), entry.ObjectValue()->Clone().release());
      break;
    default:
      std::memcpy(copy->MutableValue(), entry.Value(), entry.InlineSize());
  }
  return copy;
}

void Entry::Destroy(Entry* entry) {
  entry->FreeBlobOrObject();
  FreeBlock(entry);
}

Entry* Entry::Rename(Entry* entry, Bytes key) {
  Entry* renamed = AllocateLike(*entry, key, entry->Deadline(), entry->Access());
  std::memcpy(renamed->MutableValue(), entry->Value(), entry->InlineSize());
  FreeBlock(entry);  // a Blob or Object that it pointed to now belongs to the new entry
  return renamed;
}

Entry* Entry::AddDeadlineSlot(Entry* entry, SlabPool* pool) {
  const size_t bytes = entry->ValueOffset() + entry->InlineSize();
  entry = Moved(entry, bytes + sizeof(int64_t), pool);
  std::memmove(entry->Payload() + sizeof(int64_t), entry->Payload(), bytes - entry->HeaderBytes());
  entry->bits_ |= kDeadlineBit;
  entry->SetDeadline(kNoDeadline);
  return entry;
}

Entry* Entry::Resize(Entry* entry, size_t inline_size, SlabPool* pool) {
  if (!entry->IsWide() && NeedsWide(entry->KeySize(), inline_size)) entry = Widen(entry);
  size_t wanted = entry->ValueOffset() + inline_size;
  size_t usable = entry->BlockBytes();
  if (wanted > usable || wanted < usable / 2) entry = Moved(entry, wanted, pool);
  entry->SetInlineSize(inline_size);
  return entry;
}

Entry* Entry::StoreCollection(Entry* entry, ValueForm form, Bytes packed, SlabPool* pool) {
  entry = Resize(entry, packed.size(), pool);
  entry->SetTypeAndForm(entry->Type(), form);
  std::memcpy(entry->MutableValue(), packed.data(), packed.size());
  return entry;
}

Entry* Entry::StoreCollection(Entry* entry, std::unique_ptr<Object> object, SlabPool* pool) {
  entry = Resize(entry, sizeof(Object*), pool);
  entry->SetTypeAndForm(entry->Type(), ValueForm::kObject);
  Store(entry->MutableValue(), object.release());
  return entry;
}

std::unique_ptr<Object> Entry::ReleaseObject() {
  std::unique_ptr<Object> object(ObjectValue());
  Store(MutableValue(), static_cast<Object*>(nullptr));
  return object;
}

void Entry::WriteValue(const StringContent& content) {
  SetTypeAndForm(ValueType::kString, content.form);
  SetInlineSize(content.InlineSize());
  switch (content.form) {
    case ValueForm::kInt:
      Store(MutableValue(), content.integer);
      break;
    case ValueForm::kBlob:
      Store(MutableValue(), BlobRef(content.blob).Release());
      break;
    default:
      // memmove is necessary because the text may be part of this value itself (SETRANGE, GETSET).
      if (!content.bytes.empty()) std::memmove(MutableValue(), content.bytes.data(), content.bytes.size());
  }
}

void Entry::FreeBlobOrObject() {
  if (Form() == ValueForm::kBlob) BlobRef::Adopt(Load<void*>(Value()));
  if (Form() == ValueForm::kObject) delete ObjectValue();
}

size_t Entry::TextSize() const {
  switch (Form()) {
    case ValueForm::kInt:
      return Bytes(IntegerText(IntegerValue())).size();
    case ValueForm::kBlob:
      return BlobText().size();
    default:
      return InlineSize();
  }
}

bool Entry::TryAssign(const StringContent& content) {
  size_t wanted = content.InlineSize();
  if (wanted != InlineSize()) {
    size_t usable = BlockBytes();
    if (ValueOffset() + wanted > usable || ValueOffset() + wanted < usable / 2) return false;
  }
  BlobRef old;  // released after the new value is stored, because both may be the same Blob
  if (Form() == ValueForm::kBlob) old = BlobRef::Adopt(Load<void*>(Value()));
  if (Form() == ValueForm::kObject) delete ObjectValue();
  WriteValue(content);
  return true;
}

bool Entry::TryGrow(size_t size) {
  size_t old_size = 0;
  if (Form() == ValueForm::kBlob) {
    BlobRef blob = BlobRef::Adopt(Load<void*>(Value()));
    bool fits = blob.IsUnique() && size <= blob.Capacity();
    old_size = blob.Size();
    if (fits) blob.SetSize(size);
    blob.Release();
    if (!fits) return false;
  } else {
    if (Form() == ValueForm::kInt || size > StringContent::kInlineMax) return false;
    if (ValueOffset() + size > BlockBytes()) return false;
    old_size = InlineSize();
    SetInlineSize(size);
    bits_ = (bits_ & ~kFormMask) | (static_cast<uint32_t>(ValueForm::kRaw) << kFormShift);
  }
  std::memset(MutableText() + old_size, 0, size - old_size);
  return true;
}

char* Entry::MutableText() {
  return Form() == ValueForm::kBlob ? BlobRef::DataOf(Load<void*>(Value())) : MutableValue();
}

size_t Entry::UsedBytes(size_t samples) const {
  size_t used = BlockBytes();
  if (Form() == ValueForm::kBlob) used += Blob().UsedBytes();
  if (Form() == ValueForm::kObject) used += ObjectValue()->UsedBytes(samples);
  return used;
}

}  // namespace respite
