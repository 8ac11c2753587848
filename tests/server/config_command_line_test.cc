// The forms of command lines and configuration files that launchers use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/memory.h"
#include "base/str_cat.h"
#include "server/config/config.h"
#include "server/config/usage.h"
#include "server/config/value_text.h"

namespace respite {
namespace {

using Arguments = std::vector<std::string>;

// Runs in its own empty directory.
class ConfigCommandLineTest : public testing::Test {
 protected:
  void SetUp() override {
    before_ = WorkingDirectory();
    std::string pattern = testing::TempDir() + "/respite-config-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = std::filesystem::canonical(pattern).string();
    ASSERT_EQ(chdir(folder_.c_str()), 0);
  }

  void TearDown() override {
    ASSERT_EQ(chdir(before_.c_str()), 0);
    std::filesystem::remove_all(folder_);
  }

  static void Write(const std::string& name, const std::string& text) { std::ofstream(name) << text; }

  static CommandLine Parse(Arguments arguments) {
    arguments.insert(arguments.begin(), "/usr/bin/respite-server");
    Result<CommandLine, StartupError> line = ParseCommandLine(arguments);
    EXPECT_TRUE(line.ok());
    return line ? line.value() : CommandLine{};
  }

  static Result<std::unique_ptr<Config>, StartupError> Load(const Arguments& arguments, const std::string& input = "") {
    std::istringstream standard_input(input);
    return Config::Load(Parse(arguments), standard_input);
  }

  // The value of `name` after a start with these arguments, or the error text.
  static std::string Value(const std::string& name, const Arguments& arguments, const std::string& input = "") {
    Result<std::unique_ptr<Config>, StartupError> config = Load(arguments, input);
    if (!config) return config.error().text;
    const Arguments names = {name};
    return config.value()->Get(names).at(0).second;
  }

  static std::string Error(const Arguments& arguments, const std::string& input = "") {
    Result<std::unique_ptr<Config>, StartupError> config = Load(arguments, input);
    if (config) return "started";
    EXPECT_EQ(config.error().exit_code, 1);
    return config.error().text;
  }

  static std::string Block(int line, const std::string& text, const std::string& reason) {
    return StrCat("\n*** FATAL CONFIG FILE ERROR (Redis 7.2.4) ***\nReading the configuration file, at line ", line,
                  "\n>>> '", text, "'\n", reason, "\n");
  }

