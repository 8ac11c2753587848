// Parts of values of Redis' modules: numbers and texts that each have a tag.
#pragma once

#include <cstdint>
#include <string_view>

#include "persistence/rdb_format.h"
#include "persistence/rdb_input.h"
#include "persistence/rdb_output.h"

namespace respite {

namespace rdb {

inline constexpr uint64_t kVectorSetModule = 0xbde72da2bb1eb400;  // the ID of "vectorset", version 0
inline constexpr std::string_view kJsonModule = "ReJSON-RL";
inline constexpr uint64_t kJsonVersion = 3;        // the version of the form of JSON that is written
inline constexpr uint64_t kOldestJsonVersion = 2;  // the oldest version in which the value is JSON text

}  // namespace rdb

class RdbModuleInput {  // reads the parts of a module's value; a part with an unexpected tag makes the input fail
 public:
  explicit RdbModuleInput(RdbInput& input) : input_(input) {}

  uint64_t Unsigned() {  // reads a number; 0 on failure
    return TakeTag(rdb::kPartUnsigned) ? input_.Length() : 0;
  }
  // Returns 0 if the input has too few bytes for the elements. RdbInput::RanOut() is then true, and the value is read
  // again when more bytes have arrived.
  uint64_t Count(uint64_t min_element_bytes) {  // reads a number of elements that follow; 0 on failure
    return TakeTag(rdb::kPartUnsigned) ? input_.Count(min_element_bytes) : 0;
  }
  RdbText Text() {  // reads a text; empty on failure
    return TakeTag(rdb::kPartText) ? input_.Text() : RdbText();
  }
  void End() { TakeTag(rdb::kPartEnd); }  // reads the end of the value

 private:
  bool TakeTag(uint64_t tag) {  // reads a tag; if it is not `tag`, makes the input fail and returns false
    if (input_.Length() != tag) input_.Fail();
    return !input_.Failed();
  }

  RdbInput& input_;  // where the parts are read from
};

class RdbModuleOutput {  // writes the parts of a module's value
 public:
  RdbModuleOutput(RdbOutput& out, uint64_t module) : out_(out) { out_.Length(module); }

  void Unsigned(uint64_t number) {  // writes a number
    out_.Length(rdb::kPartUnsigned);
    out_.Length(number);
  }
  void Text(Bytes text) {  // writes a text
    out_.Length(rdb::kPartText);
    out_.Text(text);
  }
  void End() { out_.Length(rdb::kPartEnd); }  // writes the end of the value

 private:
  RdbOutput& out_;
};

}  // namespace respite
