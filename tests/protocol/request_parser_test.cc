#include "protocol/request_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/str_cat.h"

namespace respite {
namespace {

using std::string_literals::operator""s;

using testing::ElementsAre;
using Status = RequestParser::Status;
using Words = std::vector<std::string>;

struct Outcome {
  std::vector<Words> requests;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

// Simulates the connection: reads into the parser's target, parses, parks, and then overwrites the scratch buffer, so
// that a later use of it is detected.
class Feeder {
 public:
  explicit Feeder(RequestLimits limits = {}) : limits_(limits) {}

  void Feed(Bytes bytes) {
    while (!bytes.empty() && outcome_.error.empty()) {
      std::span<char> target = parser_.ReadTarget(scratch_);
      size_t n = std::min(target.size(), bytes.size());
      std::copy_n(bytes.begin(), n, target.begin());
      bytes.remove_prefix(n);
      parser_.Received(n);
      Parse();
      parser_.SaveRest();
      constexpr size_t kMoved = 4096;  // pending bytes may have been moved to the front
      std::fill_n(scratch_.begin(), std::min(n + kMoved, scratch_.size()), 'Z');
    }
  }
  const Outcome& Result() const { return outcome_; }
  RequestParser& parser() { return parser_; }

 private:
  void Parse() {
    RequestBatch batch;
    Status status = Status::kRequest;
    while (status == Status::kRequest) status = parser_.ParseInto(batch, limits_);
    for (const RequestBatch::Request& request : batch.requests) {
      auto words = batch.Words(request);
      outcome_.requests.emplace_back(words.begin(), words.end());
    }
    if (status == Status::kError) outcome_.error = parser_.Error();
  }

