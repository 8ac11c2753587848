#include "protocol/binary_reply.h"

#include <gtest/gtest.h>

#include "protocol/reply.h"

namespace respite {
namespace {

// Returns the parts of a reply, one word each.
std::string Parts(RespVersion version, void (*write)(Reply&)) {
  BlockPool pool;
  ReplyBuffer out(pool);
  Reply reply(out, version, ReplyForm::kBinary);
  write(reply);
  const std::string bytes = out.Text();
  std::string parts;
  for (BinaryReplyReader reader(bytes); !reader.AtEnd();) {
    const ReplyPart part = reader.Next();
    parts += parts.empty() ? "" : " ";
    parts += part.kind;
    parts += part.kind == ',' ? DoubleText(part.Number()) : std::to_string(part.value);
    if (!part.text.empty()) parts += "=" + std::string(part.text);
  }
  return parts;
}

struct Row {
  void (*write)(Reply&);
  const char* resp2;
  const char* resp3;
};

void Integers(Reply& reply, int64_t count) {
  for (int64_t i = 1; i <= count; ++i) reply.Integer(i);
}

TEST(BinaryReply, ReadsEveryKindBack) {
  const Row rows[] = {
      {[](Reply& r) { r.Ok(); }, "+2=OK", "+2=OK"},
      {[](Reply& r) { r.Simple("PONG"); }, "+4=PONG", "+4=PONG"},
      {[](Reply& r) { r.Error("ERR a\r\nb"); }, "-8=ERR a  b", "-8=ERR a  b"},
      {[](Reply& r) { r.Integer(7); }, ":7", ":7"},
      {[](Reply& r) { r.Integer(INT64_MIN); }, ":-9223372036854775808", ":-9223372036854775808"},
      {[](Reply& r) { r.Bulk(Bytes("hi")); }, "$2=hi", "$2=hi"},
      {[](Reply& r) { r.Bulk(Bytes()); }, "$0", "$0"},
      {[](Reply& r) { r.BulkInteger(12); }, "$2=12", "$2=12"},
      {[](Reply& r) { r.Null(); }, "_2", "_3"},
      {[](Reply& r) { r.NullArray(); }, "_2", "_3"},
      {[](Reply& r) { r.Bool(true); }, ":1", "#1"},
      {[](Reply& r) { r.Double(1.5); }, "$3=1.5", ",1.5"},
      {[](Reply& r) { r.LongDouble(2.5L); }, "$3=2.5", ",2.5"},
      {[](Reply& r) { r.Verbatim("x y", "txt"); }, "$3=x y", "=7=txt:x y"},
      {[](Reply& r) { r.BigNumber("123"); }, "$3=123", "(3=123"},
      {[](Reply& r) { r.Array(2), Integers(r, 2); }, "*2 :1 :2", "*2 :1 :2"},
      {[](Reply& r) { r.Map(1), Integers(r, 2); }, "*2 :1 :2", "%1 :1 :2"},
      {[](Reply& r) { r.Set(2), Integers(r, 2); }, "*2 :1 :2", "~2 :1 :2"},
      {[](Reply& r) { r.Push(2), Integers(r, 2); }, "*2 :1 :2", ">2 :1 :2"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Parts(RespVersion::kResp2, row.write), row.resp2);
    EXPECT_EQ(Parts(RespVersion::kResp3, row.write), row.resp3);
  }
}

TEST(BinaryReply, ReadsPartsInARow) {
  EXPECT_EQ(Parts(RespVersion::kResp2,
                  [](Reply& r) {
                    r.Array(2);
                    r.Integer(7);
                    r.Bulk(Bytes("hi"));
                  }),
            "*2 :7 $2=hi");
}

// Returns a part of this kind that announces `value`, followed by `more` bytes.
ReplyPart FirstOf(char kind, int64_t value, size_t more) {
  std::string bytes(1, kind);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value).append(more, ':');
  BinaryReplyReader reader(bytes);
  const ReplyPart part = reader.Next();
  EXPECT_EQ(reader.Failed(), part.kind != kind);
  EXPECT_TRUE(!reader.Failed() || reader.AtEnd());
  return {part.kind, part.value, {}};
}

TEST(BinaryReply, LimitsCountsAndLengths) {
  for (const char kind : {'$', '+', '-', '=', '('}) {
    EXPECT_EQ(FirstOf(kind, 5, 5).kind, kind);
    for (const int64_t length : {int64_t{6}, int64_t{-1}, INT64_MAX, INT64_MIN})
      EXPECT_EQ(FirstOf(kind, length, 5).kind, '_') << kind << length;
  }
  for (const char kind : {'*', '~', '>', '%', '|'}) {
    const int64_t fits = kind == '%' || kind == '|' ? 2 : 4;
    EXPECT_EQ(FirstOf(kind, fits, 4 * 9).kind, kind);
    for (const int64_t count : {fits + 1, int64_t{50'000'000}, int64_t{-1}, INT64_MAX, INT64_MIN})
      EXPECT_EQ(FirstOf(kind, count, 4 * 9).kind, '_') << kind << count;
  }
  EXPECT_EQ(FirstOf(':', INT64_MIN, 0).value, INT64_MIN);
}

TEST(BinaryReply, GivesNullsBehindTheEnd) {
  for (const Bytes bytes : {Bytes(), Bytes("*"), Bytes(":1234567")}) {
    BinaryReplyReader reader(bytes);
    EXPECT_EQ(reader.Next().kind, '_');
    EXPECT_EQ(reader.Next().kind, '_');
    EXPECT_TRUE(reader.Failed());
  }
}

TEST(BinaryReply, SendsSharedTextWithoutACopy) {
  EXPECT_EQ(Parts(RespVersion::kResp2,
                  [](Reply& r) {
                    r.Bulk(BlobRef::Copy(std::string(ReplyBuffer::kMinSharedBytes, 'x')));
                    r.Integer(1);
                  }),
            "$16384=" + std::string(ReplyBuffer::kMinSharedBytes, 'x') + " :1");
}

}  // namespace
}  // namespace respite
