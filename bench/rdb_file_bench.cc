// RDB files of half a million keys: small strings, and values of all types, written to a null file and read from
// memory. side_by_side.py measures the cost of a disk, and compares with redis-server.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/str_cat.h"
#include "datatypes/hash.h"
#include "datatypes/keyspace.h"
#include "datatypes/list.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "persistence/rdb_file_reader.h"
#include "persistence/rdb_file_writer.h"

namespace respite {
namespace {

constexpr int kKeys = 500'000;
const EncodingLimits kLimits;

class MemoryFile final : public File {
 public:
  IoProgress Write(Bytes data) override {
    content_ += data;
    return {data.size(), kNoError};
  }
  IoProgress ReadAt(uint64_t offset, std::span<char> into) override {
    const size_t size = std::min(into.size(), content_.size() - static_cast<size_t>(offset));
    std::memcpy(into.data(), content_.data() + offset, size);
    return {size, kNoError};
  }
  IoError Sync() override { return kNoError; }
  void StartWriteback() override {}
  IoError Truncate(uint64_t) override {
    content_.clear();
    return kNoError;
  }
  Result<uint64_t, IoError> Size() const override { return uint64_t{content_.size()}; }

 private:
  std::string content_;
};

class Loader final : public RdbSink {
 public:
  void OnAux(Bytes, Bytes, uint64_t) override {}
  void OnResizeDatabase(int db, uint64_t keys, uint64_t timed) override { keyspace_[db].Reserve(keys, timed); }
  Result<Done> OnEntries(int db, std::span<RdbEntry> entries) override {
    Database& database = keyspace_[db];
    for (const RdbEntry& one : entries) database.PrefetchBucket(database.Hash(one.entry->Key()));
    for (RdbEntry& one : entries) database.Add(std::move(one.entry));
    return Done{};
  }
  void OnEmptyCollection(int, Bytes) override {}
  Result<Done> OnLibrary(Bytes) override { return Done{}; }
  Result<Done> OnProgress(uint64_t) override { return Done{}; }

 private:
  Keyspace keyspace_{16, {1}};
};

template <class Type, class Fill>
void AddCollection(Database& database, Bytes key, Fill&& fill) {
  Entry* entry =
      database.Add(EntryPtr(Entry::CreatePacked(key, Type::kType, Type::kInitialForm, Type::InitialPacked(), 0, 0)));
  Type value(CollectionContext{ValueSlot(database, entry), kLimits, 0});
  fill(value);
}

void AddMixed(Database& database, int i) {
  const std::string key = StrCat("mixed:", i);
  const auto text = [i](const char* what, int j) { return StrCat(what, i + j); };
  switch (i % 5) {
    case 0:
      return AddCollection<Hash>(database, key, [&](Hash& hash) {
        for (const char* field : {"name", "mail", "city", "age", "visits"}) hash.Set(field, text(field, 0));
      });
    case 1:
      return AddCollection<List>(database, key, [&](List& list) {
        for (int j = 0; j < 10; ++j) {
          const std::string element = text("item ", j * i);
          const Bytes view = element;
          list.Push(ListEnd::kTail, {&view, 1});
        }
      });
    case 2:
      return AddCollection<Set>(database, key, [&](Set& set) {
        for (int j = 0; j < 8; ++j) set.Add(text("member", j));
      });
    case 3:
      return AddCollection<SortedSet>(database, key, [&](SortedSet& set) {
        for (int j = 0; j < 8; ++j) set.Add(text("player", j), i * 0.37 + j);
      });
    default:
      database.Add(key,
                   StringContent::Text(text("{\"id\": 12, \"name\": \"user\", \"mail\": \"user@example.com\"}", 0)),
                   1'900'000'000'000 + i, 0);
  }
}

enum Kind : int64_t { kStrings, kMixed };

Keyspace MadeKeyspace(int64_t kind) {
  Keyspace keyspace(16, {1});
  for (int i = 0; i < kKeys; ++i) {
    if (kind == kMixed) {
      AddMixed(keyspace[0], i);
    } else {
      const std::string value = StrCat(static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15ull, "abcdefghij");
      keyspace[0].Add(StrCat("key:", i), StringContent::Value(value), kNoDeadline, 0);
    }
  }
  return keyspace;
}

uint64_t Write(File& file, const Keyspace& keyspace) {
  const auto saved = WriteRdb(file, {keyspace, {}, {}}, {}, nullptr);
  return saved ? saved.value().bytes : 0;
}

void Save(benchmark::State& state) {
  const Keyspace keyspace = MadeKeyspace(state.range(0));
  MemoryFile file;
  uint64_t bytes = 0;
  for (auto _ : state) {
    file.Truncate(0);
    bytes = Write(file, keyspace);
  }
  state.SetItemsProcessed(state.iterations() * kKeys);
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(Save)->Arg(kStrings)->Arg(kMixed)->Unit(benchmark::kMillisecond);

void Load(benchmark::State& state) {
  MemoryFile file;
  Write(file, MadeKeyspace(state.range(0)));
  for (auto _ : state) {
    auto loader = std::make_unique<Loader>();
    const auto end = ReadRdb(file, 0, {.limits = kLimits, .hash_key = {1}}, *loader);
    if (!end) state.SkipWithError(end.error().text.c_str());
    state.PauseTiming();
    loader.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kKeys);
}
BENCHMARK(Load)->Arg(kStrings)->Arg(kMixed)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace respite
