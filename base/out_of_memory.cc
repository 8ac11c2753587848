#include "base/out_of_memory.h"

#include <openssl/crypto.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <string_view>

#include "base/memory.h"

#ifdef RESPITE_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

namespace respite {

namespace {

std::atomic<OutOfMemoryHandler> current_handler{nullptr};  // global because `operator new` cannot receive arguments

void* OpenSslAllocate(size_t bytes, const char*, int) { return bytes == 0 ? nullptr : AllocateOrEnd(bytes); }

void* OpenSslReallocate(void* memory, size_t bytes, const char*, int) {
  if (bytes != 0) return ReallocateOrEnd(memory, bytes);
  std::free(memory);
  return nullptr;
}

void OpenSslFree(void* memory, const char*, int) { std::free(memory); }

}  // namespace

void EndProcessOutOfMemory(size_t bytes) noexcept {
  if (const OutOfMemoryHandler handler = current_handler.load(std::memory_order_relaxed)) handler(bytes);
  constexpr std::string_view kLine = "Out of memory\n";
  if (write(STDERR_FILENO, kLine.data(), kLine.size()) < 0) std::abort();
  std::abort();
}

void SetOutOfMemoryHandler(OutOfMemoryHandler handler) { current_handler.store(handler, std::memory_order_relaxed); }

#if defined(RESPITE_JEMALLOC) && !defined(RESPITE_SANITIZED)
void FreeSized(void* memory, size_t bytes) noexcept { sdallocx(memory, bytes, 0); }
#else
void FreeSized(void* memory, size_t) noexcept { std::free(memory); }
#endif

void GuardOpenSslMemory() { CRYPTO_set_mem_functions(OpenSslAllocate, OpenSslReallocate, OpenSslFree); }

}  // namespace respite

// A build with sanitizers keeps the `operator new` and `operator delete` of the sanitizers. These also end the process
// when memory is exhausted, and find more mistakes.
#ifndef RESPITE_SANITIZED

namespace {

void* AllocateAlignedOrEnd(size_t bytes, std::align_val_t alignment) {
  void* memory = std::aligned_alloc(static_cast<size_t>(alignment), bytes);
  if (memory == nullptr) respite::EndProcessOutOfMemory(bytes);
  return memory;
}

}  // namespace

// All forms of operator new and operator delete must be defined here. A missing form would pull in jemalloc's object
// file, which defines all forms again.
void* operator new(size_t bytes) { return respite::AllocateOrEnd(bytes); }
void* operator new[](size_t bytes) { return respite::AllocateOrEnd(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void* operator new(size_t bytes, std::align_val_t alignment) { return AllocateAlignedOrEnd(bytes, alignment); }
void* operator new[](size_t bytes, std::align_val_t alignment) { return AllocateAlignedOrEnd(bytes, alignment); }
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return std::aligned_alloc(static_cast<size_t>(alignment), bytes);
}
void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return std::aligned_alloc(static_cast<size_t>(alignment), bytes);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
#ifdef RESPITE_JEMALLOC
// The caller gives the size, so jemalloc need not look up the size.
void operator delete(void* memory, size_t bytes) noexcept {
  if (memory != nullptr) sdallocx(memory, bytes == 0 ? 1 : bytes, 0);
}
void operator delete[](void* memory, size_t bytes) noexcept { operator delete(memory, bytes); }
#else
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
#endif

#endif  // RESPITE_SANITIZED
