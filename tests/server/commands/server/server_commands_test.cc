#include <gtest/gtest.h>

#include <string>

#include "tests/support/command_test.h"

namespace respite {

namespace {

class ServerCommands : public CommandTest {
 protected:
  ServerCommands() : CommandTest({"enable-module-command yes"}) {}
};
INSTANTIATE_TEST_SUITE_P(Resp, ServerCommands, BothVersions(), VersionName);

TEST_P(ServerCommands, TimeIsThatOfTheClock) {
  clock().AdvanceUs(1'234'567);
  const int64_t now_us = clock().WallUs();
  EXPECT_THAT(Run("TIME"), Bulks({std::to_string(now_us / 1000000), std::to_string(now_us % 1000000)}));
}

TEST_P(ServerCommands, RoleIsMaster) { EXPECT_THAT(Run("ROLE"), ArrayOf(Bulk("master"), Int(0), EmptyArray())); }

TEST_P(ServerCommands, ModulesAreRefused) {
  EXPECT_THAT(Run("MODULE LIST"), EmptyArray());
  EXPECT_THAT(Run("MODULE LOAD /m.so"), Error("ERR Error loading the extension. Please check the server logs."));
  EXPECT_THAT(Run("MODULE LOADEX /m.so CONFIG a b"),
              Error("ERR Error loading the extension. Please check the server logs."));
  EXPECT_THAT(Run("MODULE UNLOAD m"), Error("ERR Error unloading module: no such module with that name"));
}

TEST_P(ServerCommands, ModuleCommandsNeedPermission) {
  TestServer other;
  EXPECT_THAT(TestClient(other).Run("MODULE LOAD /m.so"), ErrorStartsWith("ERR MODULE command not allowed."));
}

TEST_P(ServerCommands, LolwutEndsWithTheVersion) {
  EXPECT_THAT(Run("LOLWUT"), Verbatim("Redis ver. 7.2.4\n"));
  EXPECT_THAT(Run("LOLWUT VERSION 7"), Verbatim("Redis ver. 7.2.4\n"));
  EXPECT_THAT(Run("LOLWUT VERSION x"), Error("ERR value is not an integer or out of range"));
  for (const char* picture : {"LOLWUT VERSION 5 30 4", "LOLWUT VERSION 6 30 4"}) {
    const std::string text = Run(picture).Text();
    EXPECT_TRUE(text.ends_with("Redis ver. 7.2.4\n")) << text;
    EXPECT_EQ(text.find('\n'), 30u) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4 + 2) << text;
  }
}

TEST_P(ServerCommands, LolwutOfValkey91DrawsAJuliaSet) {
  TestServer emulated(TestServer::Options{.directives = {"emulate valkey:9.1"}});
  TestClient client_of_91(emulated, GetParam());
  for (const char* picture : {"LOLWUT 30 4", "LOLWUT VERSION 9 30 4", "LOLWUT 30 4 -0.7 0.3"}) {
    const std::string text = client_of_91.Run(picture).Text();
    EXPECT_TRUE(text.ends_with("Valkey ver. 9.1.2\n")) << text;
    EXPECT_EQ(text.find('\n'), 30u) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4 + 2) << text;
  }
  for (const char* bad : {"LOLWUT 1", "LOLWUT 1 2 3", "LOLWUT 1 2 3 4 5"})
    EXPECT_THAT(client_of_91.Run(bad), Error("ERR Syntax error. Use: LOLWUT [columns rows] [real imaginary]"));
  EXPECT_THAT(client_of_91.Run("LOLWUT a 2"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(client_of_91.Run("LOLWUT 1 2 x 3"), Error("ERR value is not a valid float"));
}

TEST_P(ServerCommands, ShutdownChecksItsWords) {
  EXPECT_THAT(Run("SHUTDOWN soon"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SHUTDOWN SAVE NOSAVE"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SHUTDOWN ABORT NOW"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SHUTDOWN ABORT"), Error("ERR No shutdown in progress."));
  EXPECT_EQ(server().StoppedWith(), std::nullopt);
}

TEST_P(ServerCommands, ShutdownStopsWithoutAReply) {
  EXPECT_THAT(Run("SHUTDOWN nosave now force"), NoReply());
  EXPECT_EQ(server().StoppedWith(), 0);
}

TEST_P(ServerCommands, ShutdownDoesNotAnswerWhatFollows) {
  EXPECT_EQ(client().Raw("SHUTDOWN\r\nPING\r\n"), "");
  EXPECT_EQ(server().StoppedWith(), 0);
}

TEST_P(ServerCommands, ShutdownFailsWhenTheDumpCannotBeWritten) {
  server().files().SetFreeBytes(0);
  EXPECT_THAT(Run("SHUTDOWN SAVE"), Error("ERR Errors trying to SHUTDOWN. Check logs."));
  EXPECT_EQ(server().StoppedWith(), std::nullopt);
  EXPECT_THAT(Run("SHUTDOWN SAVE FORCE"), NoReply());
  EXPECT_EQ(server().StoppedWith(), 0);
}

TEST_P(ServerCommands, WritesBeyondMaxMemoryAreRefused) {
  EXPECT_THAT(Run("SET k v"), Ok());
  EXPECT_THAT(Run("CONFIG SET maxmemory 1"), Ok());
  EXPECT_THAT(Run("SET a b"), Error("OOM command not allowed when used memory > 'maxmemory'."));
  EXPECT_THAT(Run("GET k"), Bulk("v"));
  EXPECT_THAT(Run("DEL k"), Int(1));
  EXPECT_THAT(Run("CONFIG SET maxmemory 0"), Ok());
  EXPECT_THAT(Run("SET a b"), Ok());
}

}  // namespace

}  // namespace respite