  std::string before_;
  std::string folder_;
};

TEST_F(ConfigCommandLineTest, WithoutArgumentsEverythingIsDefault) {
  const CommandLine line = Parse({});
  EXPECT_FALSE(line.has_arguments);
  EXPECT_TRUE(line.config_file.empty());
  EXPECT_EQ(Value("port", {}), "6379");
  EXPECT_EQ(Value("save", {}), "");
  EXPECT_EQ(Value("dir", {}), folder_);
}

TEST_F(ConfigCommandLineTest, ActionsInsteadOfServing) {
  EXPECT_EQ(Parse({"-v"}).action, LaunchAction::kPrintVersion);
  EXPECT_EQ(Parse({"--version"}).action, LaunchAction::kPrintVersion);
  EXPECT_EQ(Parse({"-h"}).action, LaunchAction::kPrintUsage);
  EXPECT_EQ(Parse({"--help"}).action, LaunchAction::kPrintUsage);
  EXPECT_EQ(Parse({"--check-system"}).action, LaunchAction::kCheckSystem);
  const CommandLine memory = Parse({"--test-memory", "12"});
  EXPECT_EQ(memory.action, LaunchAction::kTestMemory);
  EXPECT_EQ(memory.test_memory_megabytes, 12);
  const Arguments incomplete = {"respite-server", "--test-memory"};
  Result<CommandLine, StartupError> refused = ParseCommandLine(incomplete);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text,
            "Please specify the amount of memory to test in megabytes.\n"
            "Example: ./redis-server --test-memory 4096\n\n");
}

TEST_F(ConfigCommandLineTest, ActionsCountOnlyAsFirstArgument) {
  EXPECT_EQ(Error({"--port", "1", "--version"}), Block(3, "version", "Bad directive or wrong number of arguments"));
}

TEST_F(ConfigCommandLineTest, TheProgramsNameChoosesItsJob) {
  const auto parsed = [](const std::string& name) { return ParseCommandLine(Arguments{name}).value(); };
  EXPECT_EQ(parsed("/opt/bin/redis-sentinel").mode, ServerMode::kSentinel);
  EXPECT_EQ(parsed("/opt/redis-sentinel/respite-server").mode, ServerMode::kStandalone);
  EXPECT_EQ(parsed("redis-check-rdb").action, LaunchAction::kCheckRdb);
  EXPECT_EQ(parsed("./redis-check-aof").action, LaunchAction::kCheckAof);
}

TEST_F(ConfigCommandLineTest, OptionsWithValues) {
  EXPECT_EQ(Value("port", {"--port", "17210"}), "17210");
  EXPECT_EQ(Value("port", {"--port 17210"}), "17210");
  EXPECT_EQ(Value("appendonly", {"--appendonly yes "}), "yes");
  EXPECT_EQ(Value("hz", {"--hz", "20", "--HZ", "30"}), "30");
  EXPECT_EQ(Value("bind", {"--bind", "127.0.0.1", "-::1"}), "127.0.0.1 -::1");
  EXPECT_EQ(Value("bind", {"--bind 127.0.0.1 -::1"}), "127.0.0.1 -::1");
  EXPECT_EQ(Value("bind", {"--bind", "127.0.0.1 -::1"}), "127.0.0.1 -::1");
  EXPECT_EQ(Value("bind", {"--bind", ""}), "");
  EXPECT_EQ(Value("replicaof", {"--slaveof", "localhost", "6380"}), "localhost 6380");
  EXPECT_EQ(Value("slaveof", {"--replicaof localhost 6380"}), "localhost 6380");
  EXPECT_EQ(Value("replicaof", {"--replicaof", "no", "one"}), "");
  EXPECT_EQ(Value("unixsocketperm", {"--unixsocketperm", "777"}), "777");
}

TEST_F(ConfigCommandLineTest, SavePointsInEveryForm) {
  EXPECT_EQ(Value("save", {"--save", "3600", "1", "300", "100"}), "3600 1 300 100");
  EXPECT_EQ(Value("save", {"--save", "3600 1 300 100"}), "3600 1 300 100");
  EXPECT_EQ(Value("save", {"--save 3600 1 "}), "3600 1");
  EXPECT_EQ(Value("save", {"--save", "60", "1", "--save", "70", "2"}), "60 1 70 2");
  EXPECT_EQ(Value("save", {"--save", "60", "1", "--save", "", "--save", "70", "2"}), "70 2");
  EXPECT_EQ(Value("save", {"--save", "60 1", "--save", ""}), "");
  EXPECT_EQ(Value("save", {"--save", "60 1", "--save", "''"}), "");
  EXPECT_EQ(Value("save", {"--save", "60 1", "--save", "--hz", "20"}), "");
  EXPECT_EQ(Value("hz", {"--save", "60 1", "--save", "--hz", "20"}), "20");
  EXPECT_EQ(Value("save", {"--save", "60 1", "--save"}), "");
  EXPECT_EQ(Error({"--save", "3600 1 300"}), Block(2, "save \"3600 1 300\"", "Invalid save parameters"));
}

TEST_F(ConfigCommandLineTest, ValuesMayLookLikeOptions) {
  EXPECT_EQ(Value("requirepass", {"--requirepass", "--secret", "--hz", "20"}), "--secret");
  EXPECT_EQ(Value("hz", {"--requirepass", "--secret", "--hz", "20"}), "20");
  EXPECT_EQ(Value("requirepass", {"--requirepass", "a'b\"c\\ d\x01"}), "a'b\"c\\ d\x01");
  EXPECT_EQ(Error({"--port"}), Block(2, "port", "wrong number of arguments"));
  EXPECT_EQ(Error({"--hz", "20", "--daemonize"}), Block(3, "daemonize", "wrong number of arguments"));
}

TEST_F(ConfigCommandLineTest, SentinelAnywhereTakesNoValue) {
  for (const Arguments& arguments : {Arguments{"--sentinel", "--hz", "20"}, Arguments{"--hz", "20", "--sentinel"},
                                     Arguments{"--hz", "20", "--sentinel", "--timeout", "1"}}) {
    EXPECT_EQ(Parse(arguments).mode, ServerMode::kSentinel);
    EXPECT_EQ(Value("hz", arguments), "20");
    EXPECT_EQ(Value("port", arguments), "26379");
  }
  EXPECT_EQ(Error({"--sentinel monitor x"}),
            Block(2, "sentinel monitor x", "sentinel directive while not in sentinel mode"));
}

TEST_F(ConfigCommandLineTest, StandardInputIsReadForADashFirstOrLast) {
  EXPECT_EQ(Value("hz", {"-"}, "hz 20\n"), "20");
  EXPECT_EQ(Value("hz", {"-", "--timeout", "1"}, "hz 20"), "20");
  EXPECT_EQ(Value("hz", {"--timeout", "1", "-"}, "hz 20"), "20");
  EXPECT_EQ(Value("hz", {"--hz", "30", "-"}, "hz 20"), "30");
  EXPECT_EQ(Value("requirepass", {"--requirepass", "-", "--hz", "30"}, "hz 20"), "-");
  EXPECT_EQ(Value("hz", {"--timeout", "1"}, "hz 20"), "10");
  Result<std::unique_ptr<Config>, StartupError> config = Load({"-"}, "");
  ASSERT_EQ(config.value()->TakeNotes().at(0).text, "Reading config from stdin");
  EXPECT_TRUE(config.value()->TakeNotes().empty());
}

TEST_F(ConfigCommandLineTest, FileThenInputThenOptionsAndTheLastWins) {
  Write("a.conf", "hz 20\ntimeout 1\ntcp-keepalive 1\n");
  const Arguments arguments = {"a.conf", "--hz", "40", "-"};
  EXPECT_EQ(Parse(arguments).config_file, folder_ + "/a.conf");
  EXPECT_EQ(Value("hz", arguments, "hz 30\ntimeout 2\n"), "40");
  EXPECT_EQ(Value("timeout", arguments, "hz 30\ntimeout 2\n"), "2");
  EXPECT_EQ(Value("tcp-keepalive", arguments, "hz 30\ntimeout 2\n"), "1");
}

TEST_F(ConfigCommandLineTest, FilesMayBeMissingOrWrong) {
  Result<std::unique_ptr<Config>, StartupError> config = Load({"/nonexistent/x.conf"});
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().channel, StartupError::Channel::kLog);
  EXPECT_EQ(config.error().text,
            "Fatal error, can't open config file '/nonexistent/x.conf': No such file or directory");
  Write("b.conf", "\n# fine\n  bogus line \"q\" \r\n");
  EXPECT_EQ(Error({"b.conf"}), Block(3, "bogus line \"q\"", "Bad directive or wrong number of arguments"));
  Write("b.conf", "requirepass \"foo\n");
  EXPECT_EQ(Error({"b.conf"}), Block(1, "requirepass \"foo", "Unbalanced quotes in configuration line"));
  EXPECT_EQ(Error({"--nosuch", "x y"}), Block(2, "nosuch \"x y\"", "Bad directive or wrong number of arguments"));
}

