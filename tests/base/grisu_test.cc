#include "base/grisu.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "base/number_text.h"
#include "base/random.h"

namespace respite {
namespace {

std::string Scientific(double value) {
  const Decimal decimal = ShortDecimal(value);
  return std::string(decimal.Digits()) + "e" + IntegerText(decimal.scale).Text();
}

TEST(ShortDecimal, HasNoZerosAtItsEnds) {
  EXPECT_EQ(Scientific(1), "1e0");
  EXPECT_EQ(Scientific(-100), "1e2");
  EXPECT_EQ(Scientific(0.25), "25e-2");
  EXPECT_EQ(Scientific(123456), "123456e0");
}

TEST(ShortDecimal, ReachesTheEndsOfTheRange) {
  EXPECT_EQ(Scientific(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(Scientific(std::numeric_limits<double>::min()), "22250738585072014e-324");
  EXPECT_EQ(Scientific(std::numeric_limits<double>::max()), "17976931348623157e292");
}

TEST(ShortDecimal, ReadsBackAroundEveryPowerOfTwo) {
  for (int exponent = -1074; exponent < 1024; exponent++) {
    const double power = std::ldexp(1.0, exponent);
    for (const double value : {std::nextafter(power, 0), power, std::nextafter(power, 1e308)}) {
      if (value == 0) continue;
      ASSERT_EQ(ParseDouble(Scientific(value)), value);
    }
  }
}

TEST(ShortDecimal, ReadsBackAnyDouble) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 200'000; i++) {
    const double value = std::fabs(std::bit_cast<double>(random.Next()));
    if (!std::isfinite(value) || value == 0) continue;
    const Decimal decimal = ShortDecimal(value);
    ASSERT_EQ(ParseDouble(Scientific(value)), value);
    ASSERT_NE(decimal.digits[0], '0');
    ASSERT_LE(decimal.size, 18U);
  }
}

}  // namespace
}  // namespace respite
