// CommandWords: the words of one command that a script runs, reused so that a call allocates nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

class CommandWords {
 public:
  // Forgets the previous words; at most `count` follow.
  void Start(size_t count);
  // The text must stay valid while the words are used.
  void Add(Bytes text) { words_[count_++] = text; }
  // Adds a number: an integer in full, others in the shortest form that reads back to the same value.
  void Add(double number);
  std::span<const Bytes> All() const { return {words_.data(), count_}; }

 private:
  std::vector<Bytes> words_;  // at least as many as the largest `count` so far
  size_t count_ = 0;
  std::vector<std::string> numbers_;  // texts of numbers; not resized between Start and All
  size_t used_numbers_ = 0;
};

}  // namespace respite
