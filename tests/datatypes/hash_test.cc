#include "datatypes/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "base/str_cat.h"
#include "datatypes/digest.h"

namespace respite {
namespace {

constexpr int64_t kStartMs = 1'700'000'000'000;

struct ExpectedField {
  std::string value;
  int64_t deadline_ms = kNoDeadline;
};

// A hash in a database and its model, a map.
class HashModel {
 public:
  HashModel(uint64_t seed, EncodingLimits limits) : random_(seed), data_(HashKey{seed}), limits_(limits) {}

  // Makes one edit as a command does: removes expired fields first.
  void Step() {
    now_ms_ += static_cast<int64_t>(random_.Below(20));
    Purge();
    const std::string field = SomeField();
    switch (random_.Below(8)) {
      case 0:
      case 1:
      case 2:
        return Set(field, SomeText(), Hash::OldDeadline::kDrop);
      case 3:
        return Set(field, SomeText(), Hash::OldDeadline::kKeep);
      case 4:
        return Remove(field);
      default:
        return SetDeadline(field);
    }
  }
  // Lets time pass without purging.
  void Wait(int64_t ms) { now_ms_ += ms; }
  void Check() {
    const Hash hash = Open();
    ASSERT_TRUE(hash.IsConsistent());
    std::map<std::string, ExpectedField> alive;
    int64_t next_ms = kNoDeadline;
    for (const auto& [field, expected] : fields_) {
      if (expected.deadline_ms != kNoDeadline && (next_ms == kNoDeadline || expected.deadline_ms < next_ms))
        next_ms = expected.deadline_ms;
      if (expected.deadline_ms == kNoDeadline || expected.deadline_ms >= now_ms_) alive[field] = expected;
    }
    ASSERT_EQ(hash.NextDeadline(), next_ms);
    ASSERT_EQ(hash.Size(), alive.size());
    ASSERT_EQ(hash.AreAllFieldsExpired(), !fields_.empty() && alive.empty());
    ASSERT_EQ(data_.HashesWithFieldDeadlines().Size(), next_ms == kNoDeadline ? 0u : 1u);
    ASSERT_TRUE(data_.HashesWithFieldDeadlines().IsConsistent());
    CheckContent(hash, alive);
    if (alive.empty()) return;
    ASSERT_TRUE(alive.contains(std::string(hash.At(hash.PickRandom(random_)).field.View())));
  }
  void Move() {
    Entry* entry = data_.Find(key_);
    if (entry == nullptr) return;
    key_ += key_.size() < 30 ? "x" : "";
    data_.Add(EntryPtr(Entry::Rename(data_.Take(entry).release(), key_)));
  }
  void CloneAndReplace() {
    Entry* entry = data_.Find(key_);
    if (entry == nullptr) return;
    EntryPtr copy(Entry::Clone(*entry, key_, kNoDeadline, 0));
    EntryPtr old = data_.Take(entry);
    old.reset();
    data_.Add(std::move(copy));
  }
  ValueForm Form() {
    const Entry* entry = data_.Find(key_);
    return entry == nullptr ? ValueForm::kListpack : entry->Form();
  }

