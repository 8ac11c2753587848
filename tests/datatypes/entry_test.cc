#include "datatypes/entry.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/database.h"

namespace respite {
namespace {

EntryPtr Make(Bytes key, StringContent content, int64_t deadline_ms = kNoDeadline) {
  return EntryPtr(Entry::Create(key, std::move(content), deadline_ms, 77));
}

std::string EntryText(const Entry& entry) { return std::string(StringText(entry).View()); }

TEST(EntryTest, FormFollowsFromTheText) {
  auto form = [](Bytes text) { return Make("k", StringContent::Value(text))->Form(); };
  EXPECT_EQ(form("0"), ValueForm::kInt);
  EXPECT_EQ(form("-9223372036854775808"), ValueForm::kInt);
  EXPECT_EQ(form("9223372036854775808"), ValueForm::kEmbedded);
  EXPECT_EQ(form("007"), ValueForm::kEmbedded);
  EXPECT_EQ(form("+1"), ValueForm::kEmbedded);
  EXPECT_EQ(form("1 "), ValueForm::kEmbedded);
  EXPECT_EQ(form("-0"), ValueForm::kEmbedded);
  EXPECT_EQ(form(""), ValueForm::kEmbedded);
  EXPECT_EQ(form(std::string(44, 'x')), ValueForm::kEmbedded);
  EXPECT_EQ(form(std::string(45, 'x')), ValueForm::kRaw);
  EXPECT_EQ(form(std::string(4096, 'x')), ValueForm::kRaw);
  EXPECT_EQ(form(std::string(4097, 'x')), ValueForm::kBlob);
}

TEST(EntryTest, KeepsKeyValueDeadlineAndAccess) {
  for (size_t key_size : {0u, 1u, 16u, 1000u, 4094u, 4095u}) {
    for (size_t size : {0u, 1u, 44u, 45u, 4096u, 4097u, 100'000u}) {
      for (int64_t deadline_ms : {kNoDeadline, int64_t{0}, int64_t{1'700'000'000'000}}) {
        std::string key(key_size, 'k');
        std::string value(size, '\0');
        EntryPtr entry = Make(key, StringContent::Value(value), deadline_ms);
        EXPECT_EQ(entry->Key(), key);
        EXPECT_EQ(EntryText(*entry), value);
        EXPECT_EQ(entry->TextSize(), size);
        EXPECT_EQ(entry->Deadline(), deadline_ms);
        EXPECT_EQ(entry->Access(), 77u);
        EXPECT_EQ(entry->Type(), ValueType::kString);
        EXPECT_GE(entry->UsedBytes(), key_size + size);
      }
    }
  }
}

TEST(EntryTest, IntegersKnowTheLengthOfTheirText) {
  for (int64_t value : {int64_t{0}, int64_t{-1}, int64_t{10}, INT64_MIN, INT64_MAX}) {
    EntryPtr entry = Make("k", StringContent::Integer(value));
    EXPECT_EQ(EntryText(*entry), std::to_string(value));
    EXPECT_EQ(entry->TextSize(), std::to_string(value).size());
    entry->SetInteger(value / 2);
    EXPECT_EQ(entry->IntegerValue(), value / 2);
  }
}

TEST(EntryTest, LivesThroughTheMillisecondOfItsDeadline) {
  EntryPtr entry = Make("k", StringContent::Text("v"), 1000);
  EXPECT_FALSE(entry->IsExpired(1000));
  EXPECT_TRUE(entry->IsExpired(1001));
  entry->SetDeadline(kNoDeadline);
  EXPECT_TRUE(entry->HasDeadlineSlot());
  EXPECT_FALSE(entry->IsExpired(INT64_MAX));
  EXPECT_FALSE(Make("k", StringContent::Text("v"))->IsExpired(INT64_MAX));
}

TEST(EntryTest, AccessHasTwentyFourBitsOfItsOwn) {
  EntryPtr entry = Make("k", StringContent::Text("v"), 5);
  entry->SetAccess(0xffffff);
  EXPECT_EQ(entry->Access(), 0xffffffu);
  entry->SetAccess(0x1ffffff);
  EXPECT_EQ(entry->Access(), 0xffffffu);
  entry->SetAccess(0);
  EXPECT_EQ(entry->Form(), ValueForm::kEmbedded);
  EXPECT_EQ(entry->Deadline(), 5);
  EXPECT_EQ(entry->Key(), "k");
}

// An object that counts its instances.
class Counted final : public Object {
 public:
  explicit Counted(int& living) : living_(living) { ++living_; }
  ~Counted() override { --living_; }
  std::unique_ptr<Object> Clone() const override { return std::make_unique<Counted>(living_); }
  size_t Size() const override { return 1000; }
  size_t UsedBytes(size_t) const override { return 5000; }

 private:
  int& living_;
};

TEST(EntryTest, KeepsItsValueWhenItMoves) {
  for (const StringContent& content : {StringContent::Integer(5), StringContent::Text("text"),
                                       StringContent::Raw("raw"), StringContent::Text(std::string(5000, 'b'))}) {
    for (int64_t deadline_ms : {kNoDeadline, int64_t{99}}) {
      std::string text = EntryText(*Make("k", content));
      EntryPtr entry = Make("k", content, deadline_ms);
      if (deadline_ms == kNoDeadline) {
        entry.reset(Entry::AddDeadlineSlot(entry.release()));
        EXPECT_TRUE(entry->HasDeadlineSlot());
        EXPECT_EQ(entry->Deadline(), kNoDeadline);
        EXPECT_EQ(EntryText(*entry), text);
        EXPECT_EQ(entry->Key(), "k");
        entry->SetDeadline(98);
      }
      EntryPtr copy(Entry::Clone(*entry, "copy", 7, 3));
      entry.reset(Entry::Rename(entry.release(), "a longer name"));
      EXPECT_EQ(entry->Key(), "a longer name");
      EXPECT_EQ(EntryText(*entry), text);
      EXPECT_EQ(entry->Access(), 77u);
      EXPECT_EQ(entry->Deadline(), deadline_ms == kNoDeadline ? 98 : 99);
      EXPECT_EQ(copy->Key(), "copy");
      EXPECT_EQ(EntryText(*copy), text);
      EXPECT_EQ(copy->Form(), entry->Form());
      EXPECT_EQ(copy->Access(), 3u);
      EXPECT_EQ(copy->Deadline(), 7);
    }
  }
}

TEST(EntryTest, SizesThatDoNotFitIntoTheFirstWordMakeItWide) {
  constexpr size_t kNarrowValue = (1u << 19) - 1;
  for (size_t key_size : {0u, 4094u, 4095u, 4096u, 70'000u}) {
    for (size_t size : {kNarrowValue - 1, kNarrowValue, kNarrowValue + 1, size_t{5'000'000}}) {
      for (bool timed : {false, true}) {
        SCOPED_TRACE(testing::Message() << key_size << " " << size << " " << timed);
        const std::string key(key_size, 'k');
        EntryPtr entry(Entry::CreatePacked(key, ValueType::kHash, ValueForm::kListpack, "first", /*spare=*/0, 77));
        if (timed) {
          entry.reset(Entry::AddDeadlineSlot(entry.release()));
          entry->SetDeadline(99);
        }
        entry->MarkFieldDeadlines();
        auto expect = [&](const Entry& seen, Bytes seen_key, Bytes packed) {
          EXPECT_EQ(seen.Key(), seen_key);
          EXPECT_TRUE(seen.Packed() == packed);  // EXPECT_EQ would print megabytes
          EXPECT_EQ(seen.Deadline(), timed ? 99 : kNoDeadline);
          EXPECT_EQ(seen.Access(), 77u);
          EXPECT_EQ(seen.Type(), ValueType::kHash);
          EXPECT_EQ(seen.Form(), ValueForm::kListpack);
          EXPECT_TRUE(seen.HasFieldDeadlines());
        };
        const std::string large(size, 'v');
        entry.reset(Entry::Resize(entry.release(), 2));
        expect(*entry, key, "fi");
        entry.reset(Entry::StoreCollection(entry.release(), ValueForm::kListpack, large));
        expect(*entry, key, large);
        entry.reset(Entry::Rename(entry.release(), "short"));
        expect(*entry, "short", large);
        entry.reset(Entry::Rename(entry.release(), key));
        expect(*entry, key, large);
        EntryPtr copy(Entry::Clone(*entry, "copy", timed ? 99 : kNoDeadline, 77));
        expect(*copy, "copy", large);
        entry.reset(Entry::StoreCollection(entry.release(), ValueForm::kListpack, "small"));
        expect(*entry, key, "small");
        if (!timed) {
          copy.reset(Entry::AddDeadlineSlot(copy.release()));
          EXPECT_EQ(copy->Key(), "copy");
          EXPECT_TRUE(copy->Packed() == large);
        }
      }
    }
  }
}

TEST(EntryTest, HoldsOneObjectAtATime) {
  int living = 0;
  {
    EntryPtr entry(Entry::CreatePacked("k", ValueType::kHash, ValueForm::kListpack, "packed", 50, 77));
    EXPECT_EQ(entry->Packed(), "packed");
    EXPECT_EQ(entry->FreeEffort(), 1u);
    entry.reset(Entry::StoreCollection(entry.release(), std::make_unique<Counted>(living)));
    EXPECT_EQ(entry->Form(), ValueForm::kObject);
    EXPECT_EQ(entry->Type(), ValueType::kHash);
    EXPECT_EQ(entry->FreeEffort(), 1000u);
    EXPECT_GT(entry->UsedBytes(), 5000u);
    EntryPtr copy(Entry::Clone(*entry, "copy", kNoDeadline, 0));
    EXPECT_EQ(living, 2);
    entry.reset(Entry::AddDeadlineSlot(entry.release()));
    entry.reset(Entry::Rename(entry.release(), "other"));
    EXPECT_EQ(living, 2);
    entry->ReleaseObject();
    EXPECT_EQ(living, 1);
    entry.reset(Entry::StoreCollection(entry.release(), ValueForm::kIntset, "abc"));
    EXPECT_EQ(entry->Packed(), "abc");
    // A string replaces a collection.
    copy->TryAssign(StringContent::Integer(5));
    EXPECT_EQ(copy->Type(), ValueType::kString);
    EXPECT_EQ(living, 0);
    copy.reset(Entry::CreateWithObject("k", ValueType::kList, std::make_unique<Counted>(living), 0));
    EXPECT_EQ(living, 1);
  }
  EXPECT_EQ(living, 0);
}

TEST(EntryTest, BlobIsSharedNotCopied) {
  BlobRef blob = BlobRef::Copy(std::string(10'000, 'x'));
  {
    EntryPtr entry = Make("k", StringContent::FromBlob(blob));
    EXPECT_FALSE(blob.IsUnique());
    EXPECT_EQ(entry->BlobText().data(), blob.View().data());
    EXPECT_EQ(entry->Blob().View().data(), blob.View().data());
    // A blob replaces itself.
    EXPECT_TRUE(entry->TryAssign(StringContent::FromBlob(entry->Blob())));
    EXPECT_EQ(entry->BlobText().data(), blob.View().data());
  }
  EXPECT_TRUE(blob.IsUnique());
}

TEST(EntryTest, TakesAPartOfItsOwnValue) {
  EntryPtr entry = Make("k", StringContent::Text("0123456789abcdef"));
  Bytes part = entry->InlineText().substr(4, 12);
  ASSERT_TRUE(entry->TryAssign(StringContent::Text(part)));
  EXPECT_EQ(EntryText(*entry), "456789abcdef");
}

TEST(EntryTest, RandomAssignments) {
  uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  EntryPtr entry = Make("some key", StringContent::Text(""), 123);
  std::string expected;
  int in_place = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text(random.Below(3) == 0 ? random.Below(6000) : random.Below(60), 'a');
    for (char& c : text) c = static_cast<char>('a' + random.Below(26));
    if (random.Below(4) == 0) text = std::to_string(static_cast<int64_t>(random.Next()));
    if (entry->TryAssign(StringContent::Value(text))) {
      expected = text;
      ++in_place;
    } else {
      entry = Make("some key", StringContent::Value(text), 123);
      expected = text;
    }
    ASSERT_EQ(EntryText(*entry), expected);
    ASSERT_EQ(entry->TextSize(), expected.size());
    ASSERT_EQ(entry->Key(), "some key");
    ASSERT_EQ(entry->Deadline(), 123);
    ASSERT_EQ(entry->Access(), 77u);
  }
  EXPECT_GT(in_place, 0);
}

TEST(EntryTest, AnEntryDoesNotKeepMuchMoreMemoryThanItNeeds) {
  EntryPtr entry = Make("k", StringContent::Text(std::string(4000, 'x')));
  EXPECT_FALSE(entry->TryAssign(StringContent::Text("short")));
}

// There is room for 16 types. A string is never an object.
TEST(EntryTest, EachTypeOfCollectionCanBeAnObject) {
  for (int number = 1; number < 16; ++number) {
    const auto type = static_cast<ValueType>(number);
    int living = 0;
    EntryPtr entry(Entry::CreateWithObject("k", type, std::make_unique<Counted>(living), 5));
    entry.reset(Entry::AddDeadlineSlot(entry.release()));
    const EntryPtr copy(Entry::Clone(*entry, "a longer key", 77, 9));
    for (const Entry* each : {entry.get(), copy.get()}) {
      EXPECT_EQ(each->Type(), type);
      EXPECT_EQ(each->Form(), ValueForm::kObject);
      EXPECT_FALSE(each->HasFieldDeadlines());
    }
    EXPECT_EQ(copy->Access(), 9u);
    EXPECT_EQ(copy->Deadline(), 77);
  }
}

}  // namespace
}  // namespace respite
