// Entry: a key together with its value, deadline (expiration time) and access data (for eviction) in ONE allocation.
//
//   offset 0    uint32 key size (12 bits) | inline size (19): bytes of the value that follow the key | pooled (1)
//          4    uint32 access (24 bits) | type (4) | form (2) | deadline slot present (1) | timed fields (1);
//                      form: the low bits of ValueForm, the type tells the third
//          8    uint32 key size, uint32 inline size   (only in a wide entry: the 12 bits are all ones)
//          …    int64 deadline in ms                  (only when the slot is present)
//          …    key bytes
//          …    value: text or packed collection as it is, an int64, or a pointer to a Blob or an Object
//
// An entry is wide if one of its sizes does not fit into the first word. A 16-byte key with a 64-byte value takes 88
// bytes, a list of three short texts under a 14-byte key takes 46, and a hash of five short fields is one allocation
// too. The data after the header is not aligned. It is read with memcpy, which compiles to plain loads.
//
// An entry is pooled if its memory comes from a SlabPool, which has sizes that jemalloc lacks. The other entries come
// from jemalloc.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/blob.h"
#include "base/bytes.h"
#include "base/number_text.h"
#include "datatypes/object.h"
#include "datatypes/slab_pool.h"

namespace respite {

enum class ValueType : uint8_t { kString, kList, kSet, kSortedSet, kHash, kStream, kArray, kVectorSet, kJson };

// How a value is stored.
//   strings       kInt, kEmbedded, kRaw, kBlob. kEmbedded and kRaw are both inline, but OBJECT ENCODING says embstr or
//                 raw. As in Redis, a string that was appended to is called raw, however short, until the next SET.
//   collections   inline: kListpack, kTimedListpack (a hash whose fields have deadlines), kIntset; larger: kObject
//
// The first four forms are of strings, the others of collections, so an entry stores only the low two bits.
enum class ValueForm : uint8_t { kInt, kEmbedded, kRaw, kBlob, kListpack, kTimedListpack, kIntset, kObject };

inline constexpr int64_t kNoDeadline = -1;

// A key or field still exists during the millisecond of its deadline, and expires after this millisecond. The clock
// rounds down to milliseconds when a TTL starts, so otherwise a key could expire up to a millisecond too early.
constexpr bool IsDeadlineOver(int64_t deadline_ms,  // true: `deadline_ms` is a deadline, and is before `now_ms`
                              int64_t now_ms) {
  return deadline_ms != kNoDeadline && deadline_ms < now_ms;
}

// The bytes are borrowed unless they are in `blob`.
struct StringContent {                        // a string to be stored, and the form in which it will be stored
  static constexpr size_t kEmbeddedMax = 44;  // bytes; OBJECT ENCODING calls a longer text raw, not embstr
  static constexpr size_t kInlineMax = 4096;  // bytes; a longer text is stored in a Blob, which replies can share

  ValueForm form = ValueForm::kRaw;
  int64_t integer = 0;  // the value, if the form is kInt
  Bytes bytes = {};     // the text, unless the form is kInt or kBlob
  BlobRef blob = {};

  static StringContent Integer(int64_t value) {  // a string that is stored as an integer
    return {.form = ValueForm::kInt, .integer = value};
  }
  static StringContent Text(Bytes text) {  // text that is never stored as an integer
    if (text.size() <= kEmbeddedMax) return {.form = ValueForm::kEmbedded, .bytes = text};
    if (text.size() <= kInlineMax) return {.form = ValueForm::kRaw, .bytes = text};
    return FromBlob(BlobRef::Copy(text));
  }
  // A text is stored as an integer only if it equals the decimal form of the integer, such as "-7", but not "07".
  static StringContent Value(Bytes text) {  // text from a client, stored as an integer if the text is one
    if (text.size() <= 20) {
      if (auto integer = ParseInteger(text)) return Integer(*integer);
    }
    return Text(text);
  }
  static StringContent Raw(Bytes text) {  // text that OBJECT ENCODING calls raw at any length
    if (text.size() > kInlineMax) return FromBlob(BlobRef::Copy(text));
    return {.form = ValueForm::kRaw, .bytes = text};
  }
  static StringContent FromBlob(BlobRef blob) {  // a text whose bytes are in a Blob
    return {.form = ValueForm::kBlob, .blob = std::move(blob)};
  }

  size_t InlineSize() const {  // bytes of the value inside the entry: 8 for kInt and kBlob
    return form == ValueForm::kInt || form == ValueForm::kBlob ? sizeof(int64_t) : bytes.size();
  }
};

class Entry {  // a key with its value, deadline and access time or frequency, in one allocation
 public:
  static constexpr uint32_t kAccessMask = 0xffffff;  // the bits of bits_ with access time or frequency (LRU, LFU)

  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  // The functions that allocate or move an entry take its memory from `pool`, if they get one and it suits the size,
  // and otherwise from jemalloc. A pool outlives its entries.

