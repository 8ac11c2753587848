#include "scripting/command_words.h"

#include <cmath>

#include "base/bytes.h"
#include "base/number_text.h"

namespace respite {

void CallArguments::Start(size_t count) {
  count_ = used_numbers_ = 0;
  if (words_.size() >= count) return;
  words_.resize(count);
  numbers_.resize(count);
}

void CallArguments::FreeIfMany() {
  constexpr size_t kMaxKept = 1024;
  FreeIfLarge(words_, kMaxKept);
  FreeIfLarge(numbers_, kMaxKept);
}

void CallArguments::Add(double number) {
  constexpr double kLargestPlain = 4611686018427387904.0;  // Redis: half the range of an int64_t
  std::string& text = numbers_[used_numbers_++];
  if (std::abs(number) <= kLargestPlain && number == std::trunc(number)) {
    text = IntegerText(static_cast<int64_t>(number)).View();
  } else if (std::isnan(number)) {
    text = std::signbit(number) ? "-nan" : "nan";
  } else {
    text = ShortDoubleText(number);
  }
  Add(Bytes(text));
}

}  // namespace respite
