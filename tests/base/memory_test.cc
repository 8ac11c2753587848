#include "base/memory.h"

#include <malloc.h>

#include <cstdlib>

#include "gtest/gtest.h"

namespace respite {
namespace {

TEST(SizeClass, IsThatOfJemalloc) {
  if (AllocatorName().substr(0, 8) != "jemalloc") GTEST_SKIP() << "the allocator is " << AllocatorName();
  for (size_t bytes = 1; bytes < 100'000'000; bytes += 1 + bytes / 64) {
    void* const block = std::malloc(bytes);
    EXPECT_EQ(SizeClassOf(bytes), malloc_usable_size(block)) << bytes;
    std::free(block);
  }
}

}  // namespace
}  // namespace respite
