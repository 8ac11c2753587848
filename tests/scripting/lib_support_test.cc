#include "scripting/lib_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include "lua51_programs.h"

namespace respite {
namespace {

std::string ByPrintf(double number, int precision) {
  char text[64];
  return {text, static_cast<size_t>(std::snprintf(text, sizeof(text), "%.*g", precision, number))};
}

void ExpectAsPrintf(double number) {
  for (int precision = 1; precision <= 14; ++precision) {
    for (double signed_number : {number, -number}) {
      ASSERT_EQ(Bytes(PrintedNumber(signed_number, precision)), ByPrintf(signed_number, precision)) << precision;
    }
  }
}

TEST(PrintedNumber, IsAsPrintfHasIt) {
  for (double number : {0.0,
                        1.0,
                        0.1,
                        0.5,
                        0.25,
                        9.5,
                        9.95,
                        99.5,
                        999999.5,
                        0.0001,
                        0.00012,
                        0.00009999,
                        5e-324,
                        1e14,
                        1e13,
                        99999999999999.5,
                        99999999999999.0,
                        123456.789,
                        1e100,
                        HUGE_VAL,
                        1e-5,
                        3.14}) {
    ExpectAsPrintf(number);
  }
}

TEST(PrintedNumber, IsAsPrintfHasRandomNumbers) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 3000; ++i) {
    const double integer = static_cast<double>(random() >> (random() % 64));
    const double power = std::pow(10, static_cast<double>(random() % 40) - 20);
    ExpectAsPrintf(integer);
    ExpectAsPrintf(integer * power);
    ExpectAsPrintf(static_cast<double>(random() % 100000) / std::pow(10, static_cast<double>(random() % 8)));
  }
}

TEST(TruncatedNumbers, AreThoseOfTheProcessor) {
  EXPECT_EQ(TruncatedInteger(-1.9), -1);
  EXPECT_EQ(TruncatedInteger(std::nan("")), INT64_MIN);
  EXPECT_EQ(TruncatedInteger(9223372036854775808.0), INT64_MIN);
  EXPECT_EQ(TruncatedInteger(-9223372036854775808.0), INT64_MIN);
  EXPECT_EQ(TruncatedUnsigned(-1), UINT64_MAX);
  EXPECT_EQ(TruncatedUnsigned(9223372036854775808.0), uint64_t{1} << 63);
  EXPECT_EQ(TruncatedUnsigned(18446744073709551616.0), 0u);
  EXPECT_EQ(TruncatedUnsigned(HUGE_VAL), 0u);
}

// ScriptWatch sets the count of the hook to 1 when a script has not checked the time for a while.
TEST(WorkCounter, ListensSoonAfterTheWatchWantsIt) {
  Lua51State state;
  static int looks;
  looks = 0;
  const lua_Hook hook = [](lua_State*, lua_Debug*) { ++looks; };
  lua_sethook(state.lua(), hook, LUA_MASKCOUNT, 10'000);
  WorkCounter work(state.lua());
  for (int i = 0; i < 100; ++i) work.Step();
  EXPECT_EQ(looks, 0);
  lua_sethook(state.lua(), hook, LUA_MASKCOUNT, 1);
  for (int i = 0; i < 16; ++i) work.Step();
  EXPECT_EQ(looks, 1);
  work.AddSteps(1);
  EXPECT_EQ(looks, 2);
}

}  // namespace
}  // namespace respite
