#include "datatypes/stream.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/listpack.h"

namespace respite {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using EntryState = StreamBlock::EntryState;
constexpr StreamBlock::Limits kDefaults{4096, 100};

std::vector<Bytes> Words(const Pairs& pairs) {
  std::vector<Bytes> words;
  for (const auto& [field, value] : pairs) {
    words.push_back(field);
    words.push_back(value);
  }
  return words;
}

std::string AnyText(Random& random) {
  switch (random.Below(8)) {
    case 0:
      return "";
    case 1:
      return IntegerText(static_cast<int64_t>(random.Below(300)) - 100).Text();
    case 2:
      return IntegerText(static_cast<int64_t>(random.Next() >> random.Below(64))).Text();
    case 3:
      return IntegerText(-static_cast<int64_t>(random.Next() >> (1 + random.Below(63)))).Text();
    case 4:
      return std::string(random.Below(400), 'x');
    case 5:
      return StrCat("0", random.Below(100));
    default: {
      std::string text(random.Below(12), '\0');
      for (char& c : text) c = static_cast<char>(random.Below(256));
      return text;
    }
  }
}

Pairs AnyPairs(Random& random) {
  if (random.Below(3) > 0) return {{"item", AnyText(random)}, {"7", AnyText(random)}};
  Pairs pairs(1 + random.Below(4));
  for (auto& pair : pairs) pair = {AnyText(random), AnyText(random)};
  return pairs;
}

// The size of the listpack in which Redis stores the entries of a block.
size_t ListpackSizeOf(const StreamBlock& block, const StreamId& id) {
  StringStore store(Listpack::Empty());
  const auto integer = [&](uint64_t value) { AppendElement(store, EncodedElement(static_cast<int64_t>(value))); };
  const auto text = [&](Bytes word) { AppendElement(store, EncodedElement(word)); };
  integer(block.LiveCount());
  integer(block.DeletedCount());
  integer(block.NameCount());
  block.ForEachName(text);
  integer(0);
  for (StreamBlock::Cursor at(block, id); at.IsValid(); at.Next()) {
    const auto& entry = at.Get();
    integer((entry.has_own_names ? 0 : 2) + (entry.state == EntryState::kDeleted ? 1 : 0));
    integer(entry.id.ms - id.ms);
    integer(entry.id.seq - id.seq);
    if (entry.has_own_names) integer(entry.field_count);
    block.ForEachPair(entry, [&](Bytes field, Bytes value) {
      if (entry.has_own_names) text(field);
      text(value);
    });
    integer(entry.has_own_names ? 4 + 2 * entry.field_count : 3 + entry.field_count);
  }
  return store.Size();
}

Pairs PairsOf(const StreamLog::Walk& walk) {
  Pairs pairs;
  walk.ForEachPair([&](Bytes field, Bytes value) { pairs.emplace_back(field, value); });
  return pairs;
}

class StreamModel {
 public:
  StreamModel(uint64_t seed, StreamBlock::Limits limits) : random_(seed), limits_(limits) {}

  void Step() {
    const uint64_t dice = random_.Below(100);
    if (dice < 70) return Add();
    if (dice < 90) return Delete();
    if (dice < 93) return Trim();
    if (dice < 94) return SetLastId();
    Compare(AnyId(), AnyId());
  }

  void CompareAll() {
    ASSERT_TRUE(log_.IsConsistent());
    Compare(StreamId::Min(), StreamId::Max());
    for (auto at = log_.blocks().First(); !at.AtEnd(); at.Next()) {
      ASSERT_EQ(ListpackSizeOf(*at.Get(), at.Id()), at.Get()->ListpackBytes());
    }
  }

  const StreamLog& log() const { return log_; }

 private:
  StreamId AnyId() {
    if (random_.Below(10) == 0) return random_.Below(2) == 0 ? StreamId::Min() : StreamId::Max();
    if (entries_.empty() || random_.Below(4) == 0) return {random_.Below(log_.LastId().ms + 2), random_.Below(5)};
    const StreamId near{entries_.begin()->first.ms + random_.Below(log_.LastId().ms - entries_.begin()->first.ms + 1),
                        0};
    const auto found = entries_.lower_bound(near);
    return found == entries_.end() ? near : found->first;
  }

