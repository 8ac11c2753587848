#include "datatypes/slab_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/database.h"

namespace respite {
namespace {

constexpr std::array<size_t, 8> kSizes = {20, 28, 40, 56, 72, 88, 104, 124};

class SlabPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!SlabPool::Suits(88)) GTEST_SKIP() << "with a sanitizer there are no pools";
  }
};

TEST_F(SlabPoolTest, SuitsTheSizesThatJemallocLacks) {
  for (size_t bytes = 0; bytes < 300; ++bytes) {
    const size_t best = (bytes + 3) / 4 * 4;
    EXPECT_EQ(SlabPool::Suits(bytes), bytes > 8 && bytes <= 124 && best % 16 != 0) << bytes;
  }
}

// Allocates and frees blocks at random, and checks that no block changes the bytes of another one.
TEST_F(SlabPoolTest, BlocksDoNotOverlap) {
  struct Block {
    char* at;
    size_t size;
    char mark;
  };
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  SlabPool pool;
  std::vector<Block> blocks;
  auto free_at = [&](size_t at) {
    const Block block = blocks[at];
    ASSERT_EQ(std::string(block.at, block.size), std::string(block.size, block.mark));
    SlabPool::Free(block.at);
    blocks[at] = blocks.back();
    blocks.pop_back();
  };
  for (int step = 0; step < 100'000; ++step) {
    const bool grows = step / 20'000 % 2 == 0;
    if (!blocks.empty() && random.Below(10) < (grows ? 3u : 7u)) {
      ASSERT_NO_FATAL_FAILURE(free_at(random.Below(blocks.size())));
      continue;
    }
    const size_t size = kSizes[random.Below(kSizes.size())];
    const Block block{static_cast<char*>(pool.Allocate(size - random.Below(4))), size, static_cast<char>(step)};
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block.at) % 4, 0u);
    ASSERT_EQ(SlabPool::SizeOf(block.at), size);
    ASSERT_EQ(SlabPool::Of(block.at), &pool);
    std::memset(block.at, block.mark, size);
    blocks.push_back(block);
  }
  EXPECT_GT(pool.SlabCount(), kSizes.size());
  while (!blocks.empty()) ASSERT_NO_FATAL_FAILURE(free_at(random.Below(blocks.size())));
  EXPECT_EQ(pool.SlabCount(), 1u) << "one empty slab stays";
  pool.FreeSpareSlab();
  EXPECT_EQ(pool.SlabCount(), 0u);
}

