// Shared by tests of RDB files: data sets, files in memory, and a sink that fills a keyspace.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/array.h"
#include "datatypes/digest.h"
#include "datatypes/hash.h"
#include "datatypes/json/json_document.h"
#include "datatypes/json/json_parser.h"
#include "datatypes/keyspace.h"
#include "datatypes/list.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "datatypes/stream.h"
#include "datatypes/vector_set.h"
#include "persistence/rdb_file_reader.h"
#include "persistence/rdb_file_writer.h"
#include "tests/support/faulty_files.h"

namespace respite {

inline constexpr HashKey kTestHashKey{42};
inline constexpr int kTestDatabases = 16;

inline Keyspace EmptyKeyspace() { return Keyspace(kTestDatabases, kTestHashKey); }

// ---------------------------------------------------------------------------------------------------------------------
// Data

// Adds a collection that `fill` fills.
template <class Type>
void AddCollection(Database& database, Bytes key, const std::function<void(Type&)>& fill) {
  static const EncodingLimits limits;
  Entry* entry =
      database.Add(EntryPtr(Entry::CreatePacked(key, Type::kType, Type::kInitialForm, Type::InitialPacked(), 0, 0)));
  Type value(CollectionContext{ValueSlot(database, entry), limits, 0});
  fill(value);
}

inline void AddString(Database& database, Bytes key, StringContent content, int64_t deadline_ms = kNoDeadline) {
  database.Add(key, std::move(content), deadline_ms, 0);
}

inline void AddStrings(Database& database) {
  AddString(database, "integer", StringContent::Integer(-70000));
  AddString(database, "large integer", StringContent::Integer(INT64_MAX));
  AddString(database, "", StringContent::Text(""));
  AddString(database, "12", StringContent::Text("short"));
  AddString(database, "raw", StringContent::Raw("raw"), 1'700'000'000'000);
  AddString(database, "compressed", StringContent::Text(std::string(3000, 'c')), 1);
}

inline void AddList(Database& database, Bytes key, int count) {
  AddCollection<List>(database, key, [&](List& list) {
    for (int i = 0; i < count; ++i) {
      const std::string text = i % 3 == 0 ? std::to_string(i) : StrCat("element ", i % 10);
      const Bytes view = text;
      list.Push(ListEnd::kTail, {&view, 1});
    }
  });
}
inline void AddSet(Database& database, Bytes key, const std::string& prefix, int count) {
  AddCollection<Set>(database, key, [&](Set& set) {
    for (int i = 0; i < count; ++i) set.Add(StrCat(prefix, i));
  });
}
inline void AddSortedSet(Database& database, Bytes key, int count) {
  AddCollection<SortedSet>(database, key, [&](SortedSet& set) {
    for (int i = 0; i < count; ++i) set.Add(StrCat("member", i), i * 0.5 - 3);
  });
}
enum class Deadlines : uint8_t { kNone, kSome };
inline void AddHash(Database& database, Bytes key, int count, Deadlines deadlines) {
  AddCollection<Hash>(database, key, [&](Hash& hash) {
    for (int i = 0; i < count; ++i) hash.Set(StrCat("field", i), std::to_string(int64_t{i} * i));
    for (int i = 0; deadlines == Deadlines::kSome && i < count; i += 2)
      hash.SetDeadline(StrCat("field", i), 1'800'000'000'000 + i);
  });
}
inline void AddStream(Database& database, Bytes key, uint64_t entries) {
  auto log = std::make_unique<StreamLog>();
  const std::vector<Bytes> words{"name", "value"};
  for (uint64_t i = 1; i <= entries; ++i) log->Add({100, i}, words, {4096, 100});
  if (entries > 2) log->Delete({100, 2});
  StreamGroup& group = *log->CreateGroup("group", {100, 1}, 1);
  StreamConsumer& consumer = group.CreateConsumer("consumer", 111);
  if (entries > 0) group.Assign({100, 1}, {&consumer, 5000, 3});
  database.Add(EntryPtr(Entry::CreateWithObject(key, ValueType::kStream, std::move(log), 0)));
}

inline void AddArray(Database& database, Bytes key, uint64_t count) {
  auto table = std::make_unique<ArrayTable>();
  for (uint64_t i = 0; i < count; ++i) table->Set(i * i, StrCat("element ", i));
  database.Add(EntryPtr(Entry::CreateWithObject(key, ValueType::kArray, std::move(table), 0)));
}
inline void AddDocument(Database& database, Bytes key, int count) {
  std::string text = "[null";
  for (int i = 0; i < count; ++i) StrAppend(text, R"(,{"number":)", i, R"(,"list":[0.5,true,"text"]})");
  database.Add(EntryPtr(Entry::CreateWithObject(
      key, ValueType::kJson, std::make_unique<JsonDocument>(ParseJson(text + "]").value().Clone()), 0)));
}
inline void AddVectorSet(Database& database, Bytes key, int count) {
  Random random(7);
  auto table = std::make_unique<VectorTable>();
  VectorSetShape shape;
  shape.encoding = VectorEncoding::kFloat;
  shape.dimensions = 2;
  shape.m = 4;
  table->SetShape(shape);
  for (int i = 0; i < count; ++i) {
    std::vector<float> vector{static_cast<float>(random.Unit()), 0.5F};
    const float length = NormalizeVector(vector);
    uint64_t words[1];
    const float scale = table->graph().format().Encode(vector, words);
    table->Put(StrCat("element", i), {words, scale}, length, random, 50);
    if (i % 2 == 0) table->SetAttributes(table->Find(StrCat("element", i)), "{}");
  }
  database.Add(EntryPtr(Entry::CreateWithObject(key, ValueType::kVectorSet, std::move(table), 0)));
}

// Adds every type in its packed form, in a few hundred bytes.
inline void AddSmallValues(Database& database) {
  AddStrings(database);
  AddList(database, "list", 3);
  AddSet(database, "intset", "", 3);
  AddSet(database, "set", "m", 3);
  AddSortedSet(database, "sorted set", 3);
  AddHash(database, "hash", 2, Deadlines::kNone);
  AddStream(database, "stream", 3);
  AddArray(database, "array", 3);
  AddDocument(database, "document", 1);
  AddVectorSet(database, "vector set", 2);
}
// Adds every type as an object.
inline void AddLargeValues(Database& database) {
  AddString(database, "blob", StringContent::Text(std::string(70'000, 'b') + "end"));
  AddList(database, "quicklist", 3000);
  AddSet(database, "table of a set", "member ", 600);
  AddSortedSet(database, "skiplist", 500);
  AddHash(database, "table of a hash", 700, Deadlines::kNone);
  AddStream(database, "long stream", 500);
  AddArray(database, "long array", 500);
  AddDocument(database, "long document", 300);
  AddVectorSet(database, "large vector set", 200);
}

inline std::string DigestText(const Keyspace& keyspace) { return DigestOf(keyspace).Hex(); }

// ---------------------------------------------------------------------------------------------------------------------
// Files

inline RdbContent RdbContentOf(const Keyspace& keyspace) {
  return {keyspace, {"#!lua name=one\nreturn 1", "#!lua name=two"}, {{"redis-ver", "7.2.6"}, {"redis-bits", "64"}}};
}

inline std::string WrittenRdb(const Keyspace& keyspace, const RdbSaveOptions& options = {}) {
  FaultyFiles files;
  auto file = files.Open("dump.rdb", FileSystem::Mode::kCreate);
  const auto saved = WriteRdb(*file.value(), RdbContentOf(keyspace), options, nullptr);
  EXPECT_TRUE(saved.ok());
  EXPECT_EQ(saved.value().bytes, files.Content("dump.rdb").size());
  return files.Content("dump.rdb");
}

// Puts all entries into a keyspace and records the other calls.
class KeyspaceSink final : public RdbSink {
 public:
  void OnAux(Bytes name, Bytes value, uint64_t) override { aux[std::string(name)] = value; }
  void OnResizeDatabase(int db, uint64_t keys, uint64_t timed) override {
    sizes[db] = {keys, timed};
    keyspace[db].Reserve(keys, timed);
  }
  Result<Done> OnEntries(int db, std::span<RdbEntry> entries) override {
    ++batches;
    for (RdbEntry& one : entries) {
      Database& database = keyspace[db];
      if (database.Find(one.entry->Key()) != nullptr) return Failure("a key comes twice");
      if (one.idle_s) idle_s[std::string(one.entry->Key())] = *one.idle_s;
      if (one.frequency) frequency[std::string(one.entry->Key())] = *one.frequency;
      database.Add(std::move(one.entry));
    }
    return Done{};
  }
  void OnEmptyCollection(int, Bytes key) override { empty_keys.emplace_back(key); }
  Result<Done> OnLibrary(Bytes code) override {
    libraries.emplace_back(code);
    return Done{};
  }
  Result<Done> OnModuleAux(Bytes module) override {
    modules.emplace_back(module);
    return skips_modules ? Result<Done>(Done{}) : RdbSink::OnModuleAux(module);
  }
  void OnMissingChecksum() override { ++unverified; }
  Result<Done> OnProgress(uint64_t offset) override {
    progress.push_back(offset);
    if (progress.size() == progress_that_fails) return Failure("enough");
    return Done{};
  }

  Keyspace keyspace = EmptyKeyspace();
  std::map<std::string, std::string> aux;
  std::map<int, std::pair<uint64_t, uint64_t>> sizes;
  std::map<std::string, uint64_t> idle_s;
  std::map<std::string, uint8_t> frequency;
  std::vector<std::string> empty_keys;
  std::vector<std::string> libraries;
  std::vector<std::string> modules;
  std::vector<uint64_t> progress;
  size_t batches = 0;
  size_t unverified = 0;
  size_t progress_that_fails = 0;
  bool skips_modules = false;
};

// Reads a file with this content.
inline Result<uint64_t, RdbFailure> ReadRdb(Bytes content, RdbSink& sink, uint64_t offset = 0,
                                            RdbReadOptions::Checksum checksum = RdbReadOptions::Checksum::kVerify) {
  static const EncodingLimits limits;
  FaultyFiles files;
  files.Put("dump.rdb", content);
  auto file = files.Open("dump.rdb", FileSystem::Mode::kRead);
  return ReadRdb(*file.value(), offset,
                 {.limits = limits, .hash_key = kTestHashKey, .databases = kTestDatabases, .checksum = checksum}, sink);
}

inline std::string Outcome(const Result<uint64_t, RdbFailure>& result) {
  return result ? "good" : StrCat(result.error().text, " at ", result.error().offset);
}

}  // namespace respite
