#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/process/limits.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

class ConfigCommands : public CommandTest {};
INSTANTIATE_TEST_SUITE_P(Resp, ConfigCommands, BothVersions(), VersionName);

TEST_P(ConfigCommands, GetAnswersWithAMap) {
  EXPECT_THAT(Run("CONFIG GET hz"), MapOf({{Bulk("hz"), Bulk("10")}}));
  EXPECT_THAT(Run("CONFIG GET slowlog-*"),
              MapOf({{Bulk("slowlog-max-len"), Bulk("128")}, {Bulk("slowlog-log-slower-than"), Bulk("10000")}}));
  EXPECT_THAT(Run("CONFIG GET HZ hz nosuch"), MapOf({{Bulk("HZ"), Bulk("10")}}));
  EXPECT_THAT(Run("CONFIG GET nosuch"), MapOf({}));
}

// Each pattern is compared with each directive, and a reply about a command has many more bytes than its name.
TEST_P(ConfigCommands, CommandsTakeFewNamesWhereEachIsCostly) {
  constexpr char kTooMany[] = "ERR Too many arguments, at most 1024 are allowed";
  for (const std::string command : {"CONFIG GET", "LATENCY HISTOGRAM", "COMMAND INFO", "COMMAND DOCS"}) {
    const size_t blank = command.find(' ');
    std::vector<std::string> words = {command.substr(0, blank), command.substr(blank + 1)};
    words.insert(words.end(), 1024, "get");
    EXPECT_THAT(Run(words), testing::Not(Error(kTooMany))) << command;
    words.emplace_back("get");
    EXPECT_THAT(Run(words), Error(kTooMany)) << command;
  }
}

TEST_P(ConfigCommands, SetTakesPairs) {
  EXPECT_THAT(Run("CONFIG SET hz 50 maxclients 100"), Ok());
  EXPECT_EQ(server()->services().env.settings.hz, 50);
  EXPECT_EQ(server()->services().env.settings.maxclients, 100u);
  EXPECT_THAT(Run("CONFIG SET hz 20 timeout"), Error("ERR syntax error"));
  EXPECT_THAT(Run("CONFIG SET hz"), Error("ERR wrong number of arguments for 'config|set' command"));
}

TEST_P(ConfigCommands, SetIsAllOrNothing) {
  EXPECT_THAT(Run("CONFIG SET hz 50 maxclients abc"),
              ErrorStartsWith("ERR CONFIG SET failed (possibly related to argument 'maxclients') - "));
  EXPECT_EQ(server()->services().env.settings.hz, 10);
}

TEST_P(ConfigCommands, HzTakesEffectAtOnce) {
  Run("CONFIG SET dynamic-hz no hz 100");
  EXPECT_EQ(server()->services().clients.timer_frequency.Hz(), 100);
}

TEST_P(ConfigCommands, LogLevelTakesEffectAtOnce) {
  Run("CONFIG SET loglevel warning");
  EXPECT_EQ(server()->services().env.log.Level(), LogLevel::kWarning);
  Run("CONFIG SET loglevel debug");
  EXPECT_EQ(server()->services().env.log.Level(), LogLevel::kDebug);
}

TEST_P(ConfigCommands, MaxClientsNeedsDescriptors) {
  WatchMaxClients(server()->services().env.config, server()->services().env.log, 1);
  EXPECT_THAT(
      Run("CONFIG SET maxclients 4294967295"),
      ErrorStartsWith("ERR CONFIG SET failed (possibly related to argument 'maxclients') - The operating system "
                      "is not able to handle the specified number of clients, try with "));
  EXPECT_EQ(server()->services().env.settings.maxclients, 10000u);
}

TEST_P(ConfigCommands, PasswordsStayOutOfTheSlowLog) {
  Run("CONFIG SET slowlog-log-slower-than 0");
  Run("CONFIG SET requirepass secret maxclients 100 masterauth hidden");
  const std::vector<std::string> expected = {"CONFIG",     "SET", "requirepass", "(redacted)",
                                             "maxclients", "100", "masterauth",  "(redacted)"};
  EXPECT_EQ(server()->services().execution.command_logs.slow.Records().front().words, expected);
  Run("CONFIG SET requirepass \"\" hz nonsense");  // the arguments of a refused command are hidden as well
  EXPECT_EQ(server()->services().execution.command_logs.slow.Records().front().words[3], "(redacted)");
  Run("CONFIG GET hz");
  EXPECT_EQ(server()->services().execution.command_logs.slow.Records().front().words[2], "hz");
}

TEST_P(ConfigCommands, ResetStatStartsFromZero) {
  Run("SET k v");
  Run("GET k");
  Run("GET nosuch");
  Run("NOSUCH");
  EXPECT_THAT(Run("CONFIG RESETSTAT"), Ok());
  EXPECT_EQ(server()->services().env.stats.error_replies, 0u);
  EXPECT_TRUE(server()->services().env.stats.errors.empty());
  EXPECT_EQ(server()->services().env.stats.commands, 1u);  // this command
  EXPECT_EQ(server()->services().data.dataset.stats.hits + server()->services().data.dataset.stats.misses, 0u);
  EXPECT_EQ(server()->services().data.dataset.stats.dirty, 1u);  // RESETSTAT keeps the number of unsaved changes
  EXPECT_EQ(server()->services().env.commands.StatsOf(*server()->services().env.commands.Find("set")).calls, 0u);
  EXPECT_GT(server()->services().env.stats.peak_memory_bytes, 0u);
}

TEST_P(ConfigCommands, RewriteNeedsAFile) {
  EXPECT_THAT(Run("CONFIG REWRITE"), Error("ERR The server is running without a config file"));
}

TEST_P(ConfigCommands, HelpNamesTheSubcommands) {
  const TestReply help = Run("CONFIG HELP");
  ASSERT_EQ(help.Size(), 11u);
  EXPECT_THAT(help[0], Simple("CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
  EXPECT_THAT(help[10], Simple("    Print this help."));
}

}  // namespace

}  // namespace respite
