#include "base/str_cat.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace respite {
namespace {

TEST(StrCat, TakesEachKindOfTextAndInteger) {
  const std::string text = "text";
  EXPECT_EQ(StrCat(), "");
  EXPECT_EQ(StrCat("a", 'b', text, Bytes("d"), IntegerText(-5)), "abtextd-5");
  EXPECT_EQ(StrCat(int8_t{-7}, ' ', uint8_t{65}, ' ', 1, ' ', 2u), "-7 65 1 2");
  EXPECT_EQ(StrCat(std::numeric_limits<int64_t>::min(), '/', std::numeric_limits<uint64_t>::max()),
            "-9223372036854775808/18446744073709551615");
  EXPECT_EQ(StrCat(std::string("a\0b", 3), '\0').size(), 4u);
}

TEST(StrCat, AppendsWithGeometricGrowth) {
  std::string text = "x";
  StrAppend(text);
  EXPECT_EQ(text, "x");
  int growths = 0;
  for (int i = 0; i < 10'000; ++i) {
    const size_t before = text.capacity();
    StrAppend(text, i, ',');
    growths += text.capacity() != before ? 1 : 0;
  }
  EXPECT_LT(growths, 30);
  EXPECT_EQ(text.substr(0, 6), "x0,1,2");
}

}  // namespace
}  // namespace respite
