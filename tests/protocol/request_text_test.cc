// Requests as text.
#include "protocol/request_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "protocol/request_parser.h"

namespace respite {
namespace {

std::string Text(const std::vector<std::string>& words) {
  std::string out;
  AppendRequest(out, words);
  return out;
}

TEST(RequestText, WritesWordsWithTheirSizes) {
  EXPECT_EQ(Text({"GET", "k"}), "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
  EXPECT_EQ(Text({"ECHO", ""}), "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n");
  EXPECT_EQ(Text({std::string("a\r\n\0", 4)}), std::string("*1\r\n$4\r\na\r\n\0\r\n", 14));
}

TEST(RequestText, AppendsToExistingText) {
  std::string out = "before";
  AppendRequest(out, {"PING"});
  AppendRequest(out, {"SELECT", Bytes("12")});
  EXPECT_EQ(out, "before*1\r\n$4\r\nPING\r\n*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n");
}

TEST(RequestText, WritesIntegers) {
  std::string out;
  RequestWriter(out, 3).Word("X").Integer(std::numeric_limits<int64_t>::min()).Integer(0);
  EXPECT_EQ(out, "*3\r\n$1\r\nX\r\n$20\r\n-9223372036854775808\r\n$1\r\n0\r\n");
}

TEST(RequestText, WritesAWordOfAnySize) {
  for (size_t size : {9u, 10u, 99u, 100u, 127u, 128u, 129u, 511u, 512u, 513u, 9999u, 10000u, 100000u}) {
    const std::string word(size, 'w');
    EXPECT_EQ(Text({"E", word}), StrCat("*2\r\n$1\r\nE\r\n$", size, "\r\n", word, "\r\n"));
  }
}

class Pieces final : public RequestOutput {
 public:
  std::string text;
  size_t taken = 0;

 protected:
  void Take(Bytes piece) override {
    text += piece;
    ++taken;
  }
};

TEST(RequestText, AnOutputWritesTheSameInPieces) {
  std::string expected = "#TS:1\r\n";
  Pieces pieces;
  pieces.Verbatim(expected);
  for (size_t size : {0u, 3u, 65535u, 65536u, 65537u, 1'000'000u, 5u}) {
    for (int i = 0; i < 3; ++i) {
      const std::vector<std::string> words{"SET", std::string(size, 'a'), std::to_string(i)};
      AppendRequest(expected, words);
      pieces.Begin(3);
      pieces.Word(words[0]);
      pieces.Word(words[1]);
      pieces.Integer(i);
    }
  }
  pieces.Flush();
  EXPECT_TRUE(pieces.text == expected);
  EXPECT_LT(pieces.taken, 40u);
  const size_t taken = pieces.taken;
  pieces.Flush();
  EXPECT_EQ(pieces.taken, taken);
}

TEST(RequestText, IsReadBackByTheParser) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> words(1 + random() % 300);
    for (std::string& word : words)
      word.assign(random() % (random() % 8 == 0 ? 1000 : 20), static_cast<char>(random()));
    std::string text = Text(words);
    RequestParser parser;
    RequestBatch batch;
    ASSERT_GE(parser.ReadTarget(text).size(), text.size());
    parser.Received(text.size());
    ASSERT_EQ(parser.ParseInto(batch, {}), RequestParser::Status::kRequest);
    EXPECT_EQ(std::vector<std::string>(batch.words.begin(), batch.words.end()), words);
    EXPECT_EQ(parser.PendingBytes(), 0u);
  }
}

}  // namespace
}  // namespace respite
