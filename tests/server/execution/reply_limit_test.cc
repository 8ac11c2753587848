// client-output-buffer-limit bounds the memory of a reply while one command, transaction or script writes it.
#include <algorithm>

#include "base/str_cat.h"
#include "server/execution/call_observer.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

constexpr size_t kHardLimit = 1'000'000;
constexpr size_t kValueBytes = 10'000;

// Notes how much memory the output of clients and scripts had at the end of a command.
class OutputMeter final : public CallObserver {
 public:
  void OnCall(const FinishedCall& call) override {
    const size_t held = call.session.out.HeldBytes() + call.session.deferred_pushes.size();
    (call.session.IsScript() ? max_script_bytes : max_client_bytes) =
        std::max(call.session.IsScript() ? max_script_bytes : max_client_bytes, held);
    reply_bytes = call.reply_bytes;
  }

  size_t max_client_bytes = 0;
  size_t max_script_bytes = 0;
  size_t reply_bytes = 0;  // of the last command
};

class ReplyLimitTest : public testing::TestWithParam<RespVersion> {
 protected:
  ReplyLimitTest() {
    server_->services().execution.observers.Attach(meter_);
    client_.SetReading(TestClient::Reading::kNo);
    other_.Run({"HSET", "h", "f", std::string(kValueBytes, 'x')});
  }

  // The words of an HMGET whose reply has this many times kValueBytes.
  static std::vector<std::string> Hmget(size_t values) {
    std::vector<std::string> words(values + 2, "f");
    words[0] = "HMGET";
    words[1] = "h";
    return words;
  }
  void ExpectClosedInTime() {
    EXPECT_TRUE(client_.Closed());
    EXPECT_EQ(server_->services().env.stats.output_limit_disconnections, 1u);
    EXPECT_LE(meter_.max_client_bytes, kHardLimit + 2 * BlockPool::kBlockBytes);
  }

  OutputMeter meter_;
  TestServer server_{
      {.directives = {StrCat("client-output-buffer-limit normal ", kHardLimit, " 0 0 pubsub ", kHardLimit, " 0 0")}}};
  TestClient client_{server_, GetParam()};
  TestClient other_{server_};
};
INSTANTIATE_TEST_SUITE_P(Resp, ReplyLimitTest, BothVersions(), VersionName);

TEST_P(ReplyLimitTest, HoldsWithinOneCommand) {
  client_.Run(Hmget(5000));
  ExpectClosedInTime();
  EXPECT_GE(meter_.reply_bytes, 5000 * kValueBytes) << "COMMANDLOG counts the whole reply";
}

TEST_P(ReplyLimitTest, HoldsWithinATransactionWhoseCommandsAllRun) {
  client_.Run("MULTI");
  for (int i = 0; i < 5000; ++i) client_.Run(i % 100 == 99 ? "LPOP h" : "HGET h f");  // LPOP h is refused
  client_.Run("SET k v");
  client_.Run("EXEC");
  ExpectClosedInTime();
  EXPECT_THAT(other_.Run("GET k"), Bulk("v"));
}

TEST_P(ReplyLimitTest, HoldsForSharedValues) {
  other_.Run({"SET", "long", std::string(100'000, 'x')});
  std::vector<std::string> words(1000, "long");
  words[0] = "MGET";
  client_.Run(words);
  ExpectClosedInTime();
}

TEST_P(ReplyLimitTest, HoldsForScriptsOfATransaction) {
  client_.Run("MULTI");
  for (int i = 0; i < 500; ++i) client_.Run({"EVAL", "return string.rep('x', 100000)", "0"});
  client_.Run("EXEC");
  ExpectClosedInTime();
}

TEST_P(ReplyLimitTest, HoldsForMessagesOfATransactionToItself) {
  if (GetParam() != RespVersion::kResp3) return;  // RESP2: EXEC is refused
  client_.Run("SUBSCRIBE channel");
  client_.Run("MULTI");
  for (int i = 0; i < 500; ++i) client_.Run({"PUBLISH", "channel", std::string(kValueBytes, 'x')});
  client_.Run("EXEC");
  ExpectClosedInTime();
}

// A blocked client gets its reply from the command of another one.
TEST_P(ReplyLimitTest, HoldsForClientsThatWereBlocked) {
  client_.Run("BLMPOP 0 1 list LEFT COUNT 10000");
  std::vector<std::string> words(1000, std::string(kValueBytes, 'x'));
  words[0] = "RPUSH";
  words[1] = "list";
  other_.Run(words);
  ExpectClosedInTime();
}

TEST_P(ReplyLimitTest, SmallerRepliesAndThoseThatAreNotSentAreNotAffected) {
  client_.SetReading(TestClient::Reading::kYes);
  EXPECT_EQ(client_.Run(Hmget(90)).Size(), 90u);
  client_.Run("CLIENT REPLY OFF");
  client_.Run(Hmget(5000));
  client_.Run("MULTI");
  client_.Run(Hmget(5000));
  client_.Run("EXEC");
  EXPECT_THAT(client_.Run("CLIENT REPLY ON"), Ok());
  EXPECT_EQ(client_.Run(Hmget(90)).Size(), 90u);
  EXPECT_LE(meter_.max_client_bytes, kHardLimit + 2 * BlockPool::kBlockBytes);
}

TEST_P(ReplyLimitTest, OfOneIsNotThatOfOthers) {
  other_.Run("CONFIG SET client-output-buffer-limit 'normal 0 0 0'");
  EXPECT_EQ(other_.Run(Hmget(5000)).Size(), 5000u);
}

// The values are shared, so the test needs little memory.
TEST_P(ReplyLimitTest, OfACommandInAScriptIsTheMemoryOfTheScript) {
  std::string text;
  text.resize(10'000'000, 'x');
  other_.Run({"SET", "long", text});
  const std::string call = "local t = {} for i = 1, 1000 do t[i] = 'long' end return redis.pcall('MGET', unpack(t))";
  EXPECT_THAT(other_.Run({"EVAL", call, "0"}), Error("ERR The reply of the command is too long for a script"));
  constexpr size_t kMemoryLimit = 256'000'000;
  other_.Run("CONFIG SET script-memory-limit 256mb");
  EXPECT_LE(meter_.max_script_bytes, kMemoryLimit);
  EXPECT_GT(meter_.max_script_bytes, kMemoryLimit / 2);
  meter_.max_script_bytes = 0;
  EXPECT_THAT(other_.Run({"EVAL", "local held = string.rep('x', 1e8) " + call, "0"}),
              Error("ERR The reply of the command is too long for a script"));
  EXPECT_LE(meter_.max_script_bytes, kMemoryLimit - 100'000'000);
  EXPECT_THAT(other_.Run({"EVAL", "return #redis.call('GET', 'long')", "0"}), Int(10'000'000));
}

}  // namespace
}  // namespace respite
