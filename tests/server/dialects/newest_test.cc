// Details of Redis since 8.2 and of Valkey since 9.0.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "server/cluster/cluster_mode.h"
#include "server/execution/services.h"
#include "tests/server/dialects/emulation.h"
#include "tests/support/reply_matchers.h"

namespace respite {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(NewestDialects, AnUnknownCommandWithoutArguments) {
  EXPECT_THAT(Emulation("redis:8.6").Run("FOO"), Error("ERR unknown command 'FOO'"));
  EXPECT_THAT(Emulation("redis:8.6").Run("FOO a"), Error("ERR unknown command 'FOO', with args beginning with: 'a' "));
  EXPECT_THAT(Emulation("redis:8.0").Run("FOO"), Error("ERR unknown command 'FOO', with args beginning with: "));
}

TEST(NewestDialects, OrderOfChecks) {
  Emulation server("redis:8.6");
  server.Run("RPUSH l a");
  const auto wrong_type = Error("WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_THAT(server.Run("XDELEX l IDS x 1-1"), wrong_type);
  EXPECT_THAT(server.Run("XACKDEL l g IDS 9 1-1"), wrong_type);
  EXPECT_THAT(server.Run("SET l v IFNE v"), wrong_type);
  EXPECT_THAT(server.Run("SET l v IFNE v NX"), Nil());
  EXPECT_THAT(server.Run("DELEX none WHAT x"), Int(0));
  EXPECT_THAT(server.Run("DELEX none IFDEQ short"), Int(0));
  EXPECT_THAT(server.Run("ACL SETUSER u ~* %X~k"), ErrorStartsWith("ERR Error in ACL SETUSER modifier '%X~k': Adding"));
  EXPECT_THAT(server.Run("EVAL \"return redis.pcall('OBJECT')\" 0"),
              Error("ERR Wrong number of args calling Redis command from script"));
}

TEST(NewestDialects, UnknownSubcommandsInScripts) {
  const char* const kScript = "EVAL \"return redis.pcall('OBJECT', 'what', 'k')\" 0";
  EXPECT_THAT(Emulation("valkey:9.1").Run(kScript), Error("ERR unknown subcommand 'what'. Try OBJECT HELP."));
  EXPECT_THAT(Emulation("valkey:8.1").Run(kScript), Error("ERR Unknown command called from script"));
}

TEST(NewestDialects, NegativeOffsetsInLargeSets) {
  for (const auto& [version, size] : {std::pair("redis:8.4", 1u), {"redis:8.6", 0u}, {"valkey:9.1", 1u}}) {
    Emulation server(version);
    server.Run("CONFIG SET zset-max-listpack-entries 0");
    server.Run("ZADD z 1 a 2 b");
    EXPECT_EQ(server.Run("ZRANGEBYSCORE z -inf +inf LIMIT -1 -1").Size(), size) << version;
  }
}

TEST(NewestDialects, HexadecimalWeights) {
  for (const auto& [version, allowed] : {std::pair("redis:8.6", true), {"valkey:8.1", true}, {"valkey:9.1", false}}) {
    Emulation server(version);
    const TestReply reply = server.Run("ZUNION 1 none WEIGHTS 0x10");
    if (allowed) {
      EXPECT_EQ(reply.Size(), 0u) << version;
    } else {
      EXPECT_THAT(reply, Error("ERR weight value is not a float")) << version;
    }
  }
}

TEST(NewestDialects, EventsOfOverwrittenKeys) {
  for (const auto& [version, has] : {std::pair("redis:8.0", false), {"redis:8.2", true}, {"valkey:9.1", false}}) {
    Emulation server(version);
    const TestReply reply = server.Run("CONFIG SET notify-keyspace-events Eoc");
    if (has) {
      EXPECT_THAT(reply, Ok()) << version;
    } else {
      EXPECT_THAT(reply, ErrorStartsWith("ERR CONFIG SET failed")) << version;
    }
  }
}

TEST(NewestDialects, EventsOfHashFields) {
  EXPECT_THAT(Emulation("redis:8.8").Run("CONFIG SET notify-keyspace-events ST"), Ok());
  EXPECT_THAT(Emulation("redis:8.8").Run("CONFIG SET notify-keyspace-events A"), Ok());
  EXPECT_THAT(Emulation("redis:8.6").Run("CONFIG SET notify-keyspace-events S"),
              ErrorStartsWith("ERR CONFIG SET failed"));
  EXPECT_THAT(Emulation("redis:8.0").Run("CONFIG SET notify-keyspace-events A"), Ok());
}

TEST(NewestDialects, ArraysSince88) {
  EXPECT_THAT(Emulation("redis:8.8").Run("ARSET a 0 x"), Int(1));
  EXPECT_THAT(Emulation("redis:8.6").Run("ARSET a 0 x"), ErrorStartsWith("ERR unknown command 'ARSET'"));
  EXPECT_THAT(Emulation("valkey:9.2").Run("ARSET a 0 x"), ErrorStartsWith("ERR unknown command"));
  EXPECT_THAT(Emulation("redis:8.8").Run("CONFIG SET notify-keyspace-events Ea"), Ok());
  EXPECT_THAT(Emulation("redis:8.6").Run("CONFIG SET notify-keyspace-events Ea"),
              ErrorStartsWith("ERR CONFIG SET failed"));
  EXPECT_EQ(Emulation("redis:8.8").Run("ACL CAT").Size(), 23u);  // also json
  EXPECT_EQ(Emulation("redis:8.6").Run("ACL CAT").Size(), 22u);
  EXPECT_THAT(Emulation("redis:8.6").Run("ACL CAT array"), ErrorStartsWith("ERR Unknown category"));
}

TEST(NewestDialects, VectorSetsSince80) {
  EXPECT_THAT(Emulation("redis:8.0").Run("VADD v VALUES 2 1 0 a"), Int(1));
  EXPECT_THAT(Emulation("redis:7.4").Run("VADD v VALUES 2 1 0 a"), ErrorStartsWith("ERR unknown command 'VADD'"));
  EXPECT_THAT(Emulation("valkey:9.2").Run("VCARD v"), ErrorStartsWith("ERR unknown command"));
  EXPECT_THAT(Emulation("redis:8.0").Run("VISMEMBER v a"), ErrorStartsWith("ERR unknown command"));
  EXPECT_THAT(Emulation("redis:8.2").Run("VISMEMBER v a"), Int(0));
  EXPECT_EQ(Emulation("redis:8.6").Run("MODULE LIST")[0][1].Text(), "vectorset");
  const TestReply json = Emulation("redis:8.6").Run("MODULE LIST")[1];
  EXPECT_EQ(json[1].Text(), "ReJSON");
  EXPECT_THAT(json[3], Int(80603));
  EXPECT_THAT(Emulation("redis:8.0").Run("INFO modules").Text(), HasSubstr("module:name=ReJSON,ver=80002,api=1,"));
  EXPECT_EQ(Emulation("redis:7.4").Run("MODULE LIST").Size(), 0u);
  EXPECT_EQ(Emulation("redis:8.6").Run("COMMAND LIST FILTERBY MODULE vectorset").Size(), 13u);
  EXPECT_EQ(Emulation("redis:8.6").Run("COMMAND INFO vadd")[0][0].Text(), "VADD");
}

// The letter A stands for all classes of events that the version has.
TEST(NewestDialects, AllClassesOfEvents) {
  for (const auto& [version, shown] : {std::pair("redis:8.6", "AE"), {"redis:8.8", "g$lshzxetdE"}}) {
    Emulation server(version);
    EXPECT_THAT(server.Run("CONFIG SET notify-keyspace-events g$lshzxetdE"), Ok());
    EXPECT_EQ(server.Run("CONFIG GET notify-keyspace-events")[1].Text(), shown);
  }
}

TEST(NewestDialects, ConditionsOfHSetExOnTheKey) {
  EXPECT_THAT(Emulation("valkey:9.1").Run("HSETEX h NX FIELDS 1 a 1"), Int(1));
  EXPECT_THAT(Emulation("valkey:9.0").Run("HSETEX h NX FIELDS 1 a 1"), ErrorStartsWith("ERR"));
  EXPECT_THAT(Emulation("redis:8.10").Run("HSETEX h NX FIELDS 1 a 1"), ErrorStartsWith("ERR"));
}

TEST(NewestDialects, EvictionOfKeysThatWereNotModified) {
  EXPECT_THAT(Emulation("redis:8.6").Run("CONFIG SET maxmemory-policy allkeys-lrm"), Ok());
  EXPECT_THAT(
      Emulation("redis:8.4").Run("CONFIG SET maxmemory-policy x"),
      ErrorStartsWith("ERR CONFIG SET failed (possibly related to argument 'maxmemory-policy') - argument(s) must "
                      "be one of the following: volatile-lru, volatile-lfu, volatile-random, volatile-ttl, "
                      "allkeys-lru, allkeys-lfu, allkeys-random, noeviction"));
}

TEST(NewestDialects, BackupsSince810) {
  EXPECT_THAT(Emulation("redis:8.8").Run("BACKUP STATUS"), ErrorStartsWith("ERR unknown command 'BACKUP'"));
  EXPECT_EQ(Emulation("redis:8.8").Run("CONFIG GET *backup*").Size(), 0u);
  EXPECT_EQ(Emulation("redis:8.10").Run("CONFIG GET *backup*").Size(), 4u);
  EXPECT_THAT(Emulation("redis:8.8").Run("INFO persistence").Text(), Not(HasSubstr("backup_in_progress")));
  EXPECT_THAT(Emulation("redis:8.10").Run("INFO persistence").Text(), HasSubstr("backup_in_progress:0"));
}

TEST(NewestDialects, SlowlogCountsArgumentsSince810) {
  for (const auto& [version, size] : {std::pair("redis:8.8", 6), {"redis:8.10", 7}}) {
    Emulation server({"slowlog-log-slower-than 0", "emulate " + std::string(version)});
    server.Run("ECHO hello");
    const TestReply record = server.Run("SLOWLOG GET 1")[0];
    ASSERT_EQ(record.Size(), static_cast<size_t>(size)) << version;
    if (size == 7) {
      EXPECT_THAT(record[6], Int(2));
    }
  }
}

TEST(NewestDialects, Valkey91DescribesErrorsInItsOwnWay) {
  Emulation valkey("valkey:9.1");
  EXPECT_THAT(valkey.Run("EVAL \"return redis.call('multi')\" 0"),
              Error("ERR This Valkey command is not allowed from script script: on @user_script:1."));
  EXPECT_THAT(valkey.Run("MULTI"), Ok());
  EXPECT_THAT(valkey.Run("MULTI"), Error("ERR Command 'multi' not allowed inside a transaction"));
  EXPECT_THAT(valkey.Run("DISCARD"), Ok());
  EXPECT_THAT(valkey.Run("CLUSTER KEYSLOT a"), Int(15495));
  EXPECT_THAT(valkey.Run("GETEX absent EX 0"), Error("ERR invalid expire time in 'getex' command"));
  EXPECT_THAT(valkey.Run("GEOADD g 1 1 m"), Int(1));
  EXPECT_THAT(valkey.Run("GEOSEARCH g FROMMEMBER x BYRADIUS 1 m"), Error("ERR member x does not exist"));
  EXPECT_THAT(valkey.Run("ZADD z 0x1 m"), Error("ERR value is not a valid float"));
  EXPECT_THAT(valkey.Run("CONFIG SET io-threads 2"), Ok());
}

TEST(NewestDialects, Valkey91HasAModuleForLua) {
  EXPECT_EQ(Emulation("valkey:9.1").Run("MODULE LIST")[0][1].Text(), "lua");
  EXPECT_EQ(Emulation("valkey:9.1").Run("HELLO")[13].Size(), 1u);
  EXPECT_EQ(Emulation("valkey:9.0").Run("MODULE LIST").Size(), 0u);
}

TEST(NewestDialects, Valkey90NoLongerDeprecatesCommands) {
  EXPECT_THAT(Emulation("valkey:8.1").Run("COMMAND DOCS getset")[1].Texts(), testing::Contains("deprecated_since"));
  EXPECT_THAT(Emulation("valkey:9.0").Run("COMMAND DOCS getset")[1].Texts(),
              Not(testing::Contains("deprecated_since")));
}

TEST(NewestDialects, UsersOfValkey91HaveDatabases) {
  Emulation valkey("valkey:9.1");
  EXPECT_THAT(valkey.Run("ACL SETUSER joe on nopass +@all ~* &* db=1,0"), Ok());
  EXPECT_THAT(valkey.Run("ACL LIST")[1], Bulk("user joe on nopass ~* &* db=0,1 +@all"));
  EXPECT_THAT(valkey.Run("ACL GETUSER joe")[11], Bulk("db=0,1"));
  EXPECT_THAT(valkey.Run("ACL GETUSER default")[11], Bulk("alldbs"));
  EXPECT_THAT(valkey.Run("ACL SETUSER joe db=x"), Error("ERR Error in ACL SETUSER modifier 'db=x': Syntax error"));
  EXPECT_THAT(valkey.Run("ACL SETUSER joe db=-1"),
              Error("ERR Error in ACL SETUSER modifier 'db=-1': The provided database ID is out of range"));
  EXPECT_THAT(Emulation("valkey:9.0").Run("ACL SETUSER joe alldbs"),
              Error("ERR Error in ACL SETUSER modifier 'alldbs': Syntax error"));
}

TEST(NewestDialects, ADatabaseMayBeForbidden) {
  Emulation server(std::vector<std::string>{});
  constexpr char kDenied[] = "NOPERM No permissions to access database";
  EXPECT_THAT(server.Run("ACL SETUSER joe on nopass +@all ~* &* db=1"), Ok());
  EXPECT_THAT(server.Run("ACL DRYRUN joe SWAPDB 1 2"), Bulk("User joe has no permissions to access database 2"));
  EXPECT_THAT(server.Run("ACL DRYRUN joe COPY a b DB 5"), Bulk("User joe has no permissions to access database 5"));
  EXPECT_THAT(server.Run("ACL DRYRUN joe GET k"), Bulk("User joe has no permissions to access database GET"));
  EXPECT_THAT(server.Run("AUTH joe x"), Ok());
  EXPECT_THAT(server.Run("GET k"), Error(kDenied));
  EXPECT_THAT(server.Run("WATCH k"), Error(kDenied));
  EXPECT_THAT(server.Run("EVAL \"return 1\" 0"), Error(kDenied));
  EXPECT_THAT(server.Run("PING"), Simple("PONG"));
  EXPECT_THAT(server.Run("SELECT 2"), Error(kDenied));
  EXPECT_THAT(server.Run("SELECT 99"), Error("ERR DB index is out of range"));
  EXPECT_THAT(server.Run("SELECT 1"), Ok());
  EXPECT_THAT(server.Run("SET k v"), Ok());
  EXPECT_THAT(server.Run("MOVE k 2"), Error(kDenied));
  EXPECT_THAT(server.Run("COPY k j DB 0"), Error(kDenied));
  EXPECT_THAT(server.Run("FLUSHDB"), Ok());
  EXPECT_THAT(server.Run("FLUSHALL"), Error(kDenied));
  EXPECT_THAT(server.Run("EVAL \"return redis.call('select', 2)\" 0"),
              ErrorStartsWith("ERR ACL failure in script: No permissions to access database"));
  EXPECT_THAT(server.Run("INFO stats").Text(), HasSubstr("acl_access_denied_db:8\r\n"));
  EXPECT_THAT(server.Run("ACL LOG 1")[0].Texts(), testing::Contains("database"));
}

// A skiplist keeps the score -0, a listpack does not. Valkey makes the skiplist before it adds the first member.
TEST(NewestDialects, ZaddConsidersTheLengthsOfAllMembers) {
  const std::string member(65, 'x');
  for (const auto& [version, score, encoding] :
       {std::tuple("redis:8.6", "0", "listpack"), std::tuple("valkey:8.1", "-0", "skiplist")}) {
    Emulation server(version);
    server.Run("ZADD new -0 a 2 " + member);
    EXPECT_THAT(server.Run("ZSCAN new 0")[1],
                testing::AnyOf(Bulks({"a", score, member, "2"}), Bulks({member, "2", "a", score})))
        << version;
    server.Run("ZADD old 1 a");
    server.Run("ZADD old XX 2 " + member);
    EXPECT_THAT(server.Run("OBJECT ENCODING old"), Bulk(encoding)) << version;
  }
}

// MOVE and COPY read a key of the selected database, so both databases must be allowed.
TEST(NewestDialects, UsersNeedBothDatabasesOfMoveAndCopy) {
  Emulation server("valkey:9.1");
  server.Run("SET secret 1");
  EXPECT_THAT(server.Run("ACL SETUSER joe on nopass +@all ~* &* db=1"), Ok());
  const auto denied = [](const std::string& word) {
    return Bulk("User joe has no permissions to access database " + word);
  };
  EXPECT_THAT(server.Run("ACL DRYRUN joe COPY a b DB 1"), denied("COPY"));
  EXPECT_THAT(server.Run("ACL DRYRUN joe COPY a b DB 5"), denied("5"));
  EXPECT_THAT(server.Run("ACL DRYRUN joe COPY a b DB 99"), denied("COPY"));
  EXPECT_THAT(server.Run("ACL DRYRUN joe MOVE a 1"), denied("MOVE"));
  EXPECT_THAT(server.Run("ACL DRYRUN joe SELECT 1"), Ok());
  EXPECT_THAT(server.Run("ACL DRYRUN joe SWAPDB 1 1"), Ok());
  EXPECT_THAT(server.Run("AUTH joe x"), Ok());
  EXPECT_THAT(server.Run("COPY secret mine DB 1"), Error("NOPERM No permissions to access database"));
  EXPECT_THAT(server.Run("MOVE secret 1"), Error("NOPERM No permissions to access database"));
}

TEST(NewestDialects, InfoShowsDistributionsOfSizes) {
  Emulation server("redis:8.6");
  for (const char* request :
       {"SET a 1", "SET b hello", "SET empty ''", "SETRANGE long 4999 x", "RPUSH l 1 2 3", "SADD s 1 2 3 4 5",
        "ZADD z 1 a", "HSET h a 1 b 2", "XADD st * a b", "SELECT 3", "SET x 123456789"}) {
    server.Run(request);
  }
  const std::string expected =
      "# Keysizes\r\ndb0_distrib_strings_sizes:0=1,1=1,4=1,4K=1\r\ndb0_distrib_lists_items:2=1\r\n"
      "db0_distrib_sets_items:4=1\r\ndb0_distrib_zsets_items:1=1\r\ndb0_distrib_hashes_items:2=1\r\n"
      "db3_distrib_strings_sizes:8=1\r\n";
  EXPECT_EQ(server.Run("INFO keysizes").Text(), expected);
  EXPECT_THAT(server.Run("INFO").Text(), testing::EndsWith("\r\n\r\n" + expected));
  EXPECT_EQ(Emulation("redis:7.4").Run("INFO keysizes").Text(), "");
}

TEST(NewestDialects, InfoShowsScriptingEngines) {
  Emulation server("valkey:9.1");
  server.Run("EVAL 'return 1' 0");
  const std::string text = server.Run("INFO scriptingengines").Text();
  EXPECT_THAT(text, testing::StartsWith("# Scripting Engines\r\nengines_count:1\r\nengines_total_used_memory:"));
  EXPECT_THAT(text, HasSubstr("\r\nengine_0:name=LUA,module=lua,abi_version=4,used_memory="));
  EXPECT_THAT(server.Run("INFO everything").Text(), HasSubstr(text));
  EXPECT_THAT(server.Run("INFO").Text(), Not(HasSubstr("engine_0")));
}

TEST(NewestDialects, InfoShowsTheSessionOfHotKeys) {
  Emulation server("redis:8.6");
  EXPECT_EQ(server.Run("INFO hotkeys").Text(), "# Hotkeys\r\n");
  server.Run("HOTKEYS START METRICS 1 CPU");
  EXPECT_EQ(server.Run("INFO hotkeys").Text(), "# Hotkeys\r\nhotkeys-tracking-active:1\r\nhotkeys-cmd-cpu-time:0\r\n");
  server.Run("HOTKEYS STOP");
  EXPECT_THAT(server.Run("INFO hotkeys").Text(), HasSubstr("hotkeys-tracking-active:0\r\n"));
  EXPECT_EQ(Emulation("redis:8.4").Run("INFO hotkeys").Text(), "");
}

TEST(NewestDialects, DirectivesThatPatternsDoNotFind) {
  const auto listed = [](const std::string& version, const std::string& name) {
    Emulation server(version);
    const std::vector<std::string> all = server.Run("CONFIG GET *").Texts();
    return std::ranges::find(all, name) != all.end();
  };
  EXPECT_TRUE(listed("redis:6.2", "watchdog-period"));
  EXPECT_FALSE(listed("redis:7.0", "watchdog-period"));
  EXPECT_TRUE(listed("valkey:8.0", "events-per-io-thread"));
  EXPECT_FALSE(listed("valkey:8.1", "events-per-io-thread"));
  EXPECT_EQ(Emulation("valkey:8.1").Run("CONFIG GET events-per-io-thread").Size(), 2u);
  EXPECT_EQ(Emulation("valkey:9.1").Run("CONFIG GET events-per-io-thread").Size(), 0u);
  EXPECT_THAT(Emulation("redis:8.6").Run("CONFIG GET repl-rdb-channel"),
              ArrayOf({Bulk("repl-rdb-channel"), Bulk("yes")}));
}

TEST(NewestDialects, RdmaIsNotBuiltIn) {
  Emulation server("valkey:9.1");
  EXPECT_THAT(server.Run("CONFIG SET rdma-port 0"), Ok());
  for (const char* pair : {"rdma-port 5", "rdma-bind 127.0.0.1"}) {
    EXPECT_THAT(server.Run(std::string("CONFIG SET ") + pair).Text(), EndsWith("- No RDMA building support.")) << pair;
  }
  EXPECT_THAT(server.Run("CONFIG SET rdma-port 70000").Text(), EndsWith("must be between 0 and 65535 inclusive"));
}

std::string RawReply(const std::string& version, const std::string& line) {
  return Emulation(version).client.Raw(line + "\r\n");
}

TEST(NewestDialects, WhatCommandShows) {
  EXPECT_THAT(RawReply("redis:7.0", "COMMAND DOCS BITOP"), Not(HasSubstr("XOR")));
  EXPECT_THAT(RawReply("redis:7.4", "COMMAND DOCS BITOP"), HasSubstr("XOR"));
  EXPECT_THAT(RawReply("redis:7.0", "COMMAND DOCS SETEX"), Not(HasSubstr("deprecated")));
  EXPECT_THAT(RawReply("redis:7.4", "COMMAND DOCS SETEX"), HasSubstr("deprecated"));
  EXPECT_THAT(RawReply("redis:7.0", "COMMAND DOCS CLUSTER|REPLICATE"), Not(HasSubstr("oneof")));
  EXPECT_THAT(RawReply("valkey:9.1", "COMMAND DOCS CLUSTER|REPLICATE"), HasSubstr("oneof"));
  EXPECT_THAT(RawReply("valkey:9.1", "COMMAND INFO EXEC"), HasSubstr("skip_commandlog"));
  EXPECT_THAT(RawReply("valkey:8.0", "COMMAND INFO EXEC"), HasSubstr("skip_slowlog"));
  EXPECT_THAT(RawReply("redis:6.2", "COMMAND INFO KEYS"), HasSubstr("sort_for_script"));
}

TEST(NewestDialects, KeyFlagsOfOneVersion) {
  const std::string line = "COMMAND GETKEYSANDFLAGS HSETEX k FIELDS 1 f v";
  EXPECT_THAT(RawReply("valkey:9.1", line), HasSubstr("insert"));
  EXPECT_THAT(RawReply("redis:8.6", line), HasSubstr("update"));
  EXPECT_THAT(RawReply("redis:8.0", "COMMAND GETKEYSANDFLAGS XREAD STREAMS a 0"), Not(HasSubstr("incomplete")));
}

TEST(NewestDialects, ClusterInfo) {
  const auto info = [](const std::string& version) {
    Emulation server(std::vector<std::string>{"emulate " + version, "cluster-enabled yes"});
    EXPECT_EQ(server.server->services().cluster.Open(), std::nullopt);
    EXPECT_EQ(server.server->services().cluster.Start(), std::nullopt);
    const std::string section = server.Run("INFO cluster_info").Text();
    const std::string text = server.Run("CLUSTER INFO").Text();
    EXPECT_EQ(section, section.empty() ? "" : "# Cluster Info\r\n" + text) << version;
    return text + (section.empty() ? "no section" : "section");
  };
  EXPECT_THAT(info("valkey:9.1"), HasSubstr("cluster_voting_nodes_fail:0\r\ncluster_known_nodes:1\r\n"));
  EXPECT_THAT(info("valkey:9.1"), HasSubstr("cluster_stats_pubsub_bytes_sent:0\r\n"));
  EXPECT_THAT(info("valkey:9.1"), EndsWith("total_cluster_links_buffer_limit_exceeded:0\r\nsection"));
  EXPECT_THAT(info("redis:8.4"), HasSubstr("cluster_slot_migration_active_tasks:0\r\n"));
  EXPECT_THAT(info("redis:8.2"), EndsWith("total_cluster_links_buffer_limit_exceeded:0\r\nno section"));
}

TEST(NewestDialects, InfoTlsWithoutTls) {
  EXPECT_EQ(Emulation("valkey:9.1").Run("INFO tls").Text(),
            "# TLS\r\ntls_server_cert_serial:none\r\ntls_server_cert_expires_in_seconds:0\r\n"
            "tls_client_cert_serial:none\r\ntls_client_cert_expires_in_seconds:0\r\n"
            "tls_ca_cert_serial:none\r\ntls_ca_cert_expires_in_seconds:0\r\n");
  EXPECT_EQ(Emulation("valkey:9.0").Run("INFO tls").Text(), "");
  EXPECT_THAT(Emulation("valkey:9.1").Run("INFO").Text(), Not(HasSubstr("# TLS")));
}

TEST(NewestDialects, SetSlotOfValkeyIgnoresMoreWords) {
  Emulation server(std::vector<std::string>{"emulate valkey:9.1", "cluster-enabled yes"});
  EXPECT_EQ(server.server->services().cluster.Open(), std::nullopt);
  EXPECT_EQ(server.server->services().cluster.Start(), std::nullopt);
  server.Run("CLUSTER ADDSLOTS 5");
  EXPECT_THAT(server.Run("SELECT 1"), Error("ERR DB index is out of range"));
  EXPECT_THAT(server.Run("CLUSTER SETSLOT 5 STABLE x"), Ok());
  EXPECT_THAT(server.Run("CLUSTER SETSLOT 5 STABLE x TIMEOUT"), Error("ERR Missing timeout value"));
  EXPECT_THAT(server.Run("CLUSTER SETSLOT 5 NODE TIMEOUT 5"), Error("ERR Unknown node TIMEOUT"));
}

TEST(NewestDialects, JsonArraysOfScripts) {
  const auto encoded = [](const std::string& version, const std::string& change) {
    return Emulation(version)
        .client
        .Run({"EVAL",
              "cjson.decode_array_with_array_mt(true) local t = cjson.decode('[[],{\"a\":[]},null]') " + change +
                  " return cjson.encode(t)",
              "0"})
        .Text();
  };
  EXPECT_EQ(encoded("redis:8.4", ""), R"([[],{"a":[]},null])");
  EXPECT_EQ(encoded("redis:8.4", "t.x = 5 t[1].y = 6"), R"([[],{"a":[]},null])");
  EXPECT_EQ(encoded("redis:8.4", "t = setmetatable({x = 1}, getmetatable(t))"), "[]");
  EXPECT_EQ(encoded("redis:8.4", "t = setmetatable({x = 1}, {__is_cjson_array = true})"), "[]");
  EXPECT_EQ(encoded("redis:8.4", "t = setmetatable({x = 1}, {__is_cjson_array = false})"), R"({"x":1})");
  EXPECT_EQ(encoded("redis:8.4", "t = cjson.new().decode('[]')"), "{}");
  EXPECT_THAT(encoded("redis:8.4", "getmetatable(t).x = 1"), HasSubstr("Attempt to modify a readonly table"));
  EXPECT_THAT(encoded("redis:8.2", ""), HasSubstr("attempt to call field 'decode_array_with_array_mt' (a nil value)"));
}

TEST(NewestDialects, AvailabilityZones) {
  Emulation server(std::vector<std::string>{"emulate valkey:9.1", "cluster-enabled yes", "availability-zone z1"});
  EXPECT_EQ(server.server->services().cluster.Open(), std::nullopt);
  EXPECT_EQ(server.server->services().cluster.Start(), std::nullopt);
  server.Run("CLUSTER ADDSLOTS 5");
  const std::string slots = "*2\r\n$17\r\navailability-zone\r\n";
  EXPECT_THAT(server.client.Raw("CLUSTER SLOTS\r\n"), EndsWith(slots + "$2\r\nz1\r\n"));
  EXPECT_THAT(server.client.Raw("CLUSTER SHARDS\r\n"), HasSubstr("online\r\n$17\r\navailability-zone\r\n$2\r\nz1\r\n"));
  EXPECT_THAT(server.Run("CONFIG SET availability-zone z2"), Ok());
  EXPECT_THAT(server.client.Raw("CLUSTER SLOTS\r\n"), EndsWith(slots + "$2\r\nz2\r\n"));
  EXPECT_THAT(server.client.Run({"CONFIG", "SET", "availability-zone", "a b"}), Ok());
  EXPECT_THAT(server.client.Raw("CLUSTER SLOTS\r\n"), Not(HasSubstr("availability-zone")));
}

TEST(NewestDialects, MemoryOfSlots) {
  Emulation server(std::vector<std::string>{"emulate redis:8.6", "cluster-enabled yes",
                                            "cluster-slot-stats-enabled yes", "cluster-require-full-coverage no"});
  EXPECT_EQ(server.server->services().cluster.Open(), std::nullopt);
  EXPECT_EQ(server.server->services().cluster.Start(), std::nullopt);
  server.Run("CLUSTER ADDSLOTS 5061");
  server.server.RunCronFor(6000);
  EXPECT_THAT(server.Run("SET bar v"), Ok());
  const TestReply stats = server.Run("CLUSTER SLOT-STATS SLOTSRANGE 5061 5061")[0][1];
  ASSERT_EQ(stats.Size(), 10u);
  EXPECT_THAT(stats[2], Bulk("memory-bytes"));
  EXPECT_GT(stats[3].Integer(), 0);
  EXPECT_THAT(server.Run("CLUSTER SLOT-STATS ORDERBY MEMORY-BYTES LIMIT 1")[0][0], Int(5061));
  EXPECT_THAT(server.client.Run({"CONFIG", "SET", "cluster-slot-stats-enabled", "net cpu"}), Ok());
  EXPECT_THAT(server.Run("CONFIG GET cluster-slot-stats-enabled")[1], Bulk("cpu net"));
  EXPECT_EQ(server.Run("CLUSTER SLOT-STATS SLOTSRANGE 5061 5061")[0][1].Size(), 8u);
  EXPECT_THAT(server.Run("CONFIG SET cluster-slot-stats-enabled net"), Ok());
  EXPECT_THAT(server.Run("CLUSTER SLOT-STATS ORDERBY CPU-USEC"), Error("ERR Unrecognized sort metric for ORDERBY."));
  for (const char* value : {"yes", "mem"}) {
    EXPECT_THAT(server.Run(std::string("CONFIG SET cluster-slot-stats-enabled ") + value).Text(),
                EndsWith("- memory tracking cannot be enabled at runtime"));
  }
  EXPECT_THAT(server.client.Run({"CONFIG", "SET", "cluster-slot-stats-enabled", "cpu foo"}).Text(),
              EndsWith("- argument(s) must be one of the following: no, yes, cpu, net, mem"));
  EXPECT_THAT(Emulation("valkey:9.1").Run("CONFIG SET cluster-slot-stats-enabled cpu").Text(),
              EndsWith("- argument must be 'yes' or 'no'"));
}

TEST(NewestDialects, MemoryHistograms) {
  Emulation server(std::vector<std::string>{"emulate redis:8.6", "key-memory-histograms yes"});
  server.Run("SET s v");
  server.Run("RPUSH l a b c");
  EXPECT_THAT(server.Run("INFO keysizes").Text(), HasSubstr("db0_distrib_lists_items:2=1\r\ndb0_distrib_lists_sizes:"));
  EXPECT_THAT(server.Run("CONFIG SET key-memory-histograms yes"), Ok());
  EXPECT_THAT(server.Run("CONFIG SET key-memory-histograms no"), Ok());
  EXPECT_THAT(server.Run("INFO keysizes").Text(), Not(HasSubstr("lists_sizes")));
  EXPECT_THAT(server.Run("CONFIG SET key-memory-histograms yes").Text(),
              EndsWith("- memory tracking cannot be enabled at runtime"));
}

TEST(NewestDialects, StrictRequests) {
  EXPECT_EQ(Emulation("valkey:9.1").client.Raw("*1\r\n$4\r\nPINGxx"),
            "-ERR Protocol error: invalid CRLF in request\r\n");
  EXPECT_EQ(Emulation("valkey:8.1").client.Raw("*1\r\n$4\r\nPINGxx"), "+PONG\r\n");
  EXPECT_EQ(Emulation("valkey:9.1").client.Raw("PING \"a\"b\r\n"), "$2\r\nab\r\n");
  EXPECT_EQ(Emulation("valkey:8.1").client.Raw("PING \"a\"b\r\n"),
            "-ERR Protocol error: unbalanced quotes in request\r\n");
}

TEST(NewestDialects, DecimalCoordinates) {
  Emulation server("valkey:9.1");
  for (const char* line : {"GEOADD g 0x1 1 a", "GEOADD g 1 \" 1\" a", "GEOSEARCH g FROMLONLAT 0x1 1 BYRADIUS 1 km"}) {
    EXPECT_THAT(server.Run(line), Error("ERR value is not a valid float")) << line;
  }
  EXPECT_THAT(server.Run("GEORADIUS g 1 1 0x1 km"), Error("ERR need numeric radius"));
  EXPECT_THAT(server.Run("GEOADD g 1e1 +1 a"), Int(1));
  EXPECT_THAT(Emulation("redis:8.6").Run("GEOADD g 0x1 1 a"), Int(1));
}

TEST(NewestDialects, ATrimMayLeaveAnEmptyBlock) {
  for (const auto& [option, keys] : {std::pair("MINID 603-0", 1), {"MINID 604-0", 0}, {"MAXLEN 0", 0}}) {
    for (const char* references : {"ACKED", "DELREF"}) {
      Emulation server("redis:8.6");
      server.Run("XADD x 0-1 a b");
      server.Run("XADD x 603-0 a b");
      server.Run("XDELEX x IDS 1 603-0");
      EXPECT_THAT(server.Run(std::string("XTRIM x ") + references + " " + option), Int(1));
      EXPECT_THAT(server.Run("XINFO STREAM x")[3], Int(keys)) << references << option;
      EXPECT_THAT(server.Run("XADD x 700-0 a b"), Bulk("700-0"));
      EXPECT_THAT(server.Run("XLEN x"), Int(1));
    }
  }
}

}  // namespace
}  // namespace respite
