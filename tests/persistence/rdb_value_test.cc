// Values that are written and read back, values as other versions write them, and damaged values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/digest.h"
#include "datatypes/hash.h"
#include "datatypes/list.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "persistence/dump_payload.h"
#include "persistence/packed_elements.h"
#include "persistence/rdb_value_reader.h"
#include "persistence/rdb_value_writer.h"
#include "tests/persistence/legacy_builders.h"

namespace respite {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

constexpr HashKey kHashKey{42};

std::string DigestText(const Entry& entry) {
  Digest digest;
  MixValue(digest, entry);
  return digest.Hex();
}

// A value of one type that a test fills through the type's class.
template <class Type>
class Made {
 public:
  explicit Made(const EncodingLimits& limits = {}) : limits_(limits), database_(kHashKey), value_(Begin()) {}

  Type* operator->() { return &value_; }
  const Entry& entry() const { return *value_.slot().entry(); }

 private:
  Type Begin() {
    Entry* entry =
        database_.Add(EntryPtr(Entry::CreatePacked("k", Type::kType, Type::kInitialForm, Type::InitialPacked(), 0, 0)));
    return Type(CollectionContext{ValueSlot(database_, entry), limits_, 0});
  }

  EncodingLimits limits_;
  Database database_;
  Type value_;
};

EntryPtr MakeString(StringContent content) { return EntryPtr(Entry::Create("k", std::move(content), kNoDeadline, 0)); }

std::string WrittenValue(const Entry& entry, RdbCompression compression = RdbCompression::kOn) {
  RdbOutput out(compression);
  WriteRdbValue(out, entry);
  return out.TakeBuffer();
}

RdbValueResult Read(Bytes value, const EncodingLimits& limits = {}) {
  RdbInput input(value);
  const uint8_t type = input.Byte();
  auto entry = ReadRdbValue(input, type, {"k", 0, limits, kHashKey});
  if (entry && input.Left() != 0) {
    return Failure(RdbValueFault{RdbValueFault::Kind::kBad, "bytes are left over"});
  }
  return entry;
}

std::string ReadDigest(Bytes value, const EncodingLimits& limits = {}) {
  auto entry = Read(value, limits);
  return entry ? DigestText(*entry.value()) : std::string("refused: ") + entry.error().why;
}

ValueForm ReadForm(Bytes value, const EncodingLimits& limits = {}) {
  auto entry = Read(value, limits);
  EXPECT_TRUE(entry) << entry.error().why;
  return entry.value()->Form();
}

// Checks that the output of WriteRdbValue is read back as the same value in the same form. Truncated anywhere it is
// refused. With any bit flipped it is read or refused, and what was read can be written and read again.
void CheckBothWays(const Entry& entry, const EncodingLimits& limits = {}) {
  for (RdbCompression compression : {RdbCompression::kOn, RdbCompression::kOff}) {
    const std::string value = WrittenValue(entry, compression);
    EXPECT_EQ(ReadDigest(value, limits), DigestText(entry));
    EXPECT_EQ(ReadForm(value, limits), entry.Form());
    constexpr size_t kDamages = 150;
    const size_t step = 1 + value.size() / kDamages;
    for (size_t cut = 1; cut < value.size(); cut += step)
      EXPECT_FALSE(Read(Bytes(value).substr(0, cut), limits)) << cut;
    for (size_t bit = 0; bit < value.size() * 8; bit += 8 * step - 7) {
      std::string bad = value;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
      RdbInput input(bad);
      const uint8_t type = input.Byte();
      auto damaged = ReadRdbValue(input, type, {"k", 0, limits, kHashKey});
      if (damaged) {
        EXPECT_EQ(ReadDigest(WrittenValue(*damaged.value()), limits), DigestText(*damaged.value())) << bit;
      }
    }
  }
}

// Builds a type byte, followed by what `write` writes.
std::string Value(rdb::Type type, const std::function<void(RdbOutput&)>& write) {
  RdbOutput out(RdbCompression::kOff);
  out.Type(type);
  write(out);
  return out.TakeBuffer();
}
std::string TextValue(rdb::Type type, Bytes text) {
  return Value(type, [&](RdbOutput& out) { out.Text(text); });
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(RdbString, SurvivesARoundTripInEveryForm) {
  for (int64_t n : {int64_t{0}, int64_t{-1}, int64_t{127}, int64_t{-40000}, int64_t{1} << 40, INT64_MIN})
    CheckBothWays(*MakeString(StringContent::Integer(n)));
  for (size_t size : {0u, 1u, 20u, 44u, 45u, 500u, 4096u, 4097u, 20000u}) {
    CheckBothWays(*MakeString(StringContent::Text(std::string(size, 'x'))));
  }
}

TEST(RdbString, HasTheBytesOfRedis) {
  EXPECT_EQ(WrittenValue(*MakeString(StringContent::Value("abc"))),
            "\0\x03"
            "abc"s);
  EXPECT_EQ(WrittenValue(*MakeString(StringContent::Value("12345"))), "\0\xc1\x39\x30"s);
  EXPECT_EQ(WrittenValue(*MakeString(StringContent::Raw("12"))), "\0\xc0\x0c"s);
  EXPECT_EQ(WrittenValue(*MakeString(StringContent::Value("9999999999"))),
            "\0\x0a"
            "9999999999"s);
}

TEST(RdbString, IsAnIntegerAgainWhenItReadsAsOne) {
  EXPECT_EQ(ReadForm("\0\xc1\x39\x30"s), ValueForm::kInt);
  EXPECT_EQ(ReadForm("\0\x03"
                     "123"s),
            ValueForm::kInt);
  EXPECT_EQ(ReadForm("\0\x03"
                     "abc"s),
            ValueForm::kEmbedded);
}

// ---------------------------------------------------------------------------------------------------------------------

Made<List> MadeList(size_t count, size_t size = 10, const EncodingLimits& limits = {}) {
  Made<List> list(limits);
  for (size_t i = 0; i < count; ++i) {
    const std::string text = i % 3 == 0 ? std::to_string(i) : std::string(size, static_cast<char>('a' + i % 20));
    const Bytes view = text;
    list->Push(ListEnd::kTail, {&view, 1});
  }
  return list;
}

TEST(RdbList, SurvivesARoundTripInEveryForm) {
  CheckBothWays(MadeList(1).entry());
  CheckBothWays(MadeList(30).entry());
  CheckBothWays(MadeList(600, 100).entry());
  CheckBothWays(MadeList(5, 20000).entry());
}

TEST(RdbList, HasTheBytesOfRedis) {
  Made<List> list;
  const Bytes texts[] = {"a", "300"};
  list->Push(ListEnd::kTail, texts);
  EXPECT_EQ(WrittenValue(list.entry()),
            "\x12\x01\x02\x0d\x0d\0\0\0\x02\0\x81"
            "a\x02\xc1\x2c\x02\xff"s);
}

TEST(RdbList, IsReadInEveryOldForm) {
  const std::vector<std::string> texts = {"a", "12", "-70000", std::string(100, 'b')};
  Made<List> list;
  for (const std::string& text : texts) {
    const Bytes view = text;
    list->Push(ListEnd::kTail, {&view, 1});
  }
  const std::string expected = DigestText(list.entry());
  const std::string plain = Value(rdb::Type::kList, [&](RdbOutput& out) {
    out.Length(texts.size());
    for (const std::string& text : texts) out.Text(text);
  });
  EXPECT_EQ(ReadDigest(plain), expected);
  EXPECT_EQ(ReadForm(plain), ValueForm::kListpack);
  const std::string ziplist = TextValue(rdb::Type::kListZiplist, Ziplist(texts));
  EXPECT_EQ(ReadDigest(ziplist), expected);
  EXPECT_EQ(ReadForm(ziplist), ValueForm::kObject);  // as in Redis
  const std::string nodes = Value(rdb::Type::kListQuicklist, [&](RdbOutput& out) {
    out.Length(3);
    out.Text(Ziplist({texts[0], texts[1]}));
    out.Text(Ziplist({}));
    out.Text(Ziplist({texts[2], texts[3]}));
  });
  EXPECT_EQ(ReadDigest(nodes), expected);
  EXPECT_EQ(ReadForm(nodes), ValueForm::kObject);
  const std::string mixed = Value(rdb::Type::kListQuicklist2, [&](RdbOutput& out) {
    out.Length(2);
    out.Length(2);
    const std::string head = Ziplist({texts[0], texts[1], texts[2]});
    out.Text(MakeListpack(*ZiplistElements(head)));
    out.Length(1);
    out.Text(texts[3]);
  });
  EXPECT_EQ(ReadDigest(mixed), expected);
}

TEST(RdbList, IsRefusedWhenEmptyOrMalformed) {
  EXPECT_FALSE(Read("\x01\0"s));
  EXPECT_FALSE(Read("\x12\0"s));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kListZiplist, Ziplist({}))));
  EXPECT_FALSE(Read(Value(rdb::Type::kListQuicklist2, [](RdbOutput& out) {
    out.Length(1);
    out.Length(2);
    out.Text(Listpack::Empty());
  })));
  EXPECT_FALSE(
      Read("\x12\x01\x03\x01"
           "a"s));                        // no such kind of node
  EXPECT_FALSE(Read("\x12\x01\x01\0"s));  // an empty plain node
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(RdbSet, SurvivesARoundTripInEveryForm) {
  Made<Set> integers;
  for (int i = 0; i < 100; ++i) integers->Add(std::to_string(i * i * i - 5000));
  ASSERT_EQ(integers.entry().Form(), ValueForm::kIntset);
  CheckBothWays(integers.entry());
  Made<Set> packed;
  for (int i = 0; i < 100; ++i) packed->Add(StrCat("member ", i));
  ASSERT_EQ(packed.entry().Form(), ValueForm::kListpack);
  CheckBothWays(packed.entry());
  Made<Set> table;
  for (int i = 0; i < 700; ++i) table->Add(std::to_string(i));
  table->Add(std::string(100, 'x'));
  ASSERT_EQ(table.entry().Form(), ValueForm::kObject);
  CheckBothWays(table.entry());
}