 private:
  std::string SomeField() {
    const std::string number = std::to_string(random_.Below(limits_.hash_max_listpack_entries < 10 ? 5 : 40));
    return random_.Below(2) == 0 ? number : "field " + number;
  }
  std::string SomeText() {
    if (random_.Below(3) == 0) return std::to_string(static_cast<int64_t>(random_.Next()) >> random_.Below(64));
    const uint64_t limit = random_.Below(400) == 0 ? 30'000 : random_.Below(60) == 0 ? 300 : 30;
    return std::string(random_.Below(limit), 'v');
  }
  Hash Open() {
    Entry* entry = data_.Find(key_);
    const ValueSlot slot = entry == nullptr ? ValueSlot() : ValueSlot(data_, entry);
    return Hash({slot, limits_, now_ms_});
  }
  Hash OpenOrCreate() {
    if (data_.Find(key_) == nullptr) {
      data_.Add(EntryPtr(
          Entry::CreatePacked(key_, Hash::kType, Hash::kInitialForm, Hash::InitialPacked(), random_.Below(100), 0)));
    }
    return Open();
  }
  void DropIfEmpty(const Hash& hash) {
    ASSERT_EQ(hash.IsEmpty(), fields_.empty());
    if (hash.Exists() && hash.IsEmpty()) data_.Take(hash.slot().entry());
  }
  void Purge() {
    Hash hash = Open();
    std::multiset<int64_t> dead;
    for (const auto& [field, expected] : fields_)
      if (expected.deadline_ms != kNoDeadline && expected.deadline_ms < now_ms_) dead.insert(expected.deadline_ms);
    const size_t limit = random_.Below(3) == 0 ? 2 : SIZE_MAX;
    for (bool more = true; more;) {
      const auto names = hash.RemoveExpired(limit);
      ASSERT_EQ(names.size(), std::min(limit, dead.size()));
      for (const std::string& name : names) {
        ASSERT_EQ(fields_.at(name).deadline_ms, *dead.begin()) << "the longest expired go first";
        dead.erase(dead.begin());
        fields_.erase(name);
      }
      more = !names.empty();
    }
    DropIfEmpty(hash);
  }
  void Set(const std::string& field, const std::string& value, Hash::OldDeadline old_deadline) {
    Hash hash = OpenOrCreate();
    const auto outcome = hash.Set(field, value, old_deadline);
    ASSERT_EQ(outcome == Hash::Outcome::kAdded, !fields_.contains(field));
    ExpectedField& expected = fields_[field];
    expected.value = value;
    if (old_deadline == Hash::OldDeadline::kDrop) expected.deadline_ms = kNoDeadline;
  }
  void Remove(const std::string& field) {
    Hash hash = Open();
    if (!hash.Exists()) return;
    ASSERT_EQ(hash.Remove(field), fields_.erase(field) == 1);
    DropIfEmpty(hash);
  }
  void SetDeadline(const std::string& field) {
    Hash hash = Open();
    if (!hash.Exists()) return;
    const bool none = random_.Below(4) == 0;
    const int64_t deadline_ms = none ? kNoDeadline : now_ms_ + 1 + static_cast<int64_t>(random_.Below(1500));
    const bool has = fields_.contains(field);
    ASSERT_EQ(hash.SetDeadline(field, deadline_ms), has);
    if (has) fields_[field].deadline_ms = deadline_ms;
  }
  static void CheckContent(const Hash& hash, const std::map<std::string, ExpectedField>& alive) {
    std::map<std::string, std::string> seen;
    hash.ForEach([&](Bytes field, Bytes value) { ASSERT_TRUE(seen.emplace(field, value).second); });
    ASSERT_EQ(seen.size(), alive.size());
    ASSERT_EQ(hash.Places().size(), alive.size());
    for (const auto& [field, expected] : alive) {
      ASSERT_EQ(seen.at(field), expected.value);
      const auto value = hash.Get(field);
      ASSERT_TRUE(value.has_value());
      ASSERT_EQ(value->View(), expected.value);
      ASSERT_EQ(hash.DeadlineOf(field), expected.deadline_ms);
    }
    ASSERT_FALSE(hash.Has("no such field"));
  }

  Random random_;
  Database data_;
  EncodingLimits limits_;
  std::string key_ = "key";
  int64_t now_ms_ = kStartMs;
  std::map<std::string, ExpectedField> fields_;
};

class HashModelTest : public testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Entries, HashModelTest, testing::Values(0, 5, 20, 512));

TEST_P(HashModelTest, AgreesWithAMap) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  EncodingLimits limits;
  limits.hash_max_listpack_entries = GetParam();
  limits.hash_max_listpack_value = GetParam() == 512 ? SIZE_MAX : 64;
  Random random(seed);
  std::set<ValueForm> forms;
  for (int round = 0; round < 8; ++round) {
    HashModel model(random.Next(), limits);
    for (int i = 0; i < 600; ++i) {
      model.Step();
      if (random.Below(10) == 0) model.Wait(static_cast<int64_t>(random.Below(800)));
      if (random.Below(30) == 0) model.Move();
      if (random.Below(30) == 0) model.CloneAndReplace();
      model.Check();
      if (HasFatalFailure()) return;
      forms.insert(model.Form());
    }
  }
  EXPECT_EQ(forms.contains(ValueForm::kObject), GetParam() < 512);
  EXPECT_EQ(forms.contains(ValueForm::kTimedListpack), GetParam() > 0);
}

class HashTest : public testing::Test {
 protected:
  Hash Make(Bytes key = "key") {
    Entry* entry = data_.Find(key);
    if (entry == nullptr) {
      entry =
          data_.Add(EntryPtr(Entry::CreatePacked(key, Hash::kType, Hash::kInitialForm, Hash::InitialPacked(), 0, 0)));
    }
    return Hash({ValueSlot(data_, entry), limits_, kStartMs});
  }
  ValueForm FormOf(Bytes key = "key") { return data_.Find(key)->Form(); }

