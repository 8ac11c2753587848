// CallArguments: the arguments of one command that a script runs. The object is reused for the next command, so that a
// call usually allocates nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

class CallArguments {  // the name and arguments of one command that a script runs; reused for the next
 public:
  void Start(size_t count);  // begins another command, which may get up to `count` arguments
  // Adds an argument. The text must stay valid while the arguments are used.
  void Add(Bytes text) { words_[count_++] = text; }  // adds a text, which must stay valid
  // Adds a number. An integer of at most 2^62 has all its digits; any other number has the shortest form that reads
  // back to the same value.
  void Add(double number);  // adds a number as text, in its shortest exact form
  void FreeIfMany();        // after a script: frees the memory if there were many arguments
  std::span<const Bytes> All() const { return {words_.data(), count_}; }  // the arguments so far

 private:
  std::vector<Bytes> words_;          // the arguments; not smaller than the largest `count` since FreeIfMany
  size_t count_ = 0;                  // number of arguments in words_
  std::vector<std::string> numbers_;  // texts of the arguments that are numbers
  size_t used_numbers_ = 0;           // how many elements of numbers_ are in use
};

}  // namespace respite
