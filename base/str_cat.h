// StrCat and StrAppend build a text of strings, characters and integers with one allocation:
//   StrCat("port ", port, ", ", name)    StrAppend(line, ":slots=", slots)
// Doubles have several forms in Redis, so the caller must format a double first (DoubleText, FixedText).
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/number_text.h"

namespace respite {

// The object is valid as long as the argument exists.
class StrCatArgument {  // the text of one argument of StrCat: a text, a character or an integer
 public:
  StrCatArgument(const char* text) : text_(text) {}                // NOLINT(google-explicit-constructor)
  StrCatArgument(const std::string& text) : text_(text) {}         // NOLINT(google-explicit-constructor)
  StrCatArgument(Bytes text) : text_(text) {}                      // NOLINT(google-explicit-constructor)
  StrCatArgument(const char& character) : text_(&character, 1) {}  // NOLINT(google-explicit-constructor)
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char>) StrCatArgument(Integer value)
      : number_(Number(value)), text_(number_->View()) {}  // NOLINT
  StrCatArgument(const StrCatArgument&) = delete;
  StrCatArgument& operator=(const StrCatArgument&) = delete;

  Bytes text() const { return text_; }

 private:
  template <typename Integer>
  static IntegerText Number(Integer value) {  // the decimal text of an integer of any type
    if constexpr (std::unsigned_integral<Integer>) {
      return IntegerText::FromUnsigned(value);
    } else {
      return IntegerText(value);
    }
  }

  std::optional<IntegerText> number_;  // the printed integer; nullopt: the argument is a text or character
  Bytes text_;
};

// No argument of StrAppend may be a view of `text`. Cost: O(bytes appended), amortized.
template <typename... Arguments>
void StrAppend(std::string& text, const Arguments&... arguments) {  // appends texts, characters and integers to `text`
  const std::initializer_list<StrCatArgument> all = {StrCatArgument(arguments)...};
  size_t bytes = text.size();
  for (const StrCatArgument& argument : all) bytes += argument.text().size();
  text.reserve(bytes);
  for (const StrCatArgument& argument : all) text += argument.text();
}

template <typename... Arguments>
std::string StrCat(const Arguments&... arguments) {  // joins texts, characters and integers to one string
  std::string text;
  StrAppend(text, arguments...);
  return text;
}

}  // namespace respite