  // The entry has a deadline slot unless `deadline_ms` is kNoDeadline. The caller owns the entry.
  static Entry* Create(Bytes key, StringContent content,  // allocates a string entry; free it with Destroy
                       int64_t deadline_ms, uint32_t access, SlabPool* pool = nullptr);
  // Allocates `spare` more bytes than needed, for the growth of the collection.
  static Entry* CreatePacked(Bytes key, ValueType type, ValueForm form,  // allocates an entry with a packed collection
                             Bytes packed, size_t spare, uint32_t access, SlabPool* pool = nullptr);
  static Entry* CreateWithObject(Bytes key, ValueType type,  // allocates an entry that owns `object`
                                 std::unique_ptr<Object> object, uint32_t access, SlabPool* pool = nullptr);
  // Cost: O(n) for collections.
  static Entry* Clone(const Entry& entry, Bytes key, int64_t deadline_ms,  // deep copy with another key; shares a Blob
                      uint32_t access);
  static void Destroy(Entry* entry);  // frees the entry and the value that it owns

  // Rename, AddDeadlineSlot, Resize and StoreCollection change an entry and return it, possibly at another address.
  //   Rename: changes the key; value, deadline and access data stay.
  //   AddDeadlineSlot: adds room for a deadline (none is set yet).
  //   Resize: truncates the inline value, or extends it with uninitialised bytes.
  //   StoreCollection: stores another collection of the type. The old collection must be inline or released already.
  static Entry* Rename(Entry* entry, Bytes key);  // changes the key; returns the new address
  static Entry* AddDeadlineSlot(Entry* entry,     // makes room for a deadline, which is not set yet; may move the entry
                                SlabPool* pool = nullptr);
  static Entry* Resize(Entry* entry, size_t inline_size,  // changes the size of the inline value; may move the entry
                       SlabPool* pool = nullptr);
  static Entry* StoreCollection(Entry* entry, ValueForm form, Bytes packed,  // the value is now `packed`; may move
                                SlabPool* pool = nullptr);
  static Entry* StoreCollection(Entry* entry, std::unique_ptr<Object> object,  // the value is now `object`; may move
                                SlabPool* pool = nullptr);
  // MoveToPool moves only an entry whose size suits the pool and that has no spare room, and one of another pool.
  // MoveOutOfPool moves a pooled entry to jemalloc's memory, so that another thread may free it.
  static Entry* MoveToPool(Entry* entry, SlabPool& pool);  // moves the entry if useful; returns its address
  static Entry* MoveOutOfPool(Entry* entry);               // returns the address of the entry, which is not pooled

  Bytes Key() const { return {Payload() + DeadlineBytes(), KeySize()}; }
  ValueType Type() const { return static_cast<ValueType>((bits_ & kTypeMask) >> kTypeShift); }
  ValueForm Form() const {  // how the value is stored
    const uint32_t of_collection = (bits_ & kTypeMask) == 0 ? 0 : static_cast<uint32_t>(ValueForm::kListpack);
    return static_cast<ValueForm>(((bits_ & kFormMask) >> kFormShift) | of_collection);
  }

  int64_t Deadline() const {  // when the key expires, in Unix ms; kNoDeadline: never
    return HasDeadlineSlot() ? Load<int64_t>(Payload()) : kNoDeadline;
  }
  bool HasDeadlineSlot() const { return (bits_ & kDeadlineBit) != 0; }  // true: the entry has room for a deadline
  bool IsExpired(int64_t now_ms) const {  // true: the entry has a deadline, which is before `now_ms`
    return HasDeadlineSlot() && IsDeadlineOver(Load<int64_t>(Payload()), now_ms);
  }
  // Requires: HasDeadlineSlot().
  void SetDeadline(int64_t deadline_ms) { Store(Payload(), deadline_ms); }  // Unix ms or kNoDeadline; needs a slot

  uint32_t Access() const { return bits_ & kAccessMask; }  // for eviction: LRU time in s, or LFU minutes and counter
  void SetAccess(uint32_t access) {  // sets the 24 bits for eviction: LRU time, or LFU minutes and counter
    if (Access() != access) bits_ = (bits_ & ~kAccessMask) | (access & kAccessMask);  // avoids a needless write
  }

  // Database marks the hashes whose fields have deadlines, and indexes the marked entries.
  bool HasFieldDeadlines() const {  // true: this is a hash, and some of its fields have deadlines
    return (bits_ & kFieldDeadlinesBit) != 0;
  }
  void MarkFieldDeadlines() { bits_ |= kFieldDeadlinesBit; }     // records that some fields of this hash have deadlines
  void UnmarkFieldDeadlines() { bits_ &= ~kFieldDeadlinesBit; }  // records that no field of this hash has a deadline

