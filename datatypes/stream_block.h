// StreamBlock: some neighbouring entries of a stream (by default at most 100) in one run of bytes.
//
//   block    = header | master | entry …               the header: the members of StreamBlock (sizes, counts)
//   master   = count | element …                      the field names of the entry that began the block
//   entry    = size of the rest | flags | id | fields
//   flags    = 1 byte: bit 0: deleted; bit 1: has its own field names; bits 2 and 3: the form of the id
//   id       = (0) nothing: the same milliseconds, the next sequence number
//              (1) ms delta: later milliseconds, sequence number 0
//              (2) seq delta: the same milliseconds
//              (3) ms delta | seq: later milliseconds
//   fields   = element … (values only, the names are the master's), or count | element … (field, value, field, …)
//   element  = 00…7f text of 0 to 127 bytes | 80…87 integer of 1 to 8 bytes, little endian | 88 size | text
//              | 90…ff integer 0 to 111
//   counts, sizes and deltas are varints: 7 bits per byte, low first; the high bit means that more bytes follow
//
// The deltas of the first entry are relative to the ID under which the stream stores the block, which is usually the ID
// of this entry.
//
// Example: 5-0 with "f" = "x", then 5-1 with "f" = "40":  01 01 66 | 04 08 00 01 78 | 02 00 b8
//
// A deleted entry remains in place and is marked, as in Redis. A block tracks the size of Redis' listpack with the same
// entries, so that it is full when Redis' node is full. Clients can see this: XTRIM with ~ removes only whole blocks.
//
// The last block of a stream grows by doubling, and is cut to its size when the next block begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/number_text.h"
#include "datatypes/stream_id.h"

namespace respite {

class StreamText {  // a stored field name or value as text; an integer becomes decimal text
 public:
  explicit StreamText(Bytes text) : view_(text) {}
  explicit StreamText(int64_t integer) : digits_(integer), is_integer_(true) {}
  Bytes View() const { return is_integer_ ? Bytes(digits_) : view_; }

 private:
  IntegerText digits_{0};  // the decimal text of the integer; unused if is_integer_ is false
  Bytes view_;
  bool is_integer_ = false;  // true: the text is in digits_
};

class StreamBlock {  // stores neighbouring entries of a stream, by default at most 100, as one node of Redis does
 public:
  struct Limits {          // how full a block may become: stream-node-max-bytes and stream-node-max-entries
    uint64_t max_bytes;    // maximum bytes of a block, counted as in a Redis listpack; 0 or more than 1 GB: 1 GB
    uint64_t max_entries;  // maximum number of entries, live or deleted; 0: no limit
  };
  enum class EntryState : uint8_t { kLive, kDeleted };

  struct EntryView {  // refers to one entry in a block
    StreamId id;
    EntryState state;      // live, or deleted but still stored
    bool has_own_names;    // false: the entry shares the field names of the block (master)
    uint64_t field_count;  // number of field-value pairs
    const char* flags;     // points to the byte with the entry's flags in the block
    const char* elements;  // points to the entry's first value (or first own field name) in the block
  };

  // Any change of the block invalidates the cursor.
  class Cursor {  // iterates over the entries of a block, deleted ones too
   public:
    Cursor(const StreamBlock& block, const StreamId& block_id);
    bool IsValid() const { return at_ != end_; }  // false: after the last entry
    // Requires: IsValid().
    const EntryView& Get() const { return entry_; }
    void Next() {
      at_ = next_;
      if (IsValid()) Read();
    }

   private:
    void Read();

    const char* at_;
    const char* end_;
    const char* next_;
    uint64_t master_count_;  // number of field names of the block (master), which entries share
    EntryView entry_;        // the current entry
  };

  // Creates an empty block. The caller must append the first entry, with these fields and values. The block stores
  // their field names once, and later entries can share them. `id` is at most the ID of the first entry, and must be
  // the `block_id` of each Append. The caller must free the block with Destroy.
  static StreamBlock* Create(const StreamId& id,  // a new empty block; its entries can share the names of these fields
                             std::span<const Bytes> fields_and_values);
  // `id` is at most the ID of the first entry, and must be the `block_id` of each Append. The caller must free the
  // block with Destroy.
  static StreamBlock* CreateWithFieldNames(const StreamId& id,  // a new empty block; entries can share these names
                                           std::span<const Bytes> names);
  static StreamBlock* Clone(const StreamBlock& block);  // returns a copy, which the caller must Destroy
  static void Destroy(StreamBlock* block);              // frees the block

  // Appends an entry with these fields and values; returns the block, possibly at another address. Requires: `id` is
  // above LastId(); for the first entry of the block, `id` is `block_id` or above. Cost: O(bytes of the entry),
  // amortised.
  static StreamBlock* Append(StreamBlock* block,  // adds an entry; returns the block, which may have moved
                             const StreamId& block_id, const StreamId& id, std::span<const Bytes> fields_and_values,
                             EntryState state);
  static StreamBlock* Seal(StreamBlock* block);  // frees unused memory; returns the block, which may have moved
  // Requires: the entry is in this block, and live.
  void MarkDeleted(const EntryView& entry);  // marks an entry as deleted, without removing its bytes

