#include "server/process/crash/symbols.h"

#include <gtest/gtest.h>

#include <string>

namespace respite {

// Not in an anonymous namespace, since the test compares its mangled name.
[[gnu::noinline]] int FunctionToBeFound(int number) { return number * 3 + 1; }

namespace {

TEST(Symbols, NameTheFunctionAnAddressIsIn) {
  const Symbols symbols;
  volatile int number = 2;
  ASSERT_EQ(FunctionToBeFound(number), 7);  // keeps the optimiser from removing it
  const auto address = reinterpret_cast<uint64_t>(&FunctionToBeFound);
  ASSERT_TRUE(symbols.IsInProgram(address));
  const Symbols::Place place = symbols.Find(address + 1);
  EXPECT_NE(std::string(place.function).find("FunctionToBeFound"), std::string::npos) << place.function;
  EXPECT_EQ(place.function_offset, 1u);
  EXPECT_EQ(symbols.Find(address).program_offset + 1, place.program_offset);
}

TEST(Symbols, OtherMemoryIsNotInTheProgram) {
  const Symbols symbols;
  int on_the_stack = 0;
  EXPECT_FALSE(symbols.IsInProgram(reinterpret_cast<uint64_t>(&on_the_stack)));
  EXPECT_FALSE(symbols.IsInProgram(0));
  EXPECT_FALSE(symbols.IsInProgram(~uint64_t{0}));
}

}  // namespace

}  // namespace respite