TEST_F(ConfigCommandLineTest, LinesOfFiles) {
  Write("a.conf",
        "# comment\n  PORT 17210\r\n\nrequirepass \"a\\x41\\n\"\ndir '.'\nslave-read-only no\nsave 900 1\nsave \"300 "
        "10\"\n"
        "list-max-ziplist-entries 5\nlua-replicate-commands yes\nclient-output-buffer-limit replica 1mb 2mb 3\n");
  EXPECT_EQ(Value("port", {"a.conf"}), "17210");
  EXPECT_EQ(Value("requirepass", {"a.conf"}), "aA\n");
  EXPECT_EQ(Value("replica-read-only", {"a.conf"}), "no");
  EXPECT_EQ(Value("save", {"a.conf"}), "900 1 300 10");
  EXPECT_EQ(Value("client-output-buffer-limit", {"a.conf"}),
            "normal 0 0 0 slave 1048576 2097152 3 pubsub 33554432 8388608 60");
}

TEST_F(ConfigCommandLineTest, Includes) {
  Write("a.conf", "hz 20\ninclude inc1.conf\ntimeout 9\n");
  Write("inc1.conf", "hz 30\ntimeout 8\n");
  Write("inc2.conf", "tcp-keepalive 7\nbogus\n");
  EXPECT_EQ(Value("hz", {"a.conf"}), "30");
  EXPECT_EQ(Value("timeout", {"a.conf"}), "9");
  EXPECT_EQ(Value("timeout", {"--include", "inc1.conf"}), "8");
  EXPECT_EQ(Value("hz", {"--include", "nothing*.conf"}), "10");
  EXPECT_EQ(Error({"--include", "inc*.conf"}), Block(4, "bogus", "Bad directive or wrong number of arguments"));
  EXPECT_EQ(Error({"--include", "nothing.conf"}),
            "Fatal error, can't open config file 'nothing.conf': No such file or directory");
  Write("loop.conf", "include loop.conf\n");
  EXPECT_EQ(Error({"loop.conf"}), Block(1, "include loop.conf", "Files include each other without end"));
}

