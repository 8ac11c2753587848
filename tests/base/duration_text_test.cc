#include "base/duration_text.h"

#include <gtest/gtest.h>

namespace respite {
namespace {

TEST(ParseDurationMs, KnowsTheUnits) {
  EXPECT_EQ(ParseDurationMs("0"), 0);
  EXPECT_EQ(ParseDurationMs("250"), 250);
  EXPECT_EQ(ParseDurationMs("250ms"), 250);
  EXPECT_EQ(ParseDurationMs("30s"), 30'000);
  EXPECT_EQ(ParseDurationMs("5M"), 300'000);
  EXPECT_EQ(ParseDurationMs("2h"), 7'200'000);
  EXPECT_EQ(ParseDurationMs("7d"), 604'800'000);
  EXPECT_EQ(ParseDurationMs("9223372036854775807"), INT64_MAX);
}

TEST(ParseDurationMs, RefusesGarbage) {
  for (const Bytes text : {"", "s", "-1", "+1", "1 s", " 1", "1.5s", "1y", "1sec", "01s", "9223372036854775808",
                           "9223372036854775807s", "106751991168d"}) {
    EXPECT_EQ(ParseDurationMs(text), std::nullopt) << text;
  }
}

TEST(DurationText, ReadsBack) {
  EXPECT_EQ(DurationText(0), "0");
  EXPECT_EQ(DurationText(1500), "1500ms");
  EXPECT_EQ(DurationText(90'000), "90s");
  EXPECT_EQ(DurationText(300'000), "5m");
  EXPECT_EQ(DurationText(86'400'000), "1d");
  for (const int64_t ms : {int64_t{1}, int64_t{999}, int64_t{61'000}, int64_t{7'200'000}, INT64_MAX}) {
    EXPECT_EQ(ParseDurationMs(DurationText(ms)), ms);
  }
}

}  // namespace
}  // namespace respite
