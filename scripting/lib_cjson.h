// The settings of one cjson table (cjson itself, or a result of cjson.new), stored in a userdata that all functions of
// the table share. As in Redis, the changes that a script makes stay in effect for later scripts.
#pragma once

#include "scripting/lua_api.h"

namespace respite {

enum class InvalidNumbers { kRefuse, kWrite, kNull };
enum class SparseArrays { kRefuse, kAsObjects };

struct JsonConfig {                         // the settings of one cjson table
  static constexpr int kMaxPrecision = 14;  // maximum of encode_precision

  // An array is sparse if its greatest index is greater than `sparse_safe` and also more than `sparse_ratio` times its
  // number of values. If `sparse_ratio` is 0, no array is sparse.
  SparseArrays sparse_arrays = SparseArrays::kRefuse;  // how a sparse array is encoded (encode_sparse_array)
  int sparse_ratio = 2;                  // an array is sparse if index / values exceeds it; 0: never sparse
  int sparse_safe = 10;                  // indexes up to here never make an array sparse
  int encode_max_depth = 1000;           // maximum depth of nested tables; deeper ones are an error
  int decode_max_depth = 1000;           // maximum depth of nested arrays and objects; deeper: error
  int encode_precision = kMaxPrecision;  // significant digits of numbers in JSON
  InvalidNumbers encode_invalid_numbers = InvalidNumbers::kRefuse;  // what inf and nan become
  bool decode_invalid_numbers = true;  // accepts hexadecimal numbers, leading zeros, inf and nan
  bool encode_keep_buffer = true;      // stored for scripts that read it; has no effect
};

// Pushes the JSON text of the value on top of the stack. Raises an error for values that JSON cannot express, and for
// too deep nesting, including cycles.
void EncodeJson(lua_State* lua, const JsonConfig& config);  // pushes the JSON text of the value on top

// Pushes the value of the JSON text at stack index `index`. An error names the position in the text. The text ends at
// its first zero byte. Cost: O(n).
void DecodeJson(lua_State* lua, const JsonConfig& config, int index);  // pushes the value of the text at `index`

}  // namespace respite
