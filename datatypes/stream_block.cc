#include "datatypes/stream_block.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "base/byte_order.h"
#include "base/out_of_memory.h"
#include "datatypes/listpack.h"

namespace respite {

namespace {

constexpr uint64_t kListpackMaxBytes = uint64_t{1} << 30;  // Redis: STREAM_LISTPACK_MAX_SIZE
constexpr size_t kFirstAllocation = 128;
constexpr size_t kVarintMax = 10;
constexpr size_t kElementOverhead = 1 + kVarintMax;  // maximum overhead of an element beyond its text

constexpr uint8_t kDeletedFlag = 1;
constexpr uint8_t kOwnNamesFlag = 2;
constexpr int kIdFormShift = 2;

constexpr uint8_t kIntegerHead = 0x80;
constexpr uint8_t kLongTextHead = 0x88;
constexpr uint8_t kSmallHead = 0x90;
constexpr int64_t kSmallMax = 0xff - kSmallHead;
constexpr size_t kShortTextMax = 127;

// Returns the size in bytes of a listpack element. `content` is the size of the element's encoding and data. Adds
// the size of the backlen, the 1 to 5 bytes with which the element ends.
uint64_t ListpackSize(size_t content) {
  const uint64_t tail = content <= 127 ? 1 : content < 16383 ? 2 : content < 2097151 ? 3 : content < 268435455 ? 4 : 5;
  return content + tail;
}

uint64_t ListpackIntegerSize(int64_t value) {
  if (value >= 0 && value <= 127) return 2;
  const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  if (magnitude < (1u << 12)) return 3;
  if (magnitude < (1u << 15)) return 4;
  if (magnitude < (1u << 23)) return 5;
  return magnitude < (uint64_t{1} << 31) ? 6 : 10;
}

uint64_t ListpackTextSize(size_t size) { return ListpackSize(size + (size < 64 ? 1 : size < 4096 ? 2 : 5)); }

// Returns how many bytes (1 to 8) store `value` as a signed integer.
size_t IntegerBytes(int64_t value) {
  const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  return magnitude == 0 ? 1 : (static_cast<size_t>(64 - __builtin_clzll(magnitude)) + 8) / 8;
}

char* WriteVarint(char* to, uint64_t value) {
  for (; value >= 128; value >>= 7) *to++ = static_cast<char>(value | 128);
  *to++ = static_cast<char>(value);
  return to;
}

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 128; value >>= 7) ++size;
  return size;
}

std::optional<int64_t> AsInteger(Bytes text) {
  if (text.empty() || text.size() > 20 || (!IsDigit(text[0]) && text[0] != '-')) return std::nullopt;
  return ParseInteger(text);
}

}  // namespace

// Writes numbers and texts at the end of a block, where there must be room. Also adds up the bytes that a Redis
// listpack needs for the same content.
class StreamBlock::Writer {
 public:
  explicit Writer(char* to) : to_(to) {}

  char* at() const { return to_; }
  uint64_t listpack_bytes() const { return listpack_bytes_; }
  void Number(uint64_t value) { to_ = WriteVarint(to_, value); }
  void Flags(uint8_t flags) { *to_++ = static_cast<char>(flags); }
  void CountInListpack(int64_t integer) { listpack_bytes_ += ListpackIntegerSize(integer); }

  void Text(Bytes text) {
    if (const auto integer = AsInteger(text)) return Integer(*integer);
    listpack_bytes_ += ListpackTextSize(text.size());
    if (text.size() <= kShortTextMax) {
      *to_++ = static_cast<char>(text.size());
    } else {
      *to_++ = static_cast<char>(kLongTextHead);
      Number(text.size());
    }
    to_ = std::copy_n(text.data(), text.size(), to_);
  }

 private:
  void Integer(int64_t value) {
    listpack_bytes_ += ListpackIntegerSize(value);
    if (value >= 0 && value <= kSmallMax) {
      *to_++ = static_cast<char>(kSmallHead + value);
      return;
    }
    const size_t bytes = IntegerBytes(value);
    *to_++ = static_cast<char>(kIntegerHead + bytes - 1);
    StoreLittle(to_, static_cast<uint64_t>(value), bytes);
    to_ += bytes;
  }

  char* to_;
  uint64_t listpack_bytes_ = 0;
};

StreamBlock::Element StreamBlock::ReadLongElement(const char* at) {
  const uint8_t head = static_cast<uint8_t>(*at++);
  if (head == kLongTextHead) {
    const Varint size = ReadVarint(at);
    return {StreamText(Bytes(size.next, size.value)), size.next + size.value};
  }
  const size_t bytes = size_t{head} - kIntegerHead + 1;
  return {StreamText(SignExtended(LoadLittle(at, bytes), static_cast<int>(8 * bytes))), at + bytes};
}