  RequestLimits limits_;
  RequestParser parser_;
  std::vector<char> scratch_ = std::vector<char>(64 * 1024);
  Outcome outcome_;
};

Outcome Parse(const std::vector<Bytes>& pieces, RequestLimits limits = {}) {
  Feeder feeder(limits);
  for (Bytes piece : pieces) feeder.Feed(piece);
  return feeder.Result();
}

std::string Encode(const Words& words) {
  std::string out = StrCat("*", words.size(), "\r\n");
  for (const std::string& word : words) StrAppend(out, "$", word.size(), "\r\n", word, "\r\n");
  return out;
}

std::string Pattern(size_t size) {
  std::string text(size, ' ');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 23);
  return text;
}

struct Golden {
  const char* name;
  std::string input;
  std::vector<Words> requests;
  std::string error = {};
};

const std::vector<Golden>& Goldens() {
  static const std::vector<Golden> goldens = {
      {"Multibulk", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\n", {{"SET", "k", "hello"}}},
      {"EmptyArgument", "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", {{"ECHO", ""}}},
      {"BinaryArgument", std::string("*1\r\n$5\r\n\r\n\0\r\n\r\n", 15), {{std::string("\r\n\0\r\n", 5)}}},
      {"LongSizes", "*1\r\n$0000000000\r\n\r\n", {}, "Protocol error: invalid bulk length"},
      {"Inline", "PING\r\n", {{"PING"}}},
      {"InlineWithBareNewline", "PING\n", {{"PING"}}},
      {"InlineWords", "  set  k\t\"a \\x41\\n\" 'it\\'s' \r\n", {{"set", "k", "a A\n", "it's"}}},
      {"BlankLines", "\r\n\n  \r\nPING\r\n", {{"PING"}}},
      {"EmptyArrays", "*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n", {{"PING"}}},
      {"Pipeline",
       "*1\r\n$4\r\nPING\r\nGET a\r\n*2\r\n$3\r\nGET\r\n$1\r\nb\r\n",
       {{"PING"}, {"GET", "a"}, {"GET", "b"}}},
      {"UnfinishedTail", "GET a\r\n*2\r\n$3\r\nGET\r\n$1", {{"GET", "a"}}},
      {"RequestsBeforeAnError", "GET a\r\n*1\r\n!1\r\n", {{"GET", "a"}}, "Protocol error: expected '$', got '!'"},
      // Redis accepts any two bytes after an argument as its line end.
      {"AnyTwoBytesEndAnArgument", "*1\r\n$4\r\nPINGxy*1\r\n$4\r\nPING\r\n", {{"PING"}, {"PING"}}},
  };
  return goldens;
}

class RequestGolden : public testing::TestWithParam<Golden> {};
INSTANTIATE_TEST_SUITE_P(Inputs, RequestGolden, testing::ValuesIn(Goldens()),
                         [](const auto& golden) { return std::string(golden.param.name); });

TEST_P(RequestGolden, Whole) {
  EXPECT_EQ(Parse({GetParam().input}).requests, GetParam().requests);
  EXPECT_EQ(Parse({GetParam().input}).error, GetParam().error);
}

TEST_P(RequestGolden, InThreePiecesCutAnywhere) {
  Bytes input = GetParam().input;
  Outcome whole = Parse({input});
  for (size_t i = 0; i <= input.size(); ++i)
    for (size_t j = i; j <= input.size(); ++j)
      ASSERT_EQ(Parse({input.substr(0, i), input.substr(i, j - i), input.substr(j)}), whole)
          << "cut at " << i << ", " << j;
}

TEST_P(RequestGolden, ByteByByte) {
  Feeder feeder;
  for (char byte : GetParam().input) feeder.Feed({&byte, 1});
  EXPECT_EQ(feeder.Result(), Parse({GetParam().input}));
}

TEST(RequestParserTest, BigArgumentCutAnywhere) {
  Words request = {"SET", "k", Pattern(RequestParser::kMinBigArgumentBytes), "EX", "10"};
  std::string input = Encode({"PING"}) + Encode(request) + Encode({"GET", "k"});
  std::vector<Words> expected = {{"PING"}, request, {"GET", "k"}};
  for (size_t i = 0; i <= input.size(); ++i) {
    Outcome outcome = Parse({Bytes(input).substr(0, i), Bytes(input).substr(i)});
    ASSERT_EQ(outcome.requests, expected) << "cut at " << i;
  }
}

TEST(RequestParserTest, SizesAroundTheBorderOfBigArguments) {
  for (size_t size = RequestParser::kMinBigArgumentBytes - 3; size <= RequestParser::kMinBigArgumentBytes + 3; ++size) {
    Words request = {"SET", Pattern(size), Pattern(size + 1)};
    EXPECT_EQ(Parse({Encode(request)}).requests, std::vector<Words>{request}) << size;
  }
}

TEST(RequestParserTest, BigArgumentIsReadIntoItsBlob) {
  constexpr size_t kSize = 100'000;
  RequestParser parser;
  std::vector<char> scratch(64 * 1024);
  RequestBatch batch;
  std::string head = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\n0123456789";
  std::copy(head.begin(), head.end(), parser.ReadTarget(scratch).begin());
  parser.Received(head.size());
  ASSERT_EQ(parser.ParseInto(batch, {}), Status::kIncomplete);
  parser.SaveRest();
  std::span<char> target = parser.ReadTarget(scratch);
  EXPECT_EQ(target.size(), kSize - 10 + 2);
  std::fill(target.begin(), target.end(), 'x');
  parser.Received(target.size());
  ASSERT_EQ(parser.ParseInto(batch, {}), Status::kRequest);
  ASSERT_EQ(batch.blobs.size(), 1u);
  EXPECT_EQ(batch.words[2].data(), batch.blobs[0].View().data());
  EXPECT_EQ(batch.words[2].data() + 10, target.data());
  EXPECT_EQ(batch.words[2], "0123456789" + std::string(kSize - 10, 'x'));
  EXPECT_THAT(batch.words, ElementsAre("SET", "k", batch.words[2]));
}

TEST(RequestParserTest, ManyArgumentsInManyReads) {
  Words request;
  for (int i = 0; i < 20'000; ++i) request.push_back(std::to_string(i));
  std::string input = Encode(request);
  Feeder feeder;
  for (size_t i = 0; i < input.size(); i += 1000) feeder.Feed(Bytes(input).substr(i, 1000));
  EXPECT_EQ(feeder.Result().requests, std::vector<Words>{request});
  EXPECT_EQ(feeder.parser().HeldBytes(), 0u) << "what the half request took is given back";
}

TEST(RequestParserTest, IdleClientHoldsNothing) {
  Feeder feeder;
  feeder.Feed(Encode({"SET", "k", Pattern(50'000)}).substr(0, 30'000));
  EXPECT_GE(feeder.parser().HeldBytes(), 50'000u);
  EXPECT_GT(feeder.parser().PendingBytes(), 0u);
  feeder.Feed(Encode({"SET", "k", Pattern(50'000)}).substr(30'000));
  EXPECT_EQ(feeder.parser().PendingBytes(), 0u);
  EXPECT_LT(feeder.parser().HeldBytes(), 4096u);
}

TEST(RequestParserTest, HalfARequestHoldsItsBytes) {
  const std::string request = Encode({"SET", "k", Pattern(3'000)});
  Feeder feeder;
  for (size_t at = 0; at + 1 < request.size(); ++at) {
    feeder.Feed(Bytes(request).substr(at, 1));
    ASSERT_LE(feeder.parser().HeldBytes(), 2 * (at + 1) + 100);
  }
  feeder.Feed("\n");
  EXPECT_EQ(feeder.Result().requests, (std::vector<Words>{{"SET", "k", Pattern(3'000)}}));
}

// The scratch buffer is shared until something was received.
TEST(RequestParserTest, AReadThatBroughtNothingChangesNothing) {
  const std::string request = Encode({"SET", "k", "value"});
  Feeder feeder;
  feeder.Feed(Bytes(request).substr(0, 20));
  std::vector<char> scratch(100, 'Z');
  feeder.parser().ReadTarget(scratch);
  std::fill(scratch.begin(), scratch.end(), 'Y');
  EXPECT_EQ(feeder.parser().PendingRequest(), Bytes(request).substr(0, 20));
  feeder.Feed(Bytes(request).substr(20));
  EXPECT_EQ(feeder.Result().requests, (std::vector<Words>{{"SET", "k", "value"}}));
}

TEST(RequestParserTest, MemoryGrowsWithReceivedBytesNotWithAnnouncedOnes) {
  const std::string request = Encode({"SET", "k", Pattern(6'000'000)});
  constexpr size_t kMin = 140'000;  // with the window
  Feeder feeder;
  for (size_t at = 0; at < request.size(); at += 100'000) {
    feeder.Feed(Bytes(request).substr(at, 100'000));
    EXPECT_LE(feeder.parser().HeldBytes(), kMin + 4 * (at + 100'000));
  }
  EXPECT_EQ(feeder.Result().requests, (std::vector<Words>{{"SET", "k", Pattern(6'000'000)}}));
}

TEST(RequestParserTest, ShrinksInTheMiddleOfALargeArgument) {
  const std::string request = Encode({"SET", "k", Pattern(3'000'000)});
  Feeder feeder;
  for (size_t at = 0; at < request.size(); at += 400'000) {
    feeder.Feed(Bytes(request).substr(at, 400'000));
    feeder.parser().Shrink();
    EXPECT_LE(feeder.parser().HeldBytes(), 2 * (at + 400'000) + 70'000);
  }
  EXPECT_EQ(feeder.Result().requests, (std::vector<Words>{{"SET", "k", Pattern(3'000'000)}}));
}

struct Malformed {
  const char* name;
  std::string input;
  std::string error;
  RequestLimits limits = {};
};

class RequestError : public testing::TestWithParam<Malformed> {};

const RequestLimits kStranger{.authenticated = false};
const std::string kMuch(RequestParser::kMaxUnfinishedLineBytes, '1');

INSTANTIATE_TEST_SUITE_P(
    Texts, RequestError,
    testing::Values(
        Malformed{"Count", "*x\r\n", "Protocol error: invalid multibulk length"},
        Malformed{"CountBlank", "* 1\r\n", "Protocol error: invalid multibulk length"},
        Malformed{"CountSigned", "*+1\r\n", "Protocol error: invalid multibulk length"},
        Malformed{"CountMissing", "*\r\n", "Protocol error: invalid multibulk length"},
        Malformed{"CountBeyondInt", "*2147483648\r\n", "Protocol error: invalid multibulk length"},
        Malformed{"CountEndless", "*" + kMuch, "Protocol error: too big mbulk count string"},
        Malformed{"Mark", "*1\r\n:1\r\n", "Protocol error: expected '$', got ':'"},
        Malformed{"MarkOfBlank", "*1\r\n 1\r\n", "Protocol error: expected '$', got ' '"},
        Malformed{"Size", "*1\r\n$x\r\n", "Protocol error: invalid bulk length"},
        Malformed{"SizeNegative", "*1\r\n$-1\r\n", "Protocol error: invalid bulk length"},
        Malformed{"SizeMissing", "*1\r\n$\r\n", "Protocol error: invalid bulk length"},
        Malformed{"SizeBeyondLimit", "*1\r\n$536870913\r\n", "Protocol error: invalid bulk length"},
        Malformed{"SizeBeyondOwnLimit",
                  "*1\r\n$1048577\r\n",
                  "Protocol error: invalid bulk length",
                  {.max_bulk_bytes = 1 << 20}},
        Malformed{"SizeEndless", "*1\r\n$" + kMuch, "Protocol error: too big bulk count string"},
        Malformed{"InlineEndless", "x" + kMuch, "Protocol error: too big inline request"},
        Malformed{"InlineQuotes", "GET \"k\r\n", "Protocol error: unbalanced quotes in request"},
        Malformed{"InlineQuoteInWord", "GET \"k\"x\r\n", "Protocol error: unbalanced quotes in request"},
        Malformed{"StrangerCount", "*11\r\n", "Protocol error: unauthenticated multibulk length", kStranger},
        Malformed{"StrangerSize", "*1\r\n$16385\r\n", "Protocol error: unauthenticated bulk length", kStranger}),
    [](const auto& malformed) { return std::string(malformed.param.name); });

TEST_P(RequestError, Text) { EXPECT_EQ(Parse({GetParam().input}, GetParam().limits), (Outcome{{}, GetParam().error})); }

TEST_P(RequestError, TextWhereverItIsCut) {
  Bytes input = GetParam().input;
  size_t step = input.size() > 1000 ? 997 : 1;
  for (size_t i = 0; i <= input.size(); i += step) {
    ASSERT_EQ(Parse({input.substr(0, i), input.substr(i)}, GetParam().limits).error, GetParam().error)
        << "cut at " << i;
  }
}

TEST(RequestParserTest, LineEndsAreCheckedOnDemand) {
  const RequestLimits strict{.checks_line_ends = true};
  const Outcome refused{{}, "Protocol error: invalid CRLF in request"};
  for (size_t size : {size_t{4}, RequestParser::kMinBigArgumentBytes}) {
    const std::string head = StrCat("*1\r\n$", size, "\r\n", std::string(size, 'a'));
    const Outcome accepted{{{std::string(size, 'a')}}, ""};
    for (const char* end : {"xx", "\rx", "x\n"}) {
      EXPECT_EQ(Parse({head + end}, strict), refused) << size << end;
      EXPECT_EQ(Parse({head, std::string(end)}, strict), refused) << size << end;
      EXPECT_EQ(Parse({head + end}, {}), accepted) << size << end;
    }
    EXPECT_EQ(Parse({head + "\r", "\n"}, strict), accepted) << size;
  }
}

TEST(RequestParserTest, QuotedPartsAreJoinedOnDemand) {
  const RequestLimits joined{.joins_quoted_parts = true};
  EXPECT_EQ(Parse({"PING \"a\"b'c'\r\n"}, joined), (Outcome{{{"PING", "abc"}}, ""}));
  EXPECT_EQ(Parse({"PING \"a\"b\r\n"}, {}), (Outcome{{}, "Protocol error: unbalanced quotes in request"}));
  EXPECT_EQ(Parse({"PING \"a\"\"b\r\n"}, joined), (Outcome{{}, "Protocol error: unbalanced quotes in request"}));
}

TEST(RequestParserTest, LimitsThatAreJustMet) {
  Words request(10, std::string(16384, 'x'));
  EXPECT_EQ(Parse({Encode(request)}, kStranger), (Outcome{{request}, ""}));
  std::string line(RequestParser::kMaxUnfinishedLineBytes - 2, 'x');
  EXPECT_EQ(Parse({line + "\r\n"}), (Outcome{{{line}}, ""}));
  EXPECT_EQ(Parse({Encode({std::string(100, 'x')})}, {.max_bulk_bytes = 100}).error, "");
}

// Parses everything in one batch, without parking.
struct Direct {
  explicit Direct(Bytes bytes) {
    std::span<char> target = parser.ReadTarget(scratch);
    std::copy(bytes.begin(), bytes.end(), target.begin());
    parser.Received(bytes.size());
    ParseAll();
  }
  void ParseAll() {
    batch.Clear();
    while (parser.ParseInto(batch, {}) == Status::kRequest) {
    }
  }
  Words Request(size_t index) {
    auto words = batch.Words(batch.requests.at(index));
    return {words.begin(), words.end()};
  }
  RequestParser parser;
  std::vector<char> scratch = std::vector<char>(256 * 1024);
  RequestBatch batch;
};

TEST(RequestParserTest, UnreadRequestsComeAgain) {
  for (const char* tail : {"", "*2\r\n$3\r\nGET\r\n$1", "GET"}) {
    Direct direct("GET a\r\n*2\r\n$3\r\nGET\r\n$1\r\nb\r\nGET c\r\n" + std::string(tail));
    ASSERT_EQ(direct.batch.requests.size(), 3u);
    direct.parser.Unread(direct.batch, 1);
    direct.parser.SaveRest();
    direct.ParseAll();
    ASSERT_EQ(direct.batch.requests.size(), 2u) << tail;
    EXPECT_EQ(direct.Request(0), (Words{"GET", "b"}));
    EXPECT_EQ(direct.Request(1), (Words{"GET", "c"}));
    EXPECT_EQ(direct.parser.PendingBytes(), std::string(tail).size());
  }
}

TEST(RequestParserTest, RequestsAfterEmptyOnesAreMarked) {
  Direct direct("GET a\r\n\r\n*0\r\n*2\r\n$3\r\nGET\r\n$1\r\nb\r\nGET c\r\n*-1\r\n*2\r\n$3\r\nGET\r\n");
  const auto are_marked = [&] {
    std::vector<bool> marks;
    for (const RequestBatch::Request& request : direct.batch.requests) marks.push_back(request.follows_empty);
    return marks;
  };
  EXPECT_EQ(are_marked(), (std::vector<bool>{false, true, false}));
  direct.parser.Unread(direct.batch, 1);
  direct.parser.SaveRest();
  direct.ParseAll();
  EXPECT_EQ(are_marked(), (std::vector<bool>{true, false}));
  direct.parser.SaveRest();
  const Bytes rest = "$1\r\nd\r\nGET e\r\n";
  std::copy(rest.begin(), rest.end(), direct.parser.ReadTarget(direct.scratch).begin());
  direct.parser.Received(rest.size());
  direct.ParseAll();
  EXPECT_EQ(are_marked(), (std::vector<bool>{true, false}));
}

TEST(RequestParserTest, UnreadDropsAnIncompleteBigArgument) {
  Words big = {"SET", "k", Pattern(RequestParser::kMinBigArgumentBytes + 5)};
  std::string input = "GET a\r\nGET b\r\n" + Encode(big);
  size_t cut = input.size() - 1000;
  Direct direct(Bytes(input).substr(0, cut));
  ASSERT_EQ(direct.batch.requests.size(), 2u);
  direct.parser.Unread(direct.batch, 1);
  direct.parser.SaveRest();
  direct.ParseAll();
  ASSERT_EQ(direct.batch.requests.size(), 1u);
  EXPECT_EQ(direct.Request(0), (Words{"GET", "b"}));
  direct.parser.SaveRest();
  std::span<char> target = direct.parser.ReadTarget(direct.scratch);
  ASSERT_GE(target.size(), 1000u);
  std::copy(input.begin() + static_cast<std::ptrdiff_t>(cut), input.end(), target.begin());
  direct.parser.Received(1000);
  direct.ParseAll();
  ASSERT_EQ(direct.batch.requests.size(), 1u);
  EXPECT_EQ(direct.Request(0), big);
}

// A request before the malformed one may block. Then the client is disconnected only later, after another parse.
TEST(RequestParserTest, AFailedRequestFailsAgain) {
  const std::string big(RequestParser::kMinBigArgumentBytes, 'z');
  const std::string big_argument = StrCat("$", big.size(), "\r\n", big, "\r\n");
  for (const auto& [start, failing] : {std::pair("*2\r\n$4\r\nECHO\r\n"s, "$-1\r\n"),
                                       {"*2\r\n$4\r\nAUTH\r\n", "$x\r\n"},
                                       {"", "*3000000000\r\n"},
                                       {"", "ECHO 'x\r\n"},
                                       {StrCat("*3\r\n$3\r\nSET\r\n", big_argument), "$-1\r\n"}}) {
    const std::string behind = StrCat(failing, "$8\r\nFLUSHALL\r\n");
    const std::string input = StrCat("*1\r\n$4\r\nPING\r\n", start, behind);
    RequestParser parser;
    std::vector<char> scratch(64 * 1024);
    std::span<char> target = parser.ReadTarget(scratch);
    ASSERT_GE(target.size(), input.size());
    std::copy(input.begin(), input.end(), target.data());
    parser.Received(input.size());
    RequestBatch batch;
    ASSERT_EQ(parser.ParseInto(batch, {}), Status::kRequest);
    ASSERT_EQ(parser.ParseInto(batch, {}), Status::kError);
    ASSERT_EQ(batch.requests.size(), 1u);
    EXPECT_THAT(batch.Words(batch.requests[0]), ElementsAre("PING"));
    const std::string error = parser.Error();
    EXPECT_EQ(parser.InputAtError(), behind);
    for (int repetition = 0; repetition < 2; ++repetition) {
      parser.SaveRest();
      batch.Clear();
      EXPECT_EQ(parser.ParseInto(batch, {}), Status::kError);
      EXPECT_TRUE(batch.requests.empty());
      EXPECT_EQ(parser.Error(), error);
    }
  }
}

// A paused client may continue to send: nothing is parsed, and all bytes must be stored.
TEST(RequestParserTest, BytesAfterAFullBigArgumentAreStored) {
  Words big = {"SET", "k", Pattern(RequestParser::kMinBigArgumentBytes + 5)};
  std::string input = Encode(big) + "GET b\r\n";
  Direct direct(Bytes(input).substr(0, 1000));
  direct.parser.SaveRest();
  for (Bytes left = Bytes(input).substr(1000); !left.empty();) {
    std::span<char> target = direct.parser.ReadTarget(direct.scratch);
    ASSERT_FALSE(target.empty());
    size_t n = std::min(target.size(), left.size());
    std::copy_n(left.begin(), n, target.begin());
    direct.parser.Received(n);
    direct.parser.SaveRest();
    left.remove_prefix(n);
  }
  direct.ParseAll();
  ASSERT_EQ(direct.batch.requests.size(), 2u);
  EXPECT_EQ(direct.Request(0), big);
  EXPECT_EQ(direct.Request(1), (Words{"GET", "b"}));
}

// Input that accumulated while the client was paused is parsed in parts, one per turn; the rest is not moved each time.
TEST(RequestParserTest, APileIsTakenInShares) {
  constexpr size_t kRequests = 100;
  const std::string one = "*2\r\n$3\r\nGET\r\n$1\r\nb\r\n";
  for (size_t share : {1u, 7u, 60u}) {
    RequestParser parser;
    std::vector<char> scratch(64 * 1024);
    std::span<char> target = parser.ReadTarget(scratch);
    for (size_t i = 0; i < kRequests; ++i) std::copy(one.begin(), one.end(), target.data() + i * one.size());
    parser.Received(kRequests * one.size());
    parser.SaveRest();
    for (size_t done = 0; done < kRequests;) {
      RequestBatch batch;
      for (size_t i = 0; i < share && parser.ParseInto(batch, {}) == Status::kRequest; ++i, ++done) {
        EXPECT_THAT(batch.Words(batch.requests.back()), ElementsAre("GET", "b"));
      }
      parser.SaveRest();
      ASSERT_EQ(parser.PendingBytes(), (kRequests - done) * one.size());
      ASSERT_EQ(parser.BufferedBytes(), parser.PendingBytes());
      parser.Shrink();
    }
  }
}

}  // namespace
}  // namespace respite
