#include "datatypes/stream_id.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/stream_id_map.h"

namespace respite {
namespace {

using Sequence = ParsedStreamId::Sequence;

TEST(StreamId, HasNeighbours) {
  EXPECT_EQ((StreamId{1, 2}.Next()), (StreamId{1, 3}));
  EXPECT_EQ((StreamId{1, UINT64_MAX}.Next()), (StreamId{2, 0}));
  EXPECT_EQ(StreamId::Max().Next(), std::nullopt);
  EXPECT_EQ((StreamId{1, 2}.Previous()), (StreamId{1, 1}));
  EXPECT_EQ((StreamId{1, 0}.Previous()), (StreamId{0, UINT64_MAX}));
  EXPECT_EQ(StreamId::Min().Previous(), std::nullopt);
}

TEST(StreamId, PrintsAndReadsBytes) {
  EXPECT_EQ(StreamIdText({12, 3}).View(), "12-3");
  EXPECT_EQ(StreamIdText({12, 3}, '.').View(), "12.3");
  EXPECT_EQ(StreamIdText(StreamId::Max()).View(), "18446744073709551615-18446744073709551615");
  const auto bytes = StreamId{1, 258}.RawBytes();
  EXPECT_EQ(Bytes(bytes.data(), bytes.size()), Bytes("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\1\2", 16));
  EXPECT_EQ(StreamId::FromBytes({bytes.data(), bytes.size()}), (StreamId{1, 258}));
}

TEST(StreamId, ParsesWhatClientsWrite) {
  const auto parse = [](Bytes text) { return ParseStreamId(text); };
  EXPECT_EQ(parse("5-7")->id, (StreamId{5, 7}));
  EXPECT_EQ(parse("5-7")->sequence, Sequence::kGiven);
  EXPECT_EQ(parse("5")->sequence, Sequence::kMissing);
  EXPECT_EQ(parse("5")->WithDefaultSequence(9), (StreamId{5, 9}));
  EXPECT_EQ(parse("5-7")->WithDefaultSequence(9), (StreamId{5, 7}));
  EXPECT_EQ(parse("5-*")->sequence, Sequence::kAutomatic);
  EXPECT_EQ(parse("18446744073709551615-18446744073709551615")->id, StreamId::Max());
  EXPECT_EQ(parse("007-+5")->id, (StreamId{7, 5}));
  EXPECT_EQ(parse("1--05")->id, (StreamId{1, UINT64_MAX - 4}));
  for (Bytes bad :
       {"", "-", "+", "*", "$", ">", "a", "1-", "-1", "1-a", "1--5", "1-2-3", "18446744073709551616", "1-**"}) {
    EXPECT_FALSE(parse(bad)) << bad;
  }
  // As in Redis, the text ends at the first NUL.
  EXPECT_EQ(parse(Bytes("5-7\0junk", 8))->id, (StreamId{5, 7}));
  EXPECT_FALSE(parse(Bytes("5-\0007", 4)));
  EXPECT_EQ(parse(Bytes("5\0-7", 4))->sequence, Sequence::kMissing);
  EXPECT_EQ(parse(Bytes("5-*\0", 4))->sequence, Sequence::kAutomatic);
  EXPECT_FALSE(parse(Bytes("\0005", 2)));
  EXPECT_FALSE(parse("5-7" + std::string(125, '\0')));
  EXPECT_FALSE(parse(std::string(128, '0')));
  EXPECT_TRUE(parse(std::string(127, '0')));
}

using Map = StreamIdMap<uint64_t>;
using StreamIdModel = std::map<StreamId, uint64_t>;

void ExpectSame(const Map& map, const StreamIdModel& model) {
  ASSERT_TRUE(map.IsConsistent());
  ASSERT_EQ(map.Size(), model.size());
  auto expected = model.begin();
  for (auto at = map.First(); !at.AtEnd(); at.Next(), ++expected) {
    ASSERT_EQ(at.Id(), expected->first);
    ASSERT_EQ(at.Get(), expected->second);
  }
  auto backward = model.rbegin();
  for (auto at = map.Last(); !at.AtEnd(); at.Previous(), ++backward) ASSERT_EQ(at.Id(), backward->first);
}

void ExpectSameBounds(const Map& map, const StreamIdModel& model, const StreamId& id) {
  const auto above = model.lower_bound(id);
  const auto at_or_after = map.AtOrAfter(id);
  ASSERT_EQ(at_or_after.AtEnd(), above == model.end());
  if (above != model.end()) {
    ASSERT_EQ(at_or_after.Id(), above->first);
  }
  const auto behind = model.upper_bound(id);
  const auto at_or_before = map.AtOrBefore(id);
  ASSERT_EQ(at_or_before.AtEnd(), behind == model.begin());
  if (behind != model.begin()) {
    ASSERT_EQ(at_or_before.Id(), std::prev(behind)->first);
  }
}

// Grows and shrinks in waves: chooses from `spread` IDs; `in_order` adds after the last and removes the first.
void RunAgainstModel(uint64_t seed, uint64_t spread, bool in_order) {
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  Map map;
  StreamIdModel model;
  uint64_t next = 0;
  for (int wave = 0; wave < 6; ++wave) {
    const uint64_t adds_of_10 = wave % 2 == 0 ? 8 : 1;
    for (int step = 0; step < 6000; ++step) {
      const bool add = random.Below(10) < adds_of_10;
      StreamId id{random.Below(spread) / 7, random.Below(7)};
      if (in_order && random.Below(20) > 0)
        id = add ? StreamId{++next / 5 + spread, next % 5} : map.First().AtEnd() ? id : map.First().Id();
      if (add) {
        ASSERT_EQ(map.Insert(id, next + id.ms), model.emplace(id, next + id.ms).second);
      } else {
        ASSERT_EQ(map.Erase(id), model.erase(id) == 1);
      }
      if (step % 50 == 0) ExpectSameBounds(map, model, StreamId{random.Below(spread) / 7, 3});
      if (step % 500 == 0) {
        ASSERT_NO_FATAL_FAILURE(ExpectSame(map, model));
      }
    }
  }
  while (!model.empty()) {
    const StreamId id = model.begin()->first;
    ASSERT_TRUE(map.Erase(id));
    model.erase(id);
    if (model.size() % 300 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectSame(map, model));
    }
  }
  ASSERT_TRUE(map.First().AtEnd());
}

TEST(StreamIdMap, AgreesWithAModel) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    RunAgainstModel(seed, 50, false);
    RunAgainstModel(seed, 100000, false);
    RunAgainstModel(seed, 100000, true);
  }
}

TEST(StreamIdMap, GrowsDeepAndIsFreed) {
  Map map;
  for (uint64_t i = 0; i < 300000; ++i) ASSERT_TRUE(map.Insert({i, 0}, i));
  EXPECT_TRUE(map.IsConsistent());
  EXPECT_LT(map.UsedBytes(), 300000 * 26);
  Map moved = std::move(map);
  EXPECT_EQ(*moved.Find({299999, 0}), 299999u);
  moved.Clear();
  EXPECT_EQ(moved.Find({5, 0}), nullptr);
  EXPECT_TRUE(moved.Insert({5, 0}, 1));
}

}  // namespace
}  // namespace respite
