// JsonValue: a JSON value in 8 bytes, which owns the values inside it.
//
//   bits 0-2   bits 3-63
//   0          null, false, true, 0.0 or -0.0
//   1          an integer of 61 bits
//   2          size (3 bits), two unused bits, and a text of up to 7 bytes
//   3          a double whose exponent is between -127 and 128: sign, 8 bits of exponent, mantissa
//   4          pointer to 16 bytes: another integer or double; or to an array of packed numbers (json_block.h)
//   5          pointer to a longer text: | size, 7 bits per byte, least significant first | text … |
//   6          pointer to an array:      | size, capacity | value | value | … |           null: []
//   7          pointer to an object:     | size, capacity | name, value | name, value | … |   null: {}
//
// So nearly all numbers and all short texts take no memory of their own. An array of at least two numbers, all integers
// or all doubles, is packed if they fit into 1, 2 or 4 bytes each without a loss. Such elements have no JsonValue in
// memory, so Elements() returns copies of them; ElementsToChange() unpacks the array. An array packs its elements when
// it is made, when it outgrows its memory, and when EraseIf removes elements.
//
// An object keeps its members in the order of their addition, except that EraseMember moves the last one into the gap.
// An object with room for more than kMaxUnsorted members
// also has the numbers of its members in the order of their names, so that a look-up takes O(log n).
//
// Values are nested at most kMaxDepth deep: ParseJson checks this, and so must any code that puts a value into
// another. Therefore functions that visit all values inside a value may call themselves.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace respite {

// kInteger has a value between -2^63 and 2^63 - 1. kUnsigned is an integer above that range, up to 2^64 - 1.
enum class JsonKind : uint8_t { kNull, kBoolean, kInteger, kUnsigned, kNumber, kString, kArray, kObject };

struct JsonMember;
struct JsonPacked;
class JsonElements;

class JsonValue {  // a JSON value in 8 bytes, which owns the values inside it
 public:
  static constexpr size_t kShortMax = 7;        // bytes; a longer text is in memory of its own
  static constexpr size_t kMaxUnsorted = 32;    // an object with room for more members has a sorted index
  static constexpr size_t kMaxDepth = 128;      // number of arrays and objects that may be nested in each other
  static constexpr size_t kMaxSize = 1U << 31;  // maximum number of elements of an array, and members of an object

