// Servers that emulate another version refuse newer features as that version does, and use its reply formats and texts.
#include "server/catalogue/dialect.h"

#include <gtest/gtest.h>

#include "tests/server/dialects/emulation.h"
#include "tests/support/reply_matchers.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Dialect, NamesAreThoseOfTheDirective) {
  EXPECT_EQ(ParseEmulatedVersion("Redis:6.2"), Emulated::kRedis62);
  EXPECT_EQ(ParseEmulatedVersion("valkey:8.1"), Emulated::kValkey81);
  EXPECT_EQ(ParseEmulatedVersion("redis:8.10"), Emulated::kRedis810);
  EXPECT_EQ(ParseEmulatedVersion("valkey:9.2"), Emulated::kValkey92);
  EXPECT_EQ(ParseEmulatedVersion("redis:6"), std::nullopt);
  EXPECT_EQ(ParseEmulatedVersion(""), std::nullopt);
  for (size_t i = 1; i < AllDialects().size(); ++i) {
    EXPECT_EQ(ParseEmulatedVersion(AllDialects()[i].name), static_cast<Emulated>(i));
  }
}

TEST(Dialect, WithoutEmulationThereIsEverything) {
  TestServer server;
  TestClient client(server);
  EXPECT_THAT(client.Run("HSET h f v"), Int(1));
  EXPECT_THAT(client.Run("HEXPIRE h 100 FIELDS 1 f"), ArrayOf(Int(1)));
  EXPECT_THAT(client.Run("HSCAN h 0 NOVALUES")[1], Bulks({"f"}));
  EXPECT_THAT(client.Run("INFO server").Text(), HasSubstr("redis_version:7.2.4\r\n"));
  EXPECT_THAT(client.Run("INFO server").Text(), Not(HasSubstr("valkey")));
}

TEST(Dialect, RefusesNewerCommands) {
  Emulation old("redis:7.2");
  EXPECT_THAT(old.Run("HEXPIRE h 100 FIELDS 1 f"),
              Error("ERR unknown command 'HEXPIRE', with args beginning with: 'h' '100' 'FIELDS' '1' 'f' "));
  EXPECT_EQ(old.Run("COMMAND INFO hexpire")[0].Size(), 0u);
  EXPECT_THAT(old.Run("COMMAND DOCS hexpire"), EmptyArray());
  EXPECT_THAT(old.Run("COMMAND GETKEYS hexpire h 100 FIELDS 1 f"), Error("ERR Invalid command specified"));
  EXPECT_THAT(old.Run("COMMAND LIST FILTERBY PATTERN hexp*"), EmptyArray());
  EXPECT_THAT(old.Run("ACL SETUSER u +hexpire"),
              Error("ERR Error in ACL SETUSER modifier '+hexpire': Unknown command or category name in ACL"));
  EXPECT_THAT(old.Run("CLUSTER SLOT-STATS SLOTSRANGE 0 1"),
              Error("ERR unknown subcommand 'SLOT-STATS'. Try CLUSTER HELP."));
  Emulation later("redis:7.4");
  EXPECT_THAT(later.Run("HEXPIRE h 100 FIELDS 1 f"), ArrayOf(Int(-2)));
}

TEST(Dialect, RefusesNewerOptions) {
  Emulation old("redis:7.2");
  EXPECT_THAT(old.Run("HSET h f v"), Int(1));
  EXPECT_THAT(old.Run("HSCAN h 0 NOVALUES"), Error("ERR syntax error"));
  EXPECT_THAT(old.Run("XREAD STREAMS s +"), Error("ERR Invalid stream ID specified as stream command argument"));
  Emulation older("redis:6.2");
  EXPECT_THAT(older.Run("SET k v"), Ok());
  EXPECT_THAT(older.Run("BITCOUNT k 0 1 BIT"), Error("ERR syntax error"));
  EXPECT_THAT(older.Run("EXPIRE k 10 NX"), Error("ERR wrong number of arguments for 'expire' command"));
  EXPECT_THAT(older.Run("EXPIRE k 10"), Int(1));
}

TEST(Dialect, AScriptMeetsTheSameCommands) {
  Emulation old("redis:7.2");
  EXPECT_THAT(old.Run("EVAL \"return redis.call('hexpire', 'h')\" 0"),
              ErrorStartsWith("ERR Unknown Redis command called from script"));
  EXPECT_THAT(old.Run("EVAL \"return redis.REDIS_VERSION\" 0"), Bulk("7.2.6"));
  EXPECT_THAT(old.Run("HSET h f v"), Int(1));
  EXPECT_THAT(old.Run("EVAL \"return redis.call('hscan', 'h', 0, 'novalues')\" 0"),
              ErrorStartsWith("ERR syntax error"));
}