  uint32_t LiveCount() const { return live_count_; }        // number of live entries
  uint32_t DeletedCount() const { return deleted_count_; }  // number of entries marked as deleted
  const StreamId& LastId() const { return last_id_; }       // ID of the last entry, also a deleted one; or the block's
  uint64_t ListpackBytes() const;  // bytes of a Redis listpack with the same entries; cost: O(1)
  bool HasCapacityFor(std::span<const Bytes> fields_and_values,  // false: full; the entry must begin another block
                      const Limits& limits) const;
  size_t UsedBytes() const;  // allocated memory of the block in bytes

  // ForEachName calls visit(Bytes name) for each field name that the entries of the block can share (in Redis, those of
  // the master entry). ForEachPair calls visit(Bytes field, Bytes value) for each pair of `entry`. The texts are valid
  // during the call.
  template <class Visit>
  void ForEachName(Visit&& visit) const;  // calls visit(name) for each field name that entries share (master)
  template <class Visit>
  void ForEachPair(const EntryView& entry, Visit&& visit) const;  // calls visit(field, value) for each pair
  uint64_t NameCount() const;                                     // how many field names entries can share (master)

 private:
  StreamBlock() = default;
  enum IdForm : uint8_t {  // how an entry stores its ID, relative to the ID of the previous entry
    kNextSequence,         // ms is equal, seq is greater by one: nothing is stored
    kLaterFirst,           // ms is later, seq is 0: stores the difference of ms
    kLaterSequence,        // ms is equal: stores the difference of seq
    kLater,                // stores the difference of ms, and seq
  };
  class Writer;
  struct EntryHeader;
  EntryHeader HeaderFor(const StreamId& id,  // chooses the form of the ID and the flags of an entry
                        std::span<const Bytes> fields_and_values, EntryState state) const;
  void WriteEntryBody(Writer& writer, const EntryHeader& head,  // writes flags, ID and texts: an entry without its size
                      const StreamId& id, std::span<const Bytes> fields_and_values) const;

  const char* Data() const { return reinterpret_cast<const char*>(this + 1); }
  char* Data() { return reinterpret_cast<char*>(this + 1); }
  const char* End() const { return Data() + size_; }
  static StreamBlock* Reserve(StreamBlock* block, size_t more);   // makes room for `more` bytes; the block may move
  static StreamBlock* CreateWithMasterFields(const StreamId& id,  // a new block; each `stride`-th text is a field name
                                             std::span<const Bytes> texts, size_t stride);
  bool HasMasterNames(std::span<const Bytes> fields_and_values) const;  // true: equal to the master entry's

  struct Varint {    // a decoded varint (7 bits per byte), and where the next bytes begin
    uint64_t value;  // the decoded number
    const char* next;
  };
  static Varint ReadVarint(const char* at) {  // decodes a number of 7 bits per byte
    uint64_t value = static_cast<uint8_t>(*at++);
    if (value < 128) return {value, at};
    value &= 127;
    for (int shift = 7;; shift += 7) {
      const uint64_t byte = static_cast<uint8_t>(*at++);
      value |= (byte & 127) << shift;
      if (byte < 128) return {value, at};
    }
  }
  struct Element {  // a decoded name or value, and where the next bytes begin
    StreamText text;
    const char* next;
  };
  static Element ReadElement(const char* at);      // decodes a name or value
  static Element ReadLongElement(const char* at);  // decodes an element that begins with 0x80 to 0x88

  uint32_t room_ = 0;                           // bytes allocated after the header
  uint32_t size_ = 0;                           // bytes in use after the header
  uint32_t master_size_ = 0;                    // bytes of the master: the field names that entries share
  uint32_t live_count_ = 0;                     // number of live entries
  uint32_t deleted_count_ = 0;                  // number of entries marked as deleted
  uint32_t listpack_bytes_without_counts_ = 0;  // bytes of the equal Redis listpack, without live and deleted count
  StreamId last_id_;                            // ID of the last entry, deleted or not
};

inline StreamBlock::Element StreamBlock::ReadElement(const char* at) {  // decodes a name or value
  const uint8_t head = static_cast<uint8_t>(*at);
  if (head < 0x80) return {StreamText(Bytes(at + 1, head)), at + 1 + head};
  if (head >= 0x90) return {StreamText(int64_t{head} - 0x90), at + 1};
  return ReadLongElement(at);
}

template <class Visit>
void StreamBlock::ForEachName(Visit&& visit) const {  // calls visit(name) for each shared field name
  auto [count, at] = ReadVarint(Data());
  for (; count > 0; --count) {
    const Element name = ReadElement(at);
    visit(name.text.View());
    at = name.next;
  }
}

template <class Visit>
void StreamBlock::ForEachPair(const EntryView& entry, Visit&& visit) const {  // calls visit(field, value)
  const char* at = entry.elements;
  const char* name_at = ReadVarint(Data()).next;
  for (uint64_t i = 0; i < entry.field_count; ++i) {
    const Element name = ReadElement(entry.has_own_names ? at : name_at);
    (entry.has_own_names ? at : name_at) = name.next;
    const Element value = ReadElement(at);
    at = value.next;
    visit(name.text.View(), value.text.View());
  }
}

}  // namespace respite