  JsonValue() = default;  // null
  JsonValue(JsonValue&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  JsonValue& operator=(JsonValue&& other) noexcept {
    JsonValue old(std::move(*this));
    word_ = std::exchange(other.word_, 0);
    return *this;
  }
  ~JsonValue() {
    if (OwnsMemory()) Free();
  }

  // Makes the JSON value true or false.
  static JsonValue Boolean(bool value) { return JsonValue((value ? 2U : 1U) << kTagBits); }
  static JsonValue Integer(int64_t value);    // makes a value of kind kInteger
  static JsonValue Unsigned(uint64_t value);  // makes a value of kind kInteger if it fits, otherwise of kind kUnsigned
  static JsonValue Number(double value);      // makes a value of kind kNumber; requires: `value` is finite
  static JsonValue String(Bytes text);        // makes a value of kind kString
  static JsonValue EmptyArray() { return JsonValue(kArrayTag); }  // makes the value []
  static JsonValue EmptyObject() { return JsonValue(kObjectTag); }
  static JsonValue ArrayOf(std::span<JsonValue> elements);  // makes an array; moves the elements into it
  // `pairs` are names and values in turn. If a name occurs several times, the member is at the place of the first
  // occurrence, and has the value of the last one. Cost: O(n log n).
  static JsonValue ObjectOf(std::span<JsonValue> pairs);  // makes an object; moves names and values into it
  JsonValue Clone() const;                                // returns a deep copy

  JsonKind Kind() const;  // the type of the value
  bool Is(JsonKind kind) const { return Kind() == kind; }
  bool IsNumeric() const;                                                // true: an integer or a double
  bool IsContainer() const { return Tag() >= kArrayTag || IsPacked(); }  // true: an array or an object
  bool IsPacked() const {  // true: an array of packed numbers, which have no JsonValue in memory
    return Tag() == kLargeTag && *static_cast<const JsonKind*>(Pointer()) == JsonKind::kArray;
  }
  bool AsBoolean() const { return word_ >> kTagBits == 2; }  // requires: kBoolean
  int64_t AsInteger() const;                                 // the integer; requires: kInteger
  uint64_t AsUnsigned() const;                               // requires: kInteger and not negative, or kUnsigned
  double AsNumber() const;                                   // the number; requires: kNumber
  double ToDouble() const;                                   // the nearest double; requires: IsNumeric()
  Bytes AsString() const;  // the text, valid until the value changes or moves; requires: kString

  size_t Size() const;  // number of elements, or of members; requires: IsContainer()
  // Arrays.
  JsonElements Elements() const;            // the elements of an array; requires: kArray
  std::span<JsonValue> ElementsToChange();  // unpacks the array; valid until elements are added or removed
  void Unpack();                            // gives each element of an array of packed numbers a JsonValue in memory
  // Cost of Insert and EraseRange: O(n). Insert requires: at <= Size(), and Size() + values.size() <= kMaxSize.
  void Insert(size_t at, std::span<JsonValue> values);  // adds values to an array; moves them into it
  void EraseRange(size_t first, size_t count);          // removes elements of an array
  // Objects.
  std::span<JsonMember> Members();              // all members, valid until some are added or removed; requires: kObject
  std::span<const JsonMember> Members() const;  // all members; requires: kObject
  // Cost: O(log n), or O(kMaxUnsorted) for an object with few members.
  JsonValue* Find(Bytes name);               // the value of a member; null: there is no such member
  const JsonValue* Find(Bytes name) const {  // the value of a member; null: there is no such member
    return const_cast<JsonValue*>(this)->Find(name);
  }
  // Returns the value that the object has for each of `members`, in their order; null: there is no such member.
  // `by_name` has the numbers of `members`, sorted by name. Cost: O(k*log(n/k)) for k members, if n > kMaxUnsorted.
  std::vector<JsonValue*> FindEach(std::span<const JsonMember> members,  // finds the values of many members
                                   std::span<const uint32_t> by_name);
  void Set(Bytes name, JsonValue value);  // adds a member, or replaces its value; cost: O(n)
  // Adds members whose names are distinct and not in the object. Cost: O(n + k*log k), k being the number of new
  // members.
  void AppendMembers(std::span<JsonMember> members);  // adds members at the end of an object; moves them into it
  // Removes a member. As in Redis, the last member takes its place. Cost: O(log n), and 4*n bytes are moved in a sorted
  // index.
  void EraseMember(size_t place);  // removes one member, whose place the last one takes
  // Makes the object consist of the members that `order` lists, in this order. A number i < Size() means the old member
  // i; a number Size() + k means added[k], which is moved into the object. Other old members are removed. Requires: the
  // numbers in `order` and the names are distinct. Cost: O(n + k*log k), k being the number of new members.
  void Arrange(std::span<const uint32_t> order, std::span<JsonMember> added);  // keeps and adds members, in this order
  std::vector<uint32_t> MembersByName() const;  // the numbers of all members, sorted by name; requires: kObject; O(n)
  // Removes the elements or members for which erase(index) is true, called in ascending order. Returns their number.
  // The remaining ones keep their order. Cost: O(n).
  template <class Erase>
  size_t EraseIf(Erase&& erase);  // removes elements or members; returns their number

  size_t Depth() const;  // how deeply arrays and objects are nested: 0 for a scalar, 1 for []; cost: O(values)
  size_t CountValues(size_t max) const;  // number of values, itself included; stops counting at about `max`
  // Returns how many bytes the value uses in addition to its own 8 bytes. With `samples` 0, the result is exact.
  // Otherwise it is an estimate that visits at most 100 * samples values, and at most `samples` elements of a large
  // array or object.
  size_t UsedBytes(size_t samples) const;  // memory in bytes; 0 samples: exact, else estimated
  bool IsConsistent() const;               // for tests; false: the structure violates one of its rules

 private:
  struct Sampling {                // limits of an estimate by UsedBytes
    size_t max_samples;            // how many elements of a large container are measured
    size_t max_visits;             // how many values inside the value may still be visited
    bool is_extrapolated = false;  // true: an outer container multiplies the result, so inner ones do not
  };
  static constexpr int kTagBits = 3;  // the lowest bits of word_, which hold the tag
  // The values of bits 0-2, in the order of the table at the top of this file.
  enum : uint64_t { kSpecialTag, kIntegerTag, kShortTag, kDoubleTag, kLargeTag, kTextTag, kArrayTag, kObjectTag };
  static constexpr uint64_t kZero = 3U << kTagBits;          // word_ of 0.0: kSpecialTag, and the value 3 above it
  static constexpr uint64_t kNegativeZero = 4U << kTagBits;  // word_ of -0.0: kSpecialTag, and the value 4 above it
  struct Block;                                              // the memory of an array or an object
  struct Large {                                             // a number that does not fit into word_
    JsonKind kind;
    uint64_t bits;  // of the integer or the double
  };

  explicit JsonValue(uint64_t word) : word_(word) {}
  uint64_t Tag() const { return word_ & 7; }
  bool OwnsMemory() const { return Tag() >= kLargeTag && word_ > 7; }              // true: word_ has a pointer
  void* Pointer() const { return reinterpret_cast<void*>(word_ & ~uint64_t{7}); }  // the address, without the tag
  Block* GetBlock() const { return static_cast<Block*>(Pointer()); }  // memory of an array or object; null: it is empty
  void SetBlock(Block* block) { word_ = reinterpret_cast<uint64_t>(block) | Tag(); }  // sets the address; keeps the tag
  static JsonValue MakeLarge(Large large);  // makes a number that needs memory of its own
  JsonPacked* Packed() const { return static_cast<JsonPacked*>(Pointer()); }  // requires: IsPacked()
  void Pack();  // packs the elements of an array if they are numbers that fit
  void InsertPacked(size_t at, std::span<const JsonValue> values);  // requires: IsPacked(), and the values fit its type
  void ErasePacked(size_t first, size_t count);                     // EraseRange; requires: IsPacked()
  void Free();                // frees the memory of this value, and of all values inside it
  void Reserve(size_t size);  // makes room for `size` elements or members
  void FitToSize();           // frees spare memory if at most half of it is in use
  // FindMember sets `place` to the position of the name in the sorted index, found or not; 0 if there is no such index.
  // AppendMember inserts a new name at this position.
  JsonMember* FindMember(Bytes name, size_t& place) const;           // null: none; sets `place` for AppendMember
  void AppendMember(JsonValue name, JsonValue value, size_t place);  // adds a member at the end of an object
  double EstimateBytes(const Sampling& sampling) const;              // estimates UsedBytes from a sample
  void SortNames();                                                  // fills the sorted index from the names
  void MergeNames(size_t sorted_count);  // sorts the index, whose first `sorted_count` numbers are sorted
  void Truncate(size_t size);            // records the new size, after the elements beyond it were moved or destroyed

  uint64_t word_ = 0;
};
static_assert(sizeof(JsonValue) == 8 && std::endian::native == std::endian::little);

struct JsonMember {  // one member of an object
  JsonValue name;    // a text
  JsonValue value;
};

template <class Erase>
size_t JsonValue::EraseIf(Erase&& erase) {  // removes elements or members; returns their number
  const size_t size = Size();
  if (Is(JsonKind::kObject) && size > kMaxUnsorted) {  // Truncate would sort the names again
    std::vector<uint32_t> kept;
    for (size_t i = 0; i < size; ++i) {
      if (!erase(i)) kept.push_back(static_cast<uint32_t>(i));
    }
    const size_t erased = size - kept.size();
    if (erased != 0) Arrange(kept, {});
    return erased;
  }
  const auto sift = [&](auto items) {
    size_t kept = 0;
    for (size_t i = 0; i < size; ++i) {
      if (erase(i)) {
        items[i] = {};
      } else if (kept++ != i) {
        items[kept - 1] = std::move(items[i]);
      }
    }
    return kept;
  };
  const size_t kept = Is(JsonKind::kArray) ? sift(ElementsToChange()) : sift(Members());
  if (kept != size) Truncate(kept);
  return size - kept;
}

// An element of an array: a reference to a JsonValue in memory, or a copy of a packed number.
class JsonElement {  // an element of an array, or another JSON value, to be read
 public:
  explicit JsonElement(const JsonValue* value) : value_(value) {}         // refers to a value in memory
  explicit JsonElement(JsonValue number) : number_(std::move(number)) {}  // a packed number
  JsonElement(JsonElement&& other) noexcept = default;
  JsonElement& operator=(JsonElement&& other) noexcept = default;
  JsonElement(const JsonElement& other) : value_(other.value_), number_(other.number_.Clone()) {}
  JsonElement& operator=(const JsonElement& other) { return *this = JsonElement(other); }
  ~JsonElement() = default;