std::string PlainSet(const std::vector<std::string>& members) {
  return Value(rdb::Type::kSet, [&](RdbOutput& out) {
    out.Length(members.size());
    for (const std::string& member : members) out.Text(member);
  });
}

TEST(RdbSet, TakesTheFormOfItsMembers) {
  EXPECT_EQ(ReadForm(PlainSet({"3", "1", "2"})), ValueForm::kIntset);
  EXPECT_EQ(ReadForm(PlainSet({"3", "a"})), ValueForm::kListpack);
  EXPECT_EQ(ReadForm(PlainSet({"3", std::string(65, 'a')})), ValueForm::kObject);
  EXPECT_EQ(ReadForm(PlainSet({"3", "a"}), {.set_max_listpack_entries = 1}), ValueForm::kObject);
  EXPECT_EQ(ReadForm(PlainSet({"3", "2"}), {.set_max_intset_entries = 1}), ValueForm::kObject);
  const std::string intset = TextValue(rdb::Type::kSetIntset, MakeIntset(std::vector<int64_t>{1, 2}));
  EXPECT_EQ(ReadForm(intset), ValueForm::kIntset);
  EXPECT_EQ(ReadForm(intset, {.set_max_intset_entries = 1}), ValueForm::kObject);
}

TEST(RdbSet, IsRefusedWhenEmptyOrRepeating) {
  EXPECT_FALSE(Read(PlainSet({})));
  EXPECT_THAT(Read(PlainSet({"1", "1"})).error().why, HasSubstr("Duplicate"));
  EXPECT_THAT(Read(PlainSet({"a", "1", "a"})).error().why, HasSubstr("Duplicate"));
  EXPECT_THAT(Read(PlainSet({"a", "1", "a"}), {.set_max_intset_entries = 1}).error().why, HasSubstr("Duplicate"));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kSetIntset, MakeIntset({}))));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kSetListpack, Listpack::Empty())));
  const std::string twice = Ziplist({"a", "b", "a"});
  EXPECT_THAT(Read(TextValue(rdb::Type::kSetListpack, MakeListpack(*ZiplistElements(twice)))).error().why,
              HasSubstr("Duplicate"));
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(RdbSortedSet, SurvivesARoundTripInEveryForm) {
  for (int count : {1, 100, 700}) {
    Made<SortedSet> set;
    for (int i = 0; i < count; ++i) set->Add(StrCat("m", i), i % 50 / 7.0);
    set->Add("10", -1.0 / 0.0);
    set->Add("least", 5e-324);
    set->Add("1", 1e300);
    EXPECT_EQ(set.entry().Form() == ValueForm::kObject, count == 700);
    CheckBothWays(set.entry());
  }
}

