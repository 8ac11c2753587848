#include "datatypes/hyperloglog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

constexpr size_t kSparseMax = 3000;

Hll Of(Bytes text) { return *Hll::Of(text); }
std::string Dense() { return *Of(Hll::Empty()).ToDense(); }
std::string Element(uint64_t number) { return StrCat("element:", number); }

std::vector<uint8_t> RegistersOf(Bytes text) {
  HllRegisters all;
  EXPECT_TRUE(all.Merge(Of(text)));
  std::vector<uint8_t> registers;
  for (size_t index = 0; index < HllRegisters::kCount; ++index) registers.push_back(all[index]);
  return registers;
}

// The runs are as short as possible: no zero run follows another zero run.
void CheckInvariants(const std::string& text) {
  const Hll hll = Of(text);
  ASSERT_TRUE(hll.HasAllRegisters());
  if (hll.Encoding() == HllEncoding::kDense) return;
  bool after_zeros = false;
  for (size_t at = Hll::kHeaderSize; at < text.size();) {
    const auto byte = static_cast<uint8_t>(text[at]);
    const bool zeros = byte < 0x80;
    ASSERT_FALSE(zeros && after_zeros) << at << " in " << hll.DescribeRuns();
    after_zeros = zeros;
    at += (byte & 0xc0) == 0x40 ? 2 : 1;
  }
}

TEST(MurmurTest, KnownHashes) {
  constexpr uint64_t kHllSeed = 0xadc83b19;
  EXPECT_EQ(MurmurHash("", kHllSeed), 0xd8dfea6585bc9732u);
  EXPECT_EQ(MurmurHash("a", kHllSeed), 0x53d2470a9b43b1a7u);
  EXPECT_EQ(MurmurHash("foo", kHllSeed), 0xe64609b8b0141cb4u);
  EXPECT_EQ(MurmurHash("12345678", kHllSeed), 0x95ebb86389132953u);
  EXPECT_EQ(MurmurHash("element:1", kHllSeed), 0x897671146919c48fu);
  EXPECT_EQ(MurmurHash("123456789abcdef", kHllSeed), 0x0a295e5895af07b9u);
}

TEST(HllTest, MarksFollowFromTheHash) {
  Random random(1);
  for (int round = 0; round < 10'000; ++round) {
    const HllObservation mark = HllObserve(Element(random.Next()));
    ASSERT_LT(mark.index, HllRegisters::kCount);
    ASSERT_GE(mark.rank, 1);
    ASSERT_LE(mark.rank, 51);
  }
}

TEST(HllTest, RecognisesValuesByTheirHeader) {
  const std::string empty(Hll::Empty());
  EXPECT_TRUE(Hll::Of(empty));
  EXPECT_TRUE(Hll::Of(Dense()));
  EXPECT_FALSE(Hll::Of(""));
  EXPECT_FALSE(Hll::Of(empty.substr(0, 15)));
  EXPECT_TRUE(Hll::Of(empty.substr(0, 16)));
  EXPECT_FALSE(Hll::Of("hyll" + empty.substr(4)));
  EXPECT_FALSE(Hll::Of(Dense() + "x"));
  EXPECT_FALSE(Hll::Of(Dense().substr(1)));
  std::string unknown = empty;
  unknown[4] = 2;
  EXPECT_FALSE(Hll::Of(unknown));
}

TEST(HllTest, AnEmptyValueIsOneRunOfZeros) {
  const Hll empty = Of(Hll::Empty());
  EXPECT_EQ(Hll::Empty().size(), 18u);
  EXPECT_EQ(empty.Encoding(), HllEncoding::kSparse);
  EXPECT_EQ(empty.DescribeRuns(), "Z:16384");
  EXPECT_EQ(empty.CachedCount(), 0u);
  EXPECT_EQ(empty.Count(), 0u);
  EXPECT_EQ(Of(Dense()).Count(), 0u);
}

