#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/refusal.h"

namespace respite {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Failure("odd");
  return number / 2;
}

TEST(Result, HoldsAValueOrAReason) {
  EXPECT_TRUE(Half(4).ok());
  EXPECT_EQ(Half(4).value(), 2);
  EXPECT_FALSE(Half(3));
  EXPECT_EQ(Half(3).error(), "odd");
}

TEST(Result, DistinguishesAStringFromAReason) {
  const Result<std::string> good = "text";
  const Result<std::string> bad = Failure("text");
  EXPECT_TRUE(good.ok());
  EXPECT_FALSE(bad.ok());
}

TEST(Result, MovesMoveOnlyTypes) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> owned = std::move(result).value();
  EXPECT_EQ(*owned, 7);
}

TEST(Result, TakesOtherReasonsAndNoValue) {
  const Result<Done, Refusal> refused = Failure(Refusal{"ERR syntax error"});
  EXPECT_EQ(refused.error().text, "ERR syntax error");
  const Result<Done, Refusal> done = Done{};
  EXPECT_TRUE(done.ok());
}

}  // namespace
}  // namespace respite
