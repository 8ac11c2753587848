// The settings of one cjson table (cjson itself, or a result of cjson.new), stored in a userdata that all functions of
// the table share. As in Redis, the changes that a script makes stay in effect for later scripts.
#pragma once

#include "scripting/lua_api.h"

namespace respite {

enum class InvalidNumbers { kRefuse, kWrite, kNull };
enum class SparseArrays { kRefuse, kAsObjects };

struct JsonConfig {                         // what a script has set with cjson.encode_… and cjson.decode_…
  static constexpr int kMaxPrecision = 14;  // maximum value of encode_precision

  // An array is sparse if its greatest index is greater than `sparse_safe` and also more than `sparse_ratio` times its
  // number of values. If `sparse_ratio` is 0, no array is sparse.
  SparseArrays sparse_arrays = SparseArrays::kRefuse;  // whether a sparse array is an error or an object
  int sparse_ratio = 2;                  // sparse: highest index / number of values exceeds this; 0: never sparse
  int sparse_safe = 10;                  // an array is not sparse if its highest index is at most this
  int encode_max_depth = 1000;           // how deep tables may be nested in a value to encode
  int decode_max_depth = 1000;           // how deep arrays and objects may be nested in a JSON text
  int encode_precision = kMaxPrecision;  // significant digits with which numbers are printed
  InvalidNumbers encode_invalid_numbers = InvalidNumbers::kRefuse;  // whether inf and nan fail, or how they are printed
  bool decode_invalid_numbers = true;  // true: accepts a plus, hexadecimal, leading zeros, inf, nan
  bool decode_marks_arrays = false;    // arrays get a metatable, so that they are encoded as arrays, also if empty
  bool encode_keep_buffer = true;      // stored without effect, for scripts that read this setting
};

void PushJsonArrayMetatable(lua_State* lua);  // pushes the read-only metatable that marks arrays
bool IsMarkedAsJsonArray(lua_State* lua);     // true: the table on top of the stack has this metatable, or one like it

// Raises an error for values that JSON cannot express, and for too deep nesting, including cycles.
void EncodeJson(lua_State* lua, const JsonConfig& config);  // pushes the JSON text of the value on top of the stack

// An error names the position in the text. The text ends at its first zero byte. Cost: O(n).
void DecodeJson(lua_State* lua, const JsonConfig& config, int index);  // parses the text at `index`; pushes its value

}  // namespace respite
