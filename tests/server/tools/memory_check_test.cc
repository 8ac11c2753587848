#include "server/tools/memory_check.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <numeric>
#include <vector>

#include "server/process/crash/crash_memory_check.h"

namespace respite {
namespace {

TEST(MemoryTest, FindsNothingInGoodMemory) {
  std::vector<uint64_t> words(100'000);
  EXPECT_EQ(CountFailedPatterns(words), 0U);
}

// Simulates a broken address line: two addresses reach the same cells.
TEST(MemoryTest, FindsAliasedAddresses) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  int file = memfd_create("aliased", 0);
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(page)), 0);
  void* area = mmap(nullptr, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(area, MAP_FAILED);
  for (size_t half : {size_t{0}, page}) {
    void* mapped = mmap(static_cast<char*>(area) + half, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    ASSERT_NE(mapped, MAP_FAILED);
  }
  close(file);
  size_t count = 2 * page / sizeof(uint64_t);
  // At least the lower half must be found, in two passes with addresses and four with random data.
  EXPECT_GE(CountFailedPatterns({static_cast<volatile uint64_t*>(area), count}), 6 * count / 2);
  munmap(area, 2 * page);
}

TEST(MemoryTest, InPlaceTheContentStays) {
  std::vector<uint64_t> words(kPageWords);
  std::iota(words.begin(), words.end(), uint64_t{1} << 60);
  const std::vector<uint64_t> before = words;
  EXPECT_EQ(CountFailedPatternsInPlace(words), 0U);
  EXPECT_EQ(words, before);
}

}  // namespace
}  // namespace respite
