// The settings of one cjson table (cjson itself, or a result of cjson.new), stored in a userdata that all functions of
// the table share. Redis: changes by one script stay in effect for later scripts.
#pragma once

#include "scripting/lua_api.h"

namespace respite {

enum class InvalidNumbers { kRefuse, kWrite, kNull };
enum class SparseArrays { kRefuse, kAsObjects };

struct JsonConfig {
  static constexpr int kMaxPrecision = 14;

  // An array is sparse if its greatest index is greater than `sparse_safe`, and more than `sparse_ratio` times its
  // number of values. If `sparse_ratio` is 0, no array is sparse.
  SparseArrays sparse_arrays = SparseArrays::kRefuse;
  int sparse_ratio = 2;
  int sparse_safe = 10;
  int encode_max_depth = 1000;
  int decode_max_depth = 1000;
  int encode_precision = kMaxPrecision;
  InvalidNumbers encode_invalid_numbers = InvalidNumbers::kRefuse;
  // Accept hexadecimal numbers, leading zeros, inf and nan.
  bool decode_invalid_numbers = true;
  // Stored for scripts that read it; has no effect.
  bool encode_keep_buffer = true;
};

// Pushes the JSON text of the value on top of the stack. Raises an error for values that JSON cannot express, and for
// too deep nesting, including cycles.
void EncodeJson(lua_State* lua, const JsonConfig& config);

// Pushes the value of the JSON text at `index`. An error names the position in the text. The text ends at its first
// zero byte. Cost: O(n).
void DecodeJson(lua_State* lua, const JsonConfig& config, int index);

}  // namespace respite
