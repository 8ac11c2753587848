// Matchers for replies that a TestClient receives. A matcher knows the form of its reply in the protocol version of the
// client: Double(1.5) is `,1.5` under RESP3 and the bulk "1.5" under RESP2; a MapOf is a map or a flat array.
//
//   EXPECT_THAT(Run("HGETALL h"), MapOf({{Bulk("f"), Bulk("v")}}));
//   EXPECT_THAT(Run("GET list"), Error("WRONGTYPE Operation against a key holding the wrong kind of value"));
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/test_client.h"

namespace respite {

class ReplyMatcher {
 public:
  using is_gtest_matcher = void;
  using Check = std::function<bool(const ReplyTree&, RespVersion)>;

  ReplyMatcher(std::string description, Check check) : description_(std::move(description)), check_(std::move(check)) {}

  bool MatchAndExplain(const TestReply& reply, std::ostream*) const {
    return reply.tree && Matches(*reply.tree, reply.resp);
  }
  bool Matches(const ReplyTree& tree, RespVersion resp) const { return check_(tree, resp); }
  void DescribeTo(std::ostream* out) const { *out << "is " << description_; }
  void DescribeNegationTo(std::ostream* out) const { *out << "is not " << description_; }
  const std::string& Description() const { return description_; }

 private:
  std::string description_;
  Check check_;
};

using ReplyMatchers = std::vector<ReplyMatcher>;
using ReplyMatcherPairs = std::vector<std::pair<ReplyMatcher, ReplyMatcher>>;

// Status lines.
ReplyMatcher Ok();
ReplyMatcher Simple(std::string text);
// The whole line after the '-'.
ReplyMatcher Error(std::string text);
ReplyMatcher ErrorStartsWith(std::string prefix);

// Numbers.
ReplyMatcher Int(int64_t value);
ReplyMatcher IntThat(testing::Matcher<int64_t> matcher);
ReplyMatcher Double(double value);
// Like Double, but also compares the text.
ReplyMatcher DoubleText(std::string text);
ReplyMatcher BigNumber(std::string digits);
ReplyMatcher Bool(bool value);  // RESP2: 1 or 0

// Texts.
ReplyMatcher Bulk(std::string text);
ReplyMatcher BulkThat(testing::Matcher<const std::string&> matcher);
ReplyMatcher Verbatim(std::string text, std::string format = "txt");

// A null. RESP2 distinguishes `$-1` (Nil) from `*-1` (NilArray).
ReplyMatcher Nil();
ReplyMatcher NilArray();
// Any reply at all.
ReplyMatcher AnyReply();

// Aggregates.
ReplyMatcher ArrayOf(ReplyMatchers elements);
template <class... Elements>
requires(std::is_convertible_v<Elements, ReplyMatcher>&&...) ReplyMatcher ArrayOf(Elements... elements) {
  return ArrayOf(ReplyMatchers{std::move(elements)...});
}
ReplyMatcher UnorderedArrayOf(ReplyMatchers elements);
// Arrays of bulk strings.
ReplyMatcher Bulks(std::vector<std::string> texts);
ReplyMatcher UnorderedBulks(std::vector<std::string> texts);
// Sets and maps: RESP2 arrays. The order does not matter.
ReplyMatcher SetOf(ReplyMatchers elements);
ReplyMatcher MapOf(ReplyMatcherPairs pairs);
ReplyMatcher PushOf(ReplyMatchers elements);  // RESP2: an array
ReplyMatcher EmptyArray();

// No reply came: the client is blocked, closed, or silenced.
testing::Matcher<const TestReply&> NoReply();

}  // namespace respite
