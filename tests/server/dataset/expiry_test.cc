#include "server/dataset/expiry.h"

#include <gtest/gtest.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/hash.h"
#include "server/dataset/key_usage.h"
#include "server/dataset/unit.h"

namespace respite {
namespace {

// Simulates a slow machine: each reading of the clock takes time.
class SlowPace final : public RealClock {
 public:
  explicit SlowPace(int64_t reading_us) : reading_us_(reading_us) {}
  int64_t NowUs() const override { return now_us_ += reading_us_; }

 private:
  int64_t reading_us_;
  mutable int64_t now_us_ = 1'000'000;
};

class ExpiryTest : public testing::Test {
 protected:
  static constexpr int kHz = 10;
  static constexpr int64_t kTickMs = 1000 / kHz;

  void AddKey(int db, const std::string& key, int64_t deadline_ms) {
    keyspace_[db].Add(key, StringContent::Value("v"), deadline_ms, 0);
  }
  // Adds a hash that has `fields` fields with this deadline, and one field without.
  void AddHash(const std::string& key, int fields, int64_t deadline_ms) {
    Entry* entry = keyspace_[0].Add(
        EntryPtr(Entry::CreatePacked(key, Hash::kType, Hash::kInitialForm, Hash::InitialPacked(), 0, 0)));
    Hash hash({ValueSlot(keyspace_[0], entry), settings_, 0});
    hash.Set("stays", "v");
    for (int i = 0; i < fields; ++i) {
      hash.Set(StrCat("f", i), "v");
      hash.SetDeadline(StrCat("f", i), deadline_ms);
    }
  }
  static void RunRound(Expiry& expiry, const Settings& settings) {
    expiry.StartRound(settings, kHz);
    while (expiry.RunSlice().outcome == Expiry::Outcome::kMore) {
    }
  }
  size_t Dead(int db, int64_t now_ms) const {
    size_t dead = 0;
    keyspace_[db].ForEach([&](const Entry* entry) { dead += entry->IsExpired(now_ms) ? 1 : 0; });
    return dead;
  }

