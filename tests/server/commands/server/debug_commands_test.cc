#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/support/command_test.h"

namespace respite {

namespace {

const std::string kZeroDigest(40, '0');

class DebugCommands : public CommandTest {
 protected:
  DebugCommands() : CommandTest({"enable-debug-command yes"}) {}
};
INSTANTIATE_TEST_SUITE_P(Resp, DebugCommands, BothVersions(), VersionName);

std::string WrongWords(const std::string& subcommand) {
  return "ERR unknown subcommand or wrong number of arguments for '" + subcommand + "'. Try DEBUG HELP.";
}

TEST_P(DebugCommands, MustBeAllowed) {
  TestServer other;
  EXPECT_THAT(TestClient(other).Run("DEBUG DIGEST"), ErrorStartsWith("ERR DEBUG command not allowed."));
}

TEST_P(DebugCommands, CountsTheWordsOfEachSubcommand) {
  EXPECT_THAT(Run("DEBUG"), Error("ERR wrong number of arguments for 'debug' command"));
  EXPECT_THAT(Run("DEBUG nosuch"), Error(WrongWords("nosuch")));
  EXPECT_THAT(Run("DEBUG digest x"), Error(WrongWords("digest")));
  EXPECT_THAT(Run("DEBUG error"), Error(WrongWords("error")));
  EXPECT_THAT(Run("DEBUG populate"), Error(WrongWords("populate")));
  EXPECT_THAT(Run("DEBUG object a b"), Error(WrongWords("object")));
  EXPECT_GT(Run("DEBUG HELP").Size(), 10u);
}

// --- Digests. The numbers are those of Redis 7.2 for the same data.

TEST_P(DebugCommands, DigestOfNothingIsZero) {
  EXPECT_THAT(Run("DEBUG DIGEST"), Simple(kZeroDigest));
  EXPECT_THAT(Run("DEBUG DIGEST-VALUE"), EmptyArray());
  EXPECT_THAT(Run("DEBUG DIGEST-VALUE missing"), ArrayOf(Simple(kZeroDigest)));
}

TEST_P(DebugCommands, DigestOfAnInteger) {
  Run("SET a 1");
  EXPECT_THAT(Run("DEBUG DIGEST"), Simple("943d800368fb9c0e951138f1bc0e313ac769d91f"));
  EXPECT_THAT(Run("DEBUG DIGEST-VALUE a missing"),
              ArrayOf(Simple("b4fc66738120fba0b5aa500ab5c2bf89cea1c5da"), Simple(kZeroDigest)));
}

class DebugDigests : public DebugCommands {
 protected:
  void SetUp() override {
    Run("DEBUG SET-ACTIVE-EXPIRE 0");
    Run("SET a 1");
    Run("SET b hello");
    Run({"SET", "long", std::string(100, 'x')});
    Run({"SET", "", ""});
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, DebugDigests, BothVersions(), VersionName);

TEST_P(DebugDigests, OfSeveralKeys) {
  EXPECT_THAT(Run("DEBUG DIGEST"), Simple("7e8b6b7a65dc792900d2c416d64e0d8933ff3275"));
  EXPECT_THAT(
      Run({"DEBUG", "DIGEST-VALUE", "a", "b", "long", ""}),
      ArrayOf(Simple("b4fc66738120fba0b5aa500ab5c2bf89cea1c5da"), Simple("36b23a1456b2dce2c3ed252c456761301dba8060"),
              Simple("6942b9b71aaff9a398b7a2f898756f5e28dd3cd1"), Simple("8b3447c33a834b810e3e181b6fd6a2ee1020921c")));
}

TEST_P(DebugDigests, TellWhetherThereIsADeadline) {
  Run("PEXPIRE b 100000");
  EXPECT_THAT(Run("DEBUG DIGEST"), Simple("3d2fd59b3c354869c2c61c64312b978494756f56"));
  EXPECT_THAT(Run("DEBUG DIGEST-VALUE b"), ArrayOf(Simple("d037c4eb8a8b36b602fbced4000daeab0714c1e3")));
  Run("PEXPIRE b 50");
  EXPECT_THAT(Run("DEBUG DIGEST"), Simple("3d2fd59b3c354869c2c61c64312b978494756f56"));
  Run("PERSIST b");
  EXPECT_THAT(Run("DEBUG DIGEST"), Simple("7e8b6b7a65dc792900d2c416d64e0d8933ff3275"));
}

TEST_P(DebugDigests, DistinguishDatabases) {
  Run("PEXPIRE b 100000");
  Run("SELECT 3");
  Run("SET b other");
  EXPECT_THAT(Run("DEBUG DIGEST"), Simple("bc6606145feff274ab2b0e13de6bc323b661378f"));
  EXPECT_THAT(Run("DEBUG DIGEST-VALUE b"), ArrayOf(Simple("40d1a52e0956dcd63e64f3a0ff27a87691a276da")));
}

// Redis: expired keys count until a command accesses them.
TEST_P(DebugDigests, CountExpiredKeysThatAreStillThere) {
  Run("PEXPIRE b 100000");
  Run("SELECT 3");
  Run("SET b other PX 1");
  clock().AdvanceMs(50);
  EXPECT_THAT(Run("DEBUG DIGEST"), Simple("3d9ac0f5389f98296342b3ee5f67b9b65eca7246"));
  EXPECT_THAT(Run("DEBUG DIGEST-VALUE b"), ArrayOf(Simple("a6545bd1d56f3682ff721858ba4d67ed8b0c3759")));
  EXPECT_THAT(Run("GET b"), Nil());
  EXPECT_THAT(Run("DEBUG DIGEST"), Simple("3d2fd59b3c354869c2c61c64312b978494756f56"));
}

// --- Inspecting values

TEST_P(DebugCommands, ObjectDescribesAValue) {
  EXPECT_THAT(Run("DEBUG OBJECT a"), Error("ERR no such key"));
  Run("SET a 1");
  std::string text = Run("DEBUG OBJECT a").Text();
  EXPECT_TRUE(text.starts_with("Value at:0x")) << text;
  EXPECT_NE(text.find(" refcount:2147483647 encoding:int serializedlength:2 lru:"), std::string::npos) << text;
  Run("SET a hello");
  text = Run("DEBUG OBJECT a").Text();
  EXPECT_NE(text.find(" refcount:1 encoding:embstr serializedlength:6 lru:"), std::string::npos) << text;
}

TEST_P(DebugCommands, EncodingsOfOtherTypesAreRefused) {
  Run("SET a 1");
  EXPECT_THAT(Run("DEBUG LISTPACK a"), Error("ERR Not a listpack encoded object."));
  EXPECT_THAT(Run("DEBUG QUICKLIST a"), Error("ERR Not a quicklist encoded object."));
  EXPECT_THAT(Run("DEBUG HTSTATS-KEY a"),
              Error("ERR The value stored at the specified key is not represented using an hash table"));
  for (const char* subcommand : {"LISTPACK", "QUICKLIST", "HTSTATS-KEY"})
    EXPECT_THAT(Run({"DEBUG", subcommand, "nosuch"}), Error("ERR no such key"));
  const TestReply help = Run("DEBUG HELP");
  for (size_t i = 0; i < help.Size(); ++i) {
    const std::string line = help[i].Text();
    EXPECT_FALSE(line.starts_with("LISTPACK") || line.starts_with("QUICKLIST") || line.starts_with("HTSTATS-KEY"))
        << line << ": what can only refuse needs no help";
  }
}

TEST_P(DebugCommands, HtStatsDescribesTheTablesOfADatabase) {
  EXPECT_THAT(Run("DEBUG HTSTATS 99"), Error("ERR Out of range database"));
  EXPECT_THAT(Run("DEBUG HTSTATS x"), Error("ERR value is not an integer or out of range"));
  const std::string empty = "Hash table 0 stats (main hash table):\nNo stats available for empty dictionaries\n";
  EXPECT_THAT(Run("DEBUG HTSTATS 9"), Verbatim("[Dictionary HT]\n" + empty + "[Expires HT]\n" + empty));
  Run("SET a 1");
  const std::string text = Run("DEBUG HTSTATS 0").Text();
  EXPECT_NE(text.find("\n number of elements: 1\n[Expires HT]\n" + empty), std::string::npos) << text;
  EXPECT_NE(Run("DEBUG HTSTATS 0 full").Text().find(" load factor: "), std::string::npos);
}

// --- POPULATE, which no journal records

TEST_P(DebugCommands, PopulateAddsWhatIsNotThere) {
  SkipReplayCheck("POPULATE is not journaled");
  Run("SET key:1 mine");
  EXPECT_THAT(Run("DEBUG POPULATE 3"), Ok());
  EXPECT_THAT(Run("MGET key:0 key:1 key:2 key:3"), ArrayOf(Bulk("value:0"), Bulk("mine"), Bulk("value:2"), Nil()));
  EXPECT_EQ(Journaled().size(), 1u);
}

TEST_P(DebugCommands, PopulateCutsOrFillsValues) {
  SkipReplayCheck("POPULATE is not journaled");
  EXPECT_THAT(Run("DEBUG POPULATE 2 p 5"), Ok());
  EXPECT_THAT(Run("GET p:0"), Bulk("value"));
  EXPECT_THAT(Run("DEBUG POPULATE 1 q 10"), Ok());
  EXPECT_THAT(Run("GET q:0"), Bulk(std::string("value:0\0\0\0", 10)));
}

TEST_P(DebugCommands, PopulateRefusesBadCounts) {
  constexpr char kNotPositive[] = "ERR value is out of range, must be positive";
  for (const char* words : {"DEBUG POPULATE -1", "DEBUG POPULATE x", "DEBUG POPULATE 2 p -1", "DEBUG POPULATE 2 p x"})
    EXPECT_THAT(Run(words), Error(kNotPositive)) << words;
  EXPECT_THAT(Run("DEBUG POPULATE 9223372036854775807"), Error("ERR OOM in dictTryExpand"));
  EXPECT_THAT(Run("DBSIZE"), Int(0));
}

// --- Sample replies

TEST_P(DebugCommands, ProtocolShowsEachType) {
  EXPECT_THAT(Run("DEBUG PROTOCOL string"), Bulk("Hello World"));
  EXPECT_THAT(Run("DEBUG PROTOCOL INTEGER"), Int(12345));
  EXPECT_THAT(Run("DEBUG PROTOCOL double"), DoubleText("3.141"));
  EXPECT_THAT(Run("DEBUG PROTOCOL bignum"), BigNumber("1234567999999999999999999999999999999"));
  EXPECT_THAT(Run("DEBUG PROTOCOL null"), Nil());
  EXPECT_THAT(Run("DEBUG PROTOCOL array"), ArrayOf(Int(0), Int(1), Int(2)));
  EXPECT_THAT(Run("DEBUG PROTOCOL set"), SetOf({Int(0), Int(1), Int(2)}));
  EXPECT_THAT(Run("DEBUG PROTOCOL map"), MapOf({{Int(0), Bool(false)}, {Int(1), Bool(true)}, {Int(2), Bool(false)}}));
  EXPECT_THAT(Run("DEBUG PROTOCOL verbatim"), Verbatim("This is a verbatim\nstring"));
  EXPECT_THAT(Run("DEBUG PROTOCOL true"), Bool(true));
  EXPECT_THAT(Run("DEBUG PROTOCOL false"), Bool(false));
  EXPECT_THAT(Run("DEBUG PROTOCOL x"), ErrorStartsWith("ERR Wrong protocol type name."));
}

TEST_P(DebugCommands, AttributesAndPushesNeedResp3) {
  const std::string text = client().Raw("DEBUG PROTOCOL attrib\r\n");
  const std::string reply = "$39\r\nSome real reply following the attribute\r\n";
  const std::string attribute = "|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n";
  EXPECT_EQ(text, IsResp3() ? attribute + reply : reply);
  EXPECT_EQ(client().Raw("DEBUG PROTOCOL push\r\n"),
            IsResp3() ? "$40\r\nSome real reply following the push reply\r\n>2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n"
                      : "-ERR RESP2 is not supported by this command\r\n");
}

TEST_P(DebugCommands, ErrorRepliesWithItsArgument) {
  EXPECT_THAT(Run({"DEBUG", "ERROR", "ERR a b"}), Error("ERR a b"));
  EXPECT_THAT(Run({"DEBUG", "ERROR", "plain"}), Error("plain"));
  // Line ends would end the reply, so they become spaces.
  EXPECT_EQ(client().Raw("*3\r\n$5\r\nDEBUG\r\n$5\r\nERROR\r\n$5\r\nA\r\nB\n\r\n"), "-A  B \r\n");
}

// --- Switches

TEST_P(DebugCommands, SwitchesCheckTheirValues) {
  EXPECT_THAT(Run("DEBUG QUICKLIST-PACKED-THRESHOLD 100b"), Ok());
  for (const char* size : {"x", "5gb"})
    EXPECT_THAT(Run({"DEBUG", "QUICKLIST-PACKED-THRESHOLD", size}),
                Error("ERR argument must be a memory value bigger than 1 and smaller than 4gb"));
  EXPECT_THAT(Run("DEBUG REPLYBUFFER RESIZING 0"), Ok());
  EXPECT_THAT(Run("DEBUG REPLYBUFFER PEAK-RESET-TIME never"), Ok());
  EXPECT_THAT(Run("DEBUG REPLYBUFFER PEAK-RESET-TIME 100"), Ok());
  EXPECT_THAT(Run("DEBUG REPLYBUFFER PEAK-RESET-TIME x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("DEBUG replybuffer x 0"), Error(WrongWords("replybuffer")));
  EXPECT_THAT(Run("DEBUG CONFIG-REWRITE-FORCE-ALL"), Error("ERR The server is running without a config file"));
}

TEST_P(DebugCommands, ActiveExpiryCanBeStopped) {
  Run("DEBUG SET-ACTIVE-EXPIRE 0");
  Run("SET k v PX 10");
  clock().AdvanceMs(20);
  server().Cron();
  EXPECT_THAT(Run("DBSIZE"), Int(1));
  Run("DEBUG SET-ACTIVE-EXPIRE 1");
  server().Cron();
  EXPECT_THAT(Run("DBSIZE"), Int(0));
}

TEST_P(DebugCommands, PausedTimerDoesNotExpire) {
  Run("SET k v PX 10");
  EXPECT_THAT(Run("DEBUG PAUSE-CRON 1"), Ok());
  clock().AdvanceMs(20);
  server().Cron();
  EXPECT_THAT(Run("DBSIZE"), Int(1));
  Run("DEBUG PAUSE-CRON 0");
  server().Cron();
  EXPECT_THAT(Run("DBSIZE"), Int(0));
}

TEST_P(DebugCommands, ChangeReplIdDrawsANewOne) {
  const std::string before = Run("INFO replication").Text();
  EXPECT_THAT(Run("DEBUG CHANGE-REPL-ID"), Ok());
  EXPECT_NE(Run("INFO replication").Text(), before);
}

TEST_P(DebugCommands, OtherSubcommandsReply) {
  EXPECT_THAT(Run("DEBUG SLEEP 0"), Ok());
  EXPECT_THAT(Run("DEBUG SLEEP x"), Ok());
  EXPECT_THAT(Run("DEBUG SLEEP -1"), Ok());
  EXPECT_THAT(Run("DEBUG SLEEP nan"), Ok());
  EXPECT_THAT(Run("DEBUG LOG hi"), Ok());
  EXPECT_THAT(Run("DEBUG STRINGMATCH-TEST"), Simple("Apparently Redis did not crash: test passed"));
  EXPECT_THAT(Run("DEBUG RESTART"), Error("ERR failed to restart the server. Check server logs."));
  EXPECT_THAT(Run("DEBUG CRASH-AND-RECOVER x"), Error("ERR value is not an integer or out of range"));
}

// --- Ending the process

class DebugDeath : public testing::Test {
 protected:
  static void End(Bytes line, std::vector<std::string> directives = {}) {
    directives.push_back("enable-debug-command yes");
    TestServer server(TestServer::Options{.directives = std::move(directives)});
    TestClient(server).Run(line);
  }
};

TEST_F(DebugDeath, AssertPanicAndOomAbort) {
  for (const char* line : {"DEBUG ASSERT", "DEBUG PANIC", "DEBUG OOM"})
    EXPECT_EXIT(End(line), testing::KilledBySignal(SIGABRT), "") << line;
}

TEST_F(DebugDeath, UseExitOnPanicExits) {
  EXPECT_EXIT(End("DEBUG PANIC", {"use-exit-on-panic yes"}), testing::ExitedWithCode(1), "");
}

TEST_F(DebugDeath, SegfaultDies) { EXPECT_DEATH(End("DEBUG SEGFAULT"), ""); }

}  // namespace

}  // namespace respite
