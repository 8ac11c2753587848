#include "protocol/reply_cutter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace respite {
namespace {

struct Case {
  RespVersion version;
  ReplyForm form;
};

class ReplyCutterTest : public testing::TestWithParam<Case> {
 protected:
  // The bytes of each of these elements, and all of them after a header.
  void Write(auto&& element) {
    const size_t begin = out_.Size();
    element(reply_);
    elements_.push_back(out_.Text(begin));
  }

  BlockPool pool_;
  ReplyBuffer out_{pool_};
  Reply reply_{out_, GetParam().version, GetParam().form};
  std::vector<std::string> elements_;
};

TEST_P(ReplyCutterTest, FindsEachElement) {
  reply_.Array(10);
  const size_t head = out_.Size();
  Write([](Reply& reply) { reply.Bulk("two\r\nlines"); });
  Write([](Reply& reply) { reply.Integer(-12); });
  Write([](Reply& reply) { reply.Null(); });
  Write([](Reply& reply) { reply.NullArray(); });
  Write([](Reply& reply) { reply.Double(1.5); });
  Write([](Reply& reply) { reply.Bool(true); });
  Write([](Reply& reply) { reply.Verbatim("text", "txt"); });
  Write([](Reply& reply) { reply.Error("ERR no"); });
  Write([](Reply& reply) {
    reply.Map(1);
    reply.Bulk("key");
    reply.Array(2);
    reply.Bulk("");
    reply.Set(0);
  });
  Write([](Reply& reply) { reply.Simple("end"); });
  const std::string text = out_.Text();
  ReplyCutter cutter(text, GetParam().form);
  EXPECT_EQ(cutter.TakeHeader().ElementCount(), 10);
  EXPECT_EQ(cutter.TakenPart().size(), head);
  for (const std::string& element : elements_) EXPECT_EQ(cutter.TakeElement(), element);
  EXPECT_TRUE(cutter.Rest().empty());
  EXPECT_EQ(cutter.TakeHeader().kind, 0);
  EXPECT_EQ(cutter.TakeElement(), "");
}

TEST_P(ReplyCutterTest, EndsWithAReplyThatIsCutOff) {
  reply_.Array(2);
  reply_.Bulk("first");
  reply_.Map(1);
  reply_.Bulk("key");
  reply_.Integer(7);
  const std::string text = out_.Text();
  for (size_t length = 0; length < text.size(); ++length) {
    ReplyCutter cutter(Bytes(text).substr(0, length), GetParam().form);
    EXPECT_EQ(cutter.TakeElement().size(), length);
    EXPECT_TRUE(cutter.Rest().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, ReplyCutterTest,
                         testing::Values(Case{RespVersion::kResp2, ReplyForm::kWire},
                                         Case{RespVersion::kResp3, ReplyForm::kWire},
                                         Case{RespVersion::kResp2, ReplyForm::kBinary},
                                         Case{RespVersion::kResp3, ReplyForm::kBinary}));

}  // namespace
}  // namespace respite