  Settings settings_;
  Dataset data_{settings_, {7}, 7};
  Keyspace& keyspace_ = data_.keyspace;
  KeyspaceStats& stats_ = data_.stats;
};

TEST_F(ExpiryTest, KeepsTheShareOfDeadKeysLow) {
  ManualClock clock;
  Expiry expiry(data_, clock, clock);
  constexpr int kKeys = 100'000;
  constexpr uint64_t kLifeMs = 20'000;
  for (int i = 0; i < kKeys; ++i) {
    AddKey(0, StrCat("k", i), clock.WallMs() + 1 + static_cast<int64_t>(data_.random.Below(kLifeMs)));
  }
  for (uint64_t elapsed_ms = 0; elapsed_ms < kLifeMs / 2; elapsed_ms += kTickMs) {
    clock.AdvanceMs(kTickMs);
    RunRound(expiry, settings_);
    ASSERT_LE(Dead(0, clock.WallMs()) * 10, keyspace_[0].CountKeysWithDeadline())
        << "after " << elapsed_ms + kTickMs << " ms";
  }
  EXPECT_GT(stats_.expired_keys, kKeys / 3u);
  EXPECT_GT(stats_.expired_stale_share, 0);
  EXPECT_EQ(stats_.expire_cycles_out_of_time, 0u);
}

TEST_F(ExpiryTest, RemovesEverythingThatDiesAtOnce) {
  ManualClock clock;
  Expiry expiry(data_, clock, clock);
  for (int i = 0; i < 100'000; ++i) AddKey(3, StrCat("k", i), clock.WallMs() + 10);
  clock.AdvanceMs(20);
  for (int round = 0; round < 3; ++round) RunRound(expiry, settings_);
  EXPECT_EQ(keyspace_[3].Size(), 0u);
  EXPECT_EQ(stats_.expired_keys, 100'000u);
}

TEST_F(ExpiryTest, LeavesTheLivingAlone) {
  ManualClock clock;
  Expiry expiry(data_, clock, clock);
  for (int i = 0; i < 1000; ++i) AddKey(0, StrCat("k", i), clock.WallMs() + 5000);
  RunRound(expiry, settings_);
  EXPECT_EQ(keyspace_[0].Size(), 1000u);
  EXPECT_EQ(stats_.expired_keys, 0u);
  EXPECT_EQ(expiry.AverageTtlMs(0), 5000);
}

TEST_F(ExpiryTest, DeadlinesAtTheEndOfTimeDoNotOverflowTheAverage) {
  ManualClock clock;
  Expiry expiry(data_, clock, clock);
  for (int i = 0; i < 1000; ++i) AddKey(0, StrCat("k", i), INT64_MAX);
  RunRound(expiry, settings_);
  EXPECT_EQ(expiry.AverageTtlMs(0), INT64_MAX / 4096);
}

TEST_F(ExpiryTest, WorksInSlicesAndStopsWhenTheBudgetIsSpent) {
  const ManualClock clock;
  const SlowPace real_clock(100);
  Expiry expiry(data_, clock, real_clock);
  for (int i = 0; i < 100'000; ++i) AddKey(0, StrCat("k", i), clock.WallMs() - 1);
  expiry.StartRound(settings_, kHz);
  int64_t total_us = 0;
  int slices = 0;
  for (;;) {
    Expiry::Slice slice = expiry.RunSlice();
    ++slices;
    total_us += slice.elapsed_us;
    EXPECT_LE(slice.elapsed_us, Expiry::kSliceUs + 200);
    if (slice.outcome == Expiry::Outcome::kFinished) break;
  }
  EXPECT_GT(slices, 10);
  EXPECT_LE(total_us, 25'000 + Expiry::kSliceUs);
  EXPECT_EQ(stats_.expire_cycles_out_of_time, 1u);
  EXPECT_GT(keyspace_[0].Size(), 0u);
}

TEST_F(ExpiryTest, FewKeysAreRemovedBetweenTwoReadingsOfTheClock) {
  const ManualClock clock;
  const SlowPace real_clock(Expiry::kSliceUs);
  Expiry expiry(data_, clock, real_clock);
  for (int i = 0; i < 10'000; ++i) AddKey(0, StrCat("k", i), clock.WallMs() - 1);
  expiry.StartRound(settings_, kHz);
  for (size_t before = 10'000; expiry.RunSlice().outcome == Expiry::Outcome::kMore; before = keyspace_[0].Size()) {
    ASSERT_LT(keyspace_[0].Size(), before);
    ASSERT_GT(keyspace_[0].Size() + 200, before);  // a step of the scan may find several keys
  }
}

TEST_F(ExpiryTest, CleansALargeHashInSlices) {
  const ManualClock clock;
  const SlowPace real_clock(100);
  Expiry expiry(data_, clock, real_clock);
  constexpr int kFields = 50'000;
  AddHash("h", kFields, clock.WallMs() - 1);
  for (int i = 0; i < 100; ++i) AddHash(StrCat("living", i), 1, clock.WallMs() + 5000);
  expiry.StartRound(settings_, kHz);
  Expiry::Slice slice{};
  do {
    const uint64_t before = stats_.expired_fields;
    slice = expiry.RunSlice();
    EXPECT_LE(slice.elapsed_us, Expiry::kSliceUs + 300);
    EXPECT_LE(stats_.expired_fields - before, 5000u) << "too many for one slice";
  } while (slice.outcome == Expiry::Outcome::kMore);
  EXPECT_GT(stats_.expired_fields, 5000u);
  for (int round = 0; round < 20; ++round) RunRound(expiry, settings_);
  EXPECT_EQ(stats_.expired_fields, static_cast<uint64_t>(kFields));
  EXPECT_EQ(keyspace_[0].HashesWithFieldDeadlines().Size(), 100u);
  EXPECT_EQ(keyspace_[0].Find("h")->FreeEffort(), 1u) << "the field without a deadline";
}

TEST_F(ExpiryTest, DoesNothingWhenSwitchedOff) {
  ManualClock clock;
  Expiry expiry(data_, clock, clock);
  AddKey(0, "k", clock.WallMs() - 1);
  expiry.SetActive(false);
  RunRound(expiry, settings_);
  EXPECT_EQ(keyspace_[0].Size(), 1u);
  expiry.SetActive(true);
  RunRound(expiry, settings_);
  EXPECT_EQ(keyspace_[0].Size(), 0u);
}

TEST_F(ExpiryTest, ARoundEndsWhenItIsSwitchedOff) {
  const ManualClock clock;
  const SlowPace real_clock(100);
  Expiry expiry(data_, clock, real_clock);
  for (int i = 0; i < 100'000; ++i) AddKey(0, StrCat("k", i), clock.WallMs() - 1);
  expiry.StartRound(settings_, kHz);
  ASSERT_EQ(expiry.RunSlice().outcome, Expiry::Outcome::kMore);
  const size_t left = keyspace_[0].Size();
  expiry.SetActive(false);
  EXPECT_EQ(expiry.RunSlice().outcome, Expiry::Outcome::kFinished);
  EXPECT_EQ(keyspace_[0].Size(), left);
}

// A script may read the same expired key any number of times.
TEST_F(ExpiryTest, AKeyThatIsFoundExpiredOftenIsNotedOnce) {
  const std::string key(10'000, 'k');
  AddKey(0, key, 500);
  for (const ExpiryRule rule : {ExpiryRule::kHide, ExpiryRule::kPurge}) {
    const ThreadMemory memory = ThreadMemory::OfThisThread();
    const int64_t before = memory.HeldBytes();
    Unit unit(data_, 1000, rule);
    for (int i = 0; i < 1000; ++i) {
      unit.PurgeLater(0, key);
      unit.PurgeLater(0, "absent");
    }
    EXPECT_LT(memory.HeldBytes() - before, 100'000);
    unit.ReportMiss(0, "absent");
    unit.Close();
    EXPECT_EQ(keyspace_[0].Find(key) == nullptr, rule == ExpiryRule::kPurge);
  }
  EXPECT_EQ(stats_.expired_keys, 1u);
}

}  // namespace
}  // namespace respite