// Compared with Redis 7.0.15, except that servers without a file have no save points.
TEST_F(ConfigCommandLineTest, SavePointsOfAFile) {
  constexpr const char* kDefault = "3600 1 300 100 60 10000";
  Write("none.conf", "hz 20\n");
  Write("empty.conf", "save \"\"\n");
  Write("one.conf", "save 900 1\n");
  Write("two.conf", "save 900 1\nsave 60 5\n");
  Write("included_first.conf", "include one.conf\nsave 60 5\nsave 70 6\n");
  Write("included_last.conf", "save 60 5\ninclude none.conf\n");
  Write("pair.conf", "save 80 7\nsave 90 8\n");
  Write("included_twice.conf", "save 60 5\ninclude one.conf\ninclude pair.conf\n");
  EXPECT_EQ(Value("save", {"none.conf"}), kDefault);
  EXPECT_EQ(Value("save", {"empty.conf"}), "");
  EXPECT_EQ(Value("save", {"one.conf"}), "900 1");
  EXPECT_EQ(Value("save", {"two.conf"}), "900 1 60 5");
  EXPECT_EQ(Value("save", {"none.conf", "--save", "60 5"}), "60 5");
  EXPECT_EQ(Value("save", {"one.conf", "--save", "60 5"}), "900 1 60 5");
  EXPECT_EQ(Value("save", {"one.conf", "--save", ""}), "");
  EXPECT_EQ(Value("save", {"none.conf", "--save", ""}), "");
  EXPECT_EQ(Value("save", {"included_first.conf"}), "70 6");
  EXPECT_EQ(Value("save", {"included_last.conf"}), "60 5");
  EXPECT_EQ(Value("save", {"included_twice.conf"}), "60 5 900 1 80 7 90 8");
  EXPECT_EQ(Value("save", {"one.conf", "--include", "two.conf"}), "900 1 900 1 60 5");
  EXPECT_EQ(Value("save", {"one.conf", "--include", "two.conf", "--save", "1 1", "--save", "2 2"}), "2 2");
  EXPECT_EQ(Value("save", {"-"}, "hz 20\n"), kDefault);
  EXPECT_EQ(Value("save", {"-"}, "save 10 5\n"), "10 5");
  EXPECT_EQ(Value("save", {"one.conf", "-"}, "save 10 5\n"), "900 1 10 5");
  EXPECT_EQ(Value("save", {"--include", "none.conf"}), kDefault);
  EXPECT_EQ(Value("save", {"--port", "0"}), "");
  EXPECT_EQ(Value("save", {"--test"}), "");
  EXPECT_EQ(Value("save", {"none.conf", "--test"}), "");
  EXPECT_EQ(Value("save", {"one.conf", "--test"}), "900 1");
}

