// RDB files that are written and read back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/str_cat.h"
#include "persistence/packed_elements.h"
#include "tests/persistence/legacy_builders.h"
#include "tests/persistence/rdb_file_support.h"

namespace respite {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Keyspace FullKeyspace() {
  Keyspace keyspace = EmptyKeyspace();
  AddSmallValues(keyspace[0]);
  AddLargeValues(keyspace[0]);
  AddSmallValues(keyspace[9]);
  return keyspace;
}

void ExpectSame(const Keyspace& actual, const Keyspace& expected) {
  EXPECT_EQ(DigestText(actual), DigestText(expected));
  for (int db = 0; db < expected.Count(); ++db) {
    EXPECT_EQ(actual[db].Size(), expected[db].Size());
    EXPECT_EQ(actual[db].CountKeysWithDeadline(), expected[db].CountKeysWithDeadline());
    EXPECT_EQ(actual[db].HashesWithFieldDeadlines().Size(), expected[db].HashesWithFieldDeadlines().Size());
    expected[db].ForEach([&](const Entry* entry) {
      const Entry* read = actual[db].Find(entry->Key());
      ASSERT_NE(read, nullptr) << entry->Key();
      EXPECT_EQ(read->Deadline(), entry->Deadline()) << entry->Key();
      if (entry->Key() != "raw") {  // the only property that files do not store
        EXPECT_EQ(read->Form(), entry->Form()) << entry->Key();
      }
    });
  }
}

TEST(RdbFile, SurvivesARoundTrip) {
  const Keyspace keyspace = FullKeyspace();
  for (RdbCompression compression : {RdbCompression::kOff, RdbCompression::kOn}) {
    const std::string content = WrittenRdb(keyspace, {.compression = compression});
    EXPECT_EQ(content.substr(0, 9), "REDIS0011");
    KeyspaceSink sink;
    const auto end = ReadRdb(content, sink);
    ASSERT_EQ(Outcome(end), "good");
    EXPECT_EQ(end.value(), content.size());
    ExpectSame(sink.keyspace, keyspace);
    EXPECT_THAT(sink.aux, ElementsAre(Pair("redis-bits", "64"), Pair("redis-ver", "7.2.6")));
    EXPECT_THAT(sink.libraries, ElementsAre("#!lua name=one\nreturn 1", "#!lua name=two"));
    EXPECT_THAT(sink.sizes, ElementsAre(Pair(0, Pair(24u, 2u)), Pair(9, Pair(15u, 2u))));
    EXPECT_THAT(sink.empty_keys, testing::IsEmpty());
  }
}

TEST(RdbFile, IsOfVersion12WhenFieldsHaveDeadlines) {
  Keyspace keyspace = FullKeyspace();
  AddHash(keyspace[3], "timed", 5, Deadlines::kSome);
  AddHash(keyspace[3], "timed table", 700, Deadlines::kSome);
  const std::string content = WrittenRdb(keyspace);
  EXPECT_EQ(content.substr(0, 9), "REDIS0012");
  KeyspaceSink sink;
  ASSERT_EQ(Outcome(ReadRdb(content, sink)), "good");
  ExpectSame(sink.keyspace, keyspace);
}

TEST(RdbFile, OfNothingHasOnlyItsFrame) {
  FaultyFiles files;
  auto file = files.Open("a", FileSystem::Mode::kCreate);
  const Keyspace keyspace = EmptyKeyspace();
  const auto saved = WriteRdb(*file.value(), {keyspace, {}, {{"aof-base", "1"}}},
                              {.checksum = RdbSaveOptions::Checksum::kZero}, nullptr);
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved.value().keys, 0u);
  EXPECT_EQ(files.Content("a"),
            "REDIS0011\xfa\x08"
            "aof-base\xc0\x01\xff\0\0\0\0\0\0\0\0"s);
}