  void Add() {
    StreamId id = log_.LastId();
    switch (random_.Below(4)) {
      case 0:
        id = {id.ms + 1 + random_.Below(300), 0};
        break;
      case 1:
        id = {id.ms + 1 + random_.Below(2), random_.Below(1000)};
        break;
      case 2:
        id.seq += 2 + random_.Below(300);
        break;
      default:
        ++id.seq;
    }
    const Pairs pairs = AnyPairs(random_);
    log_.Add(id, Words(pairs), limits_);
    entries_[id] = pairs;
    ++added_;
  }

  void Delete() {
    const StreamId id = AnyId();
    const bool there = entries_.erase(id) == 1;
    ASSERT_EQ(log_.Contains(id), there);
    ASSERT_EQ(log_.Delete(id), there);
  }

  void Trim() {
    StreamTrim trim;
    trim.precision = random_.Below(2) == 0 ? StreamTrim::Precision::kExact : StreamTrim::Precision::kWholeBlocks;
    const bool by_length = random_.Below(2) == 0;
    trim.strategy = by_length ? StreamTrim::Strategy::kMaxLength : StreamTrim::Strategy::kMinId;
    trim.max_length = entries_.size() - random_.Below(entries_.size() / 4 + 1);
    trim.min_id = by_length || entries_.empty()
                      ? AnyId()
                      : std::next(entries_.begin(), static_cast<long>(random_.Below(entries_.size() / 4 + 1)))->first;
    uint64_t wanted = 0;
    for (const auto& entry : entries_) wanted += by_length ? 0 : entry.first < trim.min_id;
    if (by_length) wanted = entries_.size() - trim.max_length;
    const uint64_t removed = log_.Trim(trim);
    ASSERT_LE(removed, wanted);
    if (trim.precision == StreamTrim::Precision::kExact) {
      ASSERT_EQ(removed, wanted);
    }
    for (uint64_t i = 0; i < removed; ++i) entries_.erase(entries_.begin());
  }

  // Sets it back to the last existing ID, as XSETID may do when no deletion is recorded.
  void SetLastId() {
    if (entries_.empty()) return;
    log_.SetMaxDeletedId({});
    log_.SetLastId(entries_.rbegin()->first);
  }

  void Compare(const StreamId& from, const StreamId& to) {
    ASSERT_EQ(log_.Length(), entries_.size());
    ASSERT_EQ(log_.EntriesAdded(), added_);
    const bool some = from <= to;
    auto expected = some ? entries_.lower_bound(from) : entries_.end();
    const auto end = some ? entries_.upper_bound(to) : entries_.end();
    for (StreamLog::Walk walk(log_, from, to); walk.IsValid(); walk.Next(), ++expected) {
      ASSERT_NE(expected, end);
      ASSERT_EQ(walk.Id(), expected->first);
      ASSERT_EQ(walk.FieldCount(), expected->second.size());
      ASSERT_EQ(PairsOf(walk), expected->second);
    }
    ASSERT_EQ(expected, end);
    for (StreamLog::Walk walk(log_, from, to, StreamLog::Order::kBackward); walk.IsValid(); walk.Next()) {
      --expected;
      ASSERT_EQ(walk.Id(), expected->first);
      ASSERT_EQ(PairsOf(walk), expected->second);
    }
    ASSERT_EQ(expected, some ? entries_.lower_bound(from) : end);
  }

  Random random_;
  StreamBlock::Limits limits_;
  StreamLog log_;
  std::map<StreamId, Pairs> entries_;
  uint64_t added_ = 0;
};

void RunAgainstModel(uint64_t seed, StreamBlock::Limits limits) {
  SCOPED_TRACE(StrCat("seed ", seed));
  StreamModel model(seed, limits);
  for (int step = 0; step < 3000; ++step) {
    ASSERT_NO_FATAL_FAILURE(model.Step());
    if (step % 20 == 0) {
      ASSERT_TRUE(model.log().IsConsistent());
    }
    if (step % 200 == 0) {
      ASSERT_NO_FATAL_FAILURE(model.CompareAll());
    }
  }
  ASSERT_NO_FATAL_FAILURE(model.CompareAll());
  const auto copy = model.log().Clone();
  EXPECT_TRUE(static_cast<StreamLog&>(*copy).IsConsistent());
  EXPECT_EQ(copy->Size(), model.log().Size());
}

TEST(StreamLog, AgreesWithAModel) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    RunAgainstModel(seed, kDefaults);
    RunAgainstModel(seed + 100, {0, 3});
    RunAgainstModel(seed + 200, {300, 0});
    RunAgainstModel(seed + 300, {0, 0});
  }
}

