// An observer is told of the commands of clients, transactions and scripts, but only of the kinds that it requested.
#include "server/execution/call_observer.h"

#include <functional>
#include <string>
#include <vector>

#include "tests/support/command_test.h"

namespace respite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Keeps a line for each call.
class CallRecorder final : public CallObserver {
 public:
  void OnCall(const FinishedCall& call) override {
    const char* ending = call.ending == FinishedCall::Ending::kSucceeded ? "" : "failed ";
    lines_.push_back(ending + LineOf(call.nesting, call.session, call.words));
    stages_.push_back(call.stage);
    durations_.push_back(call.duration_us);
    if (on_call) on_call();
  }
  void OnRefusal(const RefusedCall& call) override {
    lines_.push_back("refused " + LineOf(call.nesting, call.session, call.words) + ": " +
                     std::string(call.error.substr(0, call.error.find(' '))));
    names_.push_back(call.command == nullptr ? "" : call.command->full_name);
  }
  void OnWait(const WaitingCall& call) override { lines_.push_back("waits " + LineOf(0, call.session, call.words)); }

  std::vector<std::string> Take() { return std::exchange(lines_, {}); }
  const std::vector<std::string>& RefusedNames() const { return names_; }
  const std::vector<Progress::Stage>& Stages() const { return stages_; }
  const std::vector<int64_t>& Durations() const { return durations_; }

  std::function<void()> on_call;

 private:
  static std::string LineOf(int nesting, const Session& session, std::span<const Bytes> words) {
    std::string line(static_cast<size_t>(nesting), '>');
    if (session.IsScript()) line += "lua ";
    for (size_t at = 0; at < words.size(); ++at) line += (at == 0 ? "" : " ") + std::string(words[at]);
    return line;
  }

  std::vector<std::string> lines_;
  std::vector<std::string> names_;
  std::vector<Progress::Stage> stages_;
  std::vector<int64_t> durations_;
};

class CallObserverTest : public testing::Test {
 protected:
  CallObserverTest() : client_(server_) { observers().Attach(recorder_); }

  CallObservers& observers() { return server_->services().execution.observers; }

  CallRecorder recorder_;
  TestServer server_;
  TestClient client_;
};

TEST_F(CallObserverTest, HearsOfWhatClientsCall) {
  client_.Run("SET k v");
  client_.Run("get k");
  EXPECT_THAT(recorder_.Take(), ElementsAre("SET k v", "get k"));
}

TEST_F(CallObserverTest, HearsNothingOnceDetached) {
  client_.Run("PING");
  observers().Detach(recorder_);
  client_.Run("SET k v");
  client_.Run("NOSUCH");
  client_.Run("EVAL \"return redis.call('GET', 'k')\" 0");
  EXPECT_THAT(recorder_.Take(), ElementsAre("PING"));
  observers().Attach(recorder_);
  client_.Run("ECHO again");
  EXPECT_THAT(recorder_.Take(), ElementsAre("ECHO again"));
}

TEST_F(CallObserverTest, TellsFailuresApart) {
  client_.Run("SET k v");
  client_.Run("INCR k");
  client_.Run("EVAL \"return redis.pcall('LPUSH', 'k', 'x')\" 0");
  EXPECT_THAT(recorder_.Take(), ElementsAre("SET k v", "failed INCR k", "failed >lua LPUSH k x",
                                            "failed EVAL return redis.pcall('LPUSH', 'k', 'x') 0"));
}

TEST_F(CallObserverTest, HearsOfRefusals) {
  client_.Run("GET");
  client_.Run("NOSUCH a b");
  client_.Run("CONFIG NOSUCH");
  client_.Run("EXEC x");
  EXPECT_THAT(recorder_.Take(), ElementsAre("refused GET: ERR", "refused NOSUCH a b: ERR", "refused CONFIG NOSUCH: ERR",
                                            "refused EXEC x: EXECABORT"));
  EXPECT_THAT(recorder_.RefusedNames(), ElementsAre("get", "", "", "exec"));
}

TEST_F(CallObserverTest, HearsOfATransactionWhenItRuns) {
  client_.Run("MULTI");
  client_.Run("SET k v");
  client_.Run("INCR k");
  EXPECT_THAT(recorder_.Take(), ElementsAre("MULTI"));
  client_.Run("EXEC");
  EXPECT_THAT(recorder_.Take(), ElementsAre(">SET k v", "failed >INCR k", "EXEC"));
}

TEST_F(CallObserverTest, HearsOfWhatATransactionMayNotRunAnyMore) {
  client_.Run("MULTI");
  client_.Run("SET k v");
  TestClient other(server_);
  other.Run("ACL SETUSER default -set");
  client_.Run("EXEC");
  EXPECT_THAT(recorder_.Take(), ElementsAre("MULTI", "ACL SETUSER default -set", "refused >SET k v: NOPERM", "EXEC"));
}

TEST_F(CallObserverTest, HearsOfWhatScriptsCall) {
  client_.Run({"EVAL", "redis.call('SET', 'k', 'v') return redis.pcall('NOSUCH')", "0"});
  EXPECT_THAT(recorder_.Take(), ElementsAre(">lua SET k v", "refused >lua NOSUCH: ERR",
                                            "failed EVAL redis.call('SET', 'k', 'v') return redis.pcall('NOSUCH') 0"));
}

TEST_F(CallObserverTest, CountsHowDeepAScriptOfATransactionStands) {
  client_.Run("MULTI");
  client_.Run({"EVAL", "return redis.call('PING')", "0"});
  client_.Run("EXEC");
  EXPECT_THAT(recorder_.Take(), ElementsAre("MULTI", ">>lua PING", ">EVAL return redis.call('PING') 0", "EXEC"));
}