std::string PlainSortedSet(const std::vector<std::pair<std::string, double>>& members) {
  return Value(rdb::Type::kSortedSet, [&](RdbOutput& out) {
    out.Length(members.size());
    for (const auto& [member, score] : members) {
      out.Text(member);
      out.Double(score);
    }
  });
}

TEST(RdbSortedSet, IsOrderedForAnyInput) {
  Made<SortedSet> set;
  set->Add("a", 1.5);
  set->Add("b", 1.5);
  set->Add("2", -3);
  const std::string expected = WrittenValue(set.entry());
  EXPECT_EQ(expected[0], '\x11');
  for (const std::string& value :
       {PlainSortedSet({{"b", 1.5}, {"2", -3}, {"a", 1.5}}),
        "\x03\x03\x01"
        "b\x03"
        "1.5\xc0\x02\x02-3\x01"
        "a\x03"
        "1.5"s,
        TextValue(rdb::Type::kSortedSetZiplist, Ziplist({"2", "-3", "b", "1.5", "a", "1.5"}))}) {
    auto entry = Read(value);
    ASSERT_TRUE(entry) << entry.error().why;
    EXPECT_EQ(WrittenValue(*entry.value()), expected);
  }
  const EncodingLimits small{.zset_max_listpack_entries = 2};
  const std::string value = PlainSortedSet({{"b", 1.5}, {"2", -3}, {"a", 1.5}});
  EXPECT_EQ(ReadForm(value, small), ValueForm::kObject);
  EXPECT_EQ(ReadDigest(value, small), DigestText(set.entry()));
  auto large = Read(value, small);
  EXPECT_TRUE(static_cast<const ScoreTable*>(large.value()->ObjectValue())->IsConsistent());
}