TEST(Dialect, Redis62SpeaksInItsOwnWay) {
  Emulation old("redis:6.2");
  EXPECT_THAT(old.Run("NO a b"), Error("ERR unknown command `NO`, with args beginning with: `a`, `b`, "));
  EXPECT_THAT(old.Run("CLIENT NO"),
              Error("ERR Unknown subcommand or wrong number of arguments for 'NO'. Try CLIENT HELP."));
  EXPECT_THAT(old.Run("CLIENT GETNAME x"),
              Error("ERR Unknown subcommand or wrong number of arguments for 'GETNAME'. Try CLIENT HELP."));
  EXPECT_THAT(old.Run("CONFIG SET no 1"), Error("ERR Unsupported CONFIG parameter: no"));
  EXPECT_THAT(old.Run("CONFIG SET timeout x"),
              Error("ERR Invalid argument 'x' for CONFIG SET 'timeout' - argument couldn't be parsed into an integer"));
  EXPECT_THAT(old.Run("SET k v EX 0"), Error("ERR invalid expire time in set"));
  EXPECT_THAT(old.Run("RPUSH l a"), Int(1));
  EXPECT_THAT(old.Run("OBJECT ENCODING l"), Bulk("quicklist"));
  EXPECT_THAT(old.Run("SADD s a"), Int(1));
  EXPECT_THAT(old.Run("OBJECT ENCODING s"), Bulk("hashtable"));
  EXPECT_THAT(old.Run("HSET h a b"), Int(1));
  EXPECT_THAT(old.Run("OBJECT ENCODING h"), Bulk("ziplist"));
  EXPECT_EQ(old.Run("COMMAND INFO get")[0].Size(), 7u);
  EXPECT_THAT(old.Run("CLIENT LIST").Text(), Not(HasSubstr("ssub=")));
  EXPECT_THAT(old.Run("CLIENT LIST").Text(), HasSubstr("cmd=client "));
  EXPECT_THAT(old.Run("ACL LIST"), Bulks({"user default on nopass ~* &* +@all"}));
}

TEST(Dialect, Redis62KnowsNoCountsOfStreams) {
  Emulation old("redis:6.2");
  EXPECT_THAT(old.Run("XADD s 1-1 a b"), Bulk("1-1"));
  EXPECT_THAT(old.Run("XGROUP CREATE s g 0"), Ok());
  EXPECT_EQ(old.Run("XREADGROUP GROUP g c STREAMS s >").Size(), 1u);
  EXPECT_EQ(old.Run("XAUTOCLAIM s g d 0 0").Size(), 2u);
  EXPECT_EQ(old.Run("XINFO STREAM s").Size(), 14u);
  EXPECT_EQ(old.Run("XINFO GROUPS s")[0].Size(), 8u);
  EXPECT_EQ(old.Run("XINFO CONSUMERS s g")[0].Size(), 6u);
}

TEST(Dialect, ValkeySaysItsName) {
  Emulation valkey("valkey:8.1", RespVersion::kResp3);
  EXPECT_EQ(valkey.Run("HELLO 3")[1].Text(), "valkey");
  EXPECT_EQ(valkey.Run("HELLO 3")[3].Text(), "8.1.1");
  const std::string info = valkey.Run("INFO server").Text();
  EXPECT_THAT(info, HasSubstr("redis_version:7.2.4\r\n"));
  EXPECT_THAT(info, HasSubstr("server_name:valkey\r\nvalkey_version:8.1.1\r\n"));
  EXPECT_THAT(info, HasSubstr("server_mode:standalone\r\n"));
  EXPECT_THAT(info, Not(HasSubstr("redis_mode:")));
  EXPECT_THAT(valkey.Run("EVAL \"return server.call('echo', server.SERVER_NAME)\" 0"), Bulk("valkey"));
  EXPECT_THAT(valkey.Run("EVAL \"return redis.call('no')\" 0"),
              ErrorStartsWith("ERR Unknown command called from script"));
  EXPECT_THAT(valkey.Run("CONFIG GET lazyfree-lazy-expire"), MapOf({{Bulk("lazyfree-lazy-expire"), Bulk("yes")}}));
  EXPECT_THAT(valkey.Run("CONFIG GET io-threads-do-reads"), MapOf({}));
  EXPECT_THAT(valkey.Run("CLIENT INFO").Text(), HasSubstr(" tot-cmds="));
}

TEST(Dialect, ValkeyHasNoneOfRedisNewCommands) {
  Emulation valkey("valkey:8.1");
  EXPECT_THAT(valkey.Run("HEXPIRE h 1 FIELDS 1 f"), ErrorStartsWith("ERR unknown command 'HEXPIRE'"));
  EXPECT_THAT(valkey.Run("HSET h f v"), Int(1));
  EXPECT_THAT(valkey.Run("HSCAN h 0 NOVALUES")[1], Bulks({"f"}));
  EXPECT_THAT(valkey.Run("SCAN 0 TYPE no"), Error("ERR unknown type name 'no'"));
  EXPECT_THAT(valkey.Run("SET k a"), Ok());
  EXPECT_THAT(valkey.Run("BITCOUNT k 0"), Int(3));
}