void Fill(StreamLog& log, uint64_t count, StreamBlock::Limits limits = kDefaults) {
  const std::vector<Bytes> words{"f1", "v1", "f2", "v2"};
  for (uint64_t i = 1; i <= count; ++i) log.Add({i, 0}, words, limits);
}

TEST(StreamLog, BlocksEndWhereTheLimitsSay) {
  StreamLog log;
  Fill(log, 250);
  EXPECT_EQ(log.blocks().Size(), 3u);
  EXPECT_EQ(log.blocks().Last().Id(), (StreamId{201, 0}));
  StreamLog small;
  Fill(small, 250, {100, 0});
  EXPECT_EQ(small.blocks().Size(), 50u);
}

TEST(StreamLog, TrimsWholeBlocksWithinTheLimit) {
  StreamLog log;
  Fill(log, 1000);
  StreamTrim trim{.strategy = StreamTrim::Strategy::kMaxLength,
                  .precision = StreamTrim::Precision::kWholeBlocks,
                  .max_length = 350,
                  .min_id = {},
                  .limit = 0};
  EXPECT_EQ(log.Trim(trim), 600u);
  trim.max_length = 0;
  trim.limit = 250;
  EXPECT_EQ(log.Trim(trim), 200u);
  EXPECT_EQ(log.FirstId(), (StreamId{801, 0}));
  trim = {.strategy = StreamTrim::Strategy::kMinId,
          .precision = StreamTrim::Precision::kExact,
          .max_length = 0,
          .min_id = {850, 0},
          .limit = 0};
  EXPECT_EQ(log.Trim(trim), 49u);
  EXPECT_EQ(log.FirstStoredId(), (StreamId{801, 0}));
  EXPECT_EQ(log.MaxDeletedId(), StreamId());
}

TEST(StreamLog, GivesIds) {
  StreamLog log;
  EXPECT_EQ(log.AutoId(0), (StreamId{0, 1}));
  EXPECT_EQ(log.AutoSequence(0), (StreamId{0, 1}));
  log.SetLastId({100, 5});
  EXPECT_EQ(log.AutoId(101), (StreamId{101, 0}));
  EXPECT_EQ(log.AutoId(99), (StreamId{100, 6}));
  EXPECT_EQ(log.AutoSequence(99), (StreamId{99, 0}));
  log.SetLastId({100, UINT64_MAX});
  EXPECT_EQ(log.AutoId(50), (StreamId{101, 0}));
  EXPECT_EQ(log.AutoSequence(100), std::nullopt);
  log.SetLastId(StreamId::Max());
  EXPECT_EQ(log.AutoId(50), std::nullopt);
}

TEST(StreamLog, TakesLessThanTwelveBytesForAShortEntry) {
  StreamLog log;
  const std::vector<Bytes> words{"f1", "v1", "f2", "v2"};
  for (uint64_t i = 0; i < 100000; ++i) log.Add({1700000000000 + i / 20, i % 20}, words, kDefaults);
  EXPECT_LT(log.UsedBytes(0), 100000u * 12);
}

TEST(StreamLog, CountsReadEntriesAndLag) {
  StreamLog log;
  StreamGroup& group = *log.CreateGroup("g", {}, StreamGroup::kUnknownCount);
  EXPECT_EQ(log.CreateGroup("g", {}, 0), nullptr);
  EXPECT_EQ(log.LagOf(group), 0);
  Fill(log, 5);
  EXPECT_EQ(log.LagOf(group), 5);
  log.AdvanceGroup(group, {1, 0});
  EXPECT_EQ(group.entries_read, 1);
  log.AdvanceGroup(group, {2, 0});
  EXPECT_EQ(log.LagOf(group), 3);
  log.Delete({4, 0});
  EXPECT_EQ(log.LagOf(group), std::nullopt);
  log.AdvanceGroup(group, {3, 0});
  EXPECT_EQ(group.entries_read, StreamGroup::kUnknownCount);
  log.AdvanceGroup(group, {5, 0});
  EXPECT_EQ(group.entries_read, 5);
  EXPECT_EQ(log.LagOf(group), 0);
}