TEST_F(ConfigCommandLineTest, ASentinelHasNoSavePoints) {
  Write("sentinel.conf", "port 26379\n");
  EXPECT_EQ(Value("save", {"sentinel.conf", "--sentinel"}), "");
}

TEST_F(ConfigCommandLineTest, AContainerKeepsItsData) {
  std::istringstream nothing;
  for (const Arguments& arguments :
       std::initializer_list<Arguments>{{}, {"--port", "7"}, {"--save", "9 9"}, {"--test"}}) {
    CommandLine line = Parse(arguments);
    line.is_in_container = true;
    const auto config = Config::Load(line, nothing);
    ASSERT_TRUE(config.ok());
    const Arguments save = {"save"};
    const bool is_told = !arguments.empty() && arguments[0] != "--port";
    const std::string told = arguments.size() == 2 ? "9 9" : "";
    EXPECT_EQ(config.value()->Get(save).at(0).second, is_told ? told : "3600 1 300 100 60 10000");
  }
}

TEST_F(ConfigCommandLineTest, DirectivesOfLaterVersions) {
  EXPECT_EQ(Error({"-"}, "tls-auth-clients-user CN"),
            Block(1, "tls-auth-clients-user CN",
                  "Bad directive or wrong number of arguments\n'tls-auth-clients-user' is a directive of Redis 8.6 and "
                  "Valkey 9.1, which Respite does not have"));
  EXPECT_THAT(Error({"--rdma-port", "6380"}), testing::HasSubstr("No RDMA building support."));
  EXPECT_THAT(Error({"-"}, "array-slice-size"),
              testing::HasSubstr("'array-slice-size' is a directive of Redis 8.8, which"));
  const auto config = Load({"-"},
                           "Array-slice-size 16\ntls-auth-clients-user off\nrdma-bind "
                           "\"\"\nlua-enable-insecure-api no\n");
  ASSERT_TRUE(config.ok()) << config.error().text;
  std::vector<std::string> notes;
  for (const ConfigNote& note : config.value()->TakeNotes()) notes.push_back(note.text);
  EXPECT_THAT(notes,
              testing::ElementsAre(
                  "Reading config from stdin",
                  "'array-slice-size' is a directive of Redis 8.8. Respite does not have it and ignores it.",
                  "'tls-auth-clients-user' is a directive of Redis 8.6 and Valkey 9.1. Respite does not have it "
                  "and ignores it.",
                  "'lua-enable-insecure-api' is a directive of Valkey 9.1. Respite does not have it and ignores it."));
}

TEST_F(ConfigCommandLineTest, SettingsWithoutEffectAreNamedOnce) {
  const auto notes = [](const Arguments& arguments) {
    std::string text;
    for (const ConfigNote& note : Load(arguments).value()->TakeNotes()) text += note.text + '\n';
    return text;
  };
  EXPECT_EQ(notes({"--activedefrag", "yes", "--io-threads", "4", "--hz", "20"}),
            "These directives are accepted without effect: io-threads, activedefrag\n");
  EXPECT_EQ(notes({"--activedefrag", "no", "--io-threads", "1", "--activerehashing", "yes"}), "");
}

