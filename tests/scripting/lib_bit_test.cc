// The results of bit. The examples are from Redis 7.2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scripting/library_fixture.h"

namespace respite {
namespace {

// clang-format off
constexpr LibraryCase kBits[] = {
    {R"(bit.tobit(2^32), bit.tobit(2^31), bit.tobit(-1), bit.tobit(1.5), bit.tobit(2.5))",
     R"(0, -2147483648, -1, 2, 2)"},
    {R"(bit.bnot(0), bit.bnot(1), bit.band(255, 15), bit.bor(1, 2, 4), bit.bxor(5, 1), bit.band(7))",
     R"(-1, -2, 15, 7, 4, 7)"},
    {R"(bit.lshift(1, 31), bit.lshift(1, 32), bit.rshift(-1, 28), bit.arshift(-256, 4), bit.rol(0x12345678, 8), bit.ror(0x12345678, 8))",
     R"(-2147483648, 1, 15, -16, 878082066, 2014458966)"},
    {R"(bit.bswap(0x12345678), bit.tohex(255), bit.tohex(255, 4), bit.tohex(-1, -8), bit.tohex(2^32 - 1))",
     R"(2018915346, "000000ff", "00ff", "FFFFFFFF", "ffffffff")"},
    {R"(bit.band("12", 8), bit.bor(2^52, 1))", R"(8, 1)"},
    {R"(bit.band())", R"(error: user_script:1: bad argument #1 to 'band' (number expected, got no value))"},
    {R"(bit.bor(1, "x"))", R"(error: user_script:1: bad argument #2 to 'bor' (number expected, got string))"},
    {R"(bit.tobit({}))", R"(error: user_script:1: bad argument #1 to 'tobit' (number expected, got table))"},
    {R"(bit.tohex(66, 2^31), bit.tohex(66, -2^31), bit.tohex(171, 2^31 - 1), bit.tohex(171, 0), bit.tohex(171, -3))",
     R"("00000042", "00000042", "000000ab", "", "0AB")"},
    {R"(bit.tohex(1, nil))", R"(error: user_script:1: bad argument #2 to 'tohex' (number expected, got nil))"},
    {R"(bit.band({}, 1, true))", R"(error: user_script:1: bad argument #1 to 'band' (number expected, got table))"},
    {R"(bit.tobit(2^51), bit.tobit(2^53 + 2), bit.tobit(1e300), bit.tobit(-1e20), bit.tobit(1/0), bit.tobit(0/0))",
     R"(0, 1, -2013235812, 2025163840, 0, 0)"},
};

// clang-format on

TEST(Bit, AnswersAsRedis) {
  LibraryState state;
  for (const LibraryCase& example : kBits)
    EXPECT_EQ(state.Show(example.expression), example.shown) << example.expression;
}

TEST(Bit, HasWhatRedisHas) {
  LibraryState state;
  EXPECT_EQ(state.Show("bit"),
            R"({"arshift"=function "band"=function "bnot"=function "bor"=function "bswap"=function "bxor"=function )"
            R"("lshift"=function "rol"=function "ror"=function "rshift"=function "tobit"=function "tohex"=function})");
}

}  // namespace
}  // namespace respite