TEST(RdbSortedSet, IsRefusedWhenEmptyRepeatingOrWithoutANumber) {
  const double nan = std::bit_cast<double>(uint64_t{0x7ff8000000000000});
  EXPECT_FALSE(Read(PlainSortedSet({})));
  EXPECT_THAT(Read(PlainSortedSet({{"a", 1}, {"a", 2}})).error().why, HasSubstr("Duplicate"));
  EXPECT_THAT(Read(PlainSortedSet({{"a", 1}, {"b", nan}})).error().why, HasSubstr("NAN"));
  const EncodingLimits small{.zset_max_listpack_entries = 1};
  EXPECT_THAT(Read(PlainSortedSet({{"a", 1}, {"a", 2}}), small).error().why, HasSubstr("Duplicate"));
  EXPECT_THAT(Read(PlainSortedSet({{"a", 1}, {"b", nan}}), small).error().why, HasSubstr("NAN"));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kSortedSetZiplist, Ziplist({"a", "one"}))));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kSortedSetZiplist, Ziplist({"a", "nan"}))));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kSortedSetZiplist, Ziplist({"a", "1", "b"}))));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kSortedSetListpack, Listpack::Empty())));
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(RdbHash, SurvivesARoundTripInEveryForm) {
  for (int count : {1, 200, 700}) {
    Made<Hash> hash;
    for (int i = 0; i < count; ++i) hash->Set(StrCat("field ", i), std::to_string(i * i));
    EXPECT_EQ(hash.entry().Form() == ValueForm::kObject, count == 700);
    EXPECT_EQ(RdbVersionFor(hash.entry()), 11);
    CheckBothWays(hash.entry());
  }
}

TEST(RdbHash, TakesDeadlinesAlong) {
  for (int count : {3, 200, 700}) {
    Made<Hash> hash;
    for (int i = 0; i < count; ++i) hash->Set(StrCat("field ", i), std::to_string(i * i));
    for (int i = 0; i < count; i += 2) hash->SetDeadline(StrCat("field ", i), 1'800'000'000'000 - i);
    EXPECT_EQ(RdbVersionFor(hash.entry()), 12);
    CheckBothWays(hash.entry());
    auto copy = Read(WrittenValue(hash.entry()));
    ASSERT_TRUE(copy);
    EXPECT_TRUE(copy.value()->HasFieldDeadlines());
    const Hash read = Hash::WithExpiredFields(*copy.value());
    EXPECT_TRUE(read.IsConsistent());
    EXPECT_EQ(read.DeadlineOf("field 2"), 1'799'999'999'998);
    EXPECT_EQ(read.DeadlineOf("field 1"), kNoDeadline);
    EXPECT_EQ(read.NextDeadline(), hash->NextDeadline());
  }
}