TEST(StreamLog, CountsNodesOfARadixTree) {
  StreamLog log;
  EXPECT_EQ(log.RadixTreeNodes(), 1u);
  Fill(log, 1, {0, 1});
  EXPECT_EQ(log.RadixTreeNodes(), 2u);
  Fill(log, 0);
  log.Add({2, 0}, std::vector<Bytes>{"f", "v"}, {0, 1});
  EXPECT_EQ(log.RadixTreeNodes(), 6u);  // a stretch, a fork, and a stretch and an end for each key
}

// Compares the pending entries and their consumers with a map.
void RunGroupAgainstModel(uint64_t seed) {
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  StreamLog log;
  StreamGroup& group = *log.CreateGroup("group", {}, 0);
  struct Row {
    std::string consumer;
    int64_t when;
    uint64_t count;
    bool operator==(const Row&) const = default;
  };
  std::map<StreamId, Row> model;
  for (int step = 0; step < 4000; ++step) {
    const StreamId id{random.Below(500), random.Below(3)};
    const std::string name(1, static_cast<char>('a' + random.Below(5)));
    StreamConsumer* consumer = group.FindConsumer(name);
    if (consumer == nullptr) consumer = &group.CreateConsumer(name, step);
    const uint64_t dice = random.Below(100);
    if (dice < 55) {
      group.Assign(id, {consumer, step, 1});
      model[id] = {name, step, 1};
    } else if (dice < 65 && model.count(id) == 1) {
      group.DeliverAgain(id, step);
      model[id].when = step;
      ++model[id].count;
    } else if (dice < 99) {
      ASSERT_EQ(group.RemovePending(id), model.erase(id) == 1);
    } else {
      group.DeleteConsumer(*consumer);
      std::erase_if(model, [&](const auto& item) { return item.second.consumer == name; });
    }
    if (step % 100 != 0) continue;
    ASSERT_TRUE(log.IsConsistent());
    const auto copy = log.Clone();
    ASSERT_TRUE(static_cast<StreamLog&>(*copy).IsConsistent());
    std::map<StreamId, Row> found;
    const StreamGroup& copied = static_cast<StreamLog&>(*copy).groups().begin()->second;
    for (auto at = copied.pending().First(); !at.AtEnd(); at.Next()) {
      found[at.Id()] = {*at.Get().consumer->name, at.Get().delivered_ms, at.Get().deliveries};
    }
    ASSERT_EQ(found, model);
  }
  EXPECT_EQ(log.Size(), 1 + model.size());
  EXPECT_TRUE(log.DestroyGroup("group"));
  EXPECT_FALSE(log.DestroyGroup("group"));
}

TEST(StreamGroup, AgreesWithAModel) {
  for (uint64_t seed = 1; seed <= 5; ++seed) RunGroupAgainstModel(seed);
}

TEST(StreamLog, LoadsBlocksAndRefusesDisorder) {
  StreamLog log;
  const std::vector<Bytes> names{"f"};
  const std::vector<Bytes> words{"f", "v"};
  EXPECT_TRUE(log.LoadBlock({5, 0}, names));
  EXPECT_FALSE(log.LoadEntry({4, 9}, words, EntryState::kLive));
  EXPECT_TRUE(log.LoadEntry({5, 0}, words, EntryState::kLive));
  EXPECT_FALSE(log.LoadEntry({5, 0}, words, EntryState::kLive));
  EXPECT_TRUE(log.LoadEntry({6, 0}, words, EntryState::kDeleted));
  EXPECT_TRUE(log.LoadEntry({5, 1}, words, EntryState::kDeleted));
  EXPECT_TRUE(log.LoadEntry({5, 2}, words, EntryState::kLive));
  EXPECT_FALSE(log.LoadBlock({5, 2}, names));
  EXPECT_TRUE(log.LoadBlock({7, 0}, names));
  EXPECT_TRUE(log.LoadEntry({7, 0}, words, EntryState::kLive));
  log.SetLastId({7, 0});
  log.FinishLoading();
  EXPECT_EQ(log.Length(), 3u);
  EXPECT_EQ(log.FirstId(), (StreamId{5, 0}));
  EXPECT_TRUE(log.IsConsistent());
}

}  // namespace
}  // namespace respite
