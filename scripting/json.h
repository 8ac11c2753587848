// The settings of one cjson table (cjson itself, or a result of cjson.new). They live in a userdata that the table's
// functions share. Redis: what a script sets here stays for the scripts after it.
#pragma once

#include "scripting/lua_api.h"

namespace respite {

enum class InvalidNumbers { kRefuse, kWrite, kNull };
enum class SparseArrays { kRefuse, kAsObjects };

struct JsonConfig {
  static constexpr int kMaxPrecision = 14;

  // A table of which more than `sparse_ratio` times as many indexes as values are in use, and its greatest index is
  // beyond `sparse_safe`, is sparse. 0: none is.
  SparseArrays sparse_arrays = SparseArrays::kRefuse;
  int sparse_ratio = 2;
  int sparse_safe = 10;
  int encode_max_depth = 1000;
  int decode_max_depth = 1000;
  int encode_precision = kMaxPrecision;
  InvalidNumbers encode_invalid_numbers = InvalidNumbers::kRefuse;
  // Hexadecimal numbers, leading zeros, inf and nan.
  bool decode_invalid_numbers = true;
  // Kept for scripts that ask; nothing depends on it.
  bool encode_keep_buffer = true;
};

// Pushes the JSON text of the value on top of the stack. Raises an error for what JSON cannot express and for what
// nests too deep, cycles included.
void EncodeJson(lua_State* lua, const JsonConfig& config);

// Pushes the value of the JSON text at an index. Raises an error that names the place in the text.
//
// The text ends at its first octet 0. Cost: O(n).
void DecodeJson(lua_State* lua, const JsonConfig& config, int index);

}  // namespace respite
