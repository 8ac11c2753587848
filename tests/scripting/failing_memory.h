// An allocator for Lua states that fails from its n-th call on, until it is reset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "scripting/lua_api.h"

namespace respite {

// Must outlive the states that it allocates for.
class FailingMemory {
 public:
  lua_State* NewState() { return lua_newstate(Resize, this); }
  // From now on `calls` allocations succeed; later ones fail.
  void FailAfter(int64_t calls) {
    calls_ = 0;
    allowed_ = calls;
  }
  void Relent() { allowed_ = INT64_MAX; }
  // The number of allocations since FailAfter.
  int64_t Calls() const { return calls_; }

 private:
  static void* Resize(void* context, void* block, size_t old_size, size_t new_size) {
    FailingMemory& self = *static_cast<FailingMemory*>(context);
    if (new_size == 0) {
      std::free(block);
      return nullptr;
    }
    const bool wants_more = block == nullptr || new_size > old_size;
    if (wants_more && ++self.calls_ > self.allowed_) return nullptr;
    return std::realloc(block, new_size);
  }

  int64_t calls_ = 0;
  int64_t allowed_ = INT64_MAX;
};

}  // namespace respite
