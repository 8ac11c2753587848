#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/observe/memory_report.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

class MemoryCommands : public CommandTest {
 protected:
  // The names of MEMORY STATS in their order.
  std::vector<std::string> Fields() {
    std::vector<std::string> names;
    TestReply stats = Run("MEMORY STATS");
    for (size_t i = 0; i < stats.Size(); i += 2) names.push_back(stats[i].Text());
    return names;
  }
  TestReply Field(Bytes name) {
    TestReply stats = Run("MEMORY STATS");
    for (size_t i = 0; i + 1 < stats.Size(); i += 2)
      if (stats[i].Text() == name) return stats[i + 1];
    return {std::nullopt, stats.resp};
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, MemoryCommands, BothVersions(), VersionName);

TEST_P(MemoryCommands, StatsHasTheFieldsOfRedisInTheirOrder) {
  Run("SET k v");
  EXPECT_EQ(Fields(), (std::vector<std::string>{"peak.allocated",
                                                "total.allocated",
                                                "startup.allocated",
                                                "replication.backlog",
                                                "clients.slaves",
                                                "clients.normal",
                                                "cluster.links",
                                                "aof.buffer",
                                                "lua.caches",
                                                "functions.caches",
                                                "db.0",
                                                "overhead.total",
                                                "keys.count",
                                                "keys.bytes-per-key",
                                                "dataset.bytes",
                                                "dataset.percentage",
                                                "peak.percentage",
                                                "allocator.allocated",
                                                "allocator.active",
                                                "allocator.resident",
                                                "allocator-fragmentation.ratio",
                                                "allocator-fragmentation.bytes",
                                                "allocator-rss.ratio",
                                                "allocator-rss.bytes",
                                                "rss-overhead.ratio",
                                                "rss-overhead.bytes",
                                                "fragmentation",
                                                "fragmentation.bytes"}));
}

TEST_P(MemoryCommands, StatsListsTheDatabasesThatHaveKeys) {
  EXPECT_EQ(Fields().size(), 27u);
  EXPECT_FALSE(Field("db.0").HasValue());
  Run("SET k v");
  Run("SELECT 7");
  Run("SET k v PX 1000");
  EXPECT_EQ(Fields().size(), 29u);
  EXPECT_THAT(Field("db.7"), MapOf({{Bulk("overhead.hashtable.main"), IntThat(testing::Gt(0))},
                                    {Bulk("overhead.hashtable.expires"), IntThat(testing::Gt(0))},
                                    {Bulk("overhead.hashtable.slot-to-keys"), Int(0)}}));
  EXPECT_THAT(Field("keys.count"), Int(2));
}

TEST_P(MemoryCommands, StatsFiguresFitTogether) {
  Run({"SET", "k", std::string(1 << 20, 'v')});
  EXPECT_GE(Field("total.allocated").Integer(), 1 << 20);
  EXPECT_GE(Field("peak.allocated").Integer(), 1 << 20);
  EXPECT_GE(Field("overhead.total").Integer(), Field("clients.normal").Integer());
  EXPECT_GT(Field("clients.normal").Integer(), 0);
}

TEST_P(MemoryCommands, UsageGrowsWithTheValue) {
  EXPECT_THAT(Run("MEMORY USAGE k"), Nil());
  Run("SET k 1");
  const int64_t small = Run("MEMORY USAGE k").Integer();
  EXPECT_GT(small, 0);
  EXPECT_LT(small, 100);
  Run({"SET", "k", std::string(10'000, 'v')});
  const int64_t large = Run("MEMORY USAGE k").Integer();
  EXPECT_GE(large, 10'000);
  EXPECT_LT(large, 11'000 + 2'000);
}

TEST_P(MemoryCommands, UsageChecksItsOptionsBeforeTheKey) {
  EXPECT_THAT(Run("MEMORY USAGE k SAMPLES -1"), Error("ERR syntax error"));
  EXPECT_THAT(Run("MEMORY USAGE k SAMPLES x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("MEMORY USAGE k SAMPLES"), Error("ERR syntax error"));
  EXPECT_THAT(Run("MEMORY USAGE k foo 1"), Error("ERR syntax error"));
  EXPECT_THAT(Run("MEMORY USAGE k SAMPLES 5 samples 0"), Nil());
  EXPECT_THAT(Run("MEMORY USAGE"), Error("ERR wrong number of arguments for 'memory|usage' command"));
}

// Redis: measures an expired key that was not removed yet, and does not remove it.
TEST_P(MemoryCommands, UsageMeetsExpiredKeys) {
  SkipReplayCheck("the journal has not heard yet that the key is gone");
  Run("SET k v PX 10");
  clock().AdvanceMs(20);
  EXPECT_THAT(Run("MEMORY USAGE k"), IntThat(testing::Gt(0)));
  EXPECT_THAT(Run("DBSIZE"), Int(1));
}

TEST_P(MemoryCommands, PurgeAndReportAnswer) {
  EXPECT_THAT(Run("MEMORY PURGE"), Ok());
  EXPECT_FALSE(Run("MEMORY MALLOC-STATS").Text().empty());
  EXPECT_GT(Run("MEMORY HELP").Size(), 3u);
  EXPECT_THAT(Run("MEMORY foo"), Error("ERR unknown subcommand 'foo'. Try MEMORY HELP."));
}

constexpr size_t kMb = 1024 * 1024;

MemoryReport Healthy() {
  MemoryReport report;
  report.used_bytes = report.peak_bytes = 100 * kMb;
  report.resident_bytes = 110 * kMb;
  report.allocator = {.allocated = 100 * kMb, .active = 101 * kMb, .resident = 105 * kMb, .retained = 0, .muzzy = 0};
  report.clients = 1;
  report.clients_bytes = 20 * 1024;
  return report;
}

TEST(MemoryDoctorText, FindsNothingInAHealthyServer) {
  EXPECT_EQ(MemoryDoctor(Healthy()), "No memory problem was found.\n");
}

TEST(MemoryDoctorText, DoesNotJudgeSmallServers) {
  MemoryReport report = Healthy();
  report.used_bytes = 5 * kMb - 1;
  EXPECT_NE(MemoryDoctor(report).find("too little data"), std::string::npos);
}

TEST(MemoryDoctorText, NamesEachProblem) {
  auto finds = [](const char* problem, auto&& change) {
    MemoryReport report = Healthy();
    change(report);
    const std::string text = MemoryDoctor(report);
    EXPECT_NE(text.find(problem), std::string::npos) << text;
  };
  finds("Peak memory", [](MemoryReport& report) { report.peak_bytes = 151 * kMb; });
  finds("High total RSS", [](MemoryReport& report) { report.resident_bytes = 141 * kMb; });
  finds("High allocator fragmentation", [](MemoryReport& report) { report.allocator.active = 112 * kMb; });
  finds("High allocator RSS overhead", [](MemoryReport& report) { report.allocator.resident = 113 * kMb; });
  finds("High process RSS overhead", [](MemoryReport& report) { report.resident_bytes = 117 * kMb; });
  finds("Big client buffers", [](MemoryReport& report) { report.clients_bytes = 300 * 1024; });
}

TEST(MemoryReportFigures, CountClientsWithoutReplicas) {
  TestServer server;
  TestClient client(server);
  TestClient replica(server);
  replica.Raw("PSYNC ? -1\r\n");
  EXPECT_EQ(MeasureMemory(server->services()).clients, 1u);
}

TEST(MemoryReportFigures, DoNotDivideByZeroNorGoBelowIt) {
  MemoryReport report;
  EXPECT_EQ(report.FragmentationRatio(), 0);
  EXPECT_EQ(report.BytesPerKey(), 0u);
  EXPECT_EQ(report.BytesSinceStartup(), 1u);
  report.used_bytes = 10;
  report.overhead_bytes = 20;
  EXPECT_EQ(report.DatasetBytes(), 0u);
}

}  // namespace

}  // namespace respite
