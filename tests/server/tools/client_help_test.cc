#include "server/tools/client_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace respite {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(ClientHelpTest, HintsAtArgumentsThatAreMissing) {
  EXPECT_EQ(CommandHint("get"), "key");
  EXPECT_EQ(CommandHint("GET a"), "");
  EXPECT_EQ(CommandHint("mset"), "key value [key value ...]");
  EXPECT_EQ(CommandHint("mset a"), "value [key value ...]");
  EXPECT_EQ(CommandHint("mset a 1"), "[key value ...]");
  EXPECT_EQ(CommandHint("mset a 1 b"), "value [key value ...]");
  EXPECT_EQ(CommandHint("config set"), "parameter value [parameter value ...]");
  EXPECT_EQ(CommandHint("config"), "GET|HELP|RESETSTAT|REWRITE|SET");
}

TEST(ClientHelpTest, HintsAtOptionsThatAreNotTyped) {
  EXPECT_THAT(CommandHint("set a"), StartsWith("value [NX|XX"));
  EXPECT_THAT(CommandHint("set a 1 ex"), StartsWith("seconds [NX|XX"));
  EXPECT_THAT(CommandHint("set a 1 ex 10"), Not(HasSubstr("seconds")));
  EXPECT_EQ(CommandHint("set a 1 ex 10 nx"), "[GET]");
  EXPECT_EQ(CommandHint("xadd s * field"), "value [field value ...]");
  EXPECT_EQ(CommandHint("zadd z 1"), "member [score member ...]");
}

TEST(ClientHelpTest, HintsAtNothingThatIsNoCommand) {
  EXPECT_EQ(CommandHint(""), "");
  EXPECT_EQ(CommandHint("gets a"), "");
  EXPECT_EQ(CommandHint("get a b"), "");
  EXPECT_EQ(CommandHint("get \"a"), "");
  EXPECT_EQ(CommandHint("config nothing"), "");
}

TEST(ClientHelpTest, HintsAtAllCommandsWhateverIsTyped) {
  for (const std::string& name : CommandCompletions("")) {
    std::string line = name;
    for (const char* word : {"a", "1", "NX", "COUNT", "STREAMS", "b", "BY", "c"}) {
      line += std::string(" ") + word;
      EXPECT_THAT(CommandHint(line), Not(HasSubstr("[]"))) << line;
    }
  }
}

TEST(ClientHelpTest, CompletesCommands) {
  EXPECT_THAT(CommandCompletions("getd"), ElementsAre("getdel"));
  EXPECT_THAT(CommandCompletions("GETD"), ElementsAre("GETDEL"));
  EXPECT_THAT(CommandCompletions("config re"), ElementsAre("config resetstat", "config rewrite"));
  EXPECT_THAT(CommandCompletions("conf"), ElementsAre("config"));
  EXPECT_THAT(CommandCompletions("help getd"), ElementsAre("help getdel"));
  EXPECT_THAT(CommandCompletions("help @str"), ElementsAre("help @stream", "help @string"));
  EXPECT_THAT(CommandCompletions("nothing"), IsEmpty());
  EXPECT_THAT(CommandCompletions(""), Contains("GET"));
}

TEST(ClientHelpTest, Explains) {
  const std::vector<std::string> get = {"get"}, strings = {"@string"}, container = {"config"};
  const std::vector<std::string> subcommand = {"config", "SET"}, unknown = {"nothing"};
  EXPECT_THAT(HelpText(get, false), StartsWith("\n  GET key\n  summary: "));
  EXPECT_THAT(HelpText(get, false), HasSubstr("\n  since: 1.0.0\n  group: string\n"));
  EXPECT_THAT(HelpText(get, true), StartsWith("\n  \x1b[1mGET\x1b[0m \x1b[90mkey\x1b[0m\n"));
  EXPECT_THAT(HelpText(strings, false), HasSubstr("\n  APPEND key value\n"));
  EXPECT_THAT(HelpText(strings, false), Not(HasSubstr("LPUSH")));
  EXPECT_THAT(HelpText(container, false), HasSubstr("CONFIG SET parameter value"));
  EXPECT_THAT(HelpText(subcommand, false), StartsWith("\n  CONFIG SET parameter value"));
  EXPECT_EQ(HelpText(unknown, false), "\n");
}

}  // namespace
}  // namespace respite
