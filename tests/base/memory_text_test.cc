#include "base/memory_text.h"

#include <gtest/gtest.h>

namespace respite {
namespace {

TEST(ParseMemory, KnowsTheUnits) {
  EXPECT_EQ(ParseMemory("0"), 0U);
  EXPECT_EQ(ParseMemory("1024"), 1024U);
  EXPECT_EQ(ParseMemory("7b"), 7U);
  EXPECT_EQ(ParseMemory("1k"), 1000U);
  EXPECT_EQ(ParseMemory("1Kb"), 1024U);
  EXPECT_EQ(ParseMemory("2M"), 2'000'000U);
  EXPECT_EQ(ParseMemory("2MB"), 2U << 20);
  EXPECT_EQ(ParseMemory("3g"), 3'000'000'000U);
  EXPECT_EQ(ParseMemory("3gB"), uint64_t{3} << 30);
  EXPECT_EQ(ParseMemory("007"), 7U);
  EXPECT_EQ(ParseMemory("18446744073709551615"), UINT64_MAX);
}

TEST(ParseMemory, RefusesGarbage) {
  for (const Bytes text : {"-1", "+1", " 1", "1 ", "1 kb", "1t", "1kk", "1.5g", "x", "1%", "0x10", "1bk"}) {
    EXPECT_EQ(ParseMemory(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseMemory(std::string(128, '0')), std::nullopt);
}

TEST(ParseMemory, KeepsRedisOddities) {
  EXPECT_EQ(ParseMemory(""), 0U);
  EXPECT_EQ(ParseMemory("kb"), 0U);
  EXPECT_EQ(ParseMemory(std::string(127, '0')), 0U);
  EXPECT_EQ(ParseMemory("18446744073709551616"), UINT64_MAX);
  EXPECT_EQ(ParseMemory("18446744073709551615gb"), UINT64_MAX << 30);
}

TEST(HumanBytes, PicksTheUnit) {
  EXPECT_EQ(HumanBytes(0), "0B");
  EXPECT_EQ(HumanBytes(1023), "1023B");
  EXPECT_EQ(HumanBytes(1024), "1.00K");
  EXPECT_EQ(HumanBytes(902'410), "881.26K");
  EXPECT_EQ(HumanBytes((1U << 20) - 1), "1024.00K");
  EXPECT_EQ(HumanBytes(1'572'864), "1.50M");
  EXPECT_EQ(HumanBytes(uint64_t{2} << 30), "2.00G");
  EXPECT_EQ(HumanBytes(uint64_t{1} << 40), "1.00T");
  EXPECT_EQ(HumanBytes(uint64_t{5} << 50), "5.00P");
  EXPECT_EQ(HumanBytes(uint64_t{1} << 60), "1152921504606846976B");
  EXPECT_EQ(HumanBytes(UINT64_MAX), "18446744073709551615B");
}

}  // namespace
}  // namespace respite
