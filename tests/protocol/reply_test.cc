#include "protocol/reply.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "protocol/reply_tree.h"

namespace respite {
namespace {

struct Sample {
  const char* name;
  std::function<void(Reply&)> write;
  std::string resp2;
  std::string resp3;
};

std::string Written(RespVersion version, const std::function<void(Reply&)>& write) {
  BlockPool pool;
  ReplyBuffer out(pool);
  Reply reply(out, version);
  write(reply);
  return out.Text();
}

class ReplyGolden : public testing::TestWithParam<Sample> {};

INSTANTIATE_TEST_SUITE_P(
    Kinds, ReplyGolden,
    testing::Values(Sample{"Ok", [](Reply& r) { r.Ok(); }, "+OK\r\n", "+OK\r\n"},
                    Sample{"Simple", [](Reply& r) { r.Simple("QUEUED"); }, "+QUEUED\r\n", "+QUEUED\r\n"},
                    Sample{"Error", [](Reply& r) { r.Error("ERR no"); }, "-ERR no\r\n", "-ERR no\r\n"},
                    Sample{"ErrorOnOneLine", [](Reply& r) { r.Error("ERR a\r\nb"); }, "-ERR a  b\r\n", "-ERR a  b\r\n"},
                    Sample{"Zero", [](Reply& r) { r.Integer(0); }, ":0\r\n", ":0\r\n"},
                    Sample{"Nine", [](Reply& r) { r.Integer(9); }, ":9\r\n", ":9\r\n"},
                    Sample{"Ten", [](Reply& r) { r.Integer(10); }, ":10\r\n", ":10\r\n"},
                    Sample{"Negative", [](Reply& r) { r.Integer(-1); }, ":-1\r\n", ":-1\r\n"},
                    Sample{"Least", [](Reply& r) { r.Integer(INT64_MIN); }, ":-9223372036854775808\r\n",
                           ":-9223372036854775808\r\n"},
                    Sample{"Most", [](Reply& r) { r.Integer(INT64_MAX); }, ":9223372036854775807\r\n",
                           ":9223372036854775807\r\n"},
                    Sample{"Bulk", [](Reply& r) { r.Bulk("a\r\nb"); }, "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n"},
                    Sample{"EmptyBulk", [](Reply& r) { r.Bulk(""); }, "$0\r\n\r\n", "$0\r\n\r\n"},
                    Sample{"BulkInteger", [](Reply& r) { r.BulkInteger(-12); }, "$3\r\n-12\r\n", "$3\r\n-12\r\n"},
                    Sample{"Null", [](Reply& r) { r.Null(); }, "$-1\r\n", "_\r\n"},
                    Sample{"NullArray", [](Reply& r) { r.NullArray(); }, "*-1\r\n", "_\r\n"},
                    Sample{"True", [](Reply& r) { r.Bool(true); }, ":1\r\n", "#t\r\n"},
                    Sample{"False", [](Reply& r) { r.Bool(false); }, ":0\r\n", "#f\r\n"},
                    Sample{"Double", [](Reply& r) { r.Double(1.5); }, "$3\r\n1.5\r\n", ",1.5\r\n"},
                    Sample{"WholeDouble", [](Reply& r) { r.Double(3); }, "$1\r\n3\r\n", ",3\r\n"},
                    Sample{"TenthDouble", [](Reply& r) { r.Double(0.1); }, "$3\r\n0.1\r\n", ",0.1\r\n"},
                    Sample{"Infinity", [](Reply& r) { r.Double(std::numeric_limits<double>::infinity()); },
                           "$3\r\ninf\r\n", ",inf\r\n"},
                    Sample{"MinusInfinity", [](Reply& r) { r.Double(-std::numeric_limits<double>::infinity()); },
                           "$4\r\n-inf\r\n", ",-inf\r\n"},
                    Sample{"Verbatim", [](Reply& r) { r.Verbatim("hi", "txt"); }, "$2\r\nhi\r\n", "=6\r\ntxt:hi\r\n"},
                    Sample{"BigNumber", [](Reply& r) { r.BigNumber("123"); }, "$3\r\n123\r\n", "(123\r\n"},
                    Sample{"Array", [](Reply& r) { r.Array(2); }, "*2\r\n", "*2\r\n"},
                    Sample{"Map", [](Reply& r) { r.Map(2); }, "*4\r\n", "%2\r\n"},
                    Sample{"Set", [](Reply& r) { r.Set(3); }, "*3\r\n", "~3\r\n"},
                    Sample{"Push", [](Reply& r) { r.Push(3); }, "*3\r\n", ">3\r\n"},
                    Sample{"BulkArray",
                           [](Reply& r) {
                             r.BulkArray(std::vector<std::string>{"a", ""});
                           },
                           "*2\r\n$1\r\na\r\n$0\r\n\r\n", "*2\r\n$1\r\na\r\n$0\r\n\r\n"}),
    [](const auto& sample) { return std::string(sample.param.name); });

TEST_P(ReplyGolden, Resp2) { EXPECT_EQ(Written(RespVersion::kResp2, GetParam().write), GetParam().resp2); }
TEST_P(ReplyGolden, Resp3) { EXPECT_EQ(Written(RespVersion::kResp3, GetParam().write), GetParam().resp3); }

TEST(ReplyTest, AttributeIsWrittenUnderResp3) {
  EXPECT_EQ(Written(RespVersion::kResp3, [](Reply& r) { r.Attribute(1); }), "|1\r\n");
}

TEST(ReplyTest, BulksOfEverySize) {
  for (size_t size : {1u,  3u,  4u,  7u,   8u,   9u,    10u,   15u,   16u,    31u,    32u,    63u,
                      64u, 65u, 99u, 100u, 999u, 1023u, 1024u, 1025u, 16383u, 16384u, 16385u, 100'000u}) {
    std::string text;
    while (text.size() < size) text += static_cast<char>('a' + text.size() % 26);
    std::string expected = StrCat("$", size, "\r\n", text, "\r\n");
    EXPECT_EQ(Written(RespVersion::kResp2, [&](Reply& r) { r.Bulk(text); }), expected) << size;
    EXPECT_EQ(Written(RespVersion::kResp2, [&](Reply& r) { r.Bulk(BlobRef::Copy(text)); }), expected) << size;
  }
}

TEST(ReplyTest, AcceptsANullView) {
  EXPECT_EQ(Written(RespVersion::kResp2, [](Reply& r) { r.Bulk(Bytes{}); }), "$0\r\n\r\n");
}

TEST(ReplyTest, LongBlobIsSentWithoutACopy) {
  BlockPool pool;
  ReplyBuffer out(pool);
  BlobRef blob = BlobRef::Copy(std::string(ReplyBuffer::kMinSharedBytes, 'x'));
  Reply(out, RespVersion::kResp2).Bulk(blob);
  EXPECT_FALSE(blob.IsUnique());
  bool seen = false;
  out.VisitFront(10, [&](Bytes piece) { seen = seen || piece.data() == blob.View().data(); });
  EXPECT_TRUE(seen);
  out.Clear();
  EXPECT_TRUE(blob.IsUnique());
}

// ReplyTreeParser reads what Reply writes.
TEST(ReplyTest, TreeOfANestedReply) {
  std::string bytes = Written(RespVersion::kResp3, [](Reply& r) {
    r.Map(2);
    r.Bulk("a");
    r.Array(2);
    r.Double(0.5);
    r.Null();
    r.Bulk("b");
    r.Set(1);
    r.Bool(true);
  });
  ReplyTreeParser parser;
  parser.Feed(bytes);
  auto tree = parser.Next();
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->ReadableText(), "{\"a\": [,0.5, nil], \"b\": ~[true]}");
}

}  // namespace
}  // namespace respite