TEST(Dialect, ATransactionOfValkeyFailsWithMultiInIt) {
  Emulation valkey("valkey:8.0");
  EXPECT_THAT(valkey.Run("MULTI"), Ok());
  EXPECT_THAT(valkey.Run("MULTI"), Error("ERR Command not allowed inside a transaction"));
  EXPECT_THAT(valkey.Run("EXEC"), Error("EXECABORT Transaction discarded because of previous errors."));
  EXPECT_THAT(valkey.Run("UNSUBSCRIBE"), Error("NOSUB 'unsubscribe' command executed not in subscribed mode"));
  Emulation redis("redis:8.0");
  EXPECT_THAT(redis.Run("MULTI"), Ok());
  EXPECT_THAT(redis.Run("MULTI"), Error("ERR MULTI calls can not be nested"));
  EXPECT_THAT(redis.Run("EXEC"), EmptyArray());
}

TEST(Dialect, ADeadlineInThePastStoresNothingInValkey) {
  Emulation valkey("valkey:8.1");
  EXPECT_THAT(valkey.Run("SET k v"), Ok());
  EXPECT_THAT(valkey.Run("SET k w EXAT 1"), Ok());
  EXPECT_THAT(valkey.Run("EXISTS k"), Int(0));
  EXPECT_THAT(valkey.Run("INFO keyspace").Text(), Not(HasSubstr("db0")));
}

TEST(Dialect, LaterVersionsTakeFewerNumbers) {
  Emulation old("redis:7.2");
  EXPECT_EQ(old.Run("SCAN -1").Size(), 2u);
  EXPECT_THAT(old.Run("RPUSH l a"), Int(1));
  EXPECT_THAT(old.Run("LREM l -9223372036854775808 a"), Int(1));
  EXPECT_THAT(old.Run("BITCOUNT k 0 1 foo"), Int(0));
  Emulation later("redis:7.4");
  EXPECT_THAT(later.Run("SCAN -1"), Error("ERR invalid cursor"));
  EXPECT_THAT(later.Run("SCAN \"\""), Error("ERR invalid cursor"));
  EXPECT_EQ(later.Run("SCAN -9223372036854775809").Size(), 2u);
  EXPECT_EQ(later.Run("SCAN \" 0\"").Size(), 2u);
  EXPECT_THAT(later.Run("LREM l -9223372036854775808 a"), ErrorStartsWith("ERR value is out of range"));
  EXPECT_THAT(later.Run("BITCOUNT k 0 1 foo"), Error("ERR syntax error"));
}

TEST(Dialect, ABlockingCommandIsForScriptsSince72) {
  Emulation old("redis:7.0");
  EXPECT_THAT(old.Run("EVAL \"return redis.call('blpop', 'l', 1)\" 0"),
              ErrorStartsWith("ERR This Redis command is not allowed from script"));
  Emulation later("redis:7.2");
  EXPECT_THAT(later.Run("EVAL \"return redis.call('blpop', 'l', 1)\" 0"), Nil());
}

TEST(Dialect, InfoCountsWatchingClientsSince74) {
  Emulation redis("redis:7.4");
  EXPECT_THAT(redis.Run("WATCH a b"), Ok());
  EXPECT_THAT(redis.Run("INFO clients").Text(),
              HasSubstr("watching_clients:1\r\nclients_in_timeout_table:0\r\ntotal_watched_keys:2\r\n"));
  EXPECT_THAT(redis.Run("CLIENT LIST").Text(), HasSubstr(" watch=2 "));
}

TEST(Dialect, DirectivesAreThoseOfTheVersion) {
  Emulation old("redis:6.2");
  EXPECT_THAT(old.Run("CONFIG GET hash-max-listpack-entries"), EmptyArray());
  EXPECT_THAT(old.Run("CONFIG GET hash-max-ziplist-entries"), Bulks({"hash-max-ziplist-entries", "512"}));
  EXPECT_THAT(old.Run("CONFIG GET acl-pubsub-default"), Bulks({"acl-pubsub-default", "allchannels"}));
  EXPECT_THAT(old.Run("CONFIG SET latency-tracking no"), ErrorStartsWith("ERR Unsupported CONFIG parameter"));
}

TEST(Dialect, ADirectiveThatIsSetKeepsItsValue) {
  TestServer server(TestServer::Options{.directives = {"repl-diskless-sync yes", "emulate redis:6.2"}});
  EXPECT_TRUE(server->services().env.settings.repl_diskless_sync);
  EXPECT_EQ(server->services().env.settings.acl_pubsub_default, AclPubsubDefault::kAllChannels);
}

TEST(Dialect, RecordsOfTheServerMayUseWhatClientsMayNot) {
  Emulation old("redis:6.2");
  EXPECT_THAT(old.Run("XADD s 1-1 a b"), Bulk("1-1"));
  EXPECT_THAT(old.Run("XTRIM s MAXLEN 0"), Int(1));
  EXPECT_THAT(old.Run("XSETID s 5-0 ENTRIESADDED 9 MAXDELETEDID 1-1"),
              ErrorStartsWith("ERR wrong number of arguments"));
  EXPECT_THAT(old.Run("XSETID s 5-0"), Ok());
}

}  // namespace
}  // namespace respite
