#include "datatypes/entry.h"

#include <malloc.h>

#include <new>

namespace respite {

Entry* Entry::Create(Bytes key, StringContent content, int64_t deadline_ms, uint32_t access) {
  bool timed = deadline_ms != kNoDeadline;
  size_t inline_size = content.InlineSize();
  void* memory = std::malloc(sizeof(Entry) + (timed ? sizeof(int64_t) : 0) + key.size() + inline_size);
  if (memory == nullptr) throw std::bad_alloc();
  auto* entry = new (memory) Entry;
  entry->key_size_ = static_cast<uint32_t>(key.size());
  entry->bits_ =
      (access & kAccessMask) | (static_cast<uint32_t>(ValueType::kString) << kTypeShift) | (timed ? kDeadlineBit : 0u);
  if (timed) Store(entry->Payload(), deadline_ms);
  std::memcpy(entry->Payload() + entry->DeadlineBytes(), key.data(), key.size());
  entry->WriteValue(content);
  return entry;
}

Entry* Entry::CopyWithDeadlineSlot(const Entry& entry) {
  Entry* copy = Create(entry.Key(), entry.Content(), 0, entry.Access());
  copy->SetDeadline(kNoDeadline);
  return copy;
}

void Entry::Destroy(Entry* entry) {
  entry->DropBlob();
  std::free(entry);
}

void Entry::WriteValue(const StringContent& content) {
  bits_ = (bits_ & ~kFormMask) | (static_cast<uint32_t>(content.form) << kFormShift);
  inline_size_ = static_cast<uint32_t>(content.InlineSize());
  switch (content.form) {
    case StringForm::kInt:
      Store(MutableValue(), content.integer);
      break;
    case StringForm::kBlob:
      Store(MutableValue(), BlobRef(content.blob).Release());
      break;
    default:
      // memmove: the text may be a part of this very value (SETRANGE, GETSET of itself).
      if (!content.bytes.empty()) std::memmove(MutableValue(), content.bytes.data(), content.bytes.size());
  }
}

void Entry::DropBlob() {
  if (Form() == StringForm::kBlob) BlobRef::Adopt(Load<void*>(Value()));
}

StringContent Entry::Content() const {
  switch (Form()) {
    case StringForm::kInt:
      return StringContent::Integer(IntegerValue());
    case StringForm::kBlob:
      return StringContent::Shared(Blob());
    default:
      return {.form = Form(), .bytes = InlineText()};
  }
}

size_t Entry::TextSize() const {
  switch (Form()) {
    case StringForm::kInt:
      return Bytes(IntegerText(IntegerValue())).size();
    case StringForm::kBlob:
      return BlobText().size();
    default:
      return inline_size_;
  }
}

bool Entry::TryAssign(const StringContent& content) {
  size_t wanted = content.InlineSize();
  if (wanted != inline_size_) {
    size_t fixed = sizeof(Entry) + DeadlineBytes() + key_size_;
    size_t usable = malloc_usable_size(this);
    if (fixed + wanted > usable || fixed + wanted < usable / 2) return false;
  }
  BlobRef old;  // dropped after the new value is in place, which may hold the same blob
  if (Form() == StringForm::kBlob) old = BlobRef::Adopt(Load<void*>(Value()));
  WriteValue(content);
  return true;
}

bool Entry::TryGrow(size_t size) {
  size_t old_size = 0;
  if (Form() == StringForm::kBlob) {
    BlobRef blob = BlobRef::Adopt(Load<void*>(Value()));
    bool fits = blob.Unique() && size <= blob.Capacity();
    old_size = blob.Size();
    if (fits) blob.SetSize(size);
    blob.Release();
    if (!fits) return false;
  } else {
    size_t fixed = sizeof(Entry) + DeadlineBytes() + key_size_;
    if (Form() == StringForm::kInt || size > StringContent::kInlineMax) return false;
    if (fixed + size > malloc_usable_size(this)) return false;
    old_size = inline_size_;
    inline_size_ = static_cast<uint32_t>(size);
    bits_ = (bits_ & ~kFormMask) | (static_cast<uint32_t>(StringForm::kRaw) << kFormShift);
  }
  std::memset(MutableText() + old_size, 0, size - old_size);
  return true;
}

char* Entry::MutableText() {
  return Form() == StringForm::kBlob ? const_cast<char*>(BlobText().data()) : MutableValue();
}

size_t Entry::UsedBytes() const {
  size_t used = malloc_usable_size(const_cast<Entry*>(this));
  if (Form() == StringForm::kBlob) used += Blob().UsedBytes();
  return used;
}

}  // namespace respite