TEST_F(ConfigCommandLineTest, LinesForOthersAreCollected) {
  Write("a.conf",
        "rename-command CONFIG \"\"\nuser default on nopass\nloadmodule /x.so a b\nloadmodule /y.so\nmod.x 1 2\n");
  Result<std::unique_ptr<Config>, StartupError> config = Load({"a.conf"});
  ASSERT_TRUE(config.ok());
  const ConfigLines& lines = config.value()->lines();
  ASSERT_EQ(lines.rename_command.size(), 1U);
  EXPECT_EQ(lines.rename_command[0].words, (Arguments{"rename-command", "CONFIG", ""}));
  ASSERT_EQ(lines.user.size(), 1U);
  EXPECT_EQ(lines.user[0].number, 2);
  ASSERT_EQ(lines.loadmodule.size(), 2U);
  EXPECT_EQ(lines.loadmodule[0].words, (Arguments{"loadmodule", "/x.so", "a", "b"}));
  ASSERT_EQ(lines.module_settings.size(), 1U);
  EXPECT_EQ(FatalConfigError(&lines.user[0], "why").text, Block(2, "user default on nopass", "why"));
  for (const char* line : {"rename-command a", "user", "loadmodule", "include a b"}) {
    EXPECT_EQ(Error({"-"}, line), Block(1, line, "Bad directive or wrong number of arguments"));
  }
  EXPECT_EQ(Error({"-"}, "mod.x"), Block(1, "mod.x", "Module config specified without value"));
}

TEST_F(ConfigCommandLineTest, ChecksOfTheWholeNameNoLine) {
  const std::string head = "\n*** FATAL CONFIG FILE ERROR (Redis 7.2.4) ***\n";
  EXPECT_EQ(Error({"--logfile", "/nonexistent/x"}), head + "Can't open the log file: No such file or directory\n");
  EXPECT_EQ(Error({"--cluster-enabled", "yes", "--replicaof", "127.0.0.1 1"}),
            head + "replicaof directive not allowed in cluster mode\n");
  EXPECT_EQ(Value("databases", {"--cluster-enabled", "yes"}), "1");
  EXPECT_EQ(Value("databases", {"--cluster-enabled", "no"}), "16");
  EXPECT_EQ(Value("hz", {"--hz", "1000"}), "500");
  EXPECT_EQ(Value("hz", {"--hz", "0"}), "1");
}

TEST_F(ConfigCommandLineTest, TheLogFileMayBeANamedPipeWithoutReader) {
  ASSERT_EQ(mkfifo("fifo", 0600), 0);
  EXPECT_EQ(Value("logfile", {"--logfile", "fifo"}), "fifo");
}

TEST_F(ConfigCommandLineTest, FreePorts) {
  Result<std::unique_ptr<Config>, StartupError> config = Load({"--port", "auto", "--port-file", "p"});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config.value()->settings().port, kAutoPort);
  EXPECT_EQ(config.value()->settings().port_file, "p");
  const Arguments name = {"port"};
  EXPECT_EQ(config.value()->Get(name).at(0).second, "auto");
  config.value()->MutableSettings().bound_port = 4242;
  EXPECT_EQ(config.value()->Get(name).at(0).second, "4242");
  EXPECT_EQ(Value("port", {"--port", "0"}), "0");
}

