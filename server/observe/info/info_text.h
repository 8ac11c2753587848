// InfoText: the lines of one section of INFO: "# Title", then "name:value", each ended by CR LF.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/memory_text.h"
#include "base/number_text.h"

namespace respite {

class InfoText {
 public:
  explicit InfoText(Bytes title) { (text_ += "# ").append(title).append("\r\n"); }

  InfoText& Add(Bytes name, Bytes value) {
    text_.append(name).append(1, ':').append(value).append("\r\n");
    return *this;
  }
  template <std::signed_integral Number>
  InfoText& Add(Bytes name, Number value) {
    return Add(name, IntegerText(value).View());
  }
  template <std::unsigned_integral Number>
  InfoText& Add(Bytes name, Number value) {
    return Add(name, IntegerText::FromUnsigned(value).View());
  }
  // Adds a ratio with two decimals, like nearly every ratio of INFO.
  InfoText& AddRatio(Bytes name, double value) { return Add(name, FixedText(value, 2)); }
  InfoText& AddPercent(Bytes name, double value) { return Add(name, FixedText(value, 2) + "%"); }
  InfoText& AddHuman(Bytes name, uint64_t bytes) { return Add(name, HumanBytes(bytes)); }
  // Adds fields of unsupported features, whose value is zero while a feature is unused.
  InfoText& AddZeros(std::initializer_list<Bytes> names) {
    for (Bytes name : names) Add(name, "0");
    return *this;
  }

  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace respite
