// Numbers as Lua 5.1 converts them. That Lua itself converts them so is arranged by the linker: see lua51_internals.h.
#pragma once

#include <cstddef>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite {

// The number without its fraction, as a C cast on a machine with 64 bits has it: what does not fit, and NaN, becomes
// the smallest integer.
lua_Integer ToIntegerAs51(lua_Number number);

// A number as text, "%.14g": 5, 0.1, 1e+15, -0, inf, -nan.
class NumberText {
 public:
  explicit NumberText(lua_Number number);
  const char* data() const { return text_; }
  size_t size() const { return size_; }
  operator Bytes() const { return {text_, size_}; }

 private:
  char text_[32];
  size_t size_;
};

}  // namespace respite