  EncodingLimits limits_;
  Database data_{HashKey{7}};
};

TEST_F(HashTest, BecomesATableBeyondSoManyFields) {
  limits_.hash_max_listpack_entries = 3;
  Hash hash = Make();
  for (const char* field : {"a", "b", "c"}) hash.Set(field, "v");
  EXPECT_EQ(FormOf(), ValueForm::kListpack);
  hash.Set("c", "w");
  EXPECT_EQ(FormOf(), ValueForm::kListpack);
  hash.Set("d", "v");
  EXPECT_EQ(FormOf(), ValueForm::kObject);
  hash.Remove("d");
  hash.Remove("c");
  EXPECT_EQ(FormOf(), ValueForm::kObject) << "it never turns back";
  EXPECT_EQ(hash.Size(), 2u);
}

TEST_F(HashTest, BecomesATableWithALongText) {
  limits_.hash_max_listpack_value = 5;
  Make("value").Set("f", "12345");
  EXPECT_EQ(FormOf("value"), ValueForm::kListpack);
  Make("value").Set("f", "123456");
  EXPECT_EQ(FormOf("value"), ValueForm::kObject);
  Make("field").Set("abcdef", "v");
  EXPECT_EQ(FormOf("field"), ValueForm::kObject);
  const Bytes words[] = {"f", "v", "f", "123456"};
  Make("prepared").PrepareToAdd(words);
  EXPECT_EQ(FormOf("prepared"), ValueForm::kObject);
}

TEST_F(HashTest, ManyWordsAtOnceConvertEvenWhenTheyRepeat) {
  limits_.hash_max_listpack_entries = 2;
  const Bytes words[] = {"f", "1", "f", "2", "f", "3"};
  Hash hash = Make();
  hash.PrepareToAdd(std::span(words).first(4));
  EXPECT_EQ(FormOf(), ValueForm::kListpack);
  hash.PrepareToAdd(words);
  EXPECT_EQ(FormOf(), ValueForm::kObject);
}

TEST_F(HashTest, ATimedListpackBeginsWithTheNextDeadline) {
  Hash hash = Make();
  hash.Set("a", "1");
  hash.Set("b", "two");
  hash.Set("c", "3");
  hash.SetDeadline("c", kStartMs + 500);
  hash.SetDeadline("b", kStartMs + 100);
  EXPECT_EQ(FormOf(), ValueForm::kTimedListpack);
  const Listpack listpack(hash.slot().View());
  std::vector<std::string> texts;
  for (size_t at = listpack.Begin(); at != listpack.End(); at = listpack.Next(at))
    texts.emplace_back(listpack.TextAt(at).View());
  EXPECT_EQ(texts, (std::vector<std::string>{"b", "two", std::to_string(kStartMs + 100), "c", "3",
                                             std::to_string(kStartMs + 500), "a", "1", "0"}));
}

TEST_F(HashTest, AValueIsReplacedWhereItLiesWhenTheClassStaysTheSame) {
  limits_.hash_max_listpack_entries = 0;
  Hash hash = Make();
  hash.Set("field of 14 b.", "123456789012");
  const HashField* field = hash.Table()->Find("field of 14 b.");
  for (const char* value : {"1", "1234567890123456", "12"}) {
    hash.Set("field of 14 b.", value);
    const bool same_class = 16 + std::string(value).size() > 16;
    EXPECT_EQ(hash.Table()->Find("field of 14 b.") == field, same_class);
    EXPECT_EQ(hash.Get("field of 14 b.")->View(), value);
    field = hash.Table()->Find("field of 14 b.");
  }
}