TEST(RdbHash, WithoutItsLastDeadlineIsAnOrdinaryOne) {
  Made<Hash> hash;
  hash->Set("f", "v");
  hash->Set("g", "1");
  hash->SetDeadline("f", 5);
  hash->SetDeadline("f", kNoDeadline);
  ASSERT_EQ(hash.entry().Form(), ValueForm::kTimedListpack);
  Made<Hash> plain;
  plain->Set("f", "v");
  plain->Set("g", "1");
  EXPECT_EQ(RdbVersionFor(hash.entry()), 11);
  auto copy = Read(WrittenValue(hash.entry()));
  ASSERT_TRUE(copy) << copy.error().why;
  EXPECT_EQ(DigestText(*copy.value()), DigestText(plain.entry()));
}

TEST(RdbHash, IsReadInEveryOldForm) {
  const std::vector<std::string> texts = {"f", "v", "12", "", "long", std::string(64, 'x')};
  Made<Hash> hash;
  for (size_t i = 0; i < texts.size(); i += 2) hash->Set(texts[i], texts[i + 1]);
  const std::string expected = DigestText(hash.entry());
  const std::string zipmap = TextValue(rdb::Type::kHashZipmap, Zipmap(texts));
  EXPECT_EQ(ReadDigest(zipmap), expected);
  EXPECT_EQ(ReadForm(zipmap), ValueForm::kListpack);
  EXPECT_EQ(ReadForm(zipmap, {.hash_max_listpack_value = 63}), ValueForm::kObject);
  const std::string ziplist = TextValue(rdb::Type::kHashZiplist, Ziplist(texts));
  EXPECT_EQ(ReadDigest(ziplist), expected);
  EXPECT_EQ(ReadForm(ziplist, {.hash_max_listpack_value = 3}), ValueForm::kListpack);  // only the count decides
  EXPECT_EQ(ReadForm(ziplist, {.hash_max_listpack_entries = 2}), ValueForm::kObject);
  const std::string plain = Value(rdb::Type::kHash, [&](RdbOutput& out) {
    out.Length(3);
    for (const std::string& text : texts) out.Text(text);
  });
  EXPECT_EQ(ReadDigest(plain), expected);
  EXPECT_EQ(ReadForm(plain), ValueForm::kListpack);
  EXPECT_EQ(ReadForm(plain, {.hash_max_listpack_value = 63}), ValueForm::kObject);
}

// CVE-2026-25243: the long form of a size is valid only for sizes that need it.
TEST(RdbHash, IsRefusedWhenASizeOfAZipmapIsLongerThanNecessary) {
  const auto zipmap = [](const std::string& pair) { return TextValue(rdb::Type::kHashZipmap, "\1"s + pair + '\xff'); };
  const std::string long_text(254, 'x');
  EXPECT_TRUE(Read(zipmap("\1a\1"s + '\0' + "x")));
  EXPECT_FALSE(Read(zipmap("\xfe\1\0\0\0a\1"s + '\0' + "x")));
  EXPECT_FALSE(Read(zipmap("\1a\xfe\1\0\0\0"s + '\0' + "x")));
  EXPECT_FALSE(Read(zipmap("\xfe\xfd\0\0\0"s + long_text.substr(1) + '\1' + '\0' + "x")));
  EXPECT_TRUE(Read(zipmap("\xfe\xfe\0\0\0"s + long_text + '\1' + '\0' + "x")));
}

TEST(RdbHash, IsRefusedWhenEmptyOddOrRepeating) {
  EXPECT_FALSE(Read("\x04\0"s));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kHashZipmap, Zipmap({}))));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kHashZiplist, Ziplist({}))));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kHashZiplist, Ziplist({"a"}))));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kHashZiplist, Ziplist({"a", "1", "a", "2"}))));
  EXPECT_FALSE(
      Read(TextValue(rdb::Type::kHashZiplist, Ziplist({"a", "1", "a", "2"})), {.hash_max_listpack_entries = 1}));
  EXPECT_FALSE(Read(TextValue(rdb::Type::kHashZipmap, Zipmap({"a", "1", "a", "2"}))));
  EXPECT_FALSE(
      Read("\x04\x02\x01"
           "a\xc0\x01\x01"
           "a\xc0\x02"s));
}