// Builds data that pieces and buffers split everywhere, with values longer than either.
Keyspace LongKeyspace(uint64_t seed) {
  Random random(seed);
  Keyspace keyspace = EmptyKeyspace();
  const auto noise = [&](size_t size) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random.Next() >> 20);
    return text;
  };
  for (int i = 0; i < 3000; ++i)
    AddString(keyspace[0], StrCat("key ", i), StringContent::Text(noise(random.Below(i % 50 == 0 ? 9000 : 300))));
  AddString(keyspace[1], "long", StringContent::Text(noise(1'500'000)));
  AddString(keyspace[1], "long, compressed", StringContent::Text(std::string(900'000, 'x') + noise(30'000)));
  AddSet(keyspace[1], "large", "a member with some text ", 40'000);
  AddHash(keyspace[1], "large hash", 20'000, Deadlines::kNone);
  AddList(keyspace[1], "large list", 60'000);
  AddSortedSet(keyspace[1], "large sorted set", 20'000);
  return keyspace;
}

TEST(RdbFile, MayHaveAnySize) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(seed);
  const Keyspace keyspace = LongKeyspace(seed);
  const std::string content = WrittenRdb(keyspace);
  ASSERT_GT(content.size(), 3'000'000u);
  KeyspaceSink sink;
  ASSERT_EQ(Outcome(ReadRdb(content, sink)), "good");
  EXPECT_EQ(DigestText(sink.keyspace), DigestText(keyspace));
}

TEST(RdbFile, MayBeCutIntoPiecesOfAnySize) {
  Keyspace keyspace = EmptyKeyspace();
  AddSmallValues(keyspace[0]);
  AddLargeValues(keyspace[0]);
  const EncodingLimits limits;
  FaultyFiles files;
  files.Put("a", WrittenRdb(keyspace));
  const auto file = std::move(files.Open("a", FileSystem::Mode::kRead)).value();
  for (size_t piece : {1u, 2u, 3u, 7u, 64u, 1000u, 4096u, 65536u}) {
    KeyspaceSink sink;
    ASSERT_EQ(Outcome(ReadRdb(*file, 0, {.limits = limits, .hash_key = kTestHashKey, .piece_bytes = piece}, sink)),
              "good");
    EXPECT_EQ(DigestText(sink.keyspace), DigestText(keyspace)) << piece;
  }
}

TEST(RdbFile, MayStandInAnother) {
  const std::string content = WrittenRdb(FullKeyspace());
  KeyspaceSink sink;
  const auto end = ReadRdb("before" + content + "*1\r\n$4\r\nPING\r\n", sink, 6);
  ASSERT_EQ(Outcome(end), "good");
  EXPECT_EQ(end.value(), 6 + content.size());
  EXPECT_EQ(DigestText(sink.keyspace), DigestText(FullKeyspace()));
}

TEST(RdbFile, TellsUsage) {
  Keyspace keyspace = EmptyKeyspace();
  keyspace[0].Add("a", StringContent::Text("x"), kNoDeadline, 7);
  keyspace[0].Add("b", StringContent::Text("x"), 5, 250);
  RdbSaveOptions options{.usage = RdbUsage::kIdleSeconds,
                         .usage_from_access = [](uint32_t access) { return access * 100; }};
  KeyspaceSink idle;
  ASSERT_EQ(Outcome(ReadRdb(WrittenRdb(keyspace, options), idle)), "good");
  EXPECT_THAT(idle.idle_s, ElementsAre(Pair("a", 700u), Pair("b", 25000u)));
  options = {.usage = RdbUsage::kFrequency, .usage_from_access = [](uint32_t access) { return access; }};
  KeyspaceSink frequency;
  ASSERT_EQ(Outcome(ReadRdb(WrittenRdb(keyspace, options), frequency)), "good");
  EXPECT_THAT(frequency.frequency, ElementsAre(Pair("a", 7), Pair("b", 250)));
  EXPECT_THAT(frequency.idle_s, testing::IsEmpty());
}

TEST(RdbFile, ReportsItsProgress) {
  Keyspace keyspace = EmptyKeyspace();
  for (int i = 0; i < 25; ++i) AddString(keyspace[0], std::to_string(i), StringContent::Integer(i));
  FaultyFiles files;
  auto file = files.Open("a", FileSystem::Mode::kCreate);
  std::vector<uint64_t> told;
  ASSERT_TRUE(WriteRdb(*file.value(), RdbContentOf(keyspace), {.keys_per_report = 10}, [&](uint64_t keys) {
                told.push_back(keys);
              }).ok());
  EXPECT_THAT(told, ElementsAre(10, 20));

  const EncodingLimits limits;
  KeyspaceSink sink;
  ASSERT_TRUE(ReadRdb(*file.value(), 0, {.limits = limits, .progress_interval_bytes = 50, .batch = 4}, sink).ok());
  EXPECT_EQ(sink.batches, 7u);
  EXPECT_THAT(sink.progress, ElementsAre(testing::Ge(50u), testing::Ge(100u), testing::Ge(150u)));
  KeyspaceSink tired;
  tired.progress_that_fails = 2;
  const auto end = ReadRdb(*file.value(), 0, {.limits = limits, .progress_interval_bytes = 50, .batch = 4}, tired);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().kind, RdbFailure::Kind::kSink);
  EXPECT_EQ(end.error().text, "enough");
}

// A replica may refuse the version, and should not need to wait for the keys.
TEST(RdbFile, TheHeadIsWrittenBeforeTheFirstKey) {
  Keyspace keyspace = EmptyKeyspace();
  for (int i = 0; i < 3; ++i) AddString(keyspace[0], std::to_string(i), StringContent::Integer(i));
  FaultyFiles files;
  auto file = files.Open("a", FileSystem::Mode::kCreate);
  std::string at_first_key;
  ASSERT_TRUE(WriteRdb(*file.value(), RdbContentOf(keyspace), {.keys_per_report = 1}, [&](uint64_t keys) {
                if (keys == 1) at_first_key = files.Content("a");
              }).ok());
  EXPECT_TRUE(at_first_key.starts_with("REDIS0011")) << at_first_key;
}

TEST(RdbFile, TheHeadIsJudgedByItself) {
  constexpr auto kKnown = RdbReadOptions::Versions::kKnown;
  EXPECT_EQ(ParseRdbHeader("REDIS0001", kKnown).fault, std::nullopt);
  EXPECT_EQ(ParseRdbHeader("REDIS0014", kKnown).fault, std::nullopt);
  EXPECT_EQ(ParseRdbHeader("REDIS0014", kKnown).version, 14);
  for (const char* head : {"REDIS0015", "REDIS0000", "REDIS00x1", "REDIS9999", "REDIS-001"}) {
    EXPECT_EQ(ParseRdbHeader(head, kKnown).fault, RdbFailure::Kind::kVersion) << head;
  }
  EXPECT_EQ(ParseRdbHeader("VALKEY080", kKnown).fault, std::nullopt);
  EXPECT_EQ(ParseRdbHeader("VALKEY080", kKnown).dialect, rdb::Dialect::kValkey);
  for (const char* head : {"VALKEY079", "VALKEY081", "VALKEY011", "VALKEY0x0"}) {
    EXPECT_EQ(ParseRdbHeader(head, kKnown).fault, RdbFailure::Kind::kVersion) << head;
  }
  for (const char* head : {"valkey080", "redis0011", "REDI S011"}) {
    EXPECT_EQ(ParseRdbHeader(head, kKnown).fault, RdbFailure::Kind::kSignature) << head;
  }
  EXPECT_EQ(ParseRdbHeader("REDIS0015", RdbReadOptions::Versions::kAll).fault, std::nullopt);
}

TEST(RdbFile, ReportsProgressInTheMiddleOfAValue) {
  Keyspace keyspace = EmptyKeyspace();
  AddSet(keyspace[0], "large", "a member with some text ", 60'000);
  KeyspaceSink sink;
  sink.progress_that_fails = 1;
  const EncodingLimits limits;
  FaultyFiles files;
  files.Put("a", WrittenRdb(keyspace));
  const auto end = ReadRdb(*files.Open("a", FileSystem::Mode::kRead).value(), 0,
                           {.limits = limits, .progress_interval_bytes = 300'000}, sink);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().text, "enough");
  EXPECT_EQ(sink.keyspace[0].Size(), 0u);
}

// ---------------------------------------------------------------------------------------------------------------------
// Files as others write them

// Builds a file by hand; from version 5 on with a checksum of 0.
std::string HandMade(int version, const std::function<void(RdbOutput&)>& items) {
  RdbOutput out(RdbCompression::kOff);
  out.RawBytes(StrCat("REDIS00", version < 10 ? "0" : "", version));
  items(out);
  out.Byte(rdb::kEnd);
  if (version >= 5) out.Little64(0);
  return out.TakeBuffer();
}
void PutKey(RdbOutput& out, rdb::Type type, Bytes key, Bytes packed) {
  out.Type(type);
  out.Text(key);
  out.Text(packed);
}
std::string OutcomeOf(int version, const std::function<void(RdbOutput&)>& items) {
  KeyspaceSink sink;
  return Outcome(ReadRdb(HandMade(version, items), sink));
}

TEST(RdbFile, IsReadInEveryVersion) {
  for (int version = 1; version <= 12; ++version) {
    SCOPED_TRACE(version);
    KeyspaceSink sink;
    const std::string content = HandMade(version, [](RdbOutput& out) {
      out.Byte(rdb::kSelectDatabase);
      out.Length(2);
      out.Byte(rdb::kDeadlineSeconds);
      out.RawBytes("\x10\x00\x00\x70"s);
      PutKey(out, rdb::Type::kString, "s", "text");
      PutKey(out, rdb::Type::kHashZipmap, "zipmap", Zipmap({"f", "v", "g", "w"}));
      PutKey(out, rdb::Type::kListZiplist, "list", Ziplist({"a", "1"}));
      PutKey(out, rdb::Type::kSortedSetZiplist, "zset", Ziplist({"a", "1", "b", "2.5"}));
      PutKey(out, rdb::Type::kHashZiplist, "hash", Ziplist({"f", "v"}));
      PutKey(out, rdb::Type::kSetIntset, "set", MakeIntset(std::vector<int64_t>{1, 2}));
    });
    const auto end = ReadRdb(content, sink);
    ASSERT_EQ(Outcome(end), "good");
    EXPECT_EQ(end.value(), content.size());
    EXPECT_EQ(sink.keyspace[2].Size(), 6u);
    EXPECT_EQ(sink.keyspace[2].Find("s")->Deadline(), int64_t{0x70000010} * 1000);
    EXPECT_EQ(sink.keyspace[2].CountKeysWithDeadline(), 1u);
    EXPECT_EQ(Hash::WithExpiredFields(*sink.keyspace[2].Find("zipmap")).Size(), 2u);
  }
}

TEST(RdbFile, SkipsEmptyKeysAndHints) {
  KeyspaceSink sink;
  const std::string content = HandMade(10, [](RdbOutput& out) {
    for (uint8_t byte : {rdb::kSlotInfo, uint8_t{5}, uint8_t{2}, uint8_t{0}}) out.Byte(byte);
    out.Byte(rdb::kDeadlineMs);
    out.Millis(77);
    PutKey(out, rdb::Type::kHashZiplist, "empty", Ziplist({}));
    out.Type(rdb::Type::kSet);
    out.Text("none");
    out.Length(0);
    PutKey(out, rdb::Type::kString, "full", "x");
  });
  ASSERT_EQ(Outcome(ReadRdb(content, sink)), "good");
  EXPECT_THAT(sink.empty_keys, ElementsAre("empty", "none"));
  ASSERT_EQ(sink.keyspace[0].Size(), 1u);
  EXPECT_EQ(sink.keyspace[0].Find("full")->Deadline(), kNoDeadline);
}

TEST(RdbFile, ReadsTheSlotsThatValkeyImports) {
  const auto file = [](const std::vector<uint64_t>& numbers) {
    return HandMade(10, [&](RdbOutput& out) {
      out.Byte(rdb::kSlotImport);
      out.Text("name");
      for (uint64_t number : numbers) out.Length(number);
      PutKey(out, rdb::Type::kString, "key", "x");
    });
  };
  KeyspaceSink sink;
  ASSERT_EQ(Outcome(ReadRdb(file({2, 5, 5, 7, 16383}), sink)), "good");
  EXPECT_EQ(sink.aux["respite-hidden-slots"], "name 5-5 7-16383");
  EXPECT_EQ(sink.keyspace[0].Size(), 1u);
  KeyspaceSink other;
  EXPECT_NE(Outcome(ReadRdb(file({1'000'000, 5, 5}), other)), "good");
  EXPECT_NE(Outcome(ReadRdb(file({16000, 5, 5}), other)), "good");
}

uint64_t ModuleId(Bytes name, uint64_t version) {
  const std::string characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  uint64_t id = 0;
  for (char c : name) id = id << 6 | characters.find(c);
  return id << 10 | version;
}
void PutModuleAux(RdbOutput& out) {
  out.Byte(rdb::kModuleAux);
  out.Length(ModuleId("ReJSON-RL", 3));
  for (uint64_t number : {2u, 1u, 1u, 5u, 2u, 300u}) out.Length(number);
  out.Length(3);
  out.RawBytes("ffff");
  out.Length(4);
  out.Double(0.5);
  out.Length(5);
  out.Text("text");
  out.Length(0);
  PutKey(out, rdb::Type::kString, "k", "v");
}

TEST(RdbFile, RefusesDataOfModulesByName) {
  EXPECT_EQ(OutcomeOf(9,
                      [](RdbOutput& out) {
                        out.Type(rdb::Type::kModule2);
                        out.Text("key");
                        out.Length(ModuleId("graphdata", 11));
                      }),
            "The RDB file contains module data I can't load: no matching module type 'graphdata' at 23");
  EXPECT_EQ(OutcomeOf(9,
                      [](RdbOutput& out) {
                        out.Type(rdb::Type::kModule2);
                        out.Text("key");
                        out.Length(ModuleId("ReJSON-RL", 0));
                      }),
            "The RDB file contains module data I can't load: a document of RedisJSON 1 ('ReJSON-RL') at 23");
  EXPECT_THAT(OutcomeOf(9, PutModuleAux),
              HasSubstr("The RDB file contains AUX module data I can't load: no matching module 'ReJSON-RL' at"));
  KeyspaceSink sink;
  sink.skips_modules = true;
  ASSERT_EQ(Outcome(ReadRdb(HandMade(9, PutModuleAux), sink)), "good");
  EXPECT_THAT(sink.modules, ElementsAre("ReJSON-RL"));
  EXPECT_EQ(sink.keyspace[0].Size(), 1u);
}

TEST(RdbFile, ReadsNewerVersionsIfItMay) {
  FaultyFiles files;
  files.Put("a", HandMade(80, [](RdbOutput& out) { PutKey(out, rdb::Type::kString, "k", "v"); }));
  auto file = files.Open("a", FileSystem::Mode::kRead);
  KeyspaceSink sink;
  EncodingLimits limits;
  EXPECT_EQ(Outcome(ReadRdb(*file.value(), 0, {.limits = limits}, sink)), "Can't handle RDB format version 80 at 9");
  EXPECT_EQ(Outcome(ReadRdb(*file.value(), 0, {.limits = limits, .versions = RdbReadOptions::Versions::kAll}, sink)),
            "good");
  EXPECT_EQ(sink.keyspace[0].Size(), 1u);
}

TEST(RdbFile, SaysWhatIsWrong) {
  const auto nothing = [](RdbOutput&) {};
  EXPECT_EQ(OutcomeOf(15, nothing), "Can't handle RDB format version 15 at 9");
  EXPECT_EQ(OutcomeOf(0, nothing), "Can't handle RDB format version 0 at 9");
  KeyspaceSink sink;
  EXPECT_EQ(Outcome(ReadRdb("RODIS0011\xff", sink)), "Wrong signature trying to load DB from file at 9");
  EXPECT_EQ(Outcome(ReadRdb("REDIS00a1\xff", sink)), "Can't handle RDB format version 0 at 9");
  EXPECT_EQ(Outcome(ReadRdb("REDIS", sink)), "Unexpected EOF reading RDB file at 5");
  EXPECT_EQ(
      OutcomeOf(11, [](RdbOutput& out) { out.RawBytes("\xfe\x10"); }),
      "FATAL: Data file was created with a Redis server configured to handle more than 16 databases. Exiting at 11");
  EXPECT_EQ(OutcomeOf(11, [](RdbOutput& out) { out.Byte(rdb::kFunctionDraft); }),
            "Pre-release function format not supported. at 10");
  EXPECT_EQ(OutcomeOf(11, [](RdbOutput& out) { out.RawBytes("\x1e\x01k\x01v"); }), "unknown type of value at 12");
  EXPECT_EQ(OutcomeOf(11, [](RdbOutput& out) { PutKey(out, rdb::Type::kHashListpack, "k", "???"); }),
            "Hash listpack integrity check failed. at 16");
  EXPECT_EQ(OutcomeOf(11, [](RdbOutput& out) { out.RawBytes("\x00\x01k\x81\x10\0\0\0\0\0\0\0abc"s); }),
            "Unexpected EOF reading RDB file at 21");
}

TEST(RdbFile, IsCheckedByItsChecksum) {
  std::string content = WrittenRdb(FullKeyspace());
  content[content.size() - 3] = static_cast<char>(content[content.size() - 3] ^ 1);
  KeyspaceSink sink;
  const auto end = ReadRdb(content, sink);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().kind, RdbFailure::Kind::kChecksum);
  EXPECT_THAT(end.error().text,
              testing::MatchesRegex("Wrong RDB checksum expected: .[0-9a-f]+. but got .[0-9a-f]+.\\. Aborting now\\."));
  KeyspaceSink careless;
  EXPECT_EQ(Outcome(ReadRdb(content, careless, 0, RdbReadOptions::Checksum::kIgnore)), "good");
  KeyspaceSink unchecked;
  const std::string without = WrittenRdb(FullKeyspace(), {.checksum = RdbSaveOptions::Checksum::kZero});
  EXPECT_EQ(Outcome(ReadRdb(without, unchecked)), "good");
  EXPECT_EQ(unchecked.unverified, 1u);
  KeyspaceSink checked;
  EXPECT_EQ(Outcome(ReadRdb(WrittenRdb(FullKeyspace()), checked)), "good");
  EXPECT_EQ(checked.unverified, 0u);
  KeyspaceSink ignorant;
  EXPECT_EQ(Outcome(ReadRdb(without, ignorant, 0, RdbReadOptions::Checksum::kIgnore)), "good");
  EXPECT_EQ(ignorant.unverified, 0u);
}

TEST(RdbFile, NamesTheKeyWhoseValueIsBad) {
  KeyspaceSink sink;
  const auto bad = ReadRdb(HandMade(11,
                                    [](RdbOutput& out) {
                                      PutKey(out, rdb::Type::kHashZipmap, "good", Zipmap({"f", "v"}));
                                      PutKey(out, rdb::Type::kHashZipmap, "bad", Zipmap({}));
                                    }),
                           sink);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().text, "Zipmap integrity check failed.");
  EXPECT_EQ(bad.error().key, "bad");
  const auto cut = ReadRdb("REDIS0011", sink);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().key, std::nullopt);
}

}  // namespace
}  // namespace respite