StreamBlock* StreamBlock::Reserve(StreamBlock* block, size_t more) {
  const size_t needed = sizeof(StreamBlock) + block->size_ + more;
  if (needed <= sizeof(StreamBlock) + block->room_) return block;
  size_t allocated = std::max(kFirstAllocation, sizeof(StreamBlock) + block->room_);
  while (allocated < needed) allocated *= 2;
  block = static_cast<StreamBlock*>(ReallocateOrEnd(static_cast<void*>(block), allocated));
  block->room_ = static_cast<uint32_t>(allocated - sizeof(StreamBlock));
  return block;
}

StreamBlock* StreamBlock::Create(const StreamId& id, std::span<const Bytes> fields_and_values) {
  return CreateWithMasterFields(id, fields_and_values, 2);
}

StreamBlock* StreamBlock::CreateWithFieldNames(const StreamId& id, std::span<const Bytes> names) {
  return CreateWithMasterFields(id, names, 1);
}

StreamBlock* StreamBlock::CreateWithMasterFields(const StreamId& id, std::span<const Bytes> texts, size_t stride) {
  size_t needed = kVarintMax;
  for (size_t i = 0; i < texts.size(); i += stride) needed += texts[i].size() + kElementOverhead;
  StreamBlock* block = new (AllocateOrEnd(kFirstAllocation)) StreamBlock;
  block->room_ = kFirstAllocation - sizeof(StreamBlock);
  block = Reserve(block, needed);
  Writer writer(block->Data());
  writer.Number(texts.size() / stride);
  writer.CountInListpack(static_cast<int64_t>(texts.size() / stride));
  for (size_t i = 0; i < texts.size(); i += stride) writer.Text(texts[i]);
  writer.CountInListpack(0);  // ends the master entry
  block->size_ = block->master_size_ = static_cast<uint32_t>(writer.at() - block->Data());
  block->listpack_bytes_without_counts_ = static_cast<uint32_t>(Listpack::kHeader + 1 + writer.listpack_bytes());
  block->last_id_ = id;
  return block;
}

StreamBlock* StreamBlock::Clone(const StreamBlock& block) {
  const size_t size = sizeof(StreamBlock) + block.size_;
  StreamBlock* copy = static_cast<StreamBlock*>(AllocateOrEnd(size));
  std::memcpy(static_cast<void*>(copy), &block, size);
  copy->room_ = block.size_;
  return copy;
}

void StreamBlock::Destroy(StreamBlock* block) { std::free(block); }

StreamBlock* StreamBlock::Seal(StreamBlock* block) {
  block = static_cast<StreamBlock*>(ReallocateOrEnd(static_cast<void*>(block), sizeof(StreamBlock) + block->size_));
  block->room_ = block->size_;
  return block;
}

uint64_t StreamBlock::NameCount() const { return ReadVarint(Data()).value; }

bool StreamBlock::HasMasterNames(std::span<const Bytes> fields_and_values) const {
  auto [count, at] = ReadVarint(Data());
  if (count != fields_and_values.size() / 2) return false;
  for (size_t i = 0; i < fields_and_values.size(); i += 2) {
    const Element name = ReadElement(at);
    if (name.text.View() != fields_and_values[i]) return false;
    at = name.next;
  }
  return true;
}

// Determines how Append writes an entry: the form of its ID, its flags, and whether it has its own field names.
struct StreamBlock::EntryHeader {
  IdForm form;
  uint8_t flags;
  bool has_own_names;
};

StreamBlock::EntryHeader StreamBlock::HeaderFor(const StreamId& id, std::span<const Bytes> fields_and_values,
                                                EntryState state) const {
  const bool is_first = live_count_ + deleted_count_ == 0;
  EntryHeader head{};
  if (id.ms != last_id_.ms) {
    head.form = id.seq == 0 ? kLaterFirst : kLater;
  } else {
    head.form = id.seq == last_id_.seq + 1 && !is_first ? kNextSequence : kLaterSequence;
  }
  head.has_own_names = !HasMasterNames(fields_and_values);
  head.flags = static_cast<uint8_t>((state == EntryState::kDeleted ? kDeletedFlag : 0) |
                                    (head.has_own_names ? kOwnNamesFlag : 0) | (head.form << kIdFormShift));
  return head;
}