TEST_F(SlabPoolTest, OnlyBlocksInUseCountAsMemoryOfTheThread) {
  if (AllocatorName().substr(0, 8) != "jemalloc") GTEST_SKIP() << "the allocator is " << AllocatorName();
  const ThreadMemory memory = ThreadMemory::OfThisThread();
  std::vector<void*> blocks(10'000);
  SlabPool pool;
  const int64_t before = memory.HeldBytes();
  for (void*& block : blocks) block = pool.Allocate(88);
  EXPECT_EQ(memory.HeldBytes() - before, 88 * 10'000);
  for (size_t i = 0; i < blocks.size(); i += 2) SlabPool::Free(blocks[i]);
  EXPECT_EQ(memory.HeldBytes() - before, 88 * 5'000);
  // Another thread frees the rest, while this one does not use the pool. Both together then hold only what the thread
  // itself needed.
  int64_t of_the_other = 0;
  std::thread([&] {
    const int64_t first = ThreadMemory::OfThisThread().HeldBytes();
    for (size_t i = 1; i < blocks.size(); i += 2) SlabPool::Free(blocks[i]);
    pool.FreeSpareSlab();
    of_the_other = ThreadMemory::OfThisThread().HeldBytes() - first;
  }).join();
  EXPECT_LT(std::abs(memory.HeldBytes() - before + of_the_other), 2000);
}

// An entry of each size gets its memory from the pool of its database, in whatever way it came there.
class PooledEntryTest : public SlabPoolTest {
 protected:
  static constexpr size_t kOverhead = 8 + 1;  // header and key

  Database MakeDatabase() {
    Database made(HashKey{1});
    made.EnablePool();
    return made;
  }
  static std::string Value(size_t block) { return std::string(block - kOverhead, 'v'); }
};

TEST_F(PooledEntryTest, TakesBlocksOfThePool) {
  Database data = MakeDatabase();
  for (const size_t size : kSizes) {
    Entry* entry = data.Add("k", StringContent::Raw(Value(size)), kNoDeadline, 0);
    EXPECT_EQ(entry->UsedBytes(), size);
    entry = data.Assign(entry, StringContent::Raw(Value(size - 3)));
    EXPECT_EQ(entry->UsedBytes(), size);
    entry = data.SetDeadline(entry, 99);  // eight bytes more
    EXPECT_GE(entry->UsedBytes(), size + 8 - 3);
    EXPECT_EQ(StringText(*entry).View(), Value(size - 3));
    entry = data.Assign(entry, StringContent::Raw(Value(500)));
    EXPECT_EQ(StringText(*entry).View(), Value(500));
    entry = data.Assign(entry, StringContent::Raw(Value(size - 8)));
    EXPECT_EQ(entry->UsedBytes(), size);
    EXPECT_EQ(entry->Deadline(), 99);
    data.Take(entry);
  }
  data.Clear();
  EXPECT_EQ(data.pool()->SlabCount(), 0u);
}

TEST_F(PooledEntryTest, AddMovesAnEntryToThePoolOfItsDatabase) {
  Database first = MakeDatabase();
  Database second = MakeDatabase();
  Database without(HashKey{1});
  for (const size_t size : kSizes) {
    first.Add(EntryPtr(Entry::Create("k", StringContent::Raw(Value(size)), kNoDeadline, 7)));
    Entry* entry = first.Find("k");
    EXPECT_EQ(entry->UsedBytes(), size);
    entry = second.Add(first.Take(entry));
    first.Clear();  // frees the memory in which the entry was before
    EXPECT_EQ(entry->UsedBytes(), size);
    EXPECT_EQ(StringText(*entry).View(), Value(size));
    entry = without.Add(second.Take(entry));
    second.Clear();
    EXPECT_EQ(entry->UsedBytes(), SizeClassOf(size));
    EXPECT_EQ(entry->Access(), 7u);
    EXPECT_EQ(StringText(*entry).View(), Value(size));
    without.Take(entry);
  }
}

TEST_F(PooledEntryTest, SpareRoomOfACollectionStays) {
  Database data = MakeDatabase();
  const Entry* entry =
      data.Add(EntryPtr(Entry::CreatePacked("k", ValueType::kList, ValueForm::kListpack, Value(40), /*spare=*/100, 0)));
  EXPECT_GE(entry->UsedBytes(), 140u);
}

TEST_F(PooledEntryTest, OutlivesItsPoolAfterItMovedOut) {
  EntryPtr entry;
  {
    Database data = MakeDatabase();
    entry = data.Take(data.Add("k", StringContent::Raw(Value(88)), kNoDeadline, 7));
    entry.reset(Entry::MoveOutOfPool(entry.release()));
  }
  EXPECT_EQ(entry->Key(), "k");
  EXPECT_EQ(StringText(*entry).View(), Value(88));
  std::thread([&] { entry.reset(); }).join();
}

TEST_F(PooledEntryTest, MovesWithItsDatabase) {
  Database data = MakeDatabase();
  for (int i = 0; i < 10'000; ++i) data.Add(StrCat("k", i), StringContent::Raw(Value(88)), kNoDeadline, 7);
  Database moved = std::move(data);
  data = MakeDatabase();
  data.Add("o", StringContent::Raw(Value(88)), kNoDeadline, 7);
  std::thread([content = std::move(moved)]() mutable {
    EXPECT_EQ(StringText(*content.Find("k9999")).View(), Value(88));
    content.Clear();
    EXPECT_EQ(content.pool()->SlabCount(), 0u);
  }).join();
  EXPECT_EQ(data.pool()->SlabCount(), 1u);
}

}  // namespace
}  // namespace respite
