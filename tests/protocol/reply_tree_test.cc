#include "protocol/reply_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace respite {
namespace {

struct TreeSample {
  std::string bytes;
  std::string readable;
};

const std::vector<TreeSample>& TreeSamples() {
  static const std::vector<TreeSample> samples = {
      {"+OK\r\n", "+OK"},
      {"+\r\n", "+"},
      {"-ERR no\r\n", "-ERR no"},
      {":-42\r\n", "-42"},
      {"$5\r\na\r\nb!\r\n", "\"a\\r\\nb!\""},
      {"$0\r\n\r\n", "\"\""},
      {"$-1\r\n", "nil"},
      {"*-1\r\n", "nil-array"},
      {"_\r\n", "nil"},
      {"#t\r\n", "true"},
      {"#f\r\n", "false"},
      {",1.5\r\n", ",1.5"},
      {",inf\r\n", ",inf"},
      {",nan\r\n", ",nan"},
      {"(123456789012345678901234567890\r\n", "(123456789012345678901234567890"},
      {"!5\r\nERR x\r\n", "!\"ERR x\""},
      {"=7\r\ntxt:a\nb\r\n", "=txt:\"a\\nb\""},
      {"*0\r\n", "[]"},
      {"*3\r\n:1\r\n*1\r\n+a\r\n$-1\r\n", "[1, [+a], nil]"},
      {"%2\r\n+a\r\n:1\r\n+b\r\n%0\r\n", "{+a: 1, +b: {}}"},
      {"~2\r\n:1\r\n:2\r\n", "~[1, 2]"},
      {">2\r\n+message\r\n$1\r\nx\r\n", ">[+message, \"x\"]"},
      {"|1\r\n+ttl\r\n:3\r\n*2\r\n:1\r\n|1\r\n+k\r\n+v\r\n:2\r\n", "|{+ttl: 3} [1, |{+k: +v} 2]"},
      {"|0\r\n:1\r\n", "1"},
  };
  return samples;
}

TEST(ReplyTreeTest, ReadsEveryKind) {
  for (const TreeSample& sample : TreeSamples()) {
    ReplyTreeParser parser;
    parser.Feed(sample.bytes);
    auto reply = parser.Next();
    ASSERT_TRUE(reply) << sample.bytes << parser.Error();
    EXPECT_EQ(reply->ReadableText(), sample.readable);
    EXPECT_EQ(parser.PendingBytes(), 0u);
  }
}

TEST(ReplyTreeTest, CutAnywhereItWaitsForTheRest) {
  for (const TreeSample& sample : TreeSamples()) {
    std::string two = sample.bytes + sample.bytes;
    for (size_t cut = 0; cut <= sample.bytes.size(); ++cut) {
      ReplyTreeParser parser;
      parser.Feed(Bytes(two).substr(0, cut));
      auto reply = parser.Next();
      EXPECT_EQ(reply.has_value(), cut == sample.bytes.size()) << sample.bytes << " cut at " << cut;
      parser.Feed(Bytes(two).substr(cut));
      if (!reply) reply = parser.Next();
      ASSERT_TRUE(reply) << sample.bytes << " cut at " << cut << ": " << parser.Error();
      EXPECT_EQ(reply->ReadableText(), sample.readable);
      EXPECT_EQ(parser.Next(), reply);
      EXPECT_EQ(parser.Next(), std::nullopt);
      EXPECT_FALSE(parser.Failed());
    }
  }
}

TEST(ReplyTreeTest, ByteByByte) {
  for (const TreeSample& sample : TreeSamples()) {
    ReplyTreeParser parser;
    for (size_t i = 0; i + 1 < sample.bytes.size(); ++i) {
      parser.Feed({&sample.bytes[i], 1});
      ASSERT_EQ(parser.Next(), std::nullopt) << sample.bytes << " at " << i;
    }
    parser.Feed("\n");
    ASSERT_TRUE(parser.Next()) << sample.bytes;
  }
}

TEST(ReplyTreeTest, RefusesWhatIsMalformed) {
  for (const char* bytes : {"\r\n", "?\r\n", ":x\r\n", ":\r\n", ",x\r\n", "#x\r\n", "_x\r\n", "$-2\r\n", "$x\r\n",
                            "$1\r\nab\r\n", "!-1\r\n", "=3\r\ntxt\r\n", "=4\r\ntxtx\r\n", "*-2\r\n", "*x\r\n",
                            "%-1\r\n", "*2147483648\r\n", "*1\r\n*1\r\n:x\r\n"}) {
    ReplyTreeParser parser;
    parser.Feed(bytes);
    EXPECT_EQ(parser.Next(), std::nullopt) << bytes;
    EXPECT_TRUE(parser.Failed()) << bytes;
    parser.Feed("+OK\r\n");
    EXPECT_EQ(parser.Next(), std::nullopt) << bytes;
  }
}

TEST(ReplyTreeTest, DepthIsLimited) {
  ReplyTreeParser parser;
  for (size_t i = 0; i < ReplyTreeParser::kMaxDepth; ++i) parser.Feed("*1\r\n");
  EXPECT_EQ(parser.Next(), std::nullopt);
  EXPECT_FALSE(parser.Failed());
  parser.Feed("*1\r\n");
  EXPECT_EQ(parser.Next(), std::nullopt);
  EXPECT_TRUE(parser.Failed());
}

TEST(ReplyTreeTest, ReleasesMemoryBetweenReplies) {
  ReplyTreeParser parser;
  std::string bulk = "$100000\r\n" + std::string(100'000, 'x') + "\r\n";
  for (int i = 0; i < 10; ++i) {
    parser.Feed(bulk + "+O");
    ASSERT_TRUE(parser.Next());
    EXPECT_EQ(parser.PendingBytes(), 2u);
    parser.Feed("K\r\n");
    EXPECT_EQ(parser.Next()->text, "OK");
  }
}

}  // namespace
}  // namespace respite
