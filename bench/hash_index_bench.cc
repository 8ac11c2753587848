// The keyspace's table alone, from a thousand to four million keys. LongestInsert reports the slowest single insertion,
// which is the time that a client waits while the table grows.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/hash_index.h"

namespace respite {
namespace {

struct Item {
  char text[24];
  uint32_t size;
  Bytes Key() const { return {text, size}; }
};

class Table {
 public:
  explicit Table(size_t keys) : items_(keys), index_(HashKey{12345}) {
    for (size_t i = 0; i < keys; ++i) {
      std::string key = StrCat("key:", i * 7919);
      std::copy(key.begin(), key.end(), items_[i].text);
      items_[i].size = static_cast<uint32_t>(key.size());
    }
  }
  void Fill() {
    for (Item& item : items_) Insert(item);
  }
  void Insert(Item& item) { index_.Insert(&item, index_.Hash(item.Key())); }
  std::vector<Item>& items() { return items_; }
  HashIndex<Item*>& index() { return index_; }

 private:
  std::vector<Item> items_;
  HashIndex<Item*> index_;
};

void Sizes(benchmark::internal::Benchmark* bench) {
  for (int64_t keys : {1'000, 100'000, 4'000'000}) bench->Arg(keys);
}

void Insert(benchmark::State& state) {
  Table table(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    table.index().Clear();
    table.Fill();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Insert)->Apply(Sizes)->Unit(benchmark::kMillisecond);

// CPU time of this thread, which excludes preemption.
double CpuMicros() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

void LongestInsert(benchmark::State& state) {
  Table table(static_cast<size_t>(state.range(0)));
  double longest_us = 0;
  for (auto _ : state) {
    table.index().Clear();
    double before_us = CpuMicros();
    for (Item& item : table.items()) {
      table.Insert(item);
      double after_us = CpuMicros();
      longest_us = std::max(longest_us, after_us - before_us);
      before_us = after_us;
    }
  }
  state.counters["longest_us"] = longest_us;
}
BENCHMARK(LongestInsert)->Apply(Sizes)->Iterations(1)->Unit(benchmark::kMillisecond);

void FindPresent(benchmark::State& state) {
  Table table(static_cast<size_t>(state.range(0)));
  table.Fill();
  Random random(1);
  for (auto _ : state) {
    const Item& item = table.items()[random.Below(table.items().size())];
    benchmark::DoNotOptimize(table.index().Find(item.Key(), table.index().Hash(item.Key())));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(FindPresent)->Apply(Sizes);

void FindAbsent(benchmark::State& state) {
  Table table(static_cast<size_t>(state.range(0)));
  table.Fill();
  uint64_t number = 0;
  for (auto _ : state) {
    std::string key = StrCat("none:", ++number);
    benchmark::DoNotOptimize(table.index().Find(key, table.index().Hash(key)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(FindAbsent)->Apply(Sizes);

// Sixteen lookups at a time, prefetched as in a pipeline.
void FindPrefetched(benchmark::State& state) {
  constexpr size_t kGroup = 16;
  Table table(static_cast<size_t>(state.range(0)));
  table.Fill();
  Random random(1);
  std::vector<std::pair<const Item*, uint64_t>> group(kGroup);
  for (auto _ : state) {
    for (auto& [item, hash] : group) {
      item = &table.items()[random.Below(table.items().size())];
      hash = table.index().Hash(item->Key());
      table.index().PrefetchBucket(hash);
    }
    for (const auto& [item, hash] : group) table.index().PrefetchItem(hash);
    for (const auto& [item, hash] : group) benchmark::DoNotOptimize(table.index().Find(item->Key(), hash));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kGroup));
}
BENCHMARK(FindPrefetched)->Apply(Sizes);

void Scan(benchmark::State& state) {
  Table table(static_cast<size_t>(state.range(0)));
  table.Fill();
  int64_t seen = 0;
  for (auto _ : state) {
    uint64_t cursor = 0;
    do cursor = table.index().Scan(cursor, [&](const Item*) { ++seen; });
    while (cursor != 0);
  }
  state.SetItemsProcessed(seen);
}
BENCHMARK(Scan)->Apply(Sizes)->Unit(benchmark::kMillisecond);

void RemoveAndInsert(benchmark::State& state) {
  Table table(static_cast<size_t>(state.range(0)));
  table.Fill();
  Random random(1);
  for (auto _ : state) {
    Item& item = table.items()[random.Below(table.items().size())];
    table.index().Remove(item.Key(), table.index().Hash(item.Key()));
    table.Insert(item);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(RemoveAndInsert)->Apply(Sizes);

}  // namespace
}  // namespace respite
