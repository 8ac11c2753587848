// CallArguments: the arguments of one command that a script runs. The object is reused for the next command, so that a
// call usually allocates nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace respite {

class CallArguments {  // name and arguments of the command that a script runs now; reused
 public:
  void Start(size_t count);  // begins the next command, with up to `count` arguments
  // Requires: fewer than Start's `count` arguments were added.
  void Add(Bytes text) { words_[count_++] = text; }  // adds a text, which must stay valid
  // An integer between -2^62 and 2^62 is written with all its digits. Any other number is written in the shortest form
  // that reads back to the same value.
  void Add(double number);  // adds a number as text, in its shortest exact form
  void FreeIfMany();        // frees the memory if a command had many arguments (over 1024)
  std::span<const Bytes> All() const { return {words_.data(), count_}; }  // the arguments so far

 private:
  std::vector<Bytes> words_;  // the arguments are its first count_ elements; its size is `count` of Start or more
  size_t count_ = 0;          // how many elements of words_ are arguments of this command
  std::vector<std::string> numbers_;  // the texts of arguments that the script passed as numbers
  size_t used_numbers_ = 0;           // how many elements of numbers_ this command uses
};

}  // namespace respite