  const JsonValue& operator*() const { return value_ == nullptr ? number_ : *value_; }
  const JsonValue* operator->() const { return &**this; }
  const JsonValue* InMemory() const { return value_; }  // the value in its document; null: the element is packed

 private:
  const JsonValue* value_ = nullptr;  // null: `number_` is the element
  JsonValue number_;                  // the copy of a packed number
};

class JsonElements {  // the elements of an array, to be read; valid until the array changes
 public:
  class Iterator {  // an input iterator: the reference that * returns is valid until ++
   public:
    using value_type = JsonValue;
    using difference_type = ptrdiff_t;
    Iterator() = default;  // refers to no element
    Iterator(const JsonElements* elements, size_t at) : elements_(elements), at_(at) {}
    const JsonValue& operator*() const {
      if (elements_->plain_ == nullptr) number_ = (*elements_)[at_];
      return elements_->plain_ == nullptr ? *number_ : elements_->plain_[at_];
    }
    Iterator& operator++() { return ++at_, *this; }
    void operator++(int) { ++at_; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const JsonElements* elements_ = nullptr;
    size_t at_ = 0;                            // index of the element
    mutable JsonElement number_{JsonValue()};  // the packed number to which operator* has returned a reference
  };

  JsonElements(const JsonValue* plain, const JsonPacked* packed, size_t size)  // one of the pointers may be null
      : plain_(plain), packed_(packed), size_(size) {}
  size_t size() const { return size_; }           // number of elements
  Iterator begin() const { return {this, 0}; }    // the first element; must not outlive this JsonElements
  Iterator end() const { return {this, size_}; }  // after the last element
  JsonElement operator[](size_t i) const;         // the element i

 private:
  const JsonValue* plain_;    // the elements; null: they are packed, or there are none
  const JsonPacked* packed_;  // the packed elements; null: they are not packed
  size_t size_;               // number of elements
};

}  // namespace respite
