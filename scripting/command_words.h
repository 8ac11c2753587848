// CallArguments: the arguments of one command that a script runs. The object is reused for the next command, so that a
// call usually allocates nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

class CallArguments {  // the arguments of one command that a script runs
 public:
  void Start(size_t count);  // removes the previous arguments; at most `count` new ones may follow
  // Adds an argument. The text must stay valid while the arguments are used.
  void Add(Bytes text) { words_[count_++] = text; }
  // Adds a number. An integer of at most 2^62 has all its digits; any other number has the shortest form that reads
  // back to the same value.
  void Add(double number);
  void FreeIfMany();  // frees the memory after a script that has used many arguments
  std::span<const Bytes> All() const { return {words_.data(), count_}; }

 private:
  std::vector<Bytes> words_;          // is not smaller than the largest `count` since FreeIfMany
  size_t count_ = 0;                  // number of arguments in words_
  std::vector<std::string> numbers_;  // texts of numbers; not resized between Start and All
  size_t used_numbers_ = 0;           // number of texts of numbers_ that are in use
};

}  // namespace respite
