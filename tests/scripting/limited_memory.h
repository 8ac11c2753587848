// An allocator for Lua states that fails beyond a number of bytes.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "scripting/lua_api.h"

namespace respite {

// Must outlive the states that it allocates for.
class LimitedMemory {
 public:
  explicit LimitedMemory(size_t most_bytes) : most_bytes_(most_bytes) {}

  lua_State* NewState() { return lua_newstate(Resize, this); }
  size_t UsedBytes() const { return used_bytes_; }

 private:
  static void* Resize(void* context, void* block, size_t old_size, size_t new_size) {
    LimitedMemory& self = *static_cast<LimitedMemory*>(context);
    const size_t held = block == nullptr ? 0 : old_size;
    if (new_size > held && self.used_bytes_ - held + new_size > self.most_bytes_) return nullptr;
    if (new_size == 0) {
      std::free(block);
    } else {
      block = std::realloc(block, new_size);
      if (block == nullptr) return nullptr;
    }
    self.used_bytes_ += new_size - held;
    return new_size == 0 ? nullptr : block;
  }

  size_t most_bytes_;
  size_t used_bytes_ = 0;
};

}  // namespace respite
