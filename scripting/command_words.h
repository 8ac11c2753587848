// CommandWords: the words of one command that a script gives, kept for reuse so that a call allocates nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

class CommandWords {
 public:
  // Forgets the words before; at most `count` follow.
  void Start(size_t count);
  // The text must stay where it is as long as the words are used.
  void Add(Bytes text) { words_[count_++] = text; }
  // A number: integers in full, others as short as they read back to the same value.
  void Add(double number);
  std::span<const Bytes> All() const { return {words_.data(), count_}; }

 private:
  std::vector<Bytes> words_;  // at least as many as were ever announced
  size_t count_ = 0;
  std::vector<std::string> numbers_;  // texts of numbers; never grows between Start and All
  size_t used_numbers_ = 0;
};

}  // namespace respite
