#include "base/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace respite {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

TEST(IntegerText, PrintsTheExtremes) {
  EXPECT_EQ(Bytes(IntegerText(0)), "0");
  EXPECT_EQ(Bytes(IntegerText(-1)), "-1");
  EXPECT_EQ(Bytes(IntegerText(kHighest)), "9223372036854775807");
  EXPECT_EQ(Bytes(IntegerText(kLowest)), "-9223372036854775808");
  EXPECT_EQ(Bytes(IntegerText::FromUnsigned(std::numeric_limits<uint64_t>::max())), "18446744073709551615");
}

TEST(ParseInteger, ReadsBackWhatIsPrinted) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 100'000; i++) {
    const auto value = static_cast<int64_t>(random.Next()) >> random.Below(64);
    ASSERT_EQ(ParseInteger(IntegerText(value)), value);
  }
}

TEST(ParseInteger, KnowsItsLimits) {
  EXPECT_EQ(ParseInteger("9223372036854775807"), kHighest);
  EXPECT_EQ(ParseInteger("-9223372036854775808"), kLowest);
  EXPECT_EQ(ParseInteger("0"), 0);
  for (const Bytes text :
       {"9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
        "99999999999999999999", "-99999999999999999999", "100000000000000000000"}) {
    EXPECT_EQ(ParseInteger(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, RefusesWhatItWouldNotPrint) {
  for (const Bytes text : {"", "-", "+1", "-0", "00", "01", "-01", " 1", "1 ", "1.0", "1e3", "0x1", "--1", "1-", "a",
                           "/", ":", "1234567890123456789a", "1\n"}) {
    EXPECT_EQ(ParseInteger(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseInteger(Bytes("1\0", 2)), std::nullopt);
}

TEST(ParseUnsigned, TakesTheWholeRangeAndNoSign) {
  EXPECT_EQ(ParseUnsigned("0"), 0U);
  EXPECT_EQ(ParseUnsigned("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  for (const Bytes text :
       {"", "-1", "-0", "+1", "01", "18446744073709551616", "28446744073709551615", "1844674407370955161x"}) {
    EXPECT_EQ(ParseUnsigned(text), std::nullopt) << text;
  }
}

struct FloatCase {
  Bytes text;
  double value;
};

TEST(ParseDouble, ReadsEveryForm) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [text, value] : {FloatCase{"0", 0},
                                    {"1", 1},
                                    {"-1.5", -1.5},
                                    {"+5", 5},
                                    {"1.", 1},
                                    {".5", 0.5},
                                    {"1e3", 1000},
                                    {"1E+3", 1000},
                                    {"0x10", 16},
                                    {"-0x1.8p1", -3},
                                    {"0X.8", 0.5},
                                    {"00012", 12},
                                    {"0.1", 0.1},
                                    {"inf", kInfinity},
                                    {"+inf", kInfinity},
                                    {"-INF", -kInfinity},
                                    {"Infinity", kInfinity},
                                    {"-infinity", -kInfinity},
                                    {"5e-324", 5e-324},
                                    {"1e-310", 1e-310},
                                    {"0e99999", 0},
                                    {"1.7976931348623157e308", 1.7976931348623157e308},
                                    {"9007199254740993", 9007199254740992.0}}) {
    EXPECT_EQ(ParseDouble(text), value) << text;
  }
}

TEST(ParseDouble, KeepsTheSignOfZero) {
  EXPECT_TRUE(std::signbit(ParseDouble("-0").value_or(1)));
  EXPECT_FALSE(std::signbit(ParseDouble("0").value_or(-1)));
}

TEST(ParseDouble, RefusesEverythingElse) {
  for (const Bytes text :
       {"",    " ",   " 1", "1 ",  "\n1", "\v1", "a",    "1a",     "1e",    "1e+",  ".",   "-",    "+",
        "--1", "+-1", "0x", "1,5", "nan", "NaN", "-nan", "nan(1)", "infin", "inf1", "1 2", "1_000"}) {
    EXPECT_EQ(ParseDouble(text), std::nullopt) << text;
    EXPECT_EQ(ParseLongDouble(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseDouble(Bytes("1\0", 2)), std::nullopt);
  EXPECT_EQ(ParseLongDouble(Bytes("1\0", 2)), std::nullopt);
}

TEST(ParseDouble, RefusesWhatIsTooLargeOrReadsAsZero) {
  for (const Bytes text : {"1e309", "-1e309", "1e99999", "1e-400", "-1e-400", "2e-324", "0x1p1024", "0x1p-1080"}) {
    EXPECT_EQ(ParseDouble(text), std::nullopt) << text;
  }
}

TEST(ParseLongDouble, IsWider) {
  for (const Bytes text : {"0", "-3", "+5", "1.", "0x10", "00012", "inf", "-Infinity", "0e99999"}) {
    EXPECT_EQ(ParseLongDouble(text), ParseDouble(text)) << text;
  }
  EXPECT_EQ(ParseLongDouble("0.1"), 0.1L);
  EXPECT_EQ(ParseLongDouble("1e400"), 1e400L);
  EXPECT_EQ(ParseLongDouble("9007199254740993"), 9007199254740993.0L);
  EXPECT_EQ(ParseLongDouble("1e5000"), std::nullopt);
  EXPECT_EQ(ParseLongDouble("1e-5000"), std::nullopt);
}

TEST(ParseLongDouble, RefusesVeryLongTexts) {
  EXPECT_EQ(ParseLongDouble(std::string(5119, '0')), 0.0L);
  EXPECT_EQ(ParseLongDouble(std::string(5120, '0')), std::nullopt);
  EXPECT_EQ(ParseDouble(std::string(6000, '0') + "1"), 1.0);
}

struct TextCase {
  double value;
  Bytes text;
};

TEST(DoubleText, PrintsIntegersPlainlyUpToTwoToThe62) {
  for (const auto& [value, text] : {TextCase{0, "0"},
                                    {-0.0, "-0"},
                                    {1, "1"},
                                    {-17, "-17"},
                                    {1e15, "1000000000000000"},
                                    {1e18, "1000000000000000000"},
                                    {123456789012345680, "123456789012345680"},
                                    {4611686018427387904.0, "4611686018427387904"},
                                    {-4611686018427387904.0, "-4611686018427387904"},
                                    {4611686018427388928.0, "4611686018427389000"},
                                    {9223372036854775808.0, "9223372036854776000"}}) {
    EXPECT_EQ(DoubleText(value), text);
  }
}

TEST(DoubleText, PicksPlainOrExponent) {
  for (const auto& [value, text] : {TextCase{0.1, "0.1"},
                                    {0.5, "0.5"},
                                    {-2.75, "-2.75"},
                                    {0.001, "0.001"},
                                    {0.0001, "0.0001"},
                                    {0.00001, "0.00001"},
                                    {0.000001, "0.000001"},
                                    {1e-7, "1e-7"},
                                    {-1.5e-7, "-1.5e-7"},
                                    {0.000012, "0.000012"},
                                    {0.0000012, "1.2e-6"},
                                    {1e19, "1e+19"},
                                    {1e20, "1e+20"},
                                    {1.5e20, "1.5e+20"},
                                    {1e21, "1e+21"},
                                    {1e22, "1e+22"},
                                    {1e100, "1e+100"},
                                    {1e-100, "1e-100"},
                                    {-1e205, "-1e+205"},
                                    {12345678901234.5, "12345678901234.5"},
                                    {3.0e-310, "3e-310"},
                                    {1234.56789012, "1234.56789012"},
                                    {1234567.89012345, "1.23456789012345e+6"},
                                    {1.7976931348623157e308, "1.7976931348623157e+308"},
                                    {5e-324, "5e-324"},
                                    {3.141592653589793, "3.141592653589793"}}) {
    EXPECT_EQ(DoubleText(value), text);
  }
}

// These are not the shortest texts, but Redis 7.2 prints them.
TEST(DoubleText, HasTheDigitsOfGrisu2) {
  EXPECT_EQ(DoubleText(5e22), "49999999999999996000000");
  EXPECT_EQ(DoubleText(4.91e-6), "4.9099999999999996e-6");
  EXPECT_EQ(DoubleText(-953548041885279.25), "-953548041885279.3");
  EXPECT_EQ(DoubleText(8e23), "7.999999999999999e+23");
}

TEST(DoubleText, NamesTheSpecials) {
  EXPECT_EQ(DoubleText(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(DoubleText(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(DoubleText(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(DoubleText(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(DoubleText, IsReadBackUnchanged) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 200'000; i++) {
    const auto value = std::bit_cast<double>(random.Next());
    if (std::isnan(value)) continue;
    ASSERT_EQ(ParseDouble(DoubleText(value)), value) << DoubleText(value);
  }
}

TEST(LongDoubleText, TrimsZerosAndNeverUsesAnExponent) {
  EXPECT_EQ(LongDoubleText(0), "0");
  EXPECT_EQ(LongDoubleText(-0.0L), "0");
  EXPECT_EQ(LongDoubleText(10.5L), "10.5");
  EXPECT_EQ(LongDoubleText(3.0L), "3");
  EXPECT_EQ(LongDoubleText(100.0L), "100");
  EXPECT_EQ(LongDoubleText(0.1L), "0.1");
  EXPECT_EQ(LongDoubleText(-1e-17L), "-0.00000000000000001");
  EXPECT_EQ(LongDoubleText(-1e-18L), "0");
  EXPECT_EQ(LongDoubleText(1e20L), "100000000000000000000");
  EXPECT_EQ(LongDoubleText(std::numeric_limits<long double>::max()).size(), 4933U);
  EXPECT_EQ(LongDoubleText(std::numeric_limits<long double>::infinity()), "inf");
  EXPECT_EQ(LongDoubleText(-std::numeric_limits<long double>::infinity()), "-inf");
  EXPECT_EQ(LongDoubleText(std::numeric_limits<long double>::quiet_NaN()), "nan");
}

TEST(FixedText, PrintsThatManyDecimals) {
  EXPECT_EQ(FixedText(0, 2), "0.00");
  EXPECT_EQ(FixedText(-1.005, 2), "-1.00");
  EXPECT_EQ(FixedText(2.5, 0), "2");
  EXPECT_EQ(FixedText(1e22, 1), "10000000000000000000000.0");
  EXPECT_EQ(FixedText(std::numeric_limits<double>::max(), 40).size(), 350U);
}

}  // namespace
}  // namespace respite
