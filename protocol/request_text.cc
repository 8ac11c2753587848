#include "protocol/request_text.h"

#include <charconv>
#include <cstring>

#include "base/number_text.h"

namespace respite {

RequestWriter& RequestWriter::Word(Bytes word) {
  constexpr size_t kShort = 128;  // longer ones are not worth copying twice
  if (kGathered - used_ < kLongestHead + kShort + 2) Flush();
  Head('$', word.size());
  if (word.size() <= kShort) {
    std::memcpy(gathered_.data() + used_, word.data(), word.size());
    used_ += word.size();
  } else {
    Flush();
    out_.append(word);
  }
  gathered_[used_++] = '\r';
  gathered_[used_++] = '\n';
  return *this;
}

RequestWriter& RequestWriter::Integer(int64_t number) { return Word(IntegerText(number)); }

void RequestWriter::Head(char mark, size_t number) {
  char* at = gathered_.data() + used_;
  *at++ = mark;
  if (number < 10) {
    *at++ = static_cast<char>('0' + number);
  } else {
    at = std::to_chars(at, gathered_.data() + kGathered, number).ptr;
  }
  *at++ = '\r';
  *at++ = '\n';
  used_ = static_cast<size_t>(at - gathered_.data());
}

void RequestWriter::Flush() {
  out_.append(gathered_.data(), used_);
  used_ = 0;
}

}  // namespace respite
