// PING ECHO QUIT RESET AUTH HELLO SELECT MONITOR, and other events of a connection.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "server/clients/client_limits.h"
#include "server/clients/clients.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

class ConnectionCommands : public CommandTest {};
INSTANTIATE_TEST_SUITE_P(Resp, ConnectionCommands, BothVersions(), VersionName);

class GuardedServer : public CommandTest {
 protected:
  GuardedServer() : CommandTest({"requirepass secret"}) {}
};
INSTANTIATE_TEST_SUITE_P(Resp, GuardedServer, BothVersions(), VersionName);

TEST_P(ConnectionCommands, PingAndEcho) {
  EXPECT_THAT(Run("PING"), Simple("PONG"));
  EXPECT_THAT(Run("PING hi"), Bulk("hi"));
  EXPECT_THAT(Run("PING a b"), Error("ERR wrong number of arguments for 'ping' command"));
  EXPECT_THAT(Run("ECHO hi"), Bulk("hi"));
}

TEST_P(ConnectionCommands, QuitAnswersAndIgnoresWhatFollows) {
  EXPECT_EQ(client().Raw("QUIT now\r\nSET k v\r\n"), "+OK\r\n");
  EXPECT_TRUE(client().Closed());
  EXPECT_TRUE(server().journal().Records().empty());
}

