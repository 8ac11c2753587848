#include "datatypes/database.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/str_cat.h"
#include "datatypes/keyspace.h"

namespace respite {
namespace {

std::string DatabaseText(const Entry& entry) { return std::string(StringText(entry).View()); }

struct Expected {
  std::string text;
  int64_t deadline_ms = kNoDeadline;
};

// A Database and its model, a map.
class DatabaseModel {
 public:
  explicit DatabaseModel(uint64_t seed) : random_(seed), data_(HashKey{seed}) { data_.EnablePool(); }

  void Step() {
    std::string key = StrCat("k", random_.Below(300));
    Entry* entry = data_.Find(key);
    ASSERT_EQ(entry != nullptr, expected_.contains(key)) << key;
    if (entry == nullptr) return Add(key);
    switch (random_.Below(5)) {
      case 0:
        return Take(entry, key);
      case 1:
      case 2:
        return SetDeadline(entry, key);
      default:
        return Assign(entry, key);
    }
  }
  void Check() const {
    ASSERT_EQ(data_.Size(), expected_.size());
    size_t timed = 0;
    for (const auto& [key, value] : expected_) {
      const Entry* entry = data_.Find(key);
      ASSERT_NE(entry, nullptr) << key;
      ASSERT_EQ(DatabaseText(*entry), value.text) << key;
      ASSERT_EQ(entry->Deadline(), value.deadline_ms) << key;
      ASSERT_EQ(data_.EntriesWithDeadline().Find(key, data_.Hash(key)),
                value.deadline_ms == kNoDeadline ? nullptr : entry)
          << key;
      if (value.deadline_ms != kNoDeadline) ++timed;
    }
    ASSERT_EQ(data_.CountKeysWithDeadline(), timed);
    ASSERT_TRUE(data_.Entries().IsConsistent());
    ASSERT_TRUE(data_.EntriesWithDeadline().IsConsistent());
  }
  Database& data() { return data_; }
  Random& random() { return random_; }

 private:
  int64_t SomeDeadline() {
    return random_.Below(2) == 0 ? kNoDeadline : static_cast<int64_t>(random_.Below(1'000'000));
  }
  std::string SomeText() {
    if (random_.Below(3) == 0) return std::to_string(random_.Below(1000));
    return std::string(random_.Below(10) == 0 ? random_.Below(9000) : random_.Below(100), 'v');
  }
  void Add(const std::string& key) {
    Expected value{SomeText(), SomeDeadline()};
    Entry* entry = data_.Add(key, StringContent::Value(value.text), value.deadline_ms, 1);
    ASSERT_EQ(data_.Find(key), entry);
    expected_[key] = value;
  }
  void Take(Entry* entry, const std::string& key) {
    EntryPtr taken = data_.Take(entry);
    ASSERT_EQ(taken->Key(), key);
    ASSERT_EQ(data_.Find(key), nullptr);
    if (random_.Below(2) == 0) {  // and back, as RENAME and MOVE do
      data_.Add(std::move(taken));
    } else {
      expected_.erase(key);
    }
  }
  void SetDeadline(Entry* entry, const std::string& key) {
    int64_t deadline_ms = SomeDeadline();
    entry = data_.SetDeadline(entry, deadline_ms);
    ASSERT_EQ(data_.Find(key), entry);
    expected_[key].deadline_ms = deadline_ms;
  }
  void Assign(Entry* entry, const std::string& key) {
    std::string text = SomeText();
    entry = data_.Assign(entry, StringContent::Value(text));
    ASSERT_EQ(data_.Find(key), entry);
    expected_[key].text = text;
  }

  Random random_;
  Database data_;
  std::map<std::string, Expected> expected_;
};

TEST(DatabaseTest, RandomOperationsAgreeWithAMap) {
  uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  DatabaseModel model(seed);
  for (int step = 0; step < 20'000; ++step) {
    ASSERT_NO_FATAL_FAILURE(model.Step()) << "step " << step;
    if (step % 500 == 0) {
      ASSERT_NO_FATAL_FAILURE(model.Check()) << "step " << step;
    }
  }
  ASSERT_NO_FATAL_FAILURE(model.Check());
  model.data().Clear();
  EXPECT_EQ(model.data().Size(), 0u);
  EXPECT_EQ(model.data().CountKeysWithDeadline(), 0u);
}

TEST(DatabaseTest, PicksAndScansTimedKeys) {
  Database data(HashKey{5});
  Random random(5);
  for (int i = 0; i < 1000; ++i) data.Add(StrCat("k", i), StringContent::Integer(i), i % 2 == 0 ? i : kNoDeadline, 0);
  for (int i = 0; i < 200; ++i) EXPECT_NE(data.PickRandomWithDeadline(random)->Deadline(), kNoDeadline);
  std::set<std::string> seen;
  uint64_t cursor = 0;
  do cursor = data.ScanEntriesWithDeadline(cursor, [&](const Entry* entry) { seen.insert(std::string(entry->Key())); });
  while (cursor != 0);
  EXPECT_EQ(seen.size(), 500u);
}

TEST(DatabaseTest, AssignKeepsDeadlineAndAccess) {
  Database data(HashKey{6});
  Entry* entry = data.Add("k", StringContent::Text("v"), 99, 1234);
  entry = data.Assign(entry, StringContent::Text(std::string(10'000, 'x')));
  EXPECT_EQ(entry->Deadline(), 99);
  EXPECT_EQ(entry->Access(), 1234u);
}

TEST(KeyspaceTest, SwapsAndDetaches) {
  Keyspace keyspace(4, {1});
  keyspace[0].Add("a", StringContent::Text("zero"), kNoDeadline, 0);
  keyspace[1].Add("a", StringContent::Text("one"), 5, 0);
  keyspace.Swap(0, 1);
  EXPECT_EQ(DatabaseText(*keyspace[0].Find("a")), "one");
  EXPECT_EQ(DatabaseText(*keyspace[1].Find("a")), "zero");
  Database content = keyspace.Detach(0);
  EXPECT_EQ(keyspace[0].Size(), 0u);
  EXPECT_EQ(content.CountKeysWithDeadline(), 1u);
  keyspace[0].Add("b", StringContent::Text("new"), kNoDeadline, 0);
  EXPECT_EQ(DatabaseText(*keyspace[0].Find("b")), "new");
}

}  // namespace
}  // namespace respite