TEST_F(ConfigCommandLineTest, TestIsAProfileOfDefaults) {
  EXPECT_EQ(Value("port", {"--test"}), "auto");
  EXPECT_EQ(Value("port", {"--test", "--port", "7"}), "7");
  EXPECT_EQ(Value("port", {"--port", "7", "--TEST"}), "7");
  EXPECT_EQ(Value("bind", {"--test"}), "127.0.0.1 -::1");
  EXPECT_EQ(Value("test-commands", {"--save", "--test"}), "local");
  EXPECT_EQ(Value("exit-with-parent", {"--test", "-"}, "exit-with-parent no"), "no");
  Write("file", "bind *\n");
  EXPECT_EQ(Value("bind", {"file", "--test"}), "*");
  EXPECT_EQ(Value("test-commands", {"--requirepass", "--test"}), "no");
  EXPECT_EQ(Value("requirepass", {"--requirepass", "--test"}), "--test");
  EXPECT_EQ(Value("exit-with-parent", {"--test", "--daemonize", "yes"}), "no");
}

TEST_F(ConfigCommandLineTest, TestTakesNoValue) {
  for (const Arguments& arguments : std::initializer_list<Arguments>{
           {"--test", "yes"}, {"--test yes"}, {"--test", "yes", "--port", "7"}, {"--port", "7", "--test", "yes"}}) {
    Arguments all = {"respite-server"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Result<CommandLine, StartupError> line = ParseCommandLine(all);
    ASSERT_FALSE(line.ok());
    EXPECT_EQ(line.error().text.substr(0, 51), "--test takes no value, but is followed by 'yes'.\nA ");
    EXPECT_EQ(line.error().exit_code, 1);
  }
}

TEST_F(ConfigCommandLineTest, WhatATestRunReads) {
  EXPECT_FALSE(Load({}).value()->settings().starts_empty);
  EXPECT_TRUE(Load({"--test"}).value()->settings().starts_empty);
  for (const Arguments& data :
       std::initializer_list<Arguments>{{"--dir", "."}, {"--dbfilename", "x"}, {"--appendonly", "yes"}}) {
    Arguments all = {"--test"};
    all.insert(all.end(), data.begin(), data.end());
    EXPECT_FALSE(Load(all).value()->settings().starts_empty) << data[0];
  }
}

TEST_F(ConfigCommandLineTest, FixturesAreWhereTheServerWasStarted) {
  EXPECT_EQ(Value("load", {"--load", "x", "--load", "", "--load", "y"}), folder_ + "/y");
  mkdir("data", 0700);
  const auto config = Load({"--dir", "data", "--load", "a b.json", "--load", "/c.rdb"});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config.value()->settings().load, (Arguments{folder_ + "/a b.json", "/c.rdb"}));
}

TEST_F(ConfigCommandLineTest, DaemonsOutliveTheirParents) {
  const std::string said = Error({"--daemonize", "yes", "--exit-with-parent", "yes"});
  EXPECT_NE(said.find("exit-with-parent and daemonize exclude each other"), std::string::npos) << said;
}

TEST_F(ConfigCommandLineTest, KnowsWhatWasSet) {
  Result<std::unique_ptr<Config>, StartupError> config = Load({"--slave-priority", "100"});
  EXPECT_TRUE(config.value()->WasSet("replica-priority"));
  EXPECT_FALSE(config.value()->WasSet("maxmemory"));
}

TEST(ConfigUsageTest, VersionLineIsWhatHarnessesParse) {
  const std::string line = VersionLine();
  std::istringstream words(line);
  std::string word;
  std::vector<std::string> all;
  while (words >> word) {
    EXPECT_LE(std::count(word.begin(), word.end(), '='), 1) << word;
    all.push_back(word);
  }
  ASSERT_EQ(all.size(), 8U);
  EXPECT_TRUE(line.starts_with("Respite server v=7.2.4 sha=00000000:0 malloc="));
  EXPECT_EQ(all[4], "malloc=" + AllocatorName());
  EXPECT_EQ(all[5], "bits=64");
  EXPECT_EQ(all[6], "build=" + BuildId());
  EXPECT_EQ(BuildId().size(), 16U);
  EXPECT_EQ(BuildId().find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(line.find_first_of("0123456789"), line.find("7.2.4"));
}

}  // namespace
}  // namespace respite