TEST_P(ConnectionCommands, SelectChecksTypeRangeAndCount) {
  EXPECT_THAT(Run("SELECT x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("SELECT 3000000000"),
              Error("ERR value is out of range, value must between -2147483648 and 2147483647"));
  EXPECT_THAT(Run("SELECT 16"), Error("ERR DB index is out of range"));
  EXPECT_THAT(Run("SELECT -1"), Error("ERR DB index is out of range"));
  EXPECT_THAT(Run("SELECT 3"), Ok());
  EXPECT_THAT(Run("SET k v"), Ok());
  EXPECT_THAT(Journaled(), testing::ElementsAre("3: SET k v"));
}

TEST_P(ConnectionCommands, HelloDescribesServerAndClient) {
  ReplyMatcherPairs greeting = {
      {Bulk("server"), Bulk("redis")},         {Bulk("version"), Bulk("7.2.4")},
      {Bulk("proto"), Int(IsResp3() ? 3 : 2)}, {Bulk("id"), Int(static_cast<int64_t>(client().session().id))},
      {Bulk("mode"), Bulk("standalone")},      {Bulk("role"), Bulk("master")},
      {Bulk("modules"), EmptyArray()},
  };
  EXPECT_THAT(Run("HELLO"), MapOf(greeting));
  EXPECT_THAT(Run(IsResp3() ? "HELLO 3 SETNAME me" : "HELLO 2 SETNAME me"), MapOf(greeting));
  EXPECT_THAT(Run("CLIENT GETNAME"), Bulk("me"));
}

TEST_P(ConnectionCommands, HelloSwitchesTheProtocolOfItsOwnReply) {
  EXPECT_THAT(client().Raw("HELLO 3\r\n"), StartsWith("%7\r\n"));
  EXPECT_THAT(client().Raw("HELLO 2\r\n"), StartsWith("*14\r\n"));
}

TEST_P(ConnectionCommands, HelloRefusalsChangeNothing) {
  EXPECT_THAT(Run("HELLO x"), Error("ERR Protocol version is not an integer or out of range"));
  EXPECT_THAT(Run("HELLO 4"), Error("NOPROTO unsupported protocol version"));
  EXPECT_THAT(Run("HELLO 3 foo"), Error("ERR Syntax error in HELLO option 'foo'"));
  EXPECT_THAT(Run("HELLO 3 AUTH one"), Error("ERR Syntax error in HELLO option 'AUTH'"));
  EXPECT_THAT(Run("HELLO 3 SETNAME \"a b\""),
              Error("ERR Client names cannot contain spaces, newlines or special characters."));
  EXPECT_THAT(Run("HELLO 3 SETNAME new AUTH bob x"),
              Error("WRONGPASS invalid username-password pair or user is disabled."));
  EXPECT_THAT(Run("CLIENT GETNAME"), Nil());
  EXPECT_EQ(client().resp(), GetParam());
}

TEST_P(ConnectionCommands, AuthWithoutPassword) {
  EXPECT_THAT(Run("AUTH x"), Error("ERR AUTH <password> called without any password configured for the default user. "
                                   "Are you sure your configuration is correct?"));
  EXPECT_THAT(Run("AUTH default anything"), Ok());
  EXPECT_THAT(Run("AUTH a b c"), Error("ERR syntax error"));
}

TEST_P(ConnectionCommands, ResetRestoresDefaults) {
  EXPECT_THAT(Run("SELECT 3"), Ok());
  EXPECT_THAT(Run("CLIENT SETNAME me"), Ok());
  EXPECT_THAT(Run("CLIENT SETINFO lib-name lib"), Ok());
  EXPECT_THAT(Run("CLIENT NO-EVICT ON"), Ok());
  EXPECT_THAT(Run("CLIENT NO-TOUCH ON"), Ok());
  EXPECT_THAT(Run("RESET"), Simple("RESET"));
  EXPECT_EQ(client().resp(), RespVersion::kResp2);
  EXPECT_THAT(Run("CLIENT INFO").Text(), ContainsRegex(" name= .* flags=N db=0 .* resp=2 lib-name=lib "));
}

TEST_P(GuardedServer, RequiresThePassword) {
  EXPECT_THAT(Run("PING"), Error("NOAUTH Authentication required."));
  EXPECT_THAT(Run("HELLO"), ErrorStartsWith("NOAUTH HELLO must be called with the client already authenticated"));
  EXPECT_THAT(Run("AUTH wrong"), Error("WRONGPASS invalid username-password pair or user is disabled."));
  EXPECT_THAT(Run("AUTH bob secret"), Error("WRONGPASS invalid username-password pair or user is disabled."));
  EXPECT_THAT(Run("AUTH secret"), Ok());
  EXPECT_THAT(Run("PING"), Simple("PONG"));
  EXPECT_THAT(Run("RESET"), Simple("RESET"));
  EXPECT_THAT(Run("PING"), Error("NOAUTH Authentication required."));
  EXPECT_EQ(Run("HELLO 3 AUTH default secret").Size(), 14u);
  EXPECT_THAT(Run("PING"), Simple("PONG"));
}

TEST_P(GuardedServer, LimitsRequestsBeforeLogin) {
  EXPECT_EQ(client().Raw("*11\r\n"), "-ERR Protocol error: unauthenticated multibulk length\r\n");
  EXPECT_TRUE(client().Closed());
  TestClient other(server());
  EXPECT_EQ(other.Raw("*1\r\n$16385\r\n"), "-ERR Protocol error: unauthenticated bulk length\r\n");
  EXPECT_TRUE(other.Closed());
}

TEST_P(GuardedServer, LimitsOutputBeforeLogin) {
  client().SetReading(TestClient::Reading::kNo);
  for (int i = 0; i < 10'000 && !client().Closed(); ++i) client().Send("PING");
  EXPECT_TRUE(client().Closed());
}

TEST_P(ConnectionCommands, MonitorShowsWhatOthersRun) {
  TestClient monitor(server(), GetParam());
  EXPECT_THAT(monitor.Run("MONITOR"), Ok());
  EXPECT_THAT(monitor.Run("MONITOR"), NoReply());
  Run("SET k \"a\\n\\x01\"");
  EXPECT_THAT(monitor.Read().Text(), ContainsRegex("^[0-9]+\\.[0-9]{6} \\[0 .*\\] \"SET\" \"k\" \"a\\\\n\\\\x01\"$"));
  Run("CONFIG GET port");  // administrative commands, unknown commands
  Run("NOSUCH");           // and refused commands are not shown
  Run("GET");
  Run("SELECT 3");
  EXPECT_THAT(monitor.Read().Text(), HasSubstr("[3 "));
  EXPECT_THAT(monitor.Read(), NoReply());
}

// The line would need four times the memory of the argument.
TEST_P(ConnectionCommands, MonitorLeavesOutLongArguments) {
  TestClient monitor(server(), GetParam());
  monitor.Run("MONITOR");
  Run({"SET", "k", std::string(5 << 20, '\0')});
  EXPECT_THAT(monitor.Read().Text(), testing::EndsWith(" \"SET\" \"k\" ... (too long)"));
}

TEST_P(ConnectionCommands, MonitorDoesNotShowPasswords) {
  TestClient monitor(server(), GetParam());
  monitor.Run("MONITOR");
  Run("AUTH bob hush");
  EXPECT_THAT(monitor.Read().Text(), HasSubstr("] \"AUTH\" \"(redacted)\" \"(redacted)\""));
  Run("HELLO 3 SETNAME n AUTH bob hush");
  EXPECT_THAT(monitor.Read().Text(),
              HasSubstr("] \"HELLO\" \"3\" \"SETNAME\" \"n\" \"AUTH\" \"(redacted)\" \"(redacted)\""));
  Run("PING secret");
  EXPECT_THAT(monitor.Read().Text(), HasSubstr("] \"PING\" \"secret\""));
}

TEST_P(ConnectionCommands, MonitorsMayNotAccessKeysUntilReset) {
  Run("MONITOR");
  EXPECT_THAT(Run("GET k"), Error("ERR Replica can't interact with the keyspace"));
  EXPECT_THAT(Run("RESET"), Simple("RESET"));
  EXPECT_THAT(Run("GET k"), Nil());
  EXPECT_TRUE(server()->services().execution.monitors.IsEmpty());
}

TEST(MonitorLimits, ClosesAMonitorThatDoesNotRead) {
  TestServer server(TestServer::Options{.directives = {"client-output-buffer-limit normal 100000 0 0"}});
  TestClient monitor(server);
  TestClient client(server);
  monitor.Run("MONITOR");
  monitor.SetReading(TestClient::Reading::kNo);
  std::string message(1000, 'x');
  for (int i = 0; i < 200; ++i) EXPECT_THAT(client.Run({"ECHO", message}), Bulk(message));
  EXPECT_TRUE(monitor.Closed());
  EXPECT_EQ(server->services().env.stats.output_limit_disconnections, 1u);
}

// Whether a monitor that does not read 200 KB is closed under this limit.
bool ClosesSlowMonitor(const std::string& limit) {
  TestServer server(TestServer::Options{.directives = {"client-output-buffer-limit " + limit}});
  TestClient monitor(server);
  TestClient client(server);
  monitor.Run("MONITOR");
  monitor.SetReading(TestClient::Reading::kNo);
  const std::string message(1000, 'x');
  for (int i = 0; i < 200; ++i) EXPECT_THAT(client.Run({"ECHO", message}), Bulk(message));
  return monitor.Closed();
}

// The class `normal` has no limit by default, but a monitor receives the traffic of other clients.
TEST(MonitorLimits, AreThoseOfSubscribersWhenNormalClientsHaveNone) {
  EXPECT_TRUE(ClosesSlowMonitor("pubsub 100000 0 0"));
  EXPECT_TRUE(ClosesSlowMonitor("normal 100000 0 0 pubsub 0 0 0"));
  EXPECT_FALSE(ClosesSlowMonitor("normal 1000000 0 0 pubsub 100000 0 0"));
}

TEST(MonitorLimits, AreNoneWhenNoClassHasAny) { EXPECT_FALSE(ClosesSlowMonitor("pubsub 0 0 0")); }

// A request of 10 arguments, of which all but the last have arrived.
std::string HalfRequest(size_t bytes) {
  std::string request = "*10\r\n";
  while (request.size() < bytes) {
    const size_t size = std::min<size_t>(16000, bytes - request.size());
    StrAppend(request, "$", size, "\r\n", std::string(size, 'x'), "\r\n");
  }
  return request;
}

TEST(UnauthenticatedLimits, CloseAClientWhoseRequestBeforeLoginIsTooLong) {
  TestServer server(TestServer::Options{.directives = {"requirepass secret"}});
  TestClient patient(server);
  patient.Raw(HalfRequest(60'000));
  EXPECT_FALSE(patient.Closed());
  TestClient greedy(server);
  greedy.Raw(HalfRequest(ClientLimits::kMaxUnauthenticatedInputBytes));
  EXPECT_TRUE(greedy.Closed());
  EXPECT_EQ(server->services().env.stats.query_limit_disconnections, 1u);
  TestClient member(server);
  EXPECT_THAT(member.Run("AUTH secret"), Ok());
  member.Raw(HalfRequest(100'000));
  EXPECT_FALSE(member.Closed());
}

TEST(UnauthenticatedLimits, BoundAllUnfinishedRequestsBeforeLogin) {
  TestServer server(TestServer::Options{.directives = {"requirepass secret"}});
  std::vector<std::unique_ptr<TestClient>> strangers;
  for (int i = 0; i < 600; ++i) {
    strangers.push_back(std::make_unique<TestClient>(server));
    strangers.back()->Raw(HalfRequest(60'000));
    server.RunCronFor(0);
  }
  EXPECT_LT(server->services().clients.registry.UnauthenticatedBytes(),
            ClientLimits::kMaxTotalUnauthenticatedInputBytes + ClientLimits::kMaxUnauthenticatedInputBytes * 2);
  EXPECT_FALSE(strangers.front()->Closed());
  EXPECT_TRUE(strangers.back()->Closed());
  TestClient late(server);
  EXPECT_EQ(late.Raw("*2\r\n$4\r\nAUTH\r\n"), "");
  EXPECT_EQ(late.Raw("$6\r\nsecret\r\n"), "+OK\r\n");
  strangers.clear();
  server.RunCronFor(0);
  EXPECT_EQ(server->services().clients.registry.UnauthenticatedBytes(), 0u);
}

TEST(HttpTest, ClosesHttpClients) {
  TestServer server;
  for (const char* request :
       {"POST / HTTP/1.1\r\nPING\r\n", "host: here\r\nPING\r\n", "*1\r\n$4\r\nPoSt\r\nPING\r\n"}) {
    TestClient client(server);
    EXPECT_EQ(client.Raw(request), "") << request;
    EXPECT_TRUE(client.Closed()) << request;
  }
}

}  // namespace
}  // namespace respite