// Writes all parts of an entry except the size at its beginning.
void StreamBlock::WriteEntryBody(Writer& writer, const EntryHeader& head, const StreamId& id,
                                 std::span<const Bytes> fields_and_values) const {
  writer.Flags(head.flags);
  if (head.form == kLaterFirst || head.form == kLater) writer.Number(id.ms - last_id_.ms);
  if (head.form == kLater) writer.Number(id.seq);
  if (head.form == kLaterSequence) writer.Number(id.seq - last_id_.seq);
  if (head.has_own_names) writer.Number(fields_and_values.size() / 2);
  const size_t stride = head.has_own_names ? 1 : 2;
  for (size_t i = stride - 1; i < fields_and_values.size(); i += stride) writer.Text(fields_and_values[i]);
}

StreamBlock* StreamBlock::Append(StreamBlock* block, const StreamId& block_id, const StreamId& id,
                                 std::span<const Bytes> fields_and_values, EntryState state) {
  size_t body_max = 1 + 3 * kVarintMax;
  for (const Bytes text : fields_and_values) body_max += text.size() + kElementOverhead;
  const size_t size_bytes = VarintSize(body_max);
  block = Reserve(block, size_bytes + body_max);

  const EntryHeader head = block->HeaderFor(id, fields_and_values, state);
  char* const begin = block->Data() + block->size_;
  Writer writer(begin + size_bytes);
  block->WriteEntryBody(writer, head, id, fields_and_values);
  const size_t body = static_cast<size_t>(writer.at() - begin) - size_bytes;
  const size_t written_bytes = VarintSize(body);
  if (written_bytes < size_bytes) std::memmove(begin + written_bytes, begin + size_bytes, body);
  WriteVarint(begin, body);

  const uint64_t fields = fields_and_values.size() / 2;
  writer.CountInListpack(1);  // flags
  writer.CountInListpack(static_cast<int64_t>(id.ms - block_id.ms));
  writer.CountInListpack(static_cast<int64_t>(id.seq - block_id.seq));
  if (head.has_own_names) writer.CountInListpack(static_cast<int64_t>(fields));
  writer.CountInListpack(
      static_cast<int64_t>(head.has_own_names ? 4 + 2 * fields : 3 + fields));  // the count, for backward iteration
  block->size_ += static_cast<uint32_t>(written_bytes + body);
  block->listpack_bytes_without_counts_ += static_cast<uint32_t>(writer.listpack_bytes());
  block->last_id_ = id;
  ++(state == EntryState::kLive ? block->live_count_ : block->deleted_count_);
  return block;
}

void StreamBlock::MarkDeleted(const EntryView& entry) {
  Data()[entry.flags - Data()] |= static_cast<char>(kDeletedFlag);
  --live_count_;
  ++deleted_count_;
}

uint64_t StreamBlock::ListpackBytes() const {
  return listpack_bytes_without_counts_ + ListpackIntegerSize(live_count_) + ListpackIntegerSize(deleted_count_);
}

bool StreamBlock::HasCapacityFor(std::span<const Bytes> fields_and_values, const Limits& limits) const {
  uint64_t bytes = ListpackBytes();
  for (const Bytes text : fields_and_values) bytes += text.size();
  const bool bounded = limits.max_bytes != 0 && limits.max_bytes <= kListpackMaxBytes;
  if (bytes >= (bounded ? limits.max_bytes : kListpackMaxBytes)) return false;
  return limits.max_entries == 0 || uint64_t{live_count_} + deleted_count_ < limits.max_entries;
}

size_t StreamBlock::UsedBytes() const { return malloc_usable_size(const_cast<StreamBlock*>(this)); }

StreamBlock::Cursor::Cursor(const StreamBlock& block, const StreamId& block_id)
    : at_(block.Data() + block.master_size_),
      end_(block.End()),
      next_(at_),
      master_count_(block.NameCount()),
      entry_{} {
  entry_.id = block_id;
  if (IsValid()) Read();
}

void StreamBlock::Cursor::Read() {
  const Varint size = ReadVarint(at_);
  next_ = size.next + size.value;
  const uint8_t flags = static_cast<uint8_t>(*size.next);
  entry_.flags = size.next;
  const char* at = size.next + 1;
  auto number = [&] {
    const Varint varint = ReadVarint(at);
    at = varint.next;
    return varint.value;
  };
  switch (static_cast<IdForm>(flags >> kIdFormShift)) {
    case kNextSequence:
      ++entry_.id.seq;
      break;
    case kLaterSequence:
      entry_.id.seq += number();
      break;
    case kLaterFirst:
      entry_.id = {entry_.id.ms + number(), 0};
      break;
    case kLater:
      entry_.id.ms += number();
      entry_.id.seq = number();
      break;
  }
  entry_.state = (flags & kDeletedFlag) != 0 ? EntryState::kDeleted : EntryState::kLive;
  entry_.has_own_names = (flags & kOwnNamesFlag) != 0;
  entry_.field_count = entry_.has_own_names ? number() : master_count_;
  entry_.elements = at;
}

}  // namespace respite
