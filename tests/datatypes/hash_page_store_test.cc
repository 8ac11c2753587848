#include "datatypes/hash_page_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

// Pages of a store. Each is filled with its number, so that a page that moved tells which one it is.
class Pages {
 public:
  explicit Pages(uint64_t seed) : random_(seed) {}

  void Add() {
    const size_t bytes = (1 + random_.Below(14)) * HashPageStore::kStep;
    auto* page = static_cast<uint32_t*>(store.Allocate(bytes));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(page) % HashPageStore::kAlignment, 0u);
    std::fill_n(page, bytes / sizeof *page, static_cast<uint32_t>(pages_.size()));
    pages_.push_back({page, bytes});
    ++count;
    used_bytes += bytes;
  }
  void Remove() {
    if (pages_.empty()) return;
    Page& page = pages_[random_.Below(pages_.size())];
    if (page.at == nullptr) return;
    store.Free(page.at, page.bytes);
    --count;
    used_bytes -= page.bytes;
    page.at = nullptr;
  }
  void FillHoles() {
    store.FillHoles([&](void* address, size_t bytes) {
      auto* at = static_cast<uint32_t*>(address);
      Page& page = pages_.at(*at);
      EXPECT_NE(page.at, nullptr) << "a freed page moved";
      EXPECT_EQ(page.bytes, bytes);
      page.at = at;
    });
  }
  void Check() const {
    for (const Page& page : pages_) {
      const auto number = static_cast<uint32_t>(&page - pages_.data());
      if (page.at == nullptr) continue;
      ASSERT_EQ(std::count(page.at, page.at + page.bytes / sizeof *page.at, number), page.bytes / sizeof *page.at);
    }
  }

  HashPageStore store;
  size_t count = 0;       // number of pages in use
  size_t used_bytes = 0;  // their size in total

 private:
  struct Page {
    uint32_t* at;  // null: freed
    size_t bytes;
  };
  Random random_;
  std::vector<Page> pages_;  // by number
};

TEST(HashPageStoreTest, PagesKeepTheirContentsAndLeaveNoGaps) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  Pages pages(seed);
  for (uint64_t percent : {90u, 50u, 10u, 70u, 20u}) {  // of additions
    for (int step = 0; step < 2000; ++step) {
      for (uint64_t n = random.Below(4); n > 0; --n) random.Below(100) < percent ? pages.Add() : pages.Remove();
      if (pages.count == 0) pages.Add();
      pages.FillHoles();
    }
    ASSERT_NO_FATAL_FAILURE(pages.Check());
    // Per size, one chunk that is not full, and in each chunk a rest smaller than a page; and the spare chunks.
    EXPECT_LE(pages.store.SpareBytes(), pages.used_bytes / 20 + (14 + 2) * (size_t{64} << 10)) << pages.count;
  }
}

TEST(HashPageStoreTest, AHoleIsUsedForTheNextPage) {
  HashPageStore store;
  void* first = store.Allocate(512);
  void* second = store.Allocate(512);
  store.Free(first, 512);
  EXPECT_EQ(store.Allocate(512), first);
  store.Free(second, 512);
  store.FillHoles([](void*, size_t) { FAIL() << "the hole was the last place"; });
  EXPECT_EQ(store.Allocate(512), second);
}

}  // namespace
}  // namespace respite
