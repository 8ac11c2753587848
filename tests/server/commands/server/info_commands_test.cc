#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/memory.h"
#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

class InfoCommands : public CommandTest {
 protected:
  // Returns the value after "name:" in a report; "(none)" if there is no such line.
  static std::string Field(const std::string& report, const std::string& name) {
    const size_t at = ("\r\n" + report).find("\r\n" + name + ":");
    if (at == std::string::npos) return "(none)";
    const size_t value = at + name.size() + 1;
    return report.substr(value, report.find("\r\n", value) - value);
  }
  std::string Info(const std::string& sections) { return Run("INFO " + sections).Text(); }
  std::string Field(const std::string& name) { return Field(Info("everything"), name); }
  static std::string Titles(const std::string& report) {
    std::string titles;
    for (Bytes line : SplitOn(report, '\n'))
      if (line.starts_with("# ")) titles += std::string(TrimSpaces(line.substr(2))) + " ";
    return titles;
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, InfoCommands, BothVersions(), VersionName);

TEST_P(InfoCommands, IsTextInBothVersions) {
  EXPECT_THAT(Run("INFO cluster"), Verbatim("# Cluster\r\ncluster_enabled:0\r\n"));
  EXPECT_THAT(Run("INFO nosuch"), Verbatim(""));
}

TEST_P(InfoCommands, NamesAskForSections) {
  const std::string by_default = "Server Clients Memory Persistence Stats Replication CPU Modules ";
  EXPECT_EQ(Titles(Info("")), by_default + "Errorstats Cluster Keyspace ");
  EXPECT_EQ(Titles(Info("default")), by_default + "Errorstats Cluster Keyspace ");
  EXPECT_EQ(Titles(Info("ALL")), by_default + "Commandstats Errorstats Latencystats Cluster Keyspace ");
  EXPECT_EQ(Titles(Info("everything cpu")), Titles(Info("all")));
  EXPECT_EQ(Titles(Info("keyspace cpu nosuch CPU")), "CPU Keyspace ");
  EXPECT_EQ(Titles(Info("debug module_list")), "Modules Debug ");
}

TEST_P(InfoCommands, LargestBuffersAreOfTheLastSeconds) {
  EXPECT_EQ(Field("client_recent_max_input_buffer"), "0");
  TestClient other(server());
  other.Raw("*2\r\n$4\r\nECHO\r\n$20000\r\n" + std::string(5000, 'x'));
  clock().AdvanceMs(1000);
  server().Cron();
  other.Raw(std::string(15000, 'x') + "\r\n");
  EXPECT_GE(std::stoi(Field("client_recent_max_input_buffer")), 5000);
  clock().AdvanceMs(7000);
  EXPECT_GE(std::stoi(Field("client_recent_max_input_buffer")), 5000);
  clock().AdvanceMs(2000);
  EXPECT_EQ(Field("client_recent_max_input_buffer"), "0");
}

TEST_P(InfoCommands, SectionsAreSeparatedByAnEmptyLine) {
  EXPECT_THAT(Run("INFO modules cluster"), Verbatim("# Modules\r\n\r\n# Cluster\r\ncluster_enabled:0\r\n"));
}

TEST_P(InfoCommands, TellsTimeFromTheInjectedClock) {
  clock().AdvanceMs(3 * 24 * 3600 * 1000 + 5000);
  EXPECT_EQ(Field("uptime_in_days"), "3");
  EXPECT_EQ(Field("uptime_in_seconds"), std::to_string(3 * 24 * 3600 + 5));
  EXPECT_EQ(Field("server_time_usec"), std::to_string(clock().WallUs()));
  EXPECT_EQ(Field("lru_clock"), std::to_string((clock().WallMs() / 1000) % (1 << 24)));
}

TEST_P(InfoCommands, IdsAreFortyHexDigits) {
  EXPECT_EQ(Field("run_id").size(), 40u);
  EXPECT_EQ(Field("master_replid").size(), 40u);
  EXPECT_EQ(Field("master_replid").find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(Field("master_replid"), Field("run_id"));
}

TEST_P(InfoCommands, KeyspaceCountsKeysAndDeadlines) {
  EXPECT_EQ(Field("db0"), "(none)");
  Run("SET a 1");
  Run("SET b 2");
  server()->services().data.dataset.keyspace[0].SetDeadline(server()->services().data.dataset.keyspace[0].Find("b"),
                                                            now_ms() + 1000);
  EXPECT_THAT(Field("db0"), testing::StartsWith("keys=2,expires=1,avg_ttl="));
  EXPECT_EQ(Field("rdb_changes_since_last_save"), "2");
  SkipReplayCheck("the deadline was set behind the journal's back");
}

TEST_P(InfoCommands, CountsCallsRefusalsAndFailures) {
  Run("SET k v");
  Run("SET k");
  Run("NOSUCH");
  Run("CONFIG SET hz x");
  const std::string report = Info("commandstats errorstats stats");
  EXPECT_THAT(Field(report, "cmdstat_set"), testing::MatchesRegex("calls=1,.*,rejected_calls=1,failed_calls=0"));
  EXPECT_THAT(Field(report, "cmdstat_config|set"), testing::MatchesRegex("calls=1,.*,rejected_calls=0,failed_calls=1"));
  EXPECT_EQ(Field(report, "cmdstat_get"), "(none)");
  EXPECT_EQ(Field(report, "errorstat_ERR"), "count=3");
  EXPECT_EQ(Field(report, "total_error_replies"), "3");
  EXPECT_EQ(Field(report, "total_commands_processed"), "2");
}

TEST_P(InfoCommands, KindsOfErrorsAreBounded) {
  ServerStats stats;
  for (int i = 0; i < 1000; ++i) stats.CountError(StrCat("CODE", i, " text"));
  stats.CountError("CODE0 again");
  EXPECT_EQ(stats.errors.size(), ServerStats::kMaxErrorKinds);
  EXPECT_EQ(stats.errors["CODE0"], 2u);
  EXPECT_EQ(stats.error_replies, 1001u);
}

TEST_P(InfoCommands, AnErrorWithoutCodeCountsAsErr) {
  ServerStats stats;
  stats.CountError("WITHOUTBLANK");
  stats.CountError(std::string(31, 'X') + " code too long");
  stats.CountError(std::string(30, 'Y') + " code just fits");
  EXPECT_EQ(stats.errors["ERR"], 2u);
  EXPECT_EQ(stats.errors[std::string(30, 'Y')], 1u);
}

TEST_P(InfoCommands, LatencyFollowsThePercentilesAsked) {
  Run("SET k v");
  EXPECT_THAT(Field("latency_percentiles_usec_set"), testing::MatchesRegex("p50=.*,p99=.*,p99\\.9=.*"));
  Run("CONFIG SET latency-tracking-info-percentiles \"0 33.3\"");
  EXPECT_THAT(Field("latency_percentiles_usec_set"), testing::MatchesRegex("p0=.*,p33\\.3=.*"));
  Run("CONFIG SET latency-tracking no");
  EXPECT_EQ(Field("latency_percentiles_usec_set"), "(none)");
}

TEST_P(InfoCommands, UsedMemoryFollowsEachByte) {
  const size_t before = server()->services().data.memory.UsedBytes();
  auto block = std::make_unique<std::vector<char>>(1 << 20);
  const size_t with_block = server()->services().data.memory.UsedBytes();
  EXPECT_GE(with_block, before + (1 << 20));
  EXPECT_LE(with_block, before + (1 << 20) + (1 << 18));
  block.reset();
  EXPECT_LE(server()->services().data.memory.UsedBytes(), before + 1024);
}

TEST_P(InfoCommands, MemoryFreedByTheReclaimerIsNoLongerUsed) {
  const size_t before = server()->services().data.memory.UsedBytes();
  server()->services().data.lazy_free_thread.Free(std::vector<char>(8 << 20));
  while (server()->services().data.lazy_free_thread.PendingObjects() != 0) std::this_thread::yield();
  EXPECT_LT(server()->services().data.memory.UsedBytes(), before + (1 << 20));
  EXPECT_EQ(Field("lazyfreed_objects"), "1");
}

TEST_P(InfoCommands, PeakIsNeverBelowUsed) {
  const std::string report = Info("memory");
  EXPECT_GE(std::stoull(Field(report, "used_memory_peak")), std::stoull(Field(report, "used_memory")));
  EXPECT_GE(std::stoull(Field(report, "used_memory")), std::stoull(Field(report, "used_memory_startup")));
}

TEST(InstantRate, IsTheMeanOfItsSamples) {
  InstantRate rate;
  for (int i = 1; i <= 17; ++i) rate.Sample(static_cast<uint64_t>(i) * 50, i * 100'000);
  EXPECT_DOUBLE_EQ(rate.PerSecond(), 500);
  rate.Sample(850, 1'800'000);  // a pause
  EXPECT_DOUBLE_EQ(rate.PerSecond(), 500.0 * 15 / 16);
}

TEST(ServerStats, KnowsTheLongestTurn) {
  ServerStats stats;
  stats.commands = 7;
  stats.CountTurn(100);
  stats.commands = 9;
  stats.CountTurn(300);
  EXPECT_EQ(stats.turns, 2u);
  EXPECT_EQ(stats.turn_us, 400u);
  EXPECT_EQ(stats.longest_turn_us, 300u);
  EXPECT_EQ(stats.max_commands_in_turn, 7u);
}

}  // namespace

}  // namespace respite
