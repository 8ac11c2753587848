// ArrayElement: a text in 8 bytes, as an array stores it.
//
//   integer of up to 62 bits   | integer * 4 + 2 |           if a Member would need memory for its text
//   any other text              a Member (member.h): a short text, or a pointer to a long one
//
// So a timestamp in milliseconds or a measurement needs no memory of its own. The handle owns no memory: the array
// frees each element with Destroy.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/number_text.h"
#include "datatypes/member.h"

namespace respite {

class ArrayElement {  // a handle of 8 bytes for a text, which may be an integer
 public:
  static_assert(std::endian::native == std::endian::little);  // the tag of a Member is in the lowest byte

  // The default handle stands for no element.
  ArrayElement() = default;

  static ArrayElement Create(Bytes text) {  // stores the text in the handle, or in new memory; free with Destroy
    if (text.size() > Member::kShortMax && text.size() <= kMaxDigits) {
      const std::optional<int64_t> number = ParseInteger(text);
      if (number && FitsHandle(*number)) return ArrayElement(static_cast<uint64_t>(*number) << 2 | kIntegerTag);
    }
    return ArrayElement(Member::Create(text).Identity());
  }
  static void Destroy(ArrayElement element) {  // frees the memory of a long text
    if (!element.IsInteger()) Member::Destroy(element.AsMember());
  }

  // Returns true if the text is stored as an integer. A short text of digits is stored as text.
  bool IsInteger() const { return (word_ & 3) == kIntegerTag; }         // true: the text is stored as an integer
  int64_t Integer() const { return static_cast<int64_t>(word_) >> 2; }  // the number; requires: IsInteger()
  Member AsMember() const { return Member::FromIdentity(word_); }       // the text; requires: !IsInteger()
  size_t UsedBytes() const { return IsInteger() ? 0 : AsMember().UsedBytes(); }  // memory outside the handle; 0: none

  static constexpr bool FitsHandle(int64_t number) {  // true: the integer has at most 62 bits
    return number >= -(int64_t{1} << 61) && number < (int64_t{1} << 61);
  }

 private:
  static constexpr uint64_t kIntegerTag = 2;  // the lowest two bits of a handle with an integer
  static constexpr size_t kMaxDigits = 20;    // bytes; a longer text is no integer

  explicit ArrayElement(uint64_t word) : word_(word) {}

  uint64_t word_ = 0;
};

// Returns the number that Redis stores instead of this text, or nullopt if Redis stores the text itself. RDB files and
// the results of AROP show the difference. Redis keeps a tag in the lowest two bits of a double. So it stores a number
// only if the text has digits, a point and perhaps a minus sign, and is still the text of the number (StoredDoubleText)
// after these bits were cleared.
std::optional<double> StoredDoubleOf(Bytes text);  // the number that Redis stores for a text; nullopt: it stores a text
// Requires: StoredDoubleOf returned the number.
std::string StoredDoubleText(double number);  // the text of the number: like a score, but with ".0" if it is whole

// The text of an element. The element must not move or change while the view is used.
class ArrayText {  // the text of an element; an integer is printed
 public:
  explicit ArrayText(const ArrayElement& element) : element_(element) {
    if (element.IsInteger()) digits_.emplace(element.Integer());
  }
  Bytes View() const { return digits_ ? digits_->View() : member_.Text(); }

 private:
  const ArrayElement element_;                 // the element with this text
  const Member member_ = element_.AsMember();  // the text, unless the element is an integer
  std::optional<IntegerText> digits_;          // the printed integer; nullopt: the element is a text
};

}  // namespace respite
