// CLIENT and its subcommands.
#include "tests/support/command_test.h"

namespace respite {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class ClientCommands : public CommandTest {
 protected:
  static std::string IdOf(TestClient& client) { return std::to_string(client.session().id); }
};
INSTANTIATE_TEST_SUITE_P(Resp, ClientCommands, BothVersions(), VersionName);

TEST_P(ClientCommands, InfoHasEveryFieldOfRedis) {
  std::string line = client().Raw("*2\r\n$6\r\nclient\r\n$4\r\ninfo\r\n");
  EXPECT_THAT(
      line, ContainsRegex("id=[0-9]+ addr=.* laddr=.* fd=-?[0-9]+ name= age=0 idle=0 flags=N db=0 sub=0 psub=0 ssub=0 "
                          "multi=-1 qbuf=26 qbuf-free=[0-9]+ argv-mem=10 multi-mem=0 rbs=[0-9]+ rbp=[0-9]+ obl=0 "
                          "oll=0 omem=0 tot-mem=[0-9]+ events=r cmd=client\\|info user=default redir=-1 "
                          "resp=[23] lib-name= lib-ver=\n\r\n$"));
  EXPECT_THAT(line, StartsWith(IsResp3() ? "=" : "$"));
}

TEST_P(ClientCommands, ListShowsOthers) {
  TestClient fresh(server());
  TestClient other(server());
  other.Run("CLIENT SETNAME other");
  other.Run("CLIENT NO-EVICT ON");
  other.Run("CLIENT NO-TOUCH ON");
  other.Run("MONITOR");
  clock().AdvanceMs(5000);
  EXPECT_THAT(Run("CLIENT LIST ID " + IdOf(other)).Text(),
              ContainsRegex("name=other age=5 idle=[05] flags=OeT .* qbuf=0 .* argv-mem=0 .* cmd=monitor "));
  EXPECT_THAT(Run("CLIENT LIST ID " + IdOf(fresh)).Text(), HasSubstr(" cmd=NULL "));
  EXPECT_THAT(Run("CLIENT LIST ID 999 " + IdOf(fresh) + " " + IdOf(fresh)).Text(),
              MatchesRegex("id=" + IdOf(fresh) + " .*\nid=" + IdOf(fresh) + " .*\n"));
  EXPECT_THAT(Run("CLIENT LIST TYPE normal").Text(), HasSubstr("name=other"));
  EXPECT_THAT(Run("CLIENT LIST TYPE master").Text(), "");
}

TEST_P(ClientCommands, ListRefusals) {
  EXPECT_THAT(Run("CLIENT LIST TYPE"), Error("ERR syntax error"));
  EXPECT_THAT(Run("CLIENT LIST ID"), Error("ERR syntax error"));
  EXPECT_THAT(Run("CLIENT LIST TYPE normal x"), Error("ERR syntax error"));
  EXPECT_THAT(Run("CLIENT LIST TYPE foo"), Error("ERR Unknown client type 'foo'"));
  EXPECT_THAT(Run("CLIENT LIST ID x"), Error("ERR Invalid client ID"));
}

TEST_P(ClientCommands, Names) {
  EXPECT_THAT(Run("CLIENT GETNAME"), Nil());
  EXPECT_THAT(Run("CLIENT SETNAME me"), Ok());
  EXPECT_THAT(Run("CLIENT SETNAME \"a b\""),
              Error("ERR Client names cannot contain spaces, newlines or special characters."));
  EXPECT_THAT(Run("CLIENT GETNAME"), Bulk("me"));
  EXPECT_THAT(Run("CLIENT SETNAME \"\""), Ok());
  EXPECT_THAT(Run("CLIENT GETNAME"), Nil());
}

TEST_P(ClientCommands, SetInfo) {
  EXPECT_THAT(Run("CLIENT SETINFO lib-name lib"), Ok());
  EXPECT_THAT(Run("CLIENT SETINFO LIB-VER 1.2"), Ok());
  EXPECT_THAT(Run("CLIENT SETINFO Lib-Ver \"1 2\""),
              Error("ERR Lib-Ver cannot contain spaces, newlines or special characters."));
  EXPECT_THAT(Run("CLIENT SETINFO foo x"), Error("ERR Unrecognized option 'foo'"));
  EXPECT_THAT(Run("CLIENT INFO").Text(), HasSubstr("lib-name=lib lib-ver=1.2\n"));
}

TEST_P(ClientCommands, KillOldForm) {
  TestClient other(server());
  other.session().addresses.peer = "10.0.0.1:5";
  client().session().addresses.peer = "10.0.0.2:5";
  EXPECT_THAT(Run("CLIENT KILL 10.0.0.9:5"), Error("ERR No such client"));
  EXPECT_THAT(Run("CLIENT KILL 10.0.0.1:5"), Ok());
  EXPECT_TRUE(other.Closed());
  EXPECT_THAT(Run("CLIENT KILL 10.0.0.2:5"), Ok());
  EXPECT_TRUE(client().Closed());
}

TEST_P(ClientCommands, KillNewFormCountsAndSkipsTheCaller) {
  TestClient first(server());
  TestClient second(server());
  EXPECT_THAT(Run("CLIENT KILL ID " + IdOf(first) + " TYPE pubsub"), Int(0));
  EXPECT_THAT(Run("CLIENT KILL ID " + IdOf(first)), Int(1));
  EXPECT_TRUE(first.Closed());
  EXPECT_THAT(Run("CLIENT KILL ID " + IdOf(client())), Int(0));
  EXPECT_THAT(Run("CLIENT KILL USER default TYPE normal"), Int(1));
  EXPECT_TRUE(second.Closed());
  EXPECT_EQ(client().Raw("CLIENT KILL SKIPME no\r\nSET k v\r\n"), ":1\r\n");
  EXPECT_TRUE(client().Closed());
}

TEST_P(ClientCommands, KillRefusals) {
  EXPECT_THAT(Run("CLIENT KILL"), Error("ERR wrong number of arguments for 'client|kill' command"));
  EXPECT_THAT(Run("CLIENT KILL ID 0"), Error("ERR client-id should be greater than 0"));
  EXPECT_THAT(Run("CLIENT KILL ID x"), Error("ERR client-id should be greater than 0"));
  EXPECT_THAT(Run("CLIENT KILL ID 10 x"), Error("ERR syntax error"));
  EXPECT_THAT(Run("CLIENT KILL TYPE x"), Error("ERR Unknown client type 'x'"));
  EXPECT_THAT(Run("CLIENT KILL USER x"), Error("ERR No such user 'x'"));
  EXPECT_THAT(Run("CLIENT KILL SKIPME x"), Error("ERR syntax error"));
  EXPECT_THAT(Run("CLIENT KILL MAXAGE x"), Error("ERR maxage is not an integer or out of range"));
  EXPECT_THAT(Run("CLIENT KILL MAXAGE 0"), Error("ERR maxage should be greater than 0"));
  EXPECT_THAT(Run("CLIENT KILL MAXAGE"), Error("ERR No such client"));
  EXPECT_THAT(Run("CLIENT KILL ID 1 MAXAGE"), Error("ERR syntax error"));
  EXPECT_THAT(Run("CLIENT KILL NOSUCH 1"), Error("ERR syntax error"));
}

TEST_P(ClientCommands, KillByAgeAndIdleTime) {
  TestClient old(server());
  clock().AdvanceMs(9'000);
  TestClient fresh(server());
  clock().AdvanceMs(1'000);
  EXPECT_THAT(Run("CLIENT KILL MAXAGE 11"), Int(0));
  old.Run("PING");
  EXPECT_THAT(Run("CLIENT KILL MAXAGE 10 IDLE 1"), Int(0));
  EXPECT_THAT(Run("CLIENT KILL MAXAGE 10"), Int(1));
  EXPECT_TRUE(old.Closed());
  EXPECT_THAT(Run("CLIENT KILL IDLE 2"), Int(0));
  EXPECT_THAT(Run("CLIENT KILL IDLE 1"), Int(1));
  EXPECT_TRUE(fresh.Closed());
}

TEST_P(ClientCommands, KillTakesSeveralIds) {
  TestClient first(server());
  TestClient second(server());
  EXPECT_THAT(Run("CLIENT KILL ID " + IdOf(first) + " 999 " + IdOf(second) + " TYPE normal"), Int(2));
  EXPECT_TRUE(first.Closed());
  EXPECT_TRUE(second.Closed());
  EXPECT_THAT(Run("CLIENT KILL ID 1 ID 999"), Int(0));
}

// Three clients that differ in everything, and the subset that each filter of CLIENT LIST returns.
class ClientFilters : public ClientCommands {
 protected:
  ClientFilters() : red_(server()), blue_(server()) {
    red_.Run("CLIENT SETNAME red");
    red_.Run("CLIENT SETINFO LIB-NAME lib");
    red_.Run("CLIENT SETINFO LIB-VER 1.0");
    red_.Run("SELECT 3");
    red_.Run("CLIENT NO-EVICT ON");
    red_.Run("CLIENT CAPA redirect");
    red_.session().addresses.peer = "[::1]:5";
    red_.session().addresses.local = "[::1]:6379";
    blue_.session().addresses.peer = "10.0.0.1:6";
    Run("ACL SETUSER ann on nopass +@all &*");
    blue_.Run("AUTH ann x");
    blue_.Run("SUBSCRIBE news");
    Run("CLIENT SETNAME me");
  }
  // "red blue me", in the order of their IDs.
  std::string Listed(const std::string& options) {
    const std::string list = Run("CLIENT LIST " + options).Text();
    std::string names;
    for (TestClient* each : {&client(), &red_, &blue_}) {
      if (list.find("id=" + IdOf(*each) + " ") == std::string::npos) continue;
      names += std::string(names.empty() ? "" : " ") + (each == &client() ? "me" : each == &red_ ? "red" : "blue");
    }
    return names;
  }

  TestClient red_;
  TestClient blue_;
};
INSTANTIATE_TEST_SUITE_P(Resp, ClientFilters, BothVersions(), VersionName);

TEST_P(ClientFilters, EachFilterAlone) {
  EXPECT_EQ(Listed(""), "me red blue");
  EXPECT_EQ(Listed("NAME red"), "red");
  EXPECT_EQ(Listed("ADDR [::1]:5"), "red");
  EXPECT_EQ(Listed("LADDR [::1]:6379"), "red");
  EXPECT_EQ(Listed("IP [::1]"), "red");
  EXPECT_EQ(Listed("IP 10.0.0.1"), "blue");
  EXPECT_EQ(Listed("USER ann"), "blue");
  EXPECT_EQ(Listed("TYPE pubsub"), "blue");
  EXPECT_EQ(Listed("TYPE primary"), "");
  EXPECT_EQ(Listed("LIB-NAME lib"), "red");
  EXPECT_EQ(Listed("LIB-VER 1.0"), "red");
  EXPECT_EQ(Listed("DB 3"), "red");
  EXPECT_EQ(Listed("FLAGS e"), "red");
  EXPECT_EQ(Listed("FLAGS N"), "me");
  EXPECT_EQ(Listed("FLAGS eP"), "");
  EXPECT_EQ(Listed("CAPA r"), "red");
  EXPECT_EQ(Listed("SKIPME yes"), "red blue");
  EXPECT_EQ(Listed("ID " + IdOf(red_) + " " + IdOf(blue_) + " TYPE normal"), "red");
}

TEST_P(ClientFilters, EachFilterNegated) {
  EXPECT_EQ(Listed("NOT-NAME red"), "me blue");
  EXPECT_EQ(Listed("NOT-ID " + IdOf(red_) + " " + IdOf(blue_)), "me");
  EXPECT_EQ(Listed("NOT-ADDR [::1]:5"), "me blue");
  EXPECT_EQ(Listed("NOT-LADDR [::1]:6379"), "me blue");
  EXPECT_EQ(Listed("NOT-IP [::1]"), "me blue");
  EXPECT_EQ(Listed("NOT-USER default"), "blue");
  EXPECT_EQ(Listed("NOT-TYPE pubsub"), "me red");
  EXPECT_EQ(Listed("NOT-LIB-NAME lib"), "me blue");
  EXPECT_EQ(Listed("NOT-LIB-VER 1.0"), "me blue");
  EXPECT_EQ(Listed("NOT-DB 0"), "red");
  EXPECT_EQ(Listed("NOT-FLAGS P"), "me red");
  EXPECT_EQ(Listed("NOT-CAPA r"), "me blue");
  EXPECT_EQ(Listed("NOT-TYPE pubsub NAME red"), "red");
  EXPECT_EQ(Listed("NAME red NAME me"), "me") << "the last counts";
}

TEST_P(ClientFilters, Refusals) {
  EXPECT_THAT(Run("CLIENT LIST FLAGS eQ"), Error("ERR Unknown flags found in the provided filter: eQ"));
  EXPECT_THAT(Run("CLIENT LIST NOT-FLAGS Q"), Error("ERR Unknown flags found in the NOT-FLAGS filter: Q"));
  EXPECT_THAT(Run("CLIENT LIST CAPA x"), Error("ERR Unknown capa found in the provided filter: x"));
  EXPECT_THAT(Run("CLIENT LIST USER nobody"), Error("ERR No such user 'nobody'"));
  EXPECT_THAT(Run("CLIENT LIST IDLE 0"), Error("ERR idle should be greater than 0"));
  EXPECT_THAT(Run("CLIENT LIST DB 16"), Error("ERR DB number should be between 0 and 15"));
  EXPECT_THAT(Run("CLIENT LIST NOT-DB -1"), Error("ERR NOT-DB number should be between 0 and 15"));
  EXPECT_THAT(Run("CLIENT LIST NOT-DB 4294967296"), Error("ERR NOT-DB is not an integer or out of range"));
  EXPECT_THAT(Run("CLIENT LIST SKIPME x"), Error("ERR syntax error"));
  EXPECT_THAT(Run("CLIENT LIST ID 1 x"), Error("ERR Invalid client ID"));
  for (const char* option : {"NAME", "NOT-NAME", "MAXAGE", "NOT-MAXAGE 1", "NOT-IDLE 1", "NOSUCH x"})
    EXPECT_THAT(Run("CLIENT LIST " + std::string(option)), Error("ERR syntax error")) << option;
}

TEST_P(ClientCommands, ImportModeKeepsExpiredKeysForTheSource) {
  SkipReplayCheck("keys stay beyond their deadline");
  TestClient source(server());
  EXPECT_THAT(source.Run("CLIENT IMPORT-SOURCE ON"), Error("ERR Server is not in import mode"));
  Run("SET k v PX 10");
  Run("CONFIG SET import-mode yes");
  EXPECT_THAT(source.Run("CLIENT IMPORT-SOURCE maybe"), Error("ERR syntax error"));
  EXPECT_THAT(source.Run("CLIENT IMPORT-SOURCE ON"), Ok());
  EXPECT_THAT(source.Run("CLIENT INFO").Text(), HasSubstr(" flags=I "));
  clock().AdvanceMs(100);
  server().Cron();
  EXPECT_THAT(Run("GET k"), Nil());
  EXPECT_THAT(source.Run("GET k"), Bulk("v"));
  EXPECT_THAT(source.Run("PEXPIREAT k 1"), Int(1)) << "deadlines in the past are no deletions";
  EXPECT_THAT(source.Run("GET k"), Bulk("v"));
  EXPECT_THAT(source.Run("PTTL k"), Int(0));
  EXPECT_THAT(source.Run("PEXPIREAT k -1"), Int(1));
  EXPECT_THAT(source.Run("PEXPIRETIME k"), Int(0));
  EXPECT_EQ(server()->services().data.dataset.stats.expired_keys, 0u);
  Run("CONFIG SET import-mode no");
  EXPECT_THAT(source.Run("GET k"), Nil());
  EXPECT_EQ(server()->services().data.dataset.stats.expired_keys, 1u);
  EXPECT_THAT(source.Run("CLIENT IMPORT-SOURCE OFF"), Ok());
}

TEST_P(ClientCommands, ImportModeEvictsNothing) {
  Run("SET k v");
  Run("CONFIG SET import-mode yes maxmemory-policy allkeys-lru");
  Run("CONFIG SET maxmemory 1");
  EXPECT_THAT(Run("EXISTS k"), Int(1));
  Run("CONFIG SET maxmemory 0");
}

TEST_P(ClientCommands, ResetEndsImportsButNotCapabilities) {
  Run("CONFIG SET import-mode yes");
  client().Run("CLIENT IMPORT-SOURCE ON");
  client().Run("CLIENT CAPA unknown REDIRECT");
  client().Run("RESET");
  EXPECT_FALSE(client().session().import_source);
  EXPECT_TRUE(client().session().identity.follows_redirects);
  EXPECT_THAT(client().Run("CLIENT CAPA"), Error("ERR wrong number of arguments for 'client|capa' command"));
}

struct ReplyCase {
  const char* input;
  const char* output;
};

TEST(ClientReply, SendsExactlyWhatRedisSends) {
  for (const ReplyCase& c : std::initializer_list<ReplyCase>{
           {"CLIENT REPLY OFF\r\nPING\r\nNOSUCH\r\nCLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nECHO 1\r\n",
            "+OK\r\n$1\r\n1\r\n"},
           {"CLIENT REPLY SKIP\r\nECHO 1\r\nECHO 2\r\n", "$1\r\n2\r\n"},
           {"CLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nECHO 2\r\n", "+OK\r\n$1\r\n2\r\n"},
           {"CLIENT REPLY SKIP\r\nCLIENT REPLY SKIP\r\nECHO 2\r\nECHO 3\r\n", "$1\r\n3\r\n"},
           {"CLIENT REPLY SKIP\r\nNOSUCH\r\nECHO 3\r\n", "$1\r\n3\r\n"},
           {"CLIENT REPLY SKIP\r\nCLIENT REPLY bad\r\nECHO 3\r\n", "$1\r\n3\r\n"},
           {"CLIENT REPLY OFF\r\nRESET\r\nECHO 3\r\n", "+RESET\r\n$1\r\n3\r\n"},
           {"CLIENT REPLY SKIP\r\nRESET\r\nECHO 3\r\n", "$1\r\n3\r\n"},
           {"CLIENT REPLY bad\r\n", "-ERR syntax error\r\n"},
           // An empty request is the one without a reply.
           {"CLIENT REPLY SKIP\r\n\r\nECHO 1\r\nECHO 2\r\n", "$1\r\n1\r\n$1\r\n2\r\n"},
           {"CLIENT REPLY SKIP\r\n   \r\nECHO 1\r\n", "$1\r\n1\r\n"},
           {"CLIENT REPLY SKIP\r\n*0\r\nECHO 1\r\n", "$1\r\n1\r\n"},
           {"CLIENT REPLY SKIP\r\n*-1\r\nECHO 1\r\n", "$1\r\n1\r\n"},
           {"CLIENT REPLY SKIP\r\n*0\r\n\r\nCLIENT REPLY SKIP\r\nECHO 1\r\nECHO 2\r\n", "$1\r\n2\r\n"},
           {"CLIENT REPLY SKIP\r\n\r\n*1\r\n!x\r\n", "-ERR Protocol error: expected '$', got '!'\r\n"},
           {"CLIENT REPLY OFF\r\n\r\nECHO 1\r\nCLIENT REPLY ON\r\n", "+OK\r\n"},
           {"MULTI\r\nCLIENT REPLY SKIP\r\n\r\nEXEC\r\nECHO 1\r\nECHO 2\r\n", "+OK\r\n+QUEUED\r\n*1\r\n$1\r\n2\r\n"},
           {"MULTI\r\nCLIENT REPLY SKIP\r\nEXEC\r\n\r\nECHO 1\r\n", "+OK\r\n+QUEUED\r\n*1\r\n$1\r\n1\r\n"},
           // In a transaction it takes effect at its position.
           {"MULTI\r\nECHO 1\r\nCLIENT REPLY OFF\r\nECHO 2\r\nCLIENT REPLY ON\r\nECHO 3\r\nEXEC\r\nECHO 4\r\n",
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*5\r\n$1\r\n1\r\n+OK\r\n$1\r\n3\r\n$"
            "1\r\n4\r\n"},
           {"CLIENT REPLY OFF\r\nMULTI\r\nECHO 1\r\nCLIENT REPLY ON\r\nECHO 2\r\nEXEC\r\nECHO 3\r\n",
            "+OK\r\n$1\r\n2\r\n$1\r\n3\r\n"},
           {"MULTI\r\nECHO 1\r\nCLIENT REPLY SKIP\r\nECHO 2\r\nEXEC\r\nECHO 3\r\nECHO 4\r\n",
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n4\r\n"},
           {"MULTI\r\nCLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nEXEC\r\nECHO 3\r\nECHO 4\r\n",
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n$1\r\n4\r\n"},
           {"MULTI\r\nCLIENT REPLY OFF\r\nSUBSCRIBE c\r\nEXEC\r\nPING\r\n",
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"},
           {"MULTI\r\nCLIENT REPLY SKIP\r\nSUBSCRIBE c\r\nEXEC\r\nPING\r\nPING\r\n",
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n*2\r\n$4\r\npong\r\n$"
            "0\r\n\r\n"},
           {"CLIENT REPLY SKIP\r\nMULTI\r\nECHO 1\r\nEXEC\r\nECHO 2\r\n", "+QUEUED\r\n*1\r\n$1\r\n1\r\n$1\r\n2\r\n"},
           {"MULTI\r\nECHO 1\r\nCLIENT REPLY OFF\r\nEXEC\r\nEXEC\r\nECHO 2\r\n",
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n$1\r\n1\r\n"},
       }) {
    TestServer server;
    TestClient at_once(server);
    EXPECT_EQ(at_once.Raw(c.input), c.output) << c.input;
    TestClient one_by_one(server);
    std::string got;
    for (Bytes line : SplitOn(Bytes(c.input).substr(0, Bytes(c.input).size() - 1), '\n'))
      got += one_by_one.Raw(std::string(line) + "\n");
    EXPECT_EQ(got, c.output) << c.input;
  }
}

TEST(ClientReply, QuitStillCloses) {
  TestServer server;
  TestClient client(server);
  EXPECT_EQ(client.Raw("CLIENT REPLY OFF\r\nQUIT\r\n"), "");
  EXPECT_TRUE(client.Closed());
}

TEST_P(ClientCommands, PauseWriteHoldsWritesInOrder) {
  TestClient first(server());
  TestClient second(server());
  EXPECT_THAT(Run("CLIENT PAUSE 60000 WRITE"), Ok());
  second.Send("SET k second");
  first.Send("SET k first");
  EXPECT_THAT(Run("GET k"), Nil());
  EXPECT_THAT(Run("SET k"), Error("ERR wrong number of arguments for 'set' command"));
  EXPECT_THAT(Run("CLIENT LIST ID " + IdOf(first)).Text(), ContainsRegex(" flags=b .* argv-mem=9 .* cmd=set "));
  EXPECT_EQ(server()->services().clients.registry.PausedCount(), 2u);
  EXPECT_THAT(Run("CLIENT UNPAUSE"), Ok());
  EXPECT_THAT(second.Read(), Ok());
  EXPECT_THAT(first.Read(), Ok());
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: SET k second", "0: SET k first"));
  EXPECT_EQ(server()->services().clients.registry.PausedCount(), 0u);
}

TEST_P(ClientCommands, PauseAllEndsByItself) {
  TestClient other(server());
  EXPECT_THAT(Run("CLIENT PAUSE 1000"), Ok());
  EXPECT_THAT(other.Run("CLIENT UNPAUSE"), NoReply());
  clock().AdvanceMs(999);
  server().Cron();
  EXPECT_THAT(other.Read(), NoReply());
  clock().AdvanceMs(1);
  server().Cron();
  EXPECT_THAT(other.Read(), Ok());
}

TEST_P(ClientCommands, ALaterPauseNeitherShortensNorNarrows) {
  TestClient other(server());
  EXPECT_EQ(client().Raw("CLIENT PAUSE 1000 ALL\r\n"), "+OK\r\n");
  server()->services().clients.pause.Start(Pause::Scope::kWrites, clock().MonotonicMs() + 10, clock().MonotonicMs());
  clock().AdvanceMs(500);
  server().Cron();
  EXPECT_THAT(other.Run("PING"), NoReply());
  clock().AdvanceMs(500);
  server().Cron();
  EXPECT_THAT(other.Read(), Simple("PONG"));
}

TEST_P(ClientCommands, PauseKeepsExpiredKeys) {
  SkipReplayCheck("the expired key is never purged");
  Run("SET k v PX 10");
  Run("CLIENT PAUSE 60000 WRITE");
  clock().AdvanceMs(100);
  server().Cron();
  EXPECT_THAT(Run("GET k"), Nil());
  EXPECT_EQ(server()->services().data.dataset.stats.expired_keys, 0u);
  Run("CLIENT UNPAUSE");
  EXPECT_THAT(Run("GET k"), Nil());
  EXPECT_EQ(server()->services().data.dataset.stats.expired_keys, 1u);
}

TEST_P(ClientCommands, AKilledClientDoesNotRunItsPostponedRequest) {
  TestClient other(server());
  Run("CLIENT PAUSE 60000 WRITE");
  other.Send("SET k v");
  EXPECT_THAT(Run("CLIENT KILL ID " + IdOf(other)), Int(1));
  Run("CLIENT UNPAUSE");
  EXPECT_THAT(Run("GET k"), Nil());
}

TEST_P(ClientCommands, PauseRefusals) {
  EXPECT_THAT(Run("CLIENT PAUSE x bad"), Error("ERR CLIENT PAUSE mode must be WRITE or ALL"));
  EXPECT_THAT(Run("CLIENT PAUSE x"), Error("ERR timeout is not an integer or out of range"));
  EXPECT_THAT(Run("CLIENT PAUSE -1"), Error("ERR timeout is negative"));
  EXPECT_THAT(Run("CLIENT PAUSE 9223372036854775807"), Error("ERR timeout is out of range"));
  EXPECT_THAT(Run("client pause 1 all x"),
              Error("ERR unknown subcommand or wrong number of arguments for 'pause'. Try CLIENT HELP."));
  EXPECT_THAT(Run("CLIENT PAUSE 0"), Ok());
  EXPECT_THAT(Run("PING"), Simple("PONG"));
}

TEST_P(ClientCommands, Unblock) {
  EXPECT_THAT(Run("CLIENT UNBLOCK 1 ERROR"), Int(0));
  EXPECT_THAT(Run("CLIENT UNBLOCK x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("CLIENT UNBLOCK x bad"), Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"));
}

TEST_P(ClientCommands, TrackingIsOff) {
  EXPECT_THAT(Run("CLIENT GETREDIR"), Int(-1));
  EXPECT_THAT(
      Run("CLIENT TRACKINGINFO"),
      MapOf({{Bulk("flags"), SetOf({Bulk("off")})}, {Bulk("redirect"), Int(-1)}, {Bulk("prefixes"), EmptyArray()}}));
  EXPECT_THAT(Run("CLIENT MAINT_NOTIFICATIONS"),
              Error("ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP."));
}

TEST(ClientLimits, IdleClientsAreClosedButNotMonitors) {
  TestServer server(TestServer::Options{.directives = {"timeout 10"}});
  TestClient idle(server);
  TestClient monitor(server);
  monitor.Run("MONITOR");
  server.clock().AdvanceMs(10'000);
  server.Cron();
  EXPECT_FALSE(idle.Closed());
  server.clock().AdvanceMs(1'000);
  server.Cron();
  EXPECT_TRUE(idle.Closed());
  EXPECT_FALSE(monitor.Closed());
}

TEST(ClientLimits, OutputBeyondTheHardLimitEndsThePipeline) {
  TestServer server(TestServer::Options{.directives = {"client-output-buffer-limit normal 100000 0 0"}});
  TestClient client(server);
  client.SetReading(TestClient::Reading::kNo);
  std::string request = EncodeRequest({"ECHO", std::string(1000, 'x')});
  std::string requests;
  for (int i = 0; i < 200; ++i) requests += request;
  client.Raw(requests + EncodeRequest({"SET", "k", "v"}));
  EXPECT_TRUE(client.Closed());
  EXPECT_TRUE(server.journal().Records().empty());
  EXPECT_EQ(server->services().env.stats.output_limit_disconnections, 1u);
}

TEST(ClientLimits, OutputOverTheSoftLimitIsGivenTime) {
  TestServer server(TestServer::Options{.directives = {"client-output-buffer-limit normal 0 50000 5"}});
  TestClient client(server);
  client.SetReading(TestClient::Reading::kNo);
  for (int i = 0; i < 100; ++i) client.Send("ECHO " + std::string(1000, 'x'));
  server.Cron();
  server.clock().AdvanceMs(5'000);
  server.Cron();
  EXPECT_FALSE(client.Closed());
  server.clock().AdvanceMs(1'000);
  server.Cron();
  EXPECT_TRUE(client.Closed());
}

TEST(ClientLimits, InputBeyondTheLimitCloses) {
  TestServer server(TestServer::Options{.directives = {"client-query-buffer-limit 1mb"}});
  TestClient client(server);
  client.Raw("*1\r\n$2000000\r\n" + std::string(1'500'000, 'x'));
  EXPECT_TRUE(client.Closed());
  EXPECT_EQ(server->services().env.stats.query_limit_disconnections, 1u);
}

TEST(ClientLimits, HalfAnArgumentOfAnIdleClientHoldsNoMemory) {
  TestServer server;
  TestClient client(server);
  client.Raw("*2\r\n$4\r\nECHO\r\n$1000000\r\nabc");
  EXPECT_GT(client.session().in.HeldBytes(), 1'000'000u);
  server.clock().AdvanceMs(3'000);
  server.Cron();
  EXPECT_LT(client.session().in.HeldBytes(), 100'000u);
  std::string rest(999'997, 'd');
  std::string reply = client.Raw(rest + "\r\n");
  EXPECT_EQ(reply, "$1000000\r\nabc" + rest + "\r\n");
}

TEST(ClientLimits, TheReplyRoomOfAQuietClientShrinksUnlessResizingIsOff) {
  TestServer server({.directives = {"enable-debug-command yes"}});
  TestClient client(server);
  EXPECT_NE(client.Raw("CLIENT INFO\r\n").find(" rbs=16384 "), std::string::npos);
  EXPECT_EQ(client.Raw("DEBUG REPLYBUFFER RESIZING 0\r\n"), "+OK\r\n");
  server.RunCronFor(DebugSwitches::kReplyPeakResetMs + 1000);
  EXPECT_NE(client.Raw("CLIENT INFO\r\n").find(" rbs=16384 "), std::string::npos);
  EXPECT_EQ(client.Raw("DEBUG REPLYBUFFER RESIZING 1\r\n"), "+OK\r\n");
  server.Cron();
  EXPECT_NE(client.Raw("CLIENT INFO\r\n").find(" rbs=1024 "), std::string::npos);
  EXPECT_NE(client.Raw("INFO stats\r\n").find("reply_buffer_shrinks:1\r\n"), std::string::npos);
}

}  // namespace
}  // namespace respite