TEST(HllTest, SplitsAndJoinsRuns) {
  std::string text(Hll::Empty());
  const auto runs_with = [&](uint32_t index, uint8_t rank) {
    HllAdd(text, {index, rank}, kSparseMax);
    CheckInvariants(text);
    return Of(text).DescribeRuns();
  };
  EXPECT_EQ(runs_with(100, 3), "Z:100 v:3,1 Z:16283");
  EXPECT_EQ(runs_with(101, 3), "Z:100 v:3,2 Z:16282");
  EXPECT_EQ(runs_with(99, 3), "Z:99 v:3,3 Z:16282");
  EXPECT_EQ(runs_with(99, 3), "Z:99 v:3,3 Z:16282");
  EXPECT_EQ(runs_with(102, 3), "Z:99 v:3,4 Z:16281");
  EXPECT_EQ(runs_with(103, 3), "Z:99 v:3,4 v:3,1 Z:16280");
  EXPECT_EQ(runs_with(100, 4), "Z:99 v:3,1 v:4,1 v:3,3 Z:16280");
  EXPECT_EQ(runs_with(60, 32), "z:60 v:32,1 z:38 v:3,1 v:4,1 v:3,3 Z:16280");
  EXPECT_EQ(runs_with(0, 1), "v:1,1 z:59 v:32,1 z:38 v:3,1 v:4,1 v:3,3 Z:16280");
  EXPECT_EQ(runs_with(16383, 1), "v:1,1 z:59 v:32,1 z:38 v:3,1 v:4,1 v:3,3 Z:16279 v:1,1");
  EXPECT_EQ(Of(text).CachedCount(), std::nullopt);
  HllStoreCount(text, 77);
  EXPECT_EQ(Of(text).CachedCount(), 77u);
}

TEST(HllTest, BecomesDenseWhenARankIsTooHigh) {
  std::string text(Hll::Empty());
  HllAdd(text, {5, 32}, kSparseMax);
  EXPECT_EQ(Of(text).Encoding(), HllEncoding::kSparse);
  HllAdd(text, {6, 33}, kSparseMax);
  EXPECT_EQ(Of(text).Encoding(), HllEncoding::kDense);
  EXPECT_EQ(Of(text).Register(5), 32);
  EXPECT_EQ(Of(text).Register(6), 33);
}

TEST(HllTest, BecomesDenseExactlyWhenItWouldOutgrowTheLimit) {
  for (size_t limit : {size_t{0}, size_t{17}, size_t{18}, size_t{50}, size_t{3000}, size_t{5000}}) {
    Random random(limit);
    std::string text(Hll::Empty());
    size_t longest = text.size();
    while (Of(text).Encoding() == HllEncoding::kSparse) {
      longest = std::max(longest, text.size());
      HllAdd(text, HllObserve(Element(random.Next())), limit);
    }
    EXPECT_LE(longest, std::max(limit, Hll::Empty().size()));
    EXPECT_GE(longest + 3, limit);
  }
}

// Compares random marks, often close to each other so that runs split and join, with an array of registers, during the
// change from sparse to dense.
TEST(HllTest, KeepsTheHighestRankOfEachRegister) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int round = 0; round < 60; ++round) {
    const size_t limit = random.Below(4) == 0 ? 16'000 : kSparseMax;
    const uint32_t width = random.Below(2) == 0 ? 16'384 : 300;
    std::string text(Hll::Empty());
    std::vector<uint8_t> model(HllRegisters::kCount);
    for (int step = 0; step < 3000; ++step) {
      const HllObservation mark{static_cast<uint32_t>(random.Below(width)), static_cast<uint8_t>(1 + random.Below(6))};
      const auto kind = Of(text).Add(mark, limit).kind;
      ASSERT_EQ(kind == HllChange::Kind::kNone, mark.rank <= model[mark.index]);
      HllAdd(text, mark, limit);
      model[mark.index] = std::max(model[mark.index], mark.rank);
      if (step % 100 == 0) {
        ASSERT_NO_FATAL_FAILURE(CheckInvariants(text)) << round << " " << step;
        ASSERT_EQ(RegistersOf(text), model) << round << " " << step;
      }
    }
    ASSERT_EQ(RegistersOf(text), model);
    const std::string dense = *Of(text).ToDense();
    ASSERT_EQ(RegistersOf(dense), model);
    ASSERT_EQ(Of(dense).Count(), Of(text).Count());
    HllRegisters registers;
    ASSERT_TRUE(registers.Merge(Of(text)));
    ASSERT_EQ(registers.Count(), Of(text).Count());
  }
}

