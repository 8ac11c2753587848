// Filters of vector sets. The expected results are those of Redis 8.6.3, except where a comment says otherwise.
#include "datatypes/vectors/attribute_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/str_cat.h"
#include "datatypes/vectors/json_fields.h"

namespace respite {
namespace {

constexpr char kAttributes[] =
    R"({"n":5,"s":"abc","t":true,"f":false,"z":null,"a":[1,2,"x"],"o":{"n":1},"e":"","neg":-1.5,"n2":"5","a-b":7})";

// Returns 1 or 0, or for a malformed filter the part where the error is.
std::string ResultOf(Bytes expression, Bytes attributes = kAttributes) {
  const auto filter = AttributeFilter::Compile(expression);
  if (!filter) return StrCat("near: ", filter.error());
  uint64_t work = 0;
  const auto matches = filter.value().Matches(attributes, work);
  return !matches ? "too much work" : *matches ? "1" : "0";
}

void ExpectEach(const char* result, std::initializer_list<const char*> expressions) {
  for (const char* expression : expressions) EXPECT_EQ(ResultOf(expression), result) << expression;
}

TEST(AttributeFilterTest, Comparisons) {
  ExpectEach("1", {".n == 5",     ".n != 4", ".n > 4",    ".n >= 5",    ".n <= 5",    ".neg < 0",   ".s == \"abc\"",
                   ".s == 'abc'", ".t == 1", ".f == 0",   ".z == null", ".n != null", "5 == \"5\"", ".n2 == 5",
                   "\"5\" > 4",   ".s == 0", ".a-b == 7", "1 < 2 < 3",  "2 == 1 < 2", ".e == \"\"", "\" 5\" == 5"});
  ExpectEach("0", {".n < 5", ".s > 1", "3 > 2 > 1", "\"abc\" < \"abd\"", "null == 0", ".t == \"true\"", "0/0 == 0/0",
                   "\"5 \" == 5", ".z == 0"});
}

TEST(AttributeFilterTest, ArithmeticAndPrecedence) {
  ExpectEach("1", {".n + 1 * 2 == 7", "(.n + 1) * 2 == 12", ".n ** 2 == 25", "2 ** 3 ** 2 == 512", "-2 ** 2 == 4",
                   ".n % 3 == 2", ".n / 2 == 2.5", "10 - 2 - 3 == 5", "100 / 10 / 5 == 2", ".n - -1 == 6", ".n -1 == 4",
                   "7.5 % 2 == 1.5", "-7 % 3 == -1", ".n / 0", "0 / 0", "1e3 == 1000", "null + 1 == 1", "2 ** !0 == 2",
                   "1 || 0 && 0"});
  ExpectEach("0", {"1 - 1", "1 -1", "(1 || 0) && 0", "!2 ** 2", ".5 == 0.5", "-0"});
}

TEST(AttributeFilterTest, Logic) {
  ExpectEach("1", {".n", ".s", ".t", ".a", "not .f", "not (.n == 4)", "!(.n == 4)", "1 and not 0", ".n>4and.s=='abc'",
                   "\"0\"", "[]", "not null"});
  ExpectEach("0", {"0", "\"\"", ".e", ".f", ".z", "null", "not .n", "not .n == 5", "not .n in [6]", "not1"});
}

TEST(AttributeFilterTest, In) {
  ExpectEach("1", {".n in [1,5]", ".n in [1,5,]", ".n in [\"5\"]", ".s in ['abc', 'd']", "1 in .a", "'x' in .a",
                   "'b' in .s", "'' in 'abc'", "1 + 1 in [2]", "5 == 2 in [0]", "-5 in [-5]", ".t in [1]"});
  ExpectEach("0", {".n in []", ".n in [1,2]", "3 in .a", "'z' in .s", "5 in 5", ".n in '5'", "null in [1]"});
}

TEST(AttributeFilterTest, MissingFieldsNeverMatch) {
  ExpectEach("0", {".missing", "not .missing", ".missing == null", ".n or .missing", ".o", ".o == .o", ".", ".in"});
  for (const char* bad : {"", "[1]", "x", "{", "{\"n\"", "{\"n\":", "{\"n\":}", "{n:5}", "{\"m\":bad,\"n\":5}",
                          "{\"n\":{\"n\":5}}", "{\"n\":[{}]}", "{\"n\":\"5}"}) {
    EXPECT_EQ(ResultOf(".n", bad), "0") << bad;
  }
  // The attributes are read up to the field only.
  for (const char* good : {"{\"n\":5", "{\"n\":5,", " {\"n\" :\n5} x", "{\"n\":5,bad", "{\"m\":{\"n\":0},\"n\":5}"}) {
    EXPECT_EQ(ResultOf(".n == 5", good), "1") << good;
  }
}

TEST(AttributeFilterTest, Errors) {
  EXPECT_EQ(ResultOf(""), "near: ");
  EXPECT_EQ(ResultOf(".n =="), "near: .n ==");
  EXPECT_EQ(ResultOf(".n=5"), "near: 5");
  EXPECT_EQ(ResultOf(".n === 5"), "near:  5");
  EXPECT_EQ(ResultOf("foo == bar"), "near:  == bar");
  EXPECT_EQ(ResultOf(".n # 5"), "near: # 5");
  EXPECT_EQ(ResultOf(".n in [1 5]"), "near: 5]");
  EXPECT_EQ(ResultOf(".n in [.n]"), "near: .n]");
  ExpectEach("near: (.n", {"(.n"});
  for (const char* bad : {".n)", "()",   "1 1", "not not 1", "!!1",   "- 1",   "-.n", "+1",    "[",         "\"a",
                          "'a",  "true", "..n", ".o.n",      "1.2.3", "[[1]]", "in",  "1 ! 1", "1 ** ** 1", "\"\\\""}) {
    EXPECT_TRUE(ResultOf(bad).starts_with("near: ")) << bad;
  }
}

TEST(AttributeFilterTest, EachFieldIsReadOnce) {
  const std::string attributes = "{\"a\":1,\"b\":\"" + std::string(1000, 'x') + "\",\"a\":2}";
  const auto work_of = [&](Bytes expression) {
    uint64_t work = 0;
    EXPECT_EQ(AttributeFilter::Compile(expression).value().Matches(attributes, work), true) << expression;
    return work;
  };
  EXPECT_LT(work_of(".a == 1"), 150u) << "reads up to the last field that it needs";
  EXPECT_LT(work_of(".a == 1 and .b != .a and .a != 2 and .b"), 2500u);
  EXPECT_GT(work_of(".b == .b and .b == .b"), 3000u);
  std::string many = ".a == 1";
  for (int i = 0; i < 10'000; ++i) many += " and .a == 1";
  EXPECT_LT(work_of(many), 400'000u);
}

// The values of all fields take memory, for each element.
TEST(AttributeFilterTest, CountsItsFields) {
  std::string many = ".a";
  for (int i = 0; i < 1000; ++i) many += StrCat(" + .b", i);
  uint64_t work = 0;
  EXPECT_EQ(AttributeFilter::Compile(many).value().Matches("{}", work), false);
  EXPECT_GT(work, 10'000u);
}

// Redis has no such limit.
TEST(AttributeFilterTest, LimitsItsWork) {
  const std::string text(300'000, 'a');
  const std::string attributes = "{\"x\":\"" + text + "\"}";
  EXPECT_EQ(ResultOf("'" + std::string(150'000, 'a') + "b' in .x", attributes), "0");
  std::string numbers = "[1";
  for (int i = 0; i < 10'000; ++i) numbers += ",1";
  EXPECT_EQ(ResultOf(".x in " + numbers + "]", attributes), "0") << "the text is read as a number only once";
  std::string repeated = ".x + 1";
  for (int i = 0; i < 20; ++i) repeated += " + .x";
  EXPECT_EQ(ResultOf(repeated, attributes), "too much work");
}

TEST(AttributeFilterTest, DeepNestingNeedsNoStack) {
  const std::string open(100'000, '('), close(100'000, ')');
  EXPECT_EQ(ResultOf(open + ".n" + close), "1");
  EXPECT_EQ(ResultOf(open + ".n"), "near: " + open + ".n");
  std::string sum = "1";
  for (int i = 0; i < 100'000; ++i) sum += "+1";
  EXPECT_EQ(ResultOf(sum + "==100001"), "1");
  EXPECT_EQ(ResultOf(".n", "{\"m\":" + std::string(100'000, '[') + std::string(100'000, ']') + ",\"n\":1}"), "1");
}

// Redis 8.6.3 reads \u00e9 as the text "u00e9".
TEST(AttributeFilterTest, EscapesOfAttributes) {
  EXPECT_EQ(ResultOf(".s == 'x\ny'", R"({"s":"x\ny"})"), "1");
  EXPECT_EQ(ResultOf(".s == 'x/y'", R"({"s":"x\/y"})"), "1");
  EXPECT_EQ(ResultOf(".s == 'x\xc3\xa9'", R"({"s":"x\u00e9"})"), "1");
  EXPECT_EQ(ResultOf(".s == '\xf0\x9f\x98\x80'", R"({"s":"\ud83d\ude00"})"), "1");
  EXPECT_EQ(ResultOf("'x' in .s", R"({"s":["\u0078"]})"), "1");
  std::string buffer;
  EXPECT_EQ(TextOfAttribute({AttributeValue::Kind::kText, 0, R"(a\u12)"}, buffer), "au12");
  EXPECT_EQ(TextOfAttribute({AttributeValue::Kind::kText, 0, R"(\ud83d\u0041)"}, buffer),
            "\xed\xa0\xbd"
            "A");
}

}  // namespace
}  // namespace respite
