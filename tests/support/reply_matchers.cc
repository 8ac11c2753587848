#include "tests/support/reply_matchers.h"

#include <algorithm>

#include "base/number_text.h"

namespace respite {

namespace {

bool IsResp3(RespVersion resp) { return resp == RespVersion::kResp3; }

ReplyMatcher TextOf(std::string name, ReplyKind kind, std::string text) {
  std::string description = name + " " + Quoted(text);
  return {description, [=](const ReplyTree& reply, RespVersion) { return reply.kind == kind && reply.text == text; }};
}

std::string Listed(const ReplyMatchers& elements) {
  std::string out;
  for (const ReplyMatcher& element : elements) out += (out.empty() ? "" : ", ") + element.Description();
  return "[" + out + "]";
}

bool MatchInOrder(const ReplyMatchers& elements, const ReplyTree& reply, RespVersion resp) {
  return std::equal(elements.begin(), elements.end(), reply.children.begin(), reply.children.end(),
                    [&](const ReplyMatcher& matcher, const ReplyTree& child) { return matcher.Matches(child, resp); });
}

// Each matcher takes the first group of `width` children that it matches, which suffices for exact matchers.
bool MatchInAnyOrder(const ReplyMatchers& elements, size_t width, const ReplyTree& reply, RespVersion resp) {
  if (reply.children.size() != elements.size()) return false;
  std::vector<bool> taken(reply.children.size());
  for (size_t wanted = 0; wanted < elements.size(); wanted += width) {
    size_t at = 0;
    for (; at < reply.children.size(); at += width) {
      if (taken[at]) continue;
      size_t matching = 0;
      while (matching < width && elements[wanted + matching].Matches(reply.children[at + matching], resp)) ++matching;
      if (matching == width) break;
    }
    if (at >= reply.children.size()) return false;
    taken[at] = true;
  }
  return true;
}

ReplyMatchers BulksAsMatchers(const std::vector<std::string>& texts) {
  ReplyMatchers elements;
  for (const std::string& text : texts) elements.push_back(Bulk(text));
  return elements;
}

}  // namespace

ReplyMatcher Ok() { return Simple("OK"); }

ReplyMatcher Simple(std::string text) { return TextOf("status", ReplyKind::kSimple, std::move(text)); }

ReplyMatcher Error(std::string text) { return TextOf("error", ReplyKind::kError, std::move(text)); }

ReplyMatcher ErrorStartsWith(std::string prefix) {
  return {"an error that starts with " + Quoted(prefix), [=](const ReplyTree& reply, RespVersion) {
            return reply.kind == ReplyKind::kError && reply.text.starts_with(prefix);
          }};
}

ReplyMatcher Int(int64_t value) {
  return {std::to_string(value), [=](const ReplyTree& reply, RespVersion) {
            return reply.kind == ReplyKind::kInteger && reply.integer == value;
          }};
}

ReplyMatcher IntThat(testing::Matcher<int64_t> matcher) {
  return {"an integer that " + testing::DescribeMatcher<int64_t>(matcher), [=](const ReplyTree& reply, RespVersion) {
            return reply.kind == ReplyKind::kInteger && matcher.Matches(reply.integer);
          }};
}

ReplyMatcher Double(double value) {
  return {"the double " + respite::DoubleText(value), [=](const ReplyTree& reply, RespVersion resp) {
            if (IsResp3(resp)) return reply.kind == ReplyKind::kDouble && reply.number == value;
            return reply.kind == ReplyKind::kBulk && ParseDouble(reply.text) == value;
          }};
}

ReplyMatcher DoubleText(std::string text) {
  return {"the double " + text, [=](const ReplyTree& reply, RespVersion resp) {
            return reply.kind == (IsResp3(resp) ? ReplyKind::kDouble : ReplyKind::kBulk) && reply.text == text;
          }};
}

ReplyMatcher BigNumber(std::string digits) {
  return {"the big number " + digits, [=](const ReplyTree& reply, RespVersion resp) {
            return reply.kind == (IsResp3(resp) ? ReplyKind::kBigNumber : ReplyKind::kBulk) && reply.text == digits;
          }};
}

ReplyMatcher Bool(bool value) {
  return {value ? "true" : "false", [=](const ReplyTree& reply, RespVersion resp) {
            return reply.kind == (IsResp3(resp) ? ReplyKind::kBool : ReplyKind::kInteger) &&
                   reply.integer == (value ? 1 : 0);
          }};
}

ReplyMatcher Bulk(std::string text) { return TextOf("bulk", ReplyKind::kBulk, std::move(text)); }

ReplyMatcher BulkThat(testing::Matcher<const std::string&> matcher) {
  return {"a bulk that " + testing::DescribeMatcher<const std::string&>(matcher),
          [=](const ReplyTree& reply, RespVersion) {
            return reply.kind == ReplyKind::kBulk && matcher.Matches(reply.text);
          }};
}

ReplyMatcher Verbatim(std::string text, std::string format) {
  return {"verbatim " + format + ":" + Quoted(text), [=](const ReplyTree& reply, RespVersion resp) {
            if (!IsResp3(resp)) return reply.kind == ReplyKind::kBulk && reply.text == text;
            return reply.kind == ReplyKind::kVerbatim && reply.text == text && reply.format == format;
          }};
}

ReplyMatcher Nil() {
  return {"nil", [](const ReplyTree& reply, RespVersion) { return reply.kind == ReplyKind::kNull; }};
}

ReplyMatcher NilArray() {
  return {"a nil array", [](const ReplyTree& reply, RespVersion resp) {
            return reply.kind == (IsResp3(resp) ? ReplyKind::kNull : ReplyKind::kNullArray);
          }};
}

ReplyMatcher AnyReply() {
  return {"any reply", [](const ReplyTree&, RespVersion) { return true; }};
}

ReplyMatcher ArrayOf(ReplyMatchers elements) {
  return {"the array " + Listed(elements), [=](const ReplyTree& reply, RespVersion resp) {
            return reply.kind == ReplyKind::kArray && MatchInOrder(elements, reply, resp);
          }};
}

ReplyMatcher UnorderedArrayOf(ReplyMatchers elements) {
  return {"in any order the array " + Listed(elements), [=](const ReplyTree& reply, RespVersion resp) {
            return reply.kind == ReplyKind::kArray && MatchInAnyOrder(elements, 1, reply, resp);
          }};
}

ReplyMatcher Bulks(std::vector<std::string> texts) { return ArrayOf(BulksAsMatchers(texts)); }

ReplyMatcher UnorderedBulks(std::vector<std::string> texts) { return UnorderedArrayOf(BulksAsMatchers(texts)); }

ReplyMatcher SetOf(ReplyMatchers elements) {
  return {"the set " + Listed(elements), [=](const ReplyTree& reply, RespVersion resp) {
            return reply.kind == (IsResp3(resp) ? ReplyKind::kSet : ReplyKind::kArray) &&
                   MatchInAnyOrder(elements, 1, reply, resp);
          }};
}

ReplyMatcher MapOf(ReplyMatcherPairs pairs) {
  ReplyMatchers flat;
  for (const auto& [key, value] : pairs) {
    flat.push_back(key);
    flat.push_back(value);
  }
  return {"the map " + Listed(flat), [=](const ReplyTree& reply, RespVersion resp) {
            return reply.kind == (IsResp3(resp) ? ReplyKind::kMap : ReplyKind::kArray) &&
                   MatchInAnyOrder(flat, 2, reply, resp);
          }};
}

ReplyMatcher PushOf(ReplyMatchers elements) {
  return {"the push " + Listed(elements), [=](const ReplyTree& reply, RespVersion resp) {
            return reply.kind == (IsResp3(resp) ? ReplyKind::kPush : ReplyKind::kArray) &&
                   MatchInOrder(elements, reply, resp);
          }};
}

ReplyMatcher EmptyArray() { return ArrayOf(ReplyMatchers{}); }

testing::Matcher<const TestReply&> NoReply() {
  return testing::Field("tree", &TestReply::tree, testing::Eq(std::nullopt));
}

}  // namespace respite
