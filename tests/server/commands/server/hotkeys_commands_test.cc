// HOTKEYS: sessions that find the keys with the most time and traffic.
#include <gtest/gtest.h>

#include "tests/support/command_test.h"
#include "tests/support/reply_matchers.h"

namespace respite {
namespace {

class HotKeysCommands : public CommandTest {
 protected:
  // Returns the value of a field of HOTKEYS GET.
  TestReply Field(const std::string& name) {
    const TestReply results = Run("HOTKEYS GET")[0];
    for (size_t i = 0; i + 1 < results.Size(); i += 2)
      if (results[i].Text() == name) return results[i + 1];
    ADD_FAILURE() << "HOTKEYS GET has no " << name;
    return {};
  }
  std::vector<std::string> FieldNames() {
    const TestReply results = Run("HOTKEYS GET")[0];
    std::vector<std::string> names;
    for (size_t i = 0; i < results.Size(); i += 2) names.push_back(results[i].Text());
    return names;
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, HotKeysCommands, BothVersions(), VersionName);

TEST_P(HotKeysCommands, BytesOfCommandsAreAddedUpByKey) {
  EXPECT_THAT(Run("HOTKEYS START METRICS 1 NET"), Ok());
  EXPECT_THAT(Run("SET a 1"), Ok());         // 27 + 5 bytes
  EXPECT_THAT(Run("GET a"), Bulk("1"));      // 20 + 7 bytes
  EXPECT_THAT(Run("MSET b 1 c 2"), Ok());    // 42 + 5 bytes, for two keys
  EXPECT_THAT(Run("PING"), Simple("PONG"));  // no key
  EXPECT_THAT(Field("by-net-bytes"), ArrayOf(Bulk("a"), Int(59), Bulk("b"), Int(23), Bulk("c"), Int(23)));
  EXPECT_THAT(Field("net-bytes-all-commands-all-slots"), Int(106));
  EXPECT_THAT(Field("total-net-bytes"), Int(105));
  EXPECT_THAT(FieldNames(),
              testing::ElementsAre("tracking-active", "sample-ratio", "selected-slots", "all-commands-all-slots-us",
                                   "net-bytes-all-commands-all-slots", "collection-start-time-unix-ms",
                                   "collection-duration-ms", "total-net-bytes", "by-net-bytes"));
}

TEST_P(HotKeysCommands, ASessionShowsOnlyTheLargestSums) {
  EXPECT_THAT(Run("HOTKEYS START METRICS 2 CPU NET COUNT 1"), Ok());
  EXPECT_THAT(Run("SET short 1"), Ok());
  EXPECT_THAT(Run("SET long 11111111111111111111111111111111"), Ok());
  EXPECT_EQ(Field("by-cpu-time-us").Size(), 2u);
  EXPECT_THAT(Field("by-net-bytes")[0], Bulk("long"));
}

TEST_P(HotKeysCommands, ResultsStayAfterTheSession) {
  EXPECT_THAT(Run("HOTKEYS GET"), Nil());
  EXPECT_THAT(Run("HOTKEYS STOP"), Nil());
  EXPECT_THAT(Run("HOTKEYS START METRICS 1 CPU"), Ok());
  EXPECT_THAT(Run("HOTKEYS START METRICS 1 CPU"), Error("ERR hotkey tracking session already in progress"));
  EXPECT_THAT(Run("HOTKEYS RESET"), Error("ERR hotkey tracking session in progress, stop tracking first"));
  EXPECT_THAT(Field("tracking-active"), Int(1));
  EXPECT_THAT(Run("HOTKEYS STOP"), Ok());
  EXPECT_THAT(Run("SET a 1"), Ok());
  EXPECT_THAT(Field("tracking-active"), Int(0));
  EXPECT_EQ(Field("by-cpu-time-us").Size(), 0u);
  EXPECT_THAT(Run("HOTKEYS RESET"), Ok());
  EXPECT_THAT(Run("HOTKEYS GET"), Nil());
}

TEST_P(HotKeysCommands, WrongArgumentsAreRefused) {
  const auto refusal = [&](const std::string& arguments) { return Run("HOTKEYS START " + arguments); };
  constexpr char kMetrics[] = "ERR METRICS count must be > 0 and <= 2";
  EXPECT_THAT(Run("HOTKEYS START"), Error("ERR METRICS parameter is required"));
  EXPECT_THAT(refusal("METRICS"), Error("ERR METRICS parameter is required"));
  EXPECT_THAT(refusal("COUNT 5 METRICS 1 CPU"), Error("ERR METRICS parameter is required"));
  EXPECT_THAT(refusal("METRICS 0 CPU"), Error(kMetrics));
  EXPECT_THAT(refusal("METRICS x CPU"), Error(kMetrics));
  EXPECT_THAT(refusal("METRICS 3 CPU NET CPU"), Error(kMetrics));
  EXPECT_THAT(refusal("METRICS 2 CPU"), Error("ERR METRICS count does not match number of metric types provided"));
  EXPECT_THAT(refusal("METRICS 2 CPU CPU"), Error("ERR METRICS CPU defined more than once!"));
  EXPECT_THAT(refusal("METRICS 2 NET NET"), Error("ERR METRICS NET defined more than once!"));
  EXPECT_THAT(refusal("METRICS 1 FOO"), Error("ERR METRICS no valid metrics passed. Supported: CPU|NET"));
  EXPECT_THAT(refusal("METRICS 1 CPU NET"), Error("ERR syntax error"));
  EXPECT_THAT(refusal("METRICS 1 CPU COUNT"), Error("ERR syntax error"));
  EXPECT_THAT(refusal("METRICS 1 CPU COUNT 65"), Error("ERR COUNT must be between 1 and 64"));
  EXPECT_THAT(refusal("METRICS 1 CPU DURATION 0"), Error("ERR DURATION must be between 1 and 1000000"));
  EXPECT_THAT(refusal("METRICS 1 CPU SAMPLE 2147483648"), Error("ERR SAMPLE ratio must be positive"));
  EXPECT_THAT(refusal("METRICS 1 CPU SLOTS 1 0"), Error("ERR SLOTS parameter cannot be used in non-cluster mode"));
  EXPECT_THAT(Run("HOTKEYS FOO"), Error("ERR unknown subcommand 'FOO'. Try HOTKEYS HELP."));
  EXPECT_THAT(Run("HOTKEYS GET"), Nil());
}

}  // namespace
}  // namespace respite