TEST(RdbHash, RefusesImpossibleDeadlines) {
  auto timed = [](int64_t first_ms, uint64_t ttl) {
    return Value(rdb::Type::kTimedHash, [&](RdbOutput& out) {
      out.Millis(first_ms);
      out.Length(1);
      out.Length(ttl);
      out.Text("f");
      out.Text("v");
    });
  };
  EXPECT_TRUE(Read(timed(1000, 1)));
  EXPECT_FALSE(Read(timed(-5, 1)));
  EXPECT_FALSE(Read(timed(1000, uint64_t{1} << 48)));
  EXPECT_FALSE(Read("\x19\0\0\0\0\0\0\0\0"s + "\x0f\x0f\0\0\0\x03\0\x81"
                                              "f\x02\x81v\x02\x81x\x02\xff"s));
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(RdbValue, RefusesUnknownItemsWithAReason) {
  EXPECT_THAT(Read("\x06\x01"s).error().why, HasSubstr("module"));
  EXPECT_THAT(Read("\x07\x01"s).error().why, HasSubstr("module"));
  EXPECT_THAT(Read("\x16\x01"s).error().why, HasSubstr("unreleased"));
  EXPECT_THAT(Read("\x17\x01"s).error().why, HasSubstr("unreleased"));
  EXPECT_THAT(Read("\x1d\x01"s).error().why, HasSubstr("unknown"));
  EXPECT_FALSE(Read("\x08\x01"s));
  EXPECT_FALSE(Read("\xff\x01"s));
}

TEST(RdbValue, AllocatesNothingForImpossibleNumbers) {
  for (int type : {0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 25}) {
    const std::string many = std::string(1, static_cast<char>(type)) + "\x81\x10\0\0\0\0\0\0\0abcdefghijk"s;
    EXPECT_FALSE(Read(many)) << type;
    const std::string fewer = std::string(1, static_cast<char>(type)) +
                              "\x80\x7f\xff\xff\xff"
                              "abcdefghijk"s;
    EXPECT_FALSE(Read(fewer)) << type;
  }
  EXPECT_FALSE(Read("\x18\0\0\0\0\0\0\0\0\x81\x10\0\0\0\0\0\0\0abcdefghijk"s));
}

// Random bytes after each type byte: they are read or refused, and what was read can be written.
TEST(RdbValue, SurvivesAnyBytes) {
  const uint64_t seed = 1905;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int round = 0; round < 5000; ++round) {
    std::string value(1 + random.Below(40), '\0');
    for (char& c : value) c = static_cast<char>(random.Below(random.Below(2) == 0 ? 256 : 4));
    value[0] = static_cast<char>(random.Below(26));
    RdbInput input(value);
    const uint8_t type = input.Byte();
    auto entry = ReadRdbValue(input, type, {"k", 0, EncodingLimits{}, kHashKey});
    if (entry) {
      EXPECT_EQ(ReadDigest(WrittenValue(*entry.value())), DigestText(*entry.value()));
    }
  }
}

TEST(DumpPayload, EndsInVersionAndChecksum) {
  const EntryPtr entry = MakeString(StringContent::Value("abc"));
  const std::string payload = DumpPayload(*entry, RdbCompression::kOn);
  EXPECT_EQ(payload.size(), 5u + 10u);
  EXPECT_EQ(payload.substr(5, 2), "\x0b\0"s);
  EXPECT_EQ(VerifyPayload(payload, PayloadCheck::kChecksum), payload.substr(0, 5));
  for (size_t bit = 0; bit < payload.size() * 8; ++bit) {
    std::string bad = payload;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(VerifyPayload(bad, PayloadCheck::kChecksum)) << bit;
  }
  for (size_t cut = 0; cut < payload.size(); ++cut)
    EXPECT_FALSE(VerifyPayload(payload.substr(0, cut), PayloadCheck::kChecksum)) << cut;
}

TEST(DumpPayload, OfANewerVersionIsRefusedWhateverItsChecksum) {
  EXPECT_TRUE(
      VerifyPayload("\0\x01"
                    "a\x0e\0........"s,
                    PayloadCheck::kSkipChecksum));
  EXPECT_FALSE(
      VerifyPayload("\0\x01"
                    "a\x0f\0........"s,
                    PayloadCheck::kSkipChecksum));
}

TEST(DumpPayload, EqualsThatOfRedis) {
  // The digests are from 7.2.6.
  const EntryPtr entry = MakeString(StringContent::Integer(10));
  EXPECT_EQ(DumpPayload(*entry, RdbCompression::kOn),
            "\0\xc0\n\x0b\0\a@\xea"
            "6\xf3"
            "1\x8a"
            "2"s);
}

}  // namespace
}  // namespace respite