  // The next functions are for strings. Each requires the form that its name says: kInt for integers, kEmbedded or kRaw
  // for inline text, kBlob for a Blob.
  int64_t IntegerValue() const { return Load<int64_t>(Value()); }   // the number; requires: the form is kInt
  void SetInteger(int64_t value) { Store(MutableValue(), value); }  // stores another number; requires: the form is kInt
  Bytes InlineText() const { return {Value(), InlineSize()}; }      // text of a kEmbedded or kRaw string
  Bytes BlobText() const { return BlobRef::ViewOf(Load<void*>(Value())); }  // text of a kBlob string
  BlobRef Blob() const {
    BlobRef owned = BlobRef::Adopt(Load<void*>(Value()));
    BlobRef copy = owned;
    owned.Release();
    return copy;
  }

  // The functions from here to ReleaseObject are for collections. Packed and MutablePacked require a listpack or an
  // intset; ObjectValue and ReleaseObject require kObject.
  Bytes Packed() const { return InlineText(); }     // the bytes of the listpack or intset
  char* MutablePacked() { return MutableValue(); }  // the bytes of the listpack or intset, for changes in place
  Object* ObjectValue() const { return Load<Object*>(Value()); }  // the object of a large collection (kObject)
  std::unique_ptr<Object> ReleaseObject();  // gives the object to the caller, who must store another value immediately

  // Does not produce the text. Cost: O(1), for integers O(digits).
  size_t TextSize() const;  // length in bytes of the text of a string; for an integer, of its decimal text

  // Returns false, and changes nothing, if the memory block is too small, or would be less than half used. Then the
  // caller must create a new entry. Never changes key, deadline or access data.
  bool TryAssign(const StringContent& content);  // stores a string in place; false: the entry's memory does not suit it

  // Returns true if the string has the new size; OBJECT ENCODING then shows "raw" for it, never "embstr". Returns false
  // if the string is an integer, if its memory block is too small, or if its Blob has other holders, such as a reply.
  // Also returns false if a text inside the entry (inline) would exceed kInlineMax bytes. Requires: `size` is not below
  // the current size. Cost: O(new bytes).
  bool TryGrow(size_t size);  // appends zero bytes up to `size`; false: no room, an integer, or the Blob is shared
  char* MutableText();        // the text, for changes in place; only directly after TryGrow or Database::Grow

  // Counts all bytes that the allocator uses for this entry and for everything that the entry owns. For a collection,
  // the number is estimated from `samples` elements.
  size_t UsedBytes(size_t samples = 5) const;  // bytes of key and value, estimated from `samples` elements; 0: exact
  size_t FreeEffort() const {                  // cost of freeing the value: Object::Size() if kObject, otherwise 1
    return Form() == ValueForm::kObject ? ObjectValue()->Size() : 1;
  }

 private:
  static constexpr int kTypeShift = 24;                     // position of the ValueType in bits_
  static constexpr int kFormShift = 28;                     // position of the low bits of the ValueForm in bits_
  static constexpr uint32_t kDeadlineBit = 1u << 30;        // in bits_: the entry has room for a deadline
  static constexpr uint32_t kFieldDeadlinesBit = 1u << 31;  // in bits_: fields of the hash have deadlines
  static constexpr uint32_t kTypeMask = 15u << kTypeShift;  // the bits of bits_ with the ValueType
  static constexpr uint32_t kFormMask = 3u << kFormShift;   // two bits of the ValueForm; the type tells the third
  static constexpr int kInlineShift = 12;                   // position of the inline size in sizes_
  static constexpr uint32_t kWideMarker = (1u << kInlineShift) - 1;  // this key size means: both sizes are in WideSizes
  static constexpr uint32_t kPooledBit = 1u << 31;                   // in sizes_: the memory comes from a SlabPool
  static constexpr size_t kMaxInlineInSizes = (kPooledBit - 1) >> kInlineShift;  // a larger one is in WideSizes
  struct WideSizes {  // sizes of key and value, after the header, if sizes_ has no room for them
    uint32_t key;
    uint32_t inlined;  // bytes of the value inside the entry
  };

  Entry() = default;

