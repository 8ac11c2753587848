#include "scripting/stack_room.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>

namespace respite {

namespace {

// Reserved for the deepest functions of Lua and the server that such recursion calls.
constexpr size_t kReserve = size_t{192} << 10;
// The assumed stack size if the system does not report it.
constexpr size_t kSupposed = size_t{256} << 10;

uintptr_t FindFloor() {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  uintptr_t lowest = here - kSupposed;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* start = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &start, &size) == 0) lowest = reinterpret_cast<uintptr_t>(start);
    pthread_attr_destroy(&attributes);
  }
  // Half of a small stack is reserved.
  return lowest + std::min(kReserve, (here - lowest) / 2);
}

}  // namespace

uintptr_t StackFloor() {
  thread_local const uintptr_t floor = FindFloor();
  return floor;
}

}  // namespace respite