TEST(HllTest, EstimatesWithinSixStandardErrors) {
  std::string text(Hll::Empty());
  uint64_t checkpoint = 100;
  for (uint64_t number = 1; number <= 1'000'000; ++number) {
    HllAdd(text, HllObserve(Element(number)), kSparseMax);
    if (number != checkpoint) continue;
    const auto exact = static_cast<double>(number);
    EXPECT_NEAR(static_cast<double>(*Of(text).Count()), exact, exact * 6 * 1.04 / 128);
    checkpoint *= 10;
  }
}

TEST(HllTest, FullRegistersHaveNoEstimate) {
  std::string text = Dense();
  for (uint32_t index = 0; index < HllRegisters::kCount; ++index) HllSetRegister(text, {index, 51});
  EXPECT_EQ(Of(text).Count(), uint64_t{1} << 63);
}

TEST(HllTest, RunsThatDoNotAddUpAreCorrupt) {
  const std::string header(Hll::Empty().substr(0, Hll::kHeaderSize));
  for (Bytes runs : {Bytes(""), Bytes("\x7f\xfe", 2), Bytes("\x7f\xff\x00", 3), Bytes("\x7f"), Bytes("\x00", 1)}) {
    const std::string text = header + std::string(runs);
    EXPECT_FALSE(Of(text).HasAllRegisters());
    EXPECT_EQ(Of(text).Count(), std::nullopt);
    EXPECT_EQ(Of(text).ToDense(), std::nullopt);
    EXPECT_FALSE(HllRegisters().Merge(Of(text)));
    EXPECT_EQ(Of(text).Add({16'383, 40}, kSparseMax).kind, HllChange::Kind::kPromote);
  }
  EXPECT_EQ(Of(header).Add({0, 1}, kSparseMax).kind, HllChange::Kind::kCorrupt);
  EXPECT_EQ(Of(header + "\x7f\xfe").Add({16'383, 1}, kSparseMax).kind, HllChange::Kind::kCorrupt);
}

// Random bytes after a valid header: nothing may read or write beyond them (AddressSanitizer checks this), and a value
// found to be complete stays complete.
TEST(HllTest, SurvivesAnyBytes) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(Hll::Empty().substr(0, Hll::kHeaderSize));
    text.resize(Hll::kHeaderSize + random.Below(60));
    for (size_t at = Hll::kHeaderSize; at < text.size(); ++at)
      text[at] = static_cast<char>(random.Below(3) == 0 ? 0x40 | random.Below(64) : random.Next());
    text.shrink_to_fit();
    const Hll hll = Of(text);
    hll.DescribeRuns();
    EXPECT_EQ(hll.ToDense().has_value(), HllRegisters().Merge(hll));
    if (hll.Count()) {
      EXPECT_TRUE(hll.ToDense().has_value());
    }
    for (int step = 0; step < 20; ++step) {
      const HllObservation mark{static_cast<uint32_t>(random.Below(16'384)),
                                static_cast<uint8_t>(1 + random.Below(33))};
      const HllChange change = Of(text).Add(mark, 60);
      if (change.kind != HllChange::Kind::kSplice) continue;
      ASSERT_LE(change.offset + change.removed, text.size());
      text.replace(change.offset, change.removed, change.InsertedBytes());
    }
  }
}

}  // namespace
}  // namespace respite
