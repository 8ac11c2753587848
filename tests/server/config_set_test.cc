// CONFIG GET and CONFIG SET, and the table of directives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "base/refusal.h"
#include "server/config/config.h"
#include "server/config/directive_table.h"
#include "server/config/value_text.h"

namespace respite {
namespace {

using testing::ElementsAre;
using testing::Pair;
using Pairs = Config::NamesAndValues;
using Names = std::vector<std::string>;

std::string Refused(Config& config, const Pairs& pairs, Config::SetContext context = {}) {
  try {
    config.Set(pairs, context);
  } catch (const Refusal& refusal) {
    return refusal.text;
  }
  return "OK";
}

std::string Failed(const std::string& name, const std::string& reason) {
  return "ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + reason;
}

std::string Value(const Config& config, const std::string& name) {
  const Pairs found = config.Get(Names{name});
  return found.size() == 1 ? found[0].second : "?";
}

// Maps names to values, from the golden file.
std::map<std::string, std::string> RedisDefaults() {
  std::ifstream file(RESPITE_SOURCE_DIR "/tests/golden/config_get_7.2.txt");
  std::map<std::string, std::string> defaults;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const size_t space = line.find(' ');
    defaults[line.substr(0, space)] = space == std::string::npos ? "" : line.substr(space + 1);
  }
  return defaults;
}

TEST(ConfigTableTest, NamesAndDefaultsAreThoseOfRedis) {
  const Config config;
  const std::map<std::string, std::string> redis = RedisDefaults();
  ASSERT_GT(redis.size(), 200U);
  for (const auto& [name, value] : redis) {
    ASSERT_NE(FindDirective(name), nullptr) << name;
    if (name == "save") {
      EXPECT_EQ(Value(config, name), "") << "a documented difference: no save points by default";
    } else if (name == "dir") {
      EXPECT_EQ(Value(config, name), WorkingDirectory());
    } else {
      EXPECT_EQ(Value(config, name), value) << name;
    }
  }
}

TEST(ConfigTableTest, NothingElseIsKnownButTheDocumentedAdditions) {
  const std::map<std::string, std::string> redis = RedisDefaults();
  Names additions;
  for (std::span<const Directive> subject : DirectivesBySubject()) {
    for (const Directive& directive : subject) {
      const bool is_new_name = !directive.renamed_since.IsEmpty();
      if (!redis.contains(std::string(directive.name)) && !is_new_name) additions.emplace_back(directive.name);
      if (!directive.alias.empty()) {
        EXPECT_TRUE(redis.contains(std::string(directive.alias))) << directive.alias;
      }
    }
  }
  EXPECT_THAT(
      additions,
      testing::UnorderedElementsAre(
          "announce", "cluster-announce-client-ipv4", "cluster-announce-client-ipv6", "extended-redis-compatibility",
          "emulate", "exit-on-idle", "exit-with-parent", "load", "ready-fd", "seed", "port-file", "test-commands",
          "test-maint-notifications", "test-world-idle", "aof-load-failed-commands", "nodes",
          "replica-ignore-command-errors", "script-memory-limit", "sentinels", "record", "node-threads",
          "cluster-databases", "cluster-slot-migration-log-max-len", "cluster-slot-stats-enabled",
          "slot-migration-max-failover-repl-bytes",
          // Of Redis 8.10.
          "backup-sealed-ttl", "backupdirname", "preload-file",
          // Directives of Redis 7.4 and 8.0, and of Valkey 8.0 and 8.1.
          "active-defrag-cycle-us", "availability-zone", "cluster-blacklist-ttl", "debug-context",
          "enable-debug-assert", "cluster-manual-failover-timeout", "commandlog-large-reply-max-len",
          "commandlog-large-request-max-len", "commandlog-reply-larger-than", "commandlog-request-larger-than",
          "dual-channel-replication-enabled", "events-per-io-thread", "hide-user-data-from-log", "import-mode",
          "log-format", "log-timestamp-format", "max-new-connections-per-cycle", "max-new-tls-connections-per-cycle",
          "prefetch-batch-max-size", "rdb-version-check", "repl-rdb-channel", "replica-full-sync-buffer-limit",
          "unixsocketgroup",
          // Directives of Redis 8.4 and 8.6, and of Valkey 9.0 and 9.1.
          "cluster-announce-client-port", "cluster-announce-client-tls-port", "cluster-config-save-behavior",
          "cluster-slot-migration-handoff-max-lag-bytes", "cluster-slot-migration-write-pause-timeout", "hash-seed",
          "key-memory-histograms", "lookahead", "mptcp", "stream-idmp-duration", "stream-idmp-maxsize",
          "aof-load-corrupt-tail-max-size", "cluster-compatibility-sample-ratio", "cluster-message-gossip-perc",
          "cluster-slot-migration-max-archived-tasks", "cluster-slot-migration-sync-buffer-drain-timeout",
          "io-threads-always-active", "min-io-threads-avoid-copy-reply", "min-string-size-avoid-copy-reply",
          "min-string-size-avoid-copy-reply-threaded", "rdma-bind", "rdma-completion-vector", "rdma-port",
          "rdma-rx-size", "repl-mptcp", "vset-force-single-threaded-execution",
          // Directives that Redis 6.2 had, but 7.2 has not.
          "gopher-enabled", "lua-replicate-commands"));
}

TEST(ConfigTableTest, WhatVersionsAfter72HaveIsMarked) {
  constexpr ServerVersion kRedis72 = {ServerFamily::kRedis, {7, 2, 999}};
  const std::map<std::string, std::string> redis = RedisDefaults();
  for (std::span<const Directive> subject : DirectivesBySubject()) {
    for (const Directive& directive : subject) {
      if (directive.since.IsEmpty()) continue;
      EXPECT_EQ(directive.since.IsIn(kRedis72), redis.contains(std::string(directive.name))) << directive.name;
    }
  }
}

TEST(ConfigTableTest, DefaultsAreWithinTheirRanges) {
  const Settings defaults;
  for (std::span<const Directive> subject : DirectivesBySubject()) {
    for (const Directive& directive : subject) {
      if (directive.name == "dir" || directive.name == "replicaof") continue;  // these have no value that can be set
      Settings settings;
      const Names words = SplitValue(directive, ValueText(directive, defaults));
      EXPECT_EQ(Assign(directive, settings, words, ConfigOrigin::kConfigSet), Objection{}) << directive.name;
      EXPECT_EQ(ValueText(directive, settings), ValueText(directive, defaults)) << directive.name;
    }
  }
}

TEST(ConfigGetTest, NewNamesOfDirectivesAreShownToThoseWhoAskForThem) {
  const Config config;
  EXPECT_THAT(config.Get(Names{"commandlog-execution-slower-than"}),
              ElementsAre(Pair("commandlog-execution-slower-than", "10000")));
  EXPECT_THAT(config.Get(Names{"*slow*-than"}), ElementsAre(Pair("slowlog-log-slower-than", "10000")));
  EXPECT_THAT(config.Get(Names{"bgsave?cpulist"}), ElementsAre(Pair("bgsave_cpulist", "")));
  EXPECT_THAT(config.Get(Names{"primaryauth", "masterauth"}),
              ElementsAre(Pair("primaryauth", ""), Pair("masterauth", "")));
}

TEST(ConfigGetTest, NamesPatternsAndCase) {
  const Config config;
  EXPECT_THAT(config.Get(Names{"MAXMEMORY", "maxmemory"}), ElementsAre(Pair("MAXMEMORY", "0")));
  EXPECT_THAT(config.Get(Names{"slaveof", "replicaof"}), ElementsAre(Pair("slaveof", ""), Pair("replicaof", "")));
  EXPECT_THAT(config.Get(Names{"maxmemory-s*", "maxmemory-[p-s]*", "nosuch", "hz"}),
              ElementsAre(Pair("maxmemory-samples", "5"), Pair("maxmemory-policy", "noeviction"), Pair("hz", "10")));
  EXPECT_THAT(config.Get(Names{"*-PRIORITY"}),
              ElementsAre(Pair("replica-priority", "100"), Pair("slave-priority", "100")));
  EXPECT_THAT(config.Get(Names{"use-*"}), ElementsAre());
  EXPECT_THAT(config.Get(Names{"use-exit-on-panic"}), ElementsAre(Pair("use-exit-on-panic", "no")));
  EXPECT_THAT(config.Get(Names{"port-*"}), ElementsAre());  // otherwise clients that set all directives would fail
  EXPECT_THAT(config.Get(Names{"port-file"}), ElementsAre(Pair("port-file", "")));
}

struct SetCase {
  std::string name, value, reported;
};

TEST(ConfigSetTest, ValuesAreReadAndReported) {
  for (const SetCase& c : std::initializer_list<SetCase>{
           {"maxmemory", "128M", "128000000"},
           {"maxmemory", "1gb", "1073741824"},
           {"maxmemory", "18446744073709551615", "18446744073709551615"},
           {"maxmemory-clients", "5%", "5%"},
           {"maxmemory-clients", "1mb", "1048576"},
           {"appendonly", "YES", "yes"},
           {"loglevel", "Verbose", "verbose"},
           {"oom-score-adj", "relative", "yes"},
           {"shutdown-on-sigterm", "NOW nosave", "nosave now"},
           {"client-output-buffer-limit", "replica 1mb 2mb 3",
            "normal 0 0 0 slave 1048576 2097152 3 pubsub 33554432 8388608 60"},
           {"oom-score-adj-values", "1 2 3", "1 2 3"},
           {"notify-keyspace-events", "KEA", "AKE"},
           {"notify-keyspace-events", "Anm", "Am"},
           {"notify-keyspace-events", "nlg$K", "g$lnK"},
           {"notify-keyspace-events", "VITShK", "hKSTIV"},
           {"notify-keyspace-events", "", ""},
           {"latency-tracking-info-percentiles", "50 99.990 100", "50 99.99 100"},
           {"latency-tracking-info-percentiles", "", ""},
           {"save", "10 20 30 40", "10 20 30 40"},
           {"save", "", ""},
           {"bind", "a b", "a b"},
           {"bind", "", ""},
           {"hz", "9999", "500"},
           {"slave-priority", "7", "7"},
           {"busy-reply-threshold", "8", "8"},
           {"requirepass", "x y", "x y"},
           {"port", "auto", "auto"},
           {"proc-title-template", "{title} {{x", "{title} {{x"},
       }) {
    Config config;
    EXPECT_EQ(Refused(config, {{c.name, c.value}}), "OK") << c.name;
    EXPECT_EQ(Value(config, c.name), c.reported) << c.name;
    EXPECT_TRUE(config.WasSet(c.name));
  }
}

TEST(ConfigSetTest, RefusalsAreThoseOfRedis) {
  for (const SetCase& c : std::initializer_list<SetCase>{
           {"maxmemory", "abc", "argument must be a memory value"},
           {"maxmemory-clients", "x", "argument must be a memory or percent value"},
           {"maxmemory-clients", "101%", "percentage argument must be less or equal to 100"},
           {"port", "70000", "argument must be between 0 and 65535 inclusive"},
           {"port", "x", "argument couldn't be parsed into an integer"},
           {"maxclients", "-1", "argument must be between 1 and 4294967295 inclusive"},
           {"repl-backlog-size", "0", "argument must be between 1 and 9223372036854775807 inclusive"},
           {"list-max-listpack-size", "99999999999999999999", "argument couldn't be parsed into an integer"},
           {"appendonly", "maybe", "argument must be 'yes' or 'no'"},
           {"loglevel", "x", "argument(s) must be one of the following: debug, verbose, notice, warning, nothing"},
           {"shutdown-on-sigint", "save nosave", "shutdown options SAVE and NOSAVE can't be used simultaneously"},
           {"shutdown-on-sigint", "", "argument(s) must be one of the following: default, save, nosave, now, force"},
           {"save", "1", "Invalid save parameters"},
           {"save", "0 1", "Invalid save parameters"},
           {"oom-score-adj-values", "1", "wrong number of arguments"},
           {"oom-score-adj-values", "1 2 2001",
            "Invalid oom-score-adj-values, elements must be between -2000 and 2000."},
           {"notify-keyspace-events", "Q", "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."},
           {"client-output-buffer-limit", "bad", "Wrong number of arguments in buffer limit configuration."},
           {"client-output-buffer-limit", "master 0 0 0",
            "Invalid client class specified in buffer limit configuration."},
           {"client-output-buffer-limit", "normal 0 0 x",
            "Error in hard, soft or soft_seconds setting in buffer limit configuration."},
           {"latency-tracking-info-percentiles", "101",
            "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"},
           {"latency-tracking-info-percentiles", "x", "Invalid latency-tracking-info-percentiles parameters"},
           {"locale-collate", "xx_NO", "Invalid locale name"},
           {"proc-title-template", "{x}", "template format is invalid or contains unknown variables"},
           {"proc-title-template", " {title} ", "template format is invalid or contains unknown variables"},
           {"daemonize", "yes", "can't set immutable config"},
           {"dir", "/", "can't set protected config"},
           {"dbfilename", "a/b", "can't set protected config"},
           {"cluster-announce-hostname", "a_b", "Hostnames may only contain alphanumeric characters, hyphens or dots"},
           {"cluster-announce-human-nodename", "a;b", "Announced human node name contained invalid character"},
           {"cluster-announce-human-nodename", "it's", "Announced human node name contained invalid character"},
       }) {
    Config config;
    const std::string before = Value(config, c.name);
    EXPECT_EQ(Refused(config, {{c.name, c.value}}), Failed(c.name, c.reported));
    EXPECT_EQ(Value(config, c.name), before) << c.name;
  }
}

TEST(ConfigSetTest, NamesInRefusals) {
  Config config;
  EXPECT_EQ(Refused(config, {{"NoSuch", "1"}, {"hz", "x"}}),
            "ERR Unknown option or number of arguments for CONFIG SET - 'NoSuch'");
  EXPECT_EQ(Refused(config, {{"port", "0"}, {"PORT", "1"}}), Failed("PORT", "duplicate parameter"));
  EXPECT_EQ(Refused(config, {{"MAXMEMORY", "x"}}), Failed("maxmemory", "argument must be a memory value"));
  EXPECT_EQ(Refused(config, {{"SLAVE-priority", "x"}}),
            Failed("slave-priority", "argument couldn't be parsed into an integer"));
  EXPECT_EQ(Refused(config, {{"slave-priority", "5"}, {"replica-priority", "6"}}), "OK");
  EXPECT_EQ(Value(config, "slave-priority"), "6");
}

TEST(ConfigSetTest, AllOrNothing) {
  Config config;
  EXPECT_EQ(Refused(config, {{"timeout", "5"}, {"maxmemory", "x"}}),
            Failed("maxmemory", "argument must be a memory value"));
  EXPECT_EQ(config.settings().timeout, 0);
  EXPECT_FALSE(config.WasSet("timeout"));
}

TEST(ConfigSetTest, ProtectionAndLoading) {
  Config config;
  config.MutableSettings().enable_protected_configs = Permission::kLocalConnections;
  EXPECT_EQ(Refused(config, {{"dbfilename", "x"}}), Failed("dbfilename", "can't set protected config"));
  EXPECT_EQ(Refused(config, {{"dbfilename", "x"}}, {.connection_is_local = true}), "OK");
  EXPECT_EQ(Refused(config, {{"appendonly", "yes"}}, {.is_loading = true}),
            "LOADING Redis is loading the dataset in memory");
  EXPECT_EQ(Refused(config, {{"hz", "20"}}, {.is_loading = true}), "OK");
}

TEST(ConfigSetTest, AFailedSetRestoresTheDirectory) {
  Config config;
  config.MutableSettings().enable_protected_configs = Permission::kAlways;
  const std::string before = WorkingDirectory();
  EXPECT_EQ(Refused(config, {{"dir", "/"}, {"hz", "x"}}), Failed("hz", "argument couldn't be parsed into an integer"));
  EXPECT_EQ(WorkingDirectory(), before);
  EXPECT_EQ(Refused(config, {{"dir", "/nonexistent"}}), Failed("dir", "No such file or directory"));
  EXPECT_EQ(Refused(config, {{"dir", "/"}}), "OK");
  EXPECT_EQ(WorkingDirectory(), "/");
  EXPECT_EQ(Value(config, "dir"), "/");
  EXPECT_EQ(Refused(config, {{"dir", before}}), "OK");
  EXPECT_EQ(WorkingDirectory(), before);
}

TEST(ConfigHookTest, RunsOnceAndOnlyForChanges) {
  Config config;
  int runs = 0;
  int seen_timeout = -1;
  config.AddHook({"timeout", "tcp-keepalive"}, [&]() -> std::optional<std::string> {
    ++runs;
    seen_timeout = config.settings().timeout;
    return {};
  });
  config.Set({{"timeout", "5"}, {"tcp-keepalive", "6"}}, {});
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(seen_timeout, 5);
  config.Set({{"timeout", "5"}, {"hz", "20"}}, {});
  EXPECT_EQ(runs, 1);
}

TEST(ConfigHookTest, VolatileDirectivesAlwaysChange) {
  Config config;
  int runs = 0;
  config.AddHook({"bind", "tls-cert-file"}, [&]() -> std::optional<std::string> {
    ++runs;
    return {};
  });
  config.Set({{"tls-cert-file", ""}}, {});
  config.Set({{"bind", "* -::*"}}, {});
  EXPECT_EQ(runs, 2);
}

TEST(ConfigHookTest, ARefusingHookUndoesEverything) {
  Config config;
  std::vector<int> seen;
  config.AddHook({"timeout"}, [&]() -> std::optional<std::string> {
    seen.push_back(config.settings().timeout);
    return {};
  });
  config.AddHook({"port"}, [&]() -> std::optional<std::string> {
    if (config.settings().port == 1) return "Unable to listen on this port. Check server logs.";
    return {};
  });
  EXPECT_EQ(Refused(config, {{"timeout", "5"}, {"port", "1"}}),
            Failed("port", "Unable to listen on this port. Check server logs."));
  EXPECT_THAT(seen, ElementsAre(5, 0));
  EXPECT_EQ(config.settings().timeout, 0);
  EXPECT_EQ(config.settings().port, 6379);
  EXPECT_EQ(config.TakeNotes().at(0).text,
            "Failed applying new configuration. Possibly related to new port setting. Restoring previous settings.");
}

}  // namespace
}  // namespace respite