TEST_F(HashTest, LongNamesAndValuesKeepTheirSizes) {
  constexpr size_t sizes[] = {0, 1, 62, 63, 64, 65, 126, 127, 128, 129, 8190, 8191, 8192, 16383, 16384, 100'000};
  limits_.hash_max_listpack_entries = 0;
  Hash hash = Make();
  for (size_t size : sizes) {
    hash.Set(std::string(size, 'n'), std::string(size, 'v'));
    hash.SetDeadline(std::string(size, 'n'), kStartMs + static_cast<int64_t>(size) + 1);
  }
  for (size_t size : sizes) {
    EXPECT_EQ(hash.Get(std::string(size, 'n'))->View(), std::string(size, 'v'));
    EXPECT_EQ(hash.DeadlineOf(std::string(size, 'n')), kStartMs + static_cast<int64_t>(size) + 1);
  }
  EXPECT_TRUE(hash.IsConsistent());
}

TEST_F(HashTest, AFieldOfFourteenAndTwelveBytesTakesUnderFiftyBytes) {
  constexpr int kFields = 100'000;
  Hash hash = Make();
  for (int i = 0; i < kFields; ++i) {
    std::string number = std::to_string(i);
    hash.Set("field:" + std::string(8 - number.size(), '0') + number, "value:123456");
  }
  EXPECT_LT(hash.Table()->UsedBytes(0), size_t{50} * kFields);
  EXPECT_NEAR(static_cast<double>(hash.Table()->UsedBytes(100)), static_cast<double>(hash.Table()->UsedBytes(0)),
              0.05 * 50 * kFields);
}

// Taken from DEBUG DIGEST-VALUE of Redis 7.2.
TEST_F(HashTest, TheDigestIsThatOfRedis) {
  auto digest_of = [&](Bytes key) {
    Digest digest;
    MixValue(digest, *data_.Find(key));
    return digest.Hex();
  };
  Hash small = Make("small");
  small.Set("f", "v");
  small.Set("12", "-7");
  const std::string packed = digest_of("small");
  EXPECT_EQ(packed, "bdc048da1c30c42ac88061bde3b431156ea987e9");
  limits_.hash_max_listpack_entries = 0;
  Hash large = Make("large");
  large.Set("12", "-7");
  large.Set("f", "v");
  EXPECT_EQ(digest_of("large"), packed);
  large.SetDeadline("f", kStartMs + 1);
  small.SetDeadline("f", kStartMs + 9);
  EXPECT_NE(digest_of("large"), packed);
  EXPECT_EQ(digest_of("large"), digest_of("small")) << "that there is a deadline counts, not which";
}

// From 4096 fields on, new fields get their memory from the pool of the hash. Old and new ones come and go.
TEST(HashTableTest, LargeHashesHaveAPoolOfFields) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  auto table = std::make_unique<HashTable>(HashKey{seed});
  std::map<std::string, std::pair<std::string, int64_t>> model;  // values and deadlines
  const auto check = [&](const HashTable& checked) {
    ASSERT_EQ(checked.Size(), model.size());
    ASSERT_TRUE(checked.IsConsistent());
    for (const auto& [name, expected] : model) {
      const HashField* field = checked.Find(name);
      ASSERT_NE(field, nullptr) << name;
      ASSERT_EQ(field->Value(), expected.first) << name;
      ASSERT_EQ(checked.DeadlineOf(*field), expected.second) << name;
    }
  };
  for (uint64_t percent : {90u, 30u, 60u}) {  // of additions
    for (int step = 0; step < 12'000; ++step) {
      const std::string name = StrCat(std::string(random.Below(80), 'n'), random.Below(20'000));
      if (random.Below(100) >= percent) {
        const auto victim = model.lower_bound(name);
        if (victim == model.end()) continue;
        EXPECT_TRUE(table->Remove(victim->first));
        model.erase(victim);
        continue;
      }
      auto [at, is_new] = model.try_emplace(name, "", kNoDeadline);
      at->second.first = std::string(random.Below(60), 'v');
      table->Set(name, at->second.first);
      if (random.Below(4) != 0) continue;
      at->second.second = random.Below(2) == 0 ? kNoDeadline : static_cast<int64_t>(random.Below(1000));
      EXPECT_TRUE(table->SetDeadline(name, at->second.second));
    }
    ASSERT_NO_FATAL_FAILURE(check(*table));
  }
  ASSERT_GT(table->Size(), 4096u);
  const auto copy = table->Clone();
  table.reset();
  ASSERT_NO_FATAL_FAILURE(check(static_cast<const HashTable&>(*copy)));
  auto& rest = static_cast<HashTable&>(*copy);
  while (model.size() > 100) {
    const std::string name = std::next(model.begin(), static_cast<ptrdiff_t>(random.Below(50)))->first;
    EXPECT_TRUE(rest.Remove(name));
    model.erase(name);
  }
  ASSERT_NO_FATAL_FAILURE(check(rest));  // the fields have moved out of the pool
  for (const auto& [name, expected] : model) EXPECT_TRUE(rest.Remove(name));
  EXPECT_EQ(rest.Size(), 0u);
}

}  // namespace
}  // namespace respite
