#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

constexpr char kBadCount[] = "ERR count should be greater than or equal to -1";

// --- SLOWLOG. On the manual clock every command takes 0 µs, so a limit of 0 logs all of them and 1 none.

class SlowLogCommands : public CommandTest {
 protected:
  SlowLogCommands() : CommandTest({"slowlog-log-slower-than 0"}) {}

  // The arguments of each record, newest first.
  std::vector<std::string> Logged() {
    std::vector<std::string> lines;
    for (const CommandLog::Record& record : server()->services().execution.command_logs.slow.Records()) {
      std::string line;
      for (const std::string& word : record.words) line += line.empty() ? word : " " + word;
      lines.push_back(line);
    }
    return lines;
  }
  std::string LoggedFor(const std::vector<std::string>& words) {
    Run(words);
    return Logged().empty() ? "nothing" : Logged().front();
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, SlowLogCommands, BothVersions(), VersionName);

TEST_P(SlowLogCommands, RecordsHaveSixParts) {
  Run("CLIENT SETNAME me");
  Run("SLOWLOG RESET");
  Run("SET k v");
  EXPECT_THAT(Run("SLOWLOG GET 1"), ArrayOf(ArrayOf(Int(2), Int(now_ms() / 1000), Int(0), Bulks({"SET", "k", "v"}),
                                                    Bulk(client().session().addresses.peer), Bulk("me"))));
}

TEST_P(SlowLogCommands, ARecordIsAddedAfterTheReply) {
  EXPECT_THAT(Run("SLOWLOG LEN"), Int(0));
  EXPECT_THAT(Run("SLOWLOG LEN"), Int(1));
  EXPECT_THAT(Run("SLOWLOG RESET"), Ok());
  EXPECT_EQ(Logged(), (std::vector<std::string>{"SLOWLOG RESET"}));
}

TEST_P(SlowLogCommands, NumbersGoOnAfterAReset) {
  for (int i = 0; i < 5; ++i) Run("PING");
  Run("SLOWLOG RESET");
  EXPECT_EQ(server()->services().execution.command_logs.slow.Records().front().id, 5);
}

TEST_P(SlowLogCommands, GetListsTenUnlessToldOtherwise) {
  for (int i = 0; i < 15; ++i) Run("PING");
  EXPECT_EQ(Run("SLOWLOG GET").Size(), 10u);
  EXPECT_EQ(Run("SLOWLOG GET 0").Size(), 0u);
  EXPECT_EQ(Run("SLOWLOG GET 3").Size(), 3u);
  EXPECT_EQ(Run("SLOWLOG GET -1").Size(), 18u);
  EXPECT_EQ(Run("SLOWLOG GET 9223372036854775807").Size(), 19u);
}

TEST_P(SlowLogCommands, GetRefusesBadCounts) {
  for (const char* count : {"-2", "x", "1.5", "9223372036854775808", "''"})
    EXPECT_THAT(Run(std::string("SLOWLOG GET ") + count), Error(kBadCount)) << count;
  EXPECT_THAT(Run("SLOWLOG get 1 2"),
              Error("ERR unknown subcommand or wrong number of arguments for 'get'. Try SLOWLOG HELP."));
  EXPECT_THAT(Run("SLOWLOG foo"), Error("ERR unknown subcommand 'foo'. Try SLOWLOG HELP."));
}

TEST_P(SlowLogCommands, OnlyWhatTakesTheLimitIsKept) {
  Run("CONFIG SET slowlog-log-slower-than 1");
  Run("SLOWLOG RESET");
  Run("PING");
  EXPECT_THAT(Run("SLOWLOG LEN"), Int(0));
  Run("CONFIG SET slowlog-log-slower-than -1");
  EXPECT_THAT(Run("SLOWLOG LEN"), Int(0));
}

TEST_P(SlowLogCommands, KeepsTheNewest) {
  Run("CONFIG SET slowlog-max-len 3");
  for (const char* name : {"a", "b", "c", "d"}) Run({"ECHO", name});
  EXPECT_EQ(Logged(), (std::vector<std::string>{"ECHO d", "ECHO c", "ECHO b"}));
}

TEST_P(SlowLogCommands, AShorterLimitTrimsAtOnce) {
  for (int i = 0; i < 5; ++i) Run("PING");
  Run("CONFIG SET slowlog-max-len 2");
  EXPECT_EQ(Logged(), (std::vector<std::string>{"CONFIG SET slowlog-max-len 2", "PING"}));
  Run("CONFIG SET slowlog-max-len 0");
  EXPECT_THAT(Run("SLOWLOG LEN"), Int(0));
  EXPECT_THAT(Run("SLOWLOG GET"), EmptyArray());
}

TEST_P(SlowLogCommands, LongWordsAreCut) {
  EXPECT_EQ(LoggedFor({"SET", std::string(128, 'k'), "v"}), "SET " + std::string(128, 'k') + " v");
  EXPECT_EQ(LoggedFor({"SET", std::string(200, 'k'), "v"}), "SET " + std::string(128, 'k') + "... (72 more bytes) v");
}

TEST_P(SlowLogCommands, ManyWordsAreCut) {
  std::vector<std::string> words(32, "1");
  words[0] = "DEL";
  Run(words);
  ASSERT_EQ(server()->services().execution.command_logs.slow.Records().front().words.size(), 32u);
  EXPECT_EQ(server()->services().execution.command_logs.slow.Records().front().words.back(), "1");
  words.resize(41, "1");
  Run(words);
  ASSERT_EQ(server()->services().execution.command_logs.slow.Records().front().words.size(), 32u);
  EXPECT_EQ(server()->services().execution.command_logs.slow.Records().front().words.back(), "... (10 more arguments)");
}

TEST_P(SlowLogCommands, SecretsAreHidden) {
  EXPECT_EQ(LoggedFor({"auth", "pw"}), "auth (redacted)");
  EXPECT_EQ(LoggedFor({"auth", "bob", "pw"}), "auth (redacted) (redacted)");
  EXPECT_EQ(LoggedFor({"hello", IsResp3() ? "3" : "2", "auth", "bob", "pw", "setname", "x"}),
            "hello " + std::string(IsResp3() ? "3" : "2") + " auth (redacted) (redacted) setname x");
  EXPECT_EQ(LoggedFor({"config", "set", "requirepass", "", "masterauth", "q", "maxmemory", "0"}),
            "config set requirepass (redacted) masterauth (redacted) maxmemory 0");
}

TEST_P(SlowLogCommands, HelpNamesTheSubcommands) {
  EXPECT_GT(Run("SLOWLOG HELP").Size(), 3u);
  EXPECT_THAT(Run("SLOWLOG HELP")[0], Simple("SLOWLOG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
}

// --- COMMANDLOG

class CommandLogCommands : public CommandTest {
 protected:
  // Sets limits that only requests and replies of these tests reach.
  CommandLogCommands()
      : CommandTest({"commandlog-execution-slower-than 0", "commandlog-request-larger-than 300",
                     "commandlog-reply-larger-than 300"}) {}

  std::vector<std::string> Logged(const char* log) {
    std::vector<std::string> lines;
    for (const CommandLog::Record& record : server()->services().execution.command_logs.Find(log)->Records())
      lines.push_back(StrCat(record.words.front(), " ", record.measured_amount));
    return lines;
  }
  const std::string long_text_ = std::string(300, 'x');
};
INSTANTIATE_TEST_SUITE_P(Resp, CommandLogCommands, BothVersions(), VersionName);

TEST_P(CommandLogCommands, EachLogHasItsOwnRecords) {
  Run("CLIENT SETNAME me");
  Run({"SET", "k", long_text_});
  EXPECT_THAT(Run("COMMANDLOG GET -1 large-request"),
              ArrayOf(ArrayOf(Int(0), Int(now_ms() / 1000), Int(328),
                              Bulks({"SET", "k", std::string(128, 'x') + "... (172 more bytes)"}),
                              Bulk(client().session().addresses.peer), Bulk("me"))));
  EXPECT_THAT(Run("COMMANDLOG LEN large-reply"), Int(0));
  Run("GET k");
  EXPECT_EQ(Logged("LARGE-reply"), std::vector<std::string>{"GET 308"});
  EXPECT_EQ(Run("COMMANDLOG GET 2 slow").Size(), 2u);
  EXPECT_EQ(Run("SLOWLOG GET 2").Size(), 2u);
  EXPECT_THAT(Run("COMMANDLOG RESET large-reply"), Ok());
  EXPECT_THAT(Run("COMMANDLOG LEN large-reply"), Int(0));
  EXPECT_THAT(Run("COMMANDLOG LEN large-request"), Int(1));
}

TEST_P(CommandLogCommands, TransactionsAndScripts) {
  Run("MULTI");
  Run({"SET", "k", long_text_});
  Run("GET k");
  Run("EXEC");
  EXPECT_EQ(Logged("large-request"), std::vector<std::string>{"SET 328"});
  EXPECT_EQ(Logged("large-reply"), std::vector<std::string>{"GET 308"});
  Run({"EVAL", "return #redis.call('GET', KEYS[1])", "1", "k"});
  EXPECT_EQ(Logged("large-reply"), std::vector<std::string>{"GET 308"}) << "a script is no client";
}

TEST_P(CommandLogCommands, LimitsAndLengthsFollowTheirDirectives) {
  Run("CONFIG SET commandlog-request-larger-than 14 commandlog-large-request-max-len 2");
  for (int i = 0; i < 3; ++i) Run("PING");
  EXPECT_THAT(Logged("large-request"), testing::ElementsAre("PING 14", "PING 14"));
  Run("COMMANDLOG RESET large-request");
  EXPECT_THAT(Run("CONFIG SET commandlog-request-larger-than -2"),
              ErrorStartsWith("ERR CONFIG SET failed (possibly related to argument 'commandlog-request-larger-than')"));
  Run("CONFIG SET commandlog-request-larger-than -1");
  Run("COMMANDLOG RESET large-request");
  Run({"SET", "k", long_text_});
  EXPECT_THAT(Run("COMMANDLOG LEN large-request"), Int(0));
  Run("CONFIG SET slowlog-max-len 0");
  EXPECT_THAT(Run("COMMANDLOG LEN slow"), Int(0));
}

TEST_P(CommandLogCommands, Refusals) {
  constexpr char kBadType[] = "ERR type should be one of the following: slow, large-request, large-reply";
  EXPECT_THAT(Run("COMMANDLOG GET x foo"), Error(kBadCount));
  EXPECT_THAT(Run("COMMANDLOG GET -2 slow"), Error(kBadCount));
  EXPECT_THAT(Run("COMMANDLOG GET 1 foo"), Error(kBadType));
  EXPECT_THAT(Run("COMMANDLOG LEN foo"), Error(kBadType));
  EXPECT_THAT(Run("COMMANDLOG RESET foo"), Error(kBadType));
  EXPECT_THAT(Run("COMMANDLOG GET 1"), Error("ERR wrong number of arguments for 'commandlog|get' command"));
  EXPECT_GT(Run("COMMANDLOG HELP").Size(), 3u);
}

// --- LATENCY

class LatencyCommands : public CommandTest {
 protected:
  // Records a spike of `latency_ms` in the present second.
  void Spike(Bytes event, int64_t latency_ms) {
    server()->services().env.latency.Add(event, latency_ms, now_ms() / 1000);
  }
  // Simulates one call of the command for each of these durations.
  void Called(Bytes full_name, std::initializer_list<uint64_t> durations_ns) {
    CommandStats& stats =
        server()->services().env.commands.StatsOf(*server()->services().env.commands.FindByFullName(full_name));
    if (!stats.latency) stats.latency = std::make_unique<LatencyHistogram>();
    for (uint64_t duration_ns : durations_ns) stats.latency->Record(duration_ns);
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, LatencyCommands, BothVersions(), VersionName);

TEST_P(LatencyCommands, NothingIsRecordedBelowTheThreshold) {
  Run("CONFIG SET latency-monitor-threshold 1");
  Run("PING");
  EXPECT_THAT(Run("LATENCY LATEST"), EmptyArray());
  EXPECT_THAT(Run("LATENCY HISTORY command"), EmptyArray());
  EXPECT_THAT(Run("LATENCY RESET"), Int(0));
}

TEST_P(LatencyCommands, RemovingAnExpiredKeyIsAnEvent) {
  Run("CONFIG SET latency-monitor-threshold 2");
  Run("SET k v PX 10");
  clock().AdvanceMs(20);
  clock().AdvanceWithEachReading(2000);
  EXPECT_THAT(Run("GET k"), Nil());
  clock().AdvanceWithEachReading(0);
  EXPECT_THAT(Run("LATENCY HISTORY expire-del"), ArrayOf(ArrayOf(Int(now_ms() / 1000), Int(2))));
}

TEST_P(LatencyCommands, TheLargestThresholdIsAsGoodAsNone) {
  EXPECT_THAT(Run("CONFIG SET latency-monitor-threshold 9223372036854775807"), Ok());
  Run("SET k v PX 10");
  clock().AdvanceMs(20);
  clock().AdvanceWithEachReading(2000);
  EXPECT_THAT(Run("GET k"), Nil());
  clock().AdvanceWithEachReading(0);
  EXPECT_THAT(Run("LATENCY LATEST"), EmptyArray());
}

TEST_P(LatencyCommands, LatestHasTheLastAndTheHighest) {
  const int64_t start_s = now_ms() / 1000;
  Spike("command", 300);
  clock().AdvanceMs(1000);
  Spike("command", 100);
  Spike("fast-command", 5);
  EXPECT_THAT(Run("LATENCY LATEST"), ArrayOf(ArrayOf(Bulk("command"), Int(start_s + 1), Int(100), Int(300)),
                                             ArrayOf(Bulk("fast-command"), Int(start_s + 1), Int(5), Int(5))));
  EXPECT_THAT(Run("LATENCY HISTORY command"),
              ArrayOf(ArrayOf(Int(start_s), Int(300)), ArrayOf(Int(start_s + 1), Int(100))));
}

TEST_P(LatencyCommands, SpikesOfOneSecondAreOne) {
  Spike("command", 10);
  Spike("command", 30);
  Spike("command", 20);
  EXPECT_THAT(Run("LATENCY HISTORY command"), ArrayOf(ArrayOf(Int(now_ms() / 1000), Int(30))));
}

TEST_P(LatencyCommands, HistoryKeepsTheNewest160) {
  for (int i = 1; i <= 200; ++i) {
    Spike("command", i);
    clock().AdvanceMs(1000);
  }
  TestReply history = Run("LATENCY HISTORY command");
  ASSERT_EQ(history.Size(), 160u);
  EXPECT_EQ(history[0][1].Integer(), 41);
  EXPECT_EQ(history[159][1].Integer(), 200);
}

TEST_P(LatencyCommands, ResetCountsRemovedEvents) {
  for (const char* event : {"command", "fast-command", "expire-cycle"}) Spike(event, 5);
  EXPECT_THAT(Run("LATENCY RESET nosuch"), Int(0));
  EXPECT_THAT(Run("LATENCY RESET COMMAND nosuch"), Int(1));
  EXPECT_EQ(Run("LATENCY LATEST").Size(), 2u);
  EXPECT_THAT(Run("LATENCY RESET"), Int(2));
}

TEST_P(LatencyCommands, GraphDrawsKnownEvents) {
  EXPECT_THAT(Run("LATENCY GRAPH x"), Error("ERR No samples available for event 'x'"));
  Spike("command", 300);
  clock().AdvanceMs(5000);
  Spike("command", 500);
  EXPECT_THAT(Run("LATENCY GRAPH command"), Verbatim("command - high 500 ms, low 300 ms (all time high 500 ms)\n" +
                                                     std::string(80, '-') + "\n #\n |\n |\n_|\n  \n50\nss\n"));
}

TEST_P(LatencyCommands, DoctorNamesTheEvents) {
  EXPECT_NE(Run("LATENCY DOCTOR").Text().find("not monitored"), std::string::npos);
  Spike("command", 300);
  const std::string report = Run("LATENCY DOCTOR").Text();
  EXPECT_NE(report.find("1. command: 1 latency spikes (average 300ms"), std::string::npos) << report;
  EXPECT_NE(report.find("SLOWLOG GET"), std::string::npos) << report;
}

TEST_P(LatencyCommands, DoctorHasAdviceForEachKindOfEvent) {
  for (const char* event : {"command", "fast-command", "fork", "aof-write-pending-fsync", "aof-write-active-child",
                            "aof-write-alone", "aof-fsync-always", "aof-fstat", "aof-rename", "rdb-unlink-temp-file",
                            "expire-cycle", "expire-del", "eviction-del", "eviction-cycle"}) {
    server()->services().env.latency.Clear();
    Spike(event, 300);
    const std::string report = Run("LATENCY DOCTOR").Text();
    EXPECT_NE(report.find("\nAdvice:\n\n- "), std::string::npos) << event << ": " << report;
  }
  server()->services().env.latency.Clear();
  Spike("aof-write", 300);  // always recorded together with another event
  EXPECT_EQ(Run("LATENCY DOCTOR").Text().find("appendfsync"), std::string::npos);
}

TEST_P(LatencyCommands, SubcommandsCountTheirWords) {
  EXPECT_THAT(Run("LATENCY HISTORY"), Error("ERR wrong number of arguments for 'latency|history' command"));
  EXPECT_THAT(Run("LATENCY GRAPH"), Error("ERR wrong number of arguments for 'latency|graph' command"));
  EXPECT_THAT(Run("LATENCY foo"), Error("ERR unknown subcommand 'foo'. Try LATENCY HELP."));
  EXPECT_GT(Run("LATENCY HELP").Size(), 3u);
}

ReplyMatcher Histogram(int64_t calls, ReplyMatcherPairs steps) {
  return MapOf({{Bulk("calls"), Int(calls)}, {Bulk("histogram_usec"), MapOf(std::move(steps))}});
}

TEST_P(LatencyCommands, HistogramSumsUpPowersOfTwo) {
  Called("get", {1, 900, 1500, 5000, 5000, 40'000});
  EXPECT_THAT(
      Run("LATENCY HISTOGRAM get"),
      MapOf({{Bulk("get"), Histogram(6, {{Int(1), Int(2)}, {Int(2), Int(3)}, {Int(8), Int(5)}, {Int(66), Int(6)}})}}));
}

TEST_P(LatencyCommands, HistogramOfNamesLeavesOutTheUnknownAndTheUnused) {
  Called("get", {1000});
  EXPECT_EQ(Run("LATENCY HISTOGRAM nosuch set config|nosuch").Size(), 0u);
  EXPECT_THAT(Run("LATENCY HISTOGRAM nosuch GET set"), MapOf({{Bulk("get"), Histogram(1, {{Int(1), Int(1)}})}}));
}

TEST_P(LatencyCommands, HistogramOfAContainerIsThatOfItsSubcommands) {
  Called("config|get", {1000});
  Called("config|set", {3000, 3000});
  auto get = std::pair(Bulk("config|get"), Histogram(1, {{Int(1), Int(1)}}));
  auto set = std::pair(Bulk("config|set"), Histogram(2, {{Int(4), Int(2)}}));
  EXPECT_THAT(Run("LATENCY HISTOGRAM CONFIG"), MapOf({get, set}));
  EXPECT_THAT(Run("LATENCY HISTOGRAM config|set"), MapOf({set}));
  // Redis: repeated names are repeated in the reply.
  EXPECT_EQ(Run("LATENCY HISTOGRAM config config|set").Size(), 6u);
}

TEST_P(LatencyCommands, HistogramCoversEveryCalledCommand) {
  Run("SET k v");
  Run("GET k");
  std::vector<std::string> names;
  TestReply all = Run("LATENCY HISTOGRAM");
  for (size_t i = 0; i < all.Size(); i += 2) names.push_back(all[i].Text());
  EXPECT_THAT(names, testing::UnorderedElementsAre("set", "get"));
}

TEST_P(LatencyCommands, TrackingCanBeTurnedOffAndForgotten) {
  Run("SET k v");
  Run("CONFIG RESETSTAT");
  EXPECT_EQ(Run("LATENCY HISTOGRAM set").Size(), 0u);
  Run("CONFIG SET latency-tracking no");
  Run("SET k v");
  EXPECT_EQ(Run("LATENCY HISTOGRAM set").Size(), 0u);
}

}  // namespace

}  // namespace respite