  template <class T>
  static T Load(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  template <class T>
  static void Store(char* to, T value) {  // writes a number that need not be aligned
    std::memcpy(to, &value, sizeof value);
  }

  static bool NeedsWide(size_t key_size, size_t inline_size) {  // true: the sizes do not fit into sizes_
    return key_size >= kWideMarker || inline_size > kMaxInlineInSizes;
  }
  bool IsWide() const { return (sizes_ & kWideMarker) == kWideMarker; }  // true: the sizes are in WideSizes
  size_t HeaderBytes() const { return sizeof(Entry) + (IsWide() ? sizeof(WideSizes) : 0); }  // bytes before the payload
  const char* Memory() const { return reinterpret_cast<const char*>(this); }  // the first byte of this entry
  char* Memory() { return reinterpret_cast<char*>(this); }                    // the first byte of this entry
  WideSizes Wide() const { return Load<WideSizes>(Memory() + sizeof(Entry)); }
  size_t KeySize() const { return IsWide() ? Wide().key : sizes_ & kWideMarker; }  // bytes of the key
  size_t InlineSize() const {  // bytes of the value inside the entry
    return IsWide() ? Wide().inlined : (sizes_ & ~kPooledBit) >> kInlineShift;
  }
  bool IsPooled() const { return (sizes_ & kPooledBit) != 0; }  // true: the memory comes from a SlabPool
  size_t BlockBytes() const;                                    // bytes of the memory of this entry
  static void FreeBlock(Entry* entry);                          // frees the memory of the entry, not what it points to
  // Requires: `bytes` is enough for the entry. The sizes stay.
  static Entry* Moved(Entry* entry, size_t bytes, SlabPool* pool);  // moves the entry to memory of `bytes` bytes
  // Sets kPooledBit if the memory comes from `pool`; the other bits of sizes_ are 0.
  static Entry* NewBlock(size_t bytes, SlabPool* pool);  // allocates memory for an entry
  void SetSizes(size_t key_size, size_t inline_size);    // stores the sizes in sizes_, or in WideSizes if IsWide()
  void SetInlineSize(size_t inline_size) {               // stores the new size of the value inside the entry
    SetSizes(KeySize(), inline_size);
  }

  const char* Payload() const { return Memory() + HeaderBytes(); }  // what follows the header: [deadline,] key, value
  char* Payload() { return Memory() + HeaderBytes(); }              // what follows the header: [deadline,] key, value
  size_t DeadlineBytes() const { return HasDeadlineSlot() ? sizeof(int64_t) : 0; }  // bytes of the deadline: 8 or 0
  const char* Value() const { return Memory() + ValueOffset(); }                    // first byte of the value
  char* MutableValue() { return Memory() + ValueOffset(); }  // first byte of the value, for changes
  // Allocates `spare` more bytes than needed, for growth.
  static Entry* Allocate(Bytes key, size_t inline_size,  // allocates an entry, whose value is not written yet
                         int64_t deadline_ms, uint32_t access, SlabPool* pool, size_t spare = 0);
  // Gives the new entry the ValueType, the ValueForm and kFieldDeadlinesBit of `entry`, and room for a value of the
  // same size. The caller must write the value.
  static Entry* AllocateLike(const Entry& entry,  // allocates an entry of the type and form of `entry`
                             Bytes key, int64_t deadline_ms, uint32_t access);
  static Entry* Widen(Entry* entry);  // stores the sizes in WideSizes, if sizes_ is too small; may move the entry
  size_t ValueOffset() const {        // where the value begins, in bytes from the start of the entry
    return HeaderBytes() + DeadlineBytes() + KeySize();
  }
  void SetTypeAndForm(ValueType type, ValueForm form) {  // stores the type of the value and how it is stored
    bits_ = (bits_ & ~(kTypeMask | kFormMask)) | (static_cast<uint32_t>(type) << kTypeShift) |
            ((static_cast<uint32_t>(form) & 3) << kFormShift);
  }
  void WriteValue(const StringContent& content);  // writes the value into the entry, which must have room for it
  void FreeBlobOrObject();                        // frees the Blob or object that the value points to, if any

  uint32_t sizes_ = 0;  // key size (12 bits), inline size (19), kPooledBit; kWideMarker: both sizes are in WideSizes
  uint32_t bits_ = 0;
};
static_assert(sizeof(Entry) == 8);
static_assert(static_cast<int>(ValueForm::kListpack) == 4 && static_cast<int>(ValueType::kString) == 0);

// An integer is printed into a small internal buffer. Any other text is a view of the entry or of its Blob. The entry
// must not move or change while the view is used.
class StringText {  // the text of a string entry, also if the entry stores an integer
 public:
  explicit StringText(const Entry& entry) {
    switch (entry.Form()) {
      case ValueForm::kInt:
        digits_ = IntegerText(entry.IntegerValue());
        is_integer_ = true;
        break;
      case ValueForm::kBlob:
        view_ = entry.BlobText();
        break;
      default:
        view_ = entry.InlineText();
    }
  }
  Bytes View() const { return is_integer_ ? Bytes(digits_) : view_; }

 private:
  IntegerText digits_{0};  // the printed text, if the value is an integer
  Bytes view_;
  bool is_integer_ = false;  // true: the text is in digits_
};

}  // namespace respite
