#include <gmock/gmock.h>

#include "server/commands/families.h"
#include "server/lab/recording/reply_judge.h"
#include "server/lab/recording/unanswered_requests.h"

namespace respite {
namespace {

using Verdict = ReplyJudge::Verdict;

ReplyTree TreeOf(Bytes text) {
  ReplyTreeParser parser;
  parser.Feed(text);
  return parser.Next().value();
}

class UnansweredRequestsTest : public testing::Test {
 protected:
  // Returns the first argument of the request to which the reply belongs; "message" for a message, "nobody" if there is
  // no request.
  std::string AskerOf(Bytes reply) {
    const ReplyTree tree = TreeOf(reply);
    if (unanswered_.IsPubSubMessage(tree)) {
      unanswered_.Confirm(tree);
      return "message";
    }
    const auto request = unanswered_.Take(tree);
    return request ? request->words[0] : "nobody";
  }

  UnansweredRequests unanswered_;
};

TEST_F(UnansweredRequestsTest, EachReplyFindsItsRequest) {
  unanswered_.Feed("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPI");
  unanswered_.Feed("NG\r\nECHO x\r\n");
  EXPECT_EQ(AskerOf("$-1\r\n"), "GET");
  EXPECT_EQ(AskerOf("+PONG\r\n"), "PING");
  EXPECT_EQ(AskerOf("$1\r\nx\r\n"), "ECHO");
  EXPECT_EQ(AskerOf("+OK\r\n"), "nobody");
}

TEST_F(UnansweredRequestsTest, SubscriptionsAreConfirmedByMessages) {
  unanswered_.Feed("SUBSCRIBE a b\r\nPING\r\n");
  EXPECT_EQ(AskerOf("*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"), "message");
  EXPECT_EQ(AskerOf("*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n"), "message");
  EXPECT_EQ(AskerOf("*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n"), "message");
  EXPECT_EQ(AskerOf("*2\r\n$4\r\npong\r\n$0\r\n\r\n"), "PING");
}

TEST_F(UnansweredRequestsTest, ASubscriptionThatIsRefusedHasAReply) {
  unanswered_.Feed("SUBSCRIBE\r\nPING\r\n");
  EXPECT_EQ(AskerOf("-ERR wrong number of arguments for 'subscribe' command\r\n"), "SUBSCRIBE");
  EXPECT_EQ(AskerOf("+PONG\r\n"), "PING");
}

TEST_F(UnansweredRequestsTest, AnErrorBehindASubscriptionBelongsToItsOwnRequest) {
  unanswered_.Feed("SUBSCRIBE a b\r\nUNSUBSCRIBE\r\nGET x\r\nINCR x\r\n");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(AskerOf("*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"), "message");
  EXPECT_EQ(AskerOf("*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n"), "message");
  EXPECT_EQ(AskerOf("-ERR Can't execute 'get'\r\n"), "GET");
  EXPECT_EQ(AskerOf(":1\r\n"), "INCR");
}

TEST_F(UnansweredRequestsTest, AQueuedSubscriptionHasAReply) {
  unanswered_.Feed("MULTI\r\nSUBSCRIBE a\r\nEXEC\r\n");
  EXPECT_EQ(AskerOf("+OK\r\n"), "MULTI");
  EXPECT_EQ(AskerOf("+QUEUED\r\n"), "SUBSCRIBE");
  EXPECT_EQ(AskerOf("*1\r\n+x\r\n"), "EXEC");
}

TEST_F(UnansweredRequestsTest, TimeOfItsOwn) {
  unanswered_.Feed("TEST FAULT LIST\r\nAUTH worldly x\r\n");
  EXPECT_FALSE(unanswered_.MayHaveMovedClock());
  unanswered_.Feed("HELLO 3 AUTH world.t1 x\r\n");
  EXPECT_TRUE(unanswered_.MayHaveMovedClock());
}

TEST_F(UnansweredRequestsTest, RepliesThatAreTurnedOffAreNotAwaited) {
  unanswered_.Feed(
      "CLIENT REPLY SKIP\r\nSET k 1\r\nGET k\r\nCLIENT REPLY OFF\r\nSET k 2\r\nCLIENT REPLY ON\r\nPING\r\n");
  EXPECT_EQ(AskerOf("$1\r\n1\r\n"), "GET");
  EXPECT_EQ(AskerOf("+OK\r\n"), "CLIENT");
  EXPECT_EQ(AskerOf("+PONG\r\n"), "PING");
}

TEST_F(UnansweredRequestsTest, ExecHasTheQueuedRequests) {
  unanswered_.Feed("MULTI\r\nSET k v\r\nTTL k\r\nEXEC\r\n");
  for (int i = 0; i < 3; ++i) unanswered_.Take(TreeOf("+QUEUED\r\n"));
  const auto exec = unanswered_.Take(TreeOf("*0\r\n"));
  ASSERT_TRUE(exec);
  EXPECT_THAT(exec->queued,
              testing::ElementsAre(std::vector<std::string>{"SET", "k", "v"}, std::vector<std::string>{"TTL", "k"}));
}

TEST_F(UnansweredRequestsTest, AReplicaSpeaksAnotherProtocol) {
  unanswered_.Feed("PSYNC ? -1\r\n");
  EXPECT_TRUE(unanswered_.IsIncomparable());
}

Verdict Judge(const AskedRequest& request, Bytes recorded, Bytes replayed) {
  const auto set = AllCommands(Where::kDataServers);
  return ReplyJudge(*set, {"evalsha", "object|*"}).Judge(request, TreeOf(recorded), TreeOf(replayed));
}

TEST(ReplyJudgeTest, RepliesAreComparedByWhatTheCommandPromises) {
  EXPECT_EQ(Judge({{"GET", "k"}}, "$1\r\na\r\n", "$1\r\na\r\n"), Verdict::kSame);
  EXPECT_EQ(Judge({{"GET", "k"}}, "$1\r\na\r\n", "$1\r\nb\r\n"), Verdict::kDiffers);
  EXPECT_EQ(Judge({{"GET", "k"}}, "$1\r\na\r\n", "$-1\r\n"), Verdict::kDiffers);
  EXPECT_EQ(Judge({{"LRANGE", "k"}}, "*2\r\n:1\r\n:2\r\n", "*2\r\n:2\r\n:1\r\n"), Verdict::kDiffers);
  EXPECT_EQ(Judge({{"smembers", "k"}}, "*2\r\n:1\r\n:2\r\n", "*2\r\n:2\r\n:1\r\n"), Verdict::kSame);
  EXPECT_EQ(Judge({{"smembers", "k"}}, "~2\r\n:1\r\n:2\r\n", "~2\r\n:2\r\n:3\r\n"), Verdict::kDiffers);
  EXPECT_EQ(Judge({{"HGETALL", "k"}}, "%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n", "%2\r\n+b\r\n:2\r\n+a\r\n:1\r\n"),
            Verdict::kSame);
  EXPECT_EQ(Judge({{"HGETALL", "k"}}, "%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n", "%2\r\n+a\r\n:2\r\n+b\r\n:1\r\n"),
            Verdict::kDiffers);
}

TEST(ReplyJudgeTest, TimeChanceAndServersMayDiffer) {
  EXPECT_EQ(Judge({{"PTTL", "k"}}, ":100\r\n", ":99\r\n"), Verdict::kUnjudged);
  EXPECT_EQ(Judge({{"CLIENT", "ID"}}, ":7\r\n", ":8\r\n"), Verdict::kUnjudged);
  EXPECT_EQ(Judge({{"INFO"}}, "$1\r\na\r\n", "$1\r\nb\r\n"), Verdict::kUnjudged);
  EXPECT_EQ(Judge({{"PTTL", "k"}}, ":100\r\n", "-ERR no\r\n"), Verdict::kDiffers);
  EXPECT_EQ(Judge({{"OBJECT", "ENCODING", "k"}}, "$1\r\na\r\n", "$1\r\nb\r\n"), Verdict::kUnjudged);
  EXPECT_EQ(Judge({{"EVALSHA", "x", "0"}}, ":1\r\n", ":2\r\n"), Verdict::kUnjudged);
  EXPECT_EQ(Judge({{"EVAL", "x", "0"}}, ":1\r\n", ":2\r\n"), Verdict::kDiffers);
  EXPECT_EQ(Judge({{"NOSUCH"}}, ":1\r\n", ":2\r\n"), Verdict::kDiffers);
}

TEST(ReplyJudgeTest, AScriptThatReturnsAHashMayReturnItInAnotherOrder) {
  constexpr Bytes kOne = "*2\r\n+job\r\n*4\r\n+a\r\n:1\r\n+b\r\n:2\r\n";
  constexpr Bytes kOther = "*2\r\n+job\r\n*4\r\n+b\r\n:2\r\n+a\r\n:1\r\n";
  EXPECT_EQ(Judge({{"EVAL", "x", "0"}}, kOne, kOther), Verdict::kUnjudged);
  EXPECT_EQ(Judge({{"FCALL", "f", "0"}}, kOne, kOther), Verdict::kUnjudged);
  EXPECT_EQ(Judge({{"EVAL", "x", "0"}}, kOne, "*2\r\n+job\r\n*4\r\n+b\r\n:2\r\n+a\r\n:3\r\n"), Verdict::kDiffers);
  EXPECT_EQ(Judge({{"XRANGE", "s", "-", "+"}}, kOne, kOther), Verdict::kDiffers);
}

TEST(ReplyJudgeTest, ATransactionIsJudgedByItsRequests) {
  const AskedRequest exec{.words = {"EXEC"}, .queued = {{"PTTL", "k"}, {"GET", "k"}}};
  EXPECT_EQ(Judge(exec, "*2\r\n:1\r\n+a\r\n", "*2\r\n:2\r\n+a\r\n"), Verdict::kUnjudged);
  EXPECT_EQ(Judge(exec, "*2\r\n:1\r\n+a\r\n", "*2\r\n:1\r\n+b\r\n"), Verdict::kDiffers);
  EXPECT_EQ(Judge(exec, "*2\r\n:1\r\n+a\r\n", "*-1\r\n"), Verdict::kDiffers);
}

}  // namespace
}  // namespace respite
