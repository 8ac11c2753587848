#include "base/out_of_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <new>
#include <vector>

#include "base/memory.h"

namespace respite {
namespace {

#ifndef RESPITE_SANITIZED

constexpr size_t kTooMuch = size_t{1} << 62;

// Keeps the optimiser from removing the allocation.
void* volatile kept = nullptr;

void ExitWithSeven(size_t bytes) { _exit(bytes == kTooMuch ? 7 : 8); }

TEST(OutOfMemoryDeathTest, PlainMemoryEndsTheProcessAsChosen) {
  EXPECT_EXIT(
      {
        SetOutOfMemoryHandler(ExitWithSeven);
        kept = AllocateOrEnd(kTooMuch);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_EXIT(
      {
        SetOutOfMemoryHandler(ExitWithSeven);
        kept = ReallocateOrEnd(AllocateOrEnd(10), kTooMuch);
      },
      testing::ExitedWithCode(7), "");
}

TEST(OutOfMemoryDeathTest, OperatorNewDoesTheSame) {
  EXPECT_EXIT(
      {
        SetOutOfMemoryHandler(ExitWithSeven);
        kept = ::operator new(kTooMuch);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_EXIT(
      {
        SetOutOfMemoryHandler(ExitWithSeven);
        kept = ::operator new (kTooMuch, std::align_val_t{64});
      },
      testing::ExitedWithCode(7), "");
}

TEST(OutOfMemoryDeathTest, AbortsByDefault) {
  EXPECT_EXIT(kept = ::operator new(kTooMuch), testing::KilledBySignal(SIGABRT), "Out of memory");
}

TEST(OutOfMemory, NothrowStillReturnsNull) { EXPECT_EQ(::operator new(kTooMuch, std::nothrow), nullptr); }

#endif

TEST(OutOfMemory, AlignedMemoryIsAligned) {
  struct alignas(256) Wide {
    char bytes[256];
  };
  std::vector<Wide> many(5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(many.data()) % 256, 0u);
}

}  // namespace
}  // namespace respite