TEST_F(CallObserverTest, HearsWhenAClientBeginsToWaitAndWhenItIsServed) {
  client_.Run("BLPOP l 0");
  EXPECT_THAT(recorder_.Take(), ElementsAre("waits BLPOP l 0"));
  TestClient other(server_);
  other.Run("RPUSH l x");
  EXPECT_THAT(recorder_.Take(), ElementsAre("RPUSH l x", "BLPOP l 0"));
  EXPECT_THAT(recorder_.Stages(), ElementsAre(Progress::Stage::kNew, Progress::Stage::kAgain));
}

TEST_F(CallObserverTest, HearsOfAWaitThatEndsWithoutAnything) {
  client_.Run("BLPOP l 1");
  server_.AdvanceMs(1001);
  server_.Cron();
  EXPECT_THAT(recorder_.Take(), ElementsAre("waits BLPOP l 1", "BLPOP l 1"));
}

TEST_F(CallObserverTest, DoesNotHearOfWhatIsLoaded) {
  server_.Load();
  EXPECT_THAT(recorder_.Take(), IsEmpty());
}

TEST_F(CallObserverTest, MayAskForLongCallsOnly) {
  observers().Attach(recorder_, {.reported_from_us = 500});
  client_.Run("PING");
  server_.clock().AdvanceWithEachReading(400);
  client_.Run("ECHO short");
  server_.clock().AdvanceWithEachReading(600);
  client_.Run("ECHO long");
  server_.clock().AdvanceWithEachReading(0);
  EXPECT_THAT(recorder_.Take(), ElementsAre("ECHO long"));
  EXPECT_THAT(recorder_.Durations(), testing::Each(testing::Ge(500)));
}

TEST_F(CallObserverTest, MayAskForLargeCallsOnly) {
  observers().Attach(recorder_, {.reported_from_request_bytes = 30});
  client_.Run("PING");
  client_.Run("ECHO xxxxx");  // 25 bytes: *2 $4 ECHO $5 xxxxx
  EXPECT_THAT(recorder_.Take(), ElementsAre());
  client_.Run("ECHO xxxxxxxxxx");
  EXPECT_THAT(recorder_.Take(), ElementsAre("ECHO xxxxxxxxxx"));
  observers().Attach(recorder_, {.reported_from_reply_bytes = 8});
  client_.Run("PING");
  client_.Run("ECHO ab");
  EXPECT_THAT(recorder_.Take(), ElementsAre("ECHO ab"));
}

TEST_F(CallObserverTest, MayDetachItselfAndOthersWhileItIsTold) {
  CallRecorder second;
  CallRecorder third;
  observers().Attach(second);
  recorder_.on_call = [&] {
    observers().Detach(recorder_);
    observers().Detach(second);
    observers().Attach(third);
  };
  client_.Run("ECHO 1");
  client_.Run("ECHO 2");
  EXPECT_THAT(recorder_.Take(), ElementsAre("ECHO 1"));
  EXPECT_THAT(second.Take(), IsEmpty());
  EXPECT_THAT(third.Take(), ElementsAre("ECHO 1", "ECHO 2"));
  observers().Detach(third);
}

TEST_F(CallObserverTest, SecretsCanBeHidden) {
  std::vector<std::string> shown;
  class Shown final : public CallObserver {
   public:
    explicit Shown(std::vector<std::string>& lines) : lines_(lines) {}
    void OnCall(const FinishedCall& call) override {
      for (Bytes word : ArgumentsWithoutSecrets(call.session, call.words)) lines_.emplace_back(word);
    }

   private:
    std::vector<std::string>& lines_;
  } observer(shown);
  observers().Attach(observer);
  client_.Run("AUTH hush");
  observers().Detach(observer);
  EXPECT_THAT(shown, ElementsAre("AUTH", "(redacted)"));
}

// --- The observers of SLOWLOG, LATENCY and MONITOR exist only while a setting needs them.

class Thresholds : public CallObserverTest {};

TEST_F(Thresholds, ARefusedConfigSetLeavesThemAsTheyWere) {
  // `port` cannot change in a test without a process; the directives set before it are restored.
  client_.Run("CONFIG SET slowlog-log-slower-than 0");
  client_.Run("SLOWLOG RESET");
  EXPECT_THAT(client_.Run("CONFIG SET slowlog-log-slower-than -1 tls-port -5"), testing::Not(Ok()));
  client_.Run("PING");
  EXPECT_EQ(server_->services().execution.command_logs.slow.Records().front().words.front(), "PING");
}

TEST_F(Thresholds, TheLargestLatencyThresholdIsAsGoodAsNone) {
  EXPECT_THAT(client_.Run("CONFIG SET latency-monitor-threshold 9223372036854775807"), Ok());
  client_.Run("PING");
  EXPECT_THAT(client_.Run("LATENCY LATEST"), EmptyArray());
}

TEST_F(Thresholds, LongCommandsAreSpikes) {
  client_.Run("CONFIG SET latency-monitor-threshold 2");
  server_.clock().AdvanceWithEachReading(2000);
  client_.Run("PING");
  server_.clock().AdvanceWithEachReading(0);
  EXPECT_EQ(client_.Run("LATENCY HISTORY fast-command").Size(), 1u);
  client_.Run("LATENCY RESET");
  client_.Run("CONFIG SET latency-monitor-threshold 0");
  server_.clock().AdvanceWithEachReading(2000);
  client_.Run("PING");
  server_.clock().AdvanceWithEachReading(0);
  EXPECT_EQ(client_.Run("LATENCY HISTORY fast-command").Size(), 0u);
}

}  // namespace
}  // namespace respite
