// Details in which versions differ: errors, edge cases of arguments, and the texts of logs and HELP.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/str_cat.h"
#include "server/runtime/stats.h"
#include "tests/server/dialects/emulation.h"
#include "tests/support/reply_matchers.h"

namespace respite {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kNotInteger[] = "ERR value is not an integer or out of range";

TEST(DialectDetails, RangesOfBitsAreReadBeforeTheKeyIsLookedAt) {
  for (const char* const version : {"redis:7.4", "redis:8.0", "valkey:8.0"}) {
    Emulation later(version);
    later.Run("RPUSH l a");
    EXPECT_THAT(later.Run("BITCOUNT l x 1"), Error(kNotInteger)) << version;
    EXPECT_THAT(later.Run("BITPOS l 1 x"), Error(kNotInteger)) << version;
    EXPECT_THAT(later.Run("BITCOUNT l 0 1"), ErrorStartsWith("WRONGTYPE")) << version;
    EXPECT_THAT(later.Run("BITCOUNT k -1 -2 foo"), Error("ERR syntax error")) << version;
    EXPECT_THAT(later.Run("BITPOS k 0 5"), Int(0)) << version;
  }
  Emulation old("redis:7.2");
  old.Run("RPUSH l a");
  EXPECT_THAT(old.Run("BITCOUNT l x 1"), ErrorStartsWith("WRONGTYPE"));
  EXPECT_THAT(old.Run("BITPOS l 1 x"), ErrorStartsWith("WRONGTYPE"));
  old.Run("SET k abc");
  EXPECT_THAT(old.Run("BITCOUNT k -1 -2 foo"), Int(0));
}

TEST(DialectDetails, ValkeyReadsTheUnitOfBitcountFirst) {
  EXPECT_THAT(Emulation("valkey:8.0").Run("BITCOUNT k 0 x foo"), Error("ERR syntax error"));
  EXPECT_THAT(Emulation("redis:8.0").Run("BITCOUNT k 0 x foo"), Error(kNotInteger));
}

TEST(DialectDetails, ScoresOfRangesAreDecimalSince80) {
  constexpr char kNotFloat[] = "ERR min or max is not a float";
  Emulation later("redis:8.0");
  later.Run("ZADD z 1 a 2 b");
  for (const char* const end : {"0x1", "(0x1", "-0X1", "\" 1\"", "\"( 1\""}) {
    EXPECT_THAT(later.Run("ZCOUNT z " + std::string(end) + " 2"), Error(kNotFloat)) << end;
    EXPECT_THAT(later.Run("ZRANGEBYSCORE z " + std::string(end) + " 2"), Error(kNotFloat)) << end;
  }
  EXPECT_THAT(later.Run("ZREMRANGEBYSCORE z 0x1 2"), Error(kNotFloat));
  EXPECT_THAT(later.Run("ZCOUNT z +.5 1e400"), Int(2));
  EXPECT_THAT(later.Run("ZCOUNT z \"\" 0x"), Error(kNotFloat));
  Emulation old("redis:7.4");
  old.Run("ZADD z 1 a 2 b");
  EXPECT_THAT(old.Run("ZCOUNT z 0x1 2"), Int(2));
  EXPECT_THAT(old.Run("ZCOUNT z \" 1\" 2"), Int(2));
}

TEST(DialectDetails, NegativeOffsetsCountFromTheEndOfLargeSetsSince74) {
  for (const auto& [version, from_end] : {std::pair("redis:7.2", false), {"redis:7.4", true}, {"valkey:8.0", true}}) {
    Emulation server({"zset-max-listpack-entries 2", "emulate " + std::string(version)});
    server.Run("ZADD small 1 a 2 b");
    server.Run("ZADD large 1 a 2 b 3 c 4 d");
    const auto found = [&](Bytes line) { return server.Run(line).Texts(); };
    using Members = std::vector<std::string>;
    EXPECT_EQ(found("ZRANGEBYSCORE small 0 9 LIMIT -1 1"), Members()) << version;
    EXPECT_EQ(found("ZRANGEBYSCORE large 1 3 LIMIT -2 5"), from_end ? Members({"b", "c"}) : Members()) << version;
    EXPECT_EQ(found("ZREVRANGEBYSCORE large 3 1 LIMIT -2 1"), from_end ? Members({"b"}) : Members()) << version;
    EXPECT_EQ(found("ZRANGEBYSCORE large 1 3 LIMIT -4 5"), Members()) << version;
    server.Run("ZRANGESTORE to large 1 9 BYSCORE LIMIT -3 2");
    EXPECT_EQ(found("ZRANGE to 0 -1"), from_end ? Members({"b", "c"}) : Members()) << version;
  }
}

TEST(DialectDetails, TheLastEntryOfAStreamThatNeverHadOne) {
  for (const char* const version : {"redis:7.4", "valkey:8.0", "valkey:8.1"}) {
    Emulation server(version);
    server.Run("XGROUP CREATE s g 0 MKSTREAM");
    EXPECT_THAT(server.Run("XREAD STREAMS s +"), Error("ERR the stream last element ID is 0-0")) << version;
    EXPECT_THAT(server.Run("XREAD STREAMS no +"), NilArray()) << version;
  }
  for (const char* const version : {"redis:8.0", "valkey:9.1"}) {
    Emulation server(version);
    server.Run("XGROUP CREATE s g 0 MKSTREAM");
    EXPECT_THAT(server.Run("XREAD STREAMS s +"), NilArray()) << version;
  }
}

TEST(DialectDetails, ScanWithTypeCountsLookUpsAndRemovesExpiredKeys) {
  struct Expected {
    const char* version;
    int hits, misses;
    int keys_left;
  };
  for (const auto& [version, hits, misses, keys_left] : std::initializer_list<Expected>{{"redis:7.2", 2, 1, 2},
                                                                                        {"redis:8.0", 2, 1, 2},
                                                                                        {"redis:8.6", 0, 0, 2},
                                                                                        {"valkey:8.1", 0, 0, 3},
                                                                                        {"valkey:9.1", 0, 0, 3}}) {
    Emulation server(version);
    server.Run("SET s 1");
    server.Run("ZADD z 1 a");
    server.Run("SET expired 1 PX 100");
    server.server.clock().AdvanceMs(200);
    server.Run("CONFIG RESETSTAT");
    EXPECT_THAT(server.Run("SCAN 0 TYPE zset")[1], Bulks({"z"})) << version;
    const std::string stats = server.Run("INFO stats").Text();
    EXPECT_THAT(stats, HasSubstr(StrCat("keyspace_hits:", hits, "\r\nkeyspace_misses:", misses, "\r\n"))) << version;
    EXPECT_THAT(server.Run("DBSIZE"), Int(keys_left)) << version;
    EXPECT_THAT(server.Run("SCAN 0 TYPE string")[1], Bulks({"s"})) << version;
    EXPECT_THAT(server.Run("DBSIZE"), Int(2)) << version;
  }
}

TEST(DialectDetails, TheLastEntryOfAStreamWasDeleted) {
  for (const char* const version : {"redis:8.0", "redis:8.6", "valkey:8.1", "valkey:9.1"}) {
    Emulation server(version);
    server.Run("XADD s 1-1 f v");
    server.Run("XADD s 2-1 f v");
    server.Run("XDEL s 2-1");
    const bool is_valkey = Bytes(version).starts_with("valkey");
    EXPECT_EQ(server.Run("XREAD STREAMS s +").Size(), is_valkey ? 0u : 1u) << version;
  }
}

TEST(DialectDetails, TheLagOfAGroupBehindTheFirstEntry) {
  for (const auto& [version, lag] :
       {std::pair("redis:7.0", 3), {"valkey:8.0", 3}, {"redis:7.2", 1}, {"redis:7.4", 1}, {"redis:8.0", 1}}) {
    Emulation server(version);
    for (const char* const id : {"1-0", "2-0", "3-0"}) server.Run("XADD s " + std::string(id) + " a b");
    server.Run("XGROUP CREATE s g 0");
    server.Run("XTRIM s MAXLEN 1");
    server.Run("XGROUP SETID s g 1-0 ENTRIESREAD 0");
    EXPECT_THAT(server.Run("XINFO GROUPS s")[0][11], Int(lag)) << version;
    EXPECT_EQ(server.Run("XINFO STREAM s FULL")[17][0][7].Integer(), lag) << version;
    server.Run("XTRIM s MAXLEN 0");
    EXPECT_THAT(server.Run("XINFO GROUPS s")[0][11], Int(lag == 1 ? 0 : 3)) << version;
  }
}

TEST(DialectDetails, WhatAGroupHasReadWhoseNextEntriesAreGone) {
  for (const auto& [version, read] : {std::pair("redis:7.0", 2), {"redis:7.2", 4}, {"redis:8.0", 4}}) {
    Emulation server(version);
    server.Run("XADD s 1-0 a b");
    server.Run("XGROUP CREATE s g 0");
    server.Run("XREADGROUP GROUP g c STREAMS s >");
    for (const char* const id : {"2-0", "3-0", "4-0", "5-0"}) server.Run("XADD s " + std::string(id) + " a b");
    server.Run("XTRIM s MAXLEN 2");
    server.Run("XREADGROUP GROUP g c COUNT 1 STREAMS s >");
    EXPECT_THAT(server.Run("XINFO GROUPS s")[0][9], Int(read)) << version;
  }
}

TEST(DialectDetails, WhatAGroupHasReadAfterAnEntryThatIsDeleted) {
  for (const auto& [version, read] : {std::pair("redis:7.0", 2), {"redis:7.2", 3}, {"redis:8.0", 3}}) {
    Emulation server(version);
    for (const char* const id : {"3-0", "6-0"}) server.Run("XADD s " + std::string(id) + " a b");
    server.Run("XGROUP CREATE s g $ ENTRIESREAD 1");
    server.Run("XDEL s 6-0");
    server.Run("XADD s 8-0 a b");
    server.Run("XREADGROUP GROUP g c STREAMS s >");
    EXPECT_THAT(server.Run("XINFO GROUPS s")[0][9], Int(read)) << version;
  }
}

TEST(DialectDetails, DeletionsBeforeTheFirstEntryCount) {
  for (const auto& [version, is_sure] : {std::pair("valkey:8.0", true), {"valkey:8.1", false}}) {
    SCOPED_TRACE(version);
    const auto known = [sure = is_sure](int value) { return sure ? Int(value) : Nil(); };
    Emulation server(version);
    for (const char* const id : {"1-0", "3-0", "4-0", "5-0"}) server.Run("XADD s " + std::string(id) + " a b");
    server.Run("XGROUP CREATE s g 0");
    server.Run("XTRIM s MAXLEN 3");
    server.Run("XGROUP SETID s g 2-0 ENTRIESREAD 3");
    server.Run("XDEL s 3-0");
    EXPECT_THAT(server.Run("XINFO GROUPS s")[0][11], known(1));
    EXPECT_THAT(server.Run("XINFO STREAM s FULL")[17][0][7], known(1));
    server.Run("XREADGROUP GROUP g c COUNT 1 STREAMS s >");
    EXPECT_THAT(server.Run("XINFO GROUPS s")[0][9], Int(is_sure ? 4 : 3));
    // The id is between the remaining entries.
    for (const char* const id : {"6-0", "7-0"}) server.Run("XADD t " + std::string(id) + " a b");
    server.Run("XADD t 8-0 a b");
    server.Run("XGROUP CREATE t g 0");
    server.Run("XDEL t 7-0");
    server.Run("XGROUP SETID t g 7-0 ENTRIESREAD 2");
    server.Run("XADD t 9-0 a b");
    server.Run("XREADGROUP GROUP g c COUNT 1 STREAMS t >");
    EXPECT_THAT(server.Run("XINFO GROUPS t")[0][9], known(3));
  }
}

TEST(DialectDetails, AnExpiredKeyIsUnlinkedIfExpiryIsLazy) {
  const auto journaled = [](std::vector<std::string> directives) {
    Emulation server(std::move(directives));
    server.Run("SET k v PX 10");
    server.server.AdvanceMs(20);
    EXPECT_THAT(server.Run("GET k"), Nil());
    return server.server.journal().Records().back().words[0];
  };
  EXPECT_EQ(journaled({"lazyfree-lazy-expire no"}), "DEL");
  EXPECT_EQ(journaled({"lazyfree-lazy-expire yes"}), "UNLINK");
  EXPECT_EQ(journaled({"emulate valkey:8.0"}), "UNLINK");
  EXPECT_EQ(journaled({"emulate redis:8.0"}), "DEL");
}

// ---------------------------------------------------------------------------------------------------------------------
// Scripts

TEST(DialectDetails, ScriptsHaveAClockSince74) {
  constexpr char kUses[] = "EVAL \"return type(os.clock())\" 0";
  for (const char* const version : {"redis:7.4", "redis:8.0", "valkey:8.0"}) {
    Emulation later(version);
    EXPECT_THAT(later.Run(kUses), Bulk("number")) << version;
    EXPECT_THAT(later.Run("EVAL \"return os.time\" 0"), Nil()) << version;
    EXPECT_THAT(later.Run("EVAL \"os.clock = 1\" 0"),
                ErrorStartsWith("ERR user_script:1: Attempt to modify a readonly"));
  }
  EXPECT_THAT(Emulation("redis:7.2").Run(kUses), ErrorStartsWith("ERR user_script:1: Script attempted to access none"));
}

TEST(DialectDetails, TheTablesOfScripts) {
  constexpr char kEnvironments[] = "EVAL \"return rawget(_G, 'getfenv') == nil\" 0";
  EXPECT_THAT(Emulation("redis:8.0").Run(kEnvironments), Int(1));
  EXPECT_THAT(Emulation("valkey:8.1").Run(kEnvironments), Int(1));
  EXPECT_THAT(Emulation("redis:7.4").Run(kEnvironments), Nil());
  constexpr char kServer[] = "EVAL \"return rawget(_G, 'server') == nil\" 0";
  for (const char* const version : {"redis:6.2", "redis:7.0", "redis:7.2", "redis:7.4", "redis:8.0"}) {
    EXPECT_THAT(Emulation(version).Run(kServer), Int(1)) << version;
  }
  constexpr char kAcl[] = "EVAL \"return redis.acl_check_cmd == nil\" 0";
  EXPECT_THAT(Emulation("redis:6.2").Run(kAcl), Int(1));
  EXPECT_THAT(Emulation("redis:7.0").Run(kAcl), Nil());
}

TEST(DialectDetails, ValkeyCallsTheTableServer) {
  Emulation valkey("valkey:8.0");
  Emulation redis("redis:7.2");
  EXPECT_THAT(valkey.Run("EVAL \"return redis.log()\" 0"), ErrorStartsWith("ERR server.log() requires two arguments"));
  EXPECT_THAT(redis.Run("EVAL \"return redis.log()\" 0"), ErrorStartsWith("ERR redis.log() requires two arguments"));
  EXPECT_THAT(valkey.Run("FUNCTION LOAD \"#!lua name=x\\nredis.register_function()\""),
              Error("ERR Error registering functions: ERR wrong number of arguments to server.register_function"));
  EXPECT_THAT(redis.Run("FUNCTION LOAD \"#!lua name=x\\nredis.register_function()\""),
              Error("ERR Error registering functions: ERR wrong number of arguments to redis.register_function"));
}

TEST(DialectDetails, ScriptsHaveHeadersSince70) {
  constexpr char kScript[] = "EVAL \"#!lua flags=no-writes\\nreturn 1\" 0";
  EXPECT_THAT(Emulation("redis:7.0").Run(kScript), Int(1));
  EXPECT_THAT(Emulation("redis:6.2").Run(kScript), ErrorStartsWith("ERR Error compiling script (new function)"));
}

// ---------------------------------------------------------------------------------------------------------------------
// Logs and users

TEST(DialectDetails, LogsOfLengthZeroStaySince74) {
  for (const auto& [version, left] : {std::pair("redis:7.2", 0), {"redis:7.4", 2}, {"valkey:8.0", 2}}) {
    Emulation server({"slowlog-log-slower-than 0", "emulate " + std::string(version)});
    server.Run("PING");
    EXPECT_THAT(server.Run("CONFIG SET slowlog-max-len 0"), Ok());
    EXPECT_THAT(server.Run("SLOWLOG LEN"), Int(left == 0 ? 0 : 1)) << version;
    server.Run("AUTH a b");
    server.Run("AUTH c d");
    server.Run("CONFIG SET acllog-max-len 0");
    server.Run("AUTH e f");
    EXPECT_EQ(server.Run("ACL LOG").Size(), static_cast<size_t>(left)) << version;
  }
}

TEST(DialectDetails, ValkeyNamesTheClientOfAScriptInTheSlowLog) {
  for (const auto& [version, name] : {std::pair("redis:8.0", ""), {"valkey:8.0", "joe"}}) {
    Emulation server({"slowlog-log-slower-than 0", "emulate " + std::string(version)});
    server.Run("CLIENT SETNAME joe");
    server.Run("EVAL \"return redis.call('ping')\" 0");
    const TestReply ping = server.Run("SLOWLOG GET")[1];
    EXPECT_THAT(ping[3], Bulks({"ping"}));
    EXPECT_THAT(ping[5], Bulk(name)) << version;
  }
}

TEST(DialectDetails, TheSlowLogHidesUsersSince74) {
  for (const auto& [version, shown] : {std::pair("redis:7.2", "joe"), {"redis:7.4", "(redacted)"}}) {
    Emulation server({"slowlog-log-slower-than 0", "emulate " + std::string(version)});
    server.Run("ACL GETUSER joe");
    server.Run("ACL DELUSER joe");
    const TestReply log = server.Run("SLOWLOG GET");
    EXPECT_THAT(log[0][3], Bulks({"ACL", "DELUSER", shown})) << version;
    EXPECT_THAT(log[1][3], Bulks({"ACL", "GETUSER", shown})) << version;
  }
}

TEST(DialectDetails, AScriptsCommandsCountForItsClient) {
  Emulation valkey("valkey:8.0");
  valkey.Run("EVAL \"return redis.call('ping')\" 0");
  EXPECT_THAT(valkey.Run("CLIENT INFO").Text(), HasSubstr(" tot-cmds=2"));
}

TEST(DialectDetails, TheInputThatClientListCounts) {
  const std::string valkey = Emulation("valkey:8.0").Run("CLIENT INFO").Text();
  EXPECT_THAT(valkey, HasSubstr(" qbuf=0 qbuf-free=0 "));
  EXPECT_THAT(Emulation("redis:8.0").Run("CLIENT INFO").Text(), HasSubstr(" qbuf=26 qbuf-free=16358 "));
  Emulation reader("valkey:8.0");
  TestClient late(reader.server);
  late.Raw("*2\r\n$3\r\nGET\r\n$5\r\nk");
  EXPECT_THAT(reader.Run(StrCat("CLIENT LIST ID ", late.session().id)).Text(), HasSubstr(" qbuf=1 "));
  for (const auto& [version, free] :
       {std::pair("redis:7.4", "qbuf=0 qbuf-free=16384 "), {"redis:8.0", "qbuf=0 qbuf-free=0 "}}) {
    Emulation server(version);
    server.Run("CLIENT SETNAME first");
    TestClient second(server.server);
    const std::string list = second.Run("CLIENT LIST TYPE normal").Text();
    EXPECT_THAT(list.substr(0, list.find('\n')), HasSubstr(free)) << version;
  }
}

TEST(DialectDetails, AclLoadKeepsClientsSince74) {
  for (const auto& [version, is_closed] : {std::pair("redis:7.2", true), {"redis:7.4", false}, {"valkey:8.0", false}}) {
    Emulation server({"aclfile users.acl", "emulate " + std::string(version)});
    for (const char* const user : {"stays", "narrower", "goes"}) {
      server.Run("ACL SETUSER " + std::string(user) + " on nopass +@all ~* &news");
    }
    server.Run("ACL SAVE");
    server.Run("ACL SETUSER narrower &sports");
    TestClient stays(server.server), narrower(server.server), goes(server.server);
    stays.Run("AUTH stays x");
    narrower.Run("AUTH narrower x");
    narrower.Run("SUBSCRIBE sports");
    server.Run("ACL SETUSER late on nopass +@all ~*");
    goes.Run("AUTH late x");
    EXPECT_THAT(server.Run("ACL LOAD"), Ok());
    EXPECT_EQ(stays.Closed(), is_closed) << version;
    EXPECT_TRUE(narrower.Closed() && goes.Closed()) << version;
    if (is_closed) continue;
    EXPECT_THAT(stays.Run("ACL WHOAMI"), Bulk("stays"));
  }
}

TEST(DialectDetails, DenialsNameUsersSince72) {
  constexpr char kRules[] = "ACL SETUSER joe on nopass resetchannels ~a* +get +eval +publish";
  Emulation redis70("redis:7.0");
  redis70.Run(kRules);
  EXPECT_THAT(redis70.Run("ACL DRYRUN joe get b"), Bulk("This user has no permissions to access the 'b' key"));
  EXPECT_THAT(redis70.Run("ACL DRYRUN joe del a"), Bulk("This user has no permissions to run the 'del' command"));
  redis70.Run("AUTH joe x");
  EXPECT_THAT(redis70.Run("GET b"),
              Error("NOPERM this user has no permissions to access one of the keys used as arguments"));
  EXPECT_THAT(redis70.Run("PUBLISH c m"),
              Error("NOPERM this user has no permissions to access one of the channels used as arguments"));
  EXPECT_THAT(redis70.Run("CLIENT LIST"),
              Error("NOPERM this user has no permissions to run the 'client|list' command"));
  EXPECT_THAT(redis70.Run("EVAL \"return redis.pcall('del', 'a').err\" 0"),
              Bulk("ERR The user executing the script can't run this command or subcommand"));
  EXPECT_THAT(redis70.Run("EVAL \"return redis.pcall('publish', 'c', 'm').err\" 0"),
              Bulk("ERR The user executing the script can't publish to the channel mentioned in the command"));
  Emulation redis62("redis:6.2");
  redis62.Run(kRules);
  redis62.Run("AUTH joe x");
  EXPECT_THAT(redis62.Run("CLIENT LIST"),
              Error("NOPERM this user has no permissions to run the 'client' command or its subcommand"));
  Emulation redis72("redis:7.2");
  redis72.Run(kRules);
  redis72.Run("AUTH joe x");
  EXPECT_THAT(redis72.Run("GET b"), Error("NOPERM No permissions to access a key"));
  EXPECT_THAT(redis72.Run("EVAL \"return redis.pcall('del', 'a').err\" 0"),
              Bulk("ERR ACL failure in script: User joe has no permissions to run the 'del' command"));
}

TEST(DialectDetails, UsersHaveSelectorsSince70) {
  Emulation old("redis:6.2");
  EXPECT_THAT(old.Run("ACL SETUSER joe \"(+get ~k)\""),
              Error("ERR Error in ACL SETUSER modifier '(+get ~k)': Syntax error"));
  EXPECT_THAT(old.Run("ACL SETUSER joe %R~k"), Error("ERR Error in ACL SETUSER modifier '%R~k': Syntax error"));
  EXPECT_THAT(Emulation("redis:7.0").Run("ACL SETUSER joe (+get) %R~k"), Ok());
}

TEST(DialectDetails, TheLogOfRefusalsDescribesClientsAsTheVersionDoes) {
  Emulation old("redis:6.2");
  old.Run("AUTH a b");
  EXPECT_THAT(old.Run("ACL LOG")[0][13].Text(), Not(HasSubstr("lib-name")));
  Emulation valkey("valkey:8.0");
  valkey.Run("AUTH a b");
  EXPECT_THAT(valkey.Run("ACL LOG")[0][13].Text(), HasSubstr("tot-cmds="));
}

// ---------------------------------------------------------------------------------------------------------------------
// What a version reports about itself

TEST(DialectDetails, HelpHasNothingNewer) {
  const auto help = [](const std::string& version, const std::string& container) {
    std::string all;
    Emulation server(version);
    const TestReply lines = server.Run(container + " HELP");
    for (size_t i = 0; i < lines.Size(); ++i) all += lines[i].Text() + "\n";
    return all;
  };
  EXPECT_THAT(help("redis:6.2", "CLIENT"), Not(HasSubstr("NO-EVICT")));
  EXPECT_THAT(help("redis:6.2", "CLIENT"), Not(HasSubstr("use too much memory")));  // the description of NO-EVICT
  EXPECT_THAT(help("redis:7.0", "CLIENT"), HasSubstr("NO-EVICT"));
  EXPECT_THAT(help("redis:7.0", "CLIENT"), Not(HasSubstr("SETINFO")));
  EXPECT_THAT(help("redis:8.0", "CLIENT"), Not(HasSubstr("IMPORT-SOURCE")));
  EXPECT_THAT(help("valkey:8.1", "CLIENT"), HasSubstr("IMPORT-SOURCE"));
  EXPECT_THAT(help("redis:6.2", "ACL"), Not(HasSubstr("DRYRUN")));
  EXPECT_THAT(help("redis:8.0", "SCRIPT"), Not(HasSubstr("SHOW")));
  EXPECT_THAT(help("redis:6.2", "COMMAND"), HasSubstr("(no subcommand)"));
}

TEST(DialectDetails, ClientListTakesOneFilterBeforeValkey81) {
  for (const char* const version : {"redis:6.2", "redis:7.2", "redis:8.0", "valkey:8.0"}) {
    Emulation server(version);
    EXPECT_THAT(server.Run("CLIENT LIST TYPE normal ID 5"), Error("ERR syntax error")) << version;
    EXPECT_THAT(server.Run("CLIENT LIST ID 5 TYPE normal"), Error("ERR Invalid client ID")) << version;
    EXPECT_THAT(server.Run("CLIENT LIST ID 500 501"), Bulk("")) << version;
    EXPECT_THAT(server.Run("CLIENT LIST TYPE normal").Text(), HasSubstr("id=")) << version;
  }
  EXPECT_THAT(Emulation("valkey:8.1").Run("CLIENT LIST TYPE normal ID 500"), Bulk(""));
}

TEST(DialectDetails, WhatCountsAsTheIdOfAClient) {
  struct Rules {
    const char* version;
    const char* unreadable_to_kill;
    const char* unreadable_to_list;
    bool kill_takes_zero;
    bool list_takes_zero;
  };
  constexpr auto kPositive = "ERR client-id should be greater than 0";
  constexpr auto kInvalid = "ERR Invalid client ID";
  constexpr auto kSyntax = "ERR syntax error";
  for (const Rules& rules :
       {Rules{"redis:6.2", "ERR value is not an integer or out of range", kInvalid, true, true},
        Rules{"redis:7.2", kPositive, kInvalid, false, true}, Rules{"valkey:8.0", kPositive, kInvalid, false, true},
        Rules{"valkey:8.1", kSyntax, kSyntax, false, false}}) {
    SCOPED_TRACE(rules.version);
    Emulation server(rules.version);
    EXPECT_THAT(server.Run("CLIENT KILL ID x"), Error(rules.unreadable_to_kill));
    EXPECT_THAT(server.Run("CLIENT LIST ID x"), Error(rules.unreadable_to_list));
    if (rules.kill_takes_zero) {
      EXPECT_THAT(server.Run("CLIENT KILL ID 0"), Int(0));
    } else {
      EXPECT_THAT(server.Run("CLIENT KILL ID 0"), Error(kPositive));
    }
    if (rules.list_takes_zero) {
      EXPECT_THAT(server.Run("CLIENT LIST ID 0"), Bulk(""));
    } else {
      EXPECT_THAT(server.Run("CLIENT LIST ID 0"), Error(kPositive));
    }
  }
}

TEST(DialectDetails, TheIdsOfClientsAreASetInValkey81) {
  Emulation server("valkey:8.1");
  const std::string id = std::to_string(server.client.session().id);
  const auto lines = [&](const std::string& options) {
    const std::string text = server.Run("CLIENT LIST " + options).Text();
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines("ID " + id + " ID 777"), 1);
  EXPECT_EQ(lines("ID " + id + " 777 " + id), 1);
  EXPECT_EQ(lines("ID " + id + " ID"), 1);
  EXPECT_EQ(lines("ID TYPE normal"), 0);
  EXPECT_EQ(lines("TYPE normal ID"), 0);
  EXPECT_THAT(server.Run("CLIENT LIST ID"), Error("ERR syntax error"));
  EXPECT_THAT(server.Run("CLIENT KILL ID USER default"), Int(0));
  EXPECT_THAT(server.Run("CLIENT KILL ID USER nobody"), Error("ERR No such user 'nobody'"));
  EXPECT_THAT(Emulation("valkey:8.0").Run("CLIENT LIST ID TYPE normal"), Error("ERR Invalid client ID"));
}

TEST(DialectDetails, PrimaryIsATypeOfClientSinceValkey80) {
  for (const char* const version : {"redis:6.2", "redis:7.2", "redis:8.0", "valkey:7.2"}) {
    EXPECT_THAT(Emulation(version).Run("CLIENT LIST TYPE primary"), Error("ERR Unknown client type 'primary'"))
        << version;
  }
  EXPECT_THAT(Emulation("valkey:8.0").Run("CLIENT LIST TYPE primary"), Bulk(""));
}

TEST(DialectDetails, ClientKillTakesManyIdsInValkey81Only) {
  for (const char* const version : {"redis:7.2", "redis:8.0", "valkey:8.0"}) {
    EXPECT_THAT(Emulation(version).Run("CLIENT KILL ID 777 778"), Error("ERR syntax error")) << version;
  }
  EXPECT_THAT(Emulation("valkey:8.1").Run("CLIENT KILL ID 777 778"), Int(0));
}

TEST(DialectDetails, ValkeyAnswersReadOnlyWithoutCluster) {
  constexpr auto kDisabled = "ERR This instance has cluster support disabled";
  for (const char* const version : {"valkey:8.0", "valkey:8.1"}) {
    EXPECT_THAT(Emulation(version).Run("READONLY"), Ok()) << version;
    EXPECT_THAT(Emulation(version).Run("READWRITE"), Ok()) << version;
  }
  for (const char* const version : {"redis:7.2", "redis:8.0"}) {
    EXPECT_THAT(Emulation(version).Run("READONLY"), Error(kDisabled)) << version;
    EXPECT_THAT(Emulation(version).Run("READWRITE"), Error(kDisabled)) << version;
  }
  EXPECT_THAT(Emulation("redis:6.2").Run("READONLY"), Error(kDisabled));
  EXPECT_THAT(Emulation("redis:6.2").Run("READWRITE"), Ok());
}

TEST(DialectDetails, TheErrorWithoutAnAclFileNamesRedis) {
  EXPECT_THAT(
      Emulation("redis:8.0").Run("ACL SAVE").Text(),
      AllOf(StartsWith("ERR This Redis instance is not configured to use an ACL file."),
            EndsWith("have a Redis configuration file set) in order to store users in the Redis configuration.")));
  EXPECT_THAT(Emulation("valkey:8.0").Run("ACL LOAD").Text(),
              AllOf(StartsWith("ERR This instance is not configured to use an ACL file."),
                    EndsWith("have a configuration file set) in order to store users in the configuration.")));
}

TEST(DialectDetails, WhatLogAndHeadersOfScriptsSay) {
  for (const auto& [version, text] : {std::pair("redis:7.2", "debug level"),
                                      {"redis:7.4", "log level"},
                                      {"redis:8.0", "log level"},
                                      {"valkey:8.0", "log level"}}) {
    EXPECT_THAT(Emulation(version).client.Run({"EVAL", "redis.log(9, 'x')", "0"}).Text(),
                HasSubstr("Invalid " + std::string(text) + "."))
        << version;
  }
  EXPECT_THAT(Emulation("valkey:8.0").client.Run({"EVAL", "#!foo\nreturn 1", "0"}),
              Error("ERR Unexpected engine in script shebang: #!foo"));
  EXPECT_THAT(Emulation("valkey:8.0").client.Run({"EVAL", "#!LUA\nreturn 1", "0"}),
              Error("ERR Unexpected engine in script shebang: #!LUA"));
  EXPECT_THAT(Emulation("valkey:8.1").client.Run({"EVAL", "#!foo\nreturn 1", "0"}),
              Error("ERR Could not find scripting engine 'foo'"));
  EXPECT_THAT(Emulation("valkey:8.1").client.Run({"EVAL", "#!LUA\nreturn 1", "0"}), Int(1));
  EXPECT_THAT(Emulation("valkey:8.1").client.Run({"EVAL", "#!js foo\nreturn 1", "0"}),
              Error("ERR Unknown lua shebang option: foo"));
}

TEST(DialectDetails, TheChoicesOfADirective) {
  EXPECT_THAT(Emulation("redis:6.2").Run("CONFIG SET loglevel nothing"),
              Error("ERR Invalid argument 'nothing' for CONFIG SET 'loglevel' - argument must be one of the following: "
                    "debug, verbose, notice, warning"));
  EXPECT_THAT(Emulation("redis:7.0").Run("CONFIG SET loglevel nothing"),
              Error("ERR CONFIG SET failed (possibly related to argument 'loglevel') - argument(s) must be one of the "
                    "following: debug, verbose, notice, warning"));
  EXPECT_THAT(Emulation("redis:7.2").Run("CONFIG SET loglevel nothing"), Ok());
  EXPECT_THAT(Emulation("redis:7.2").Run("CONFIG SET repl-diskless-load flush-before-load").Text(),
              EndsWith("must be one of the following: disabled, on-empty-db, swapdb"));
  EXPECT_THAT(Emulation("valkey:8.1").Run("CONFIG SET repl-diskless-load flush-before-load"), Ok());
}

TEST(DialectDetails, CountsOfTheSlowLogAreCheckedSince70) {
  Emulation old("redis:6.2");
  old.Run("CONFIG SET slowlog-log-slower-than 0");
  for (int i = 0; i < 3; ++i) old.Run("PING");
  EXPECT_GE(old.Run("SLOWLOG GET -2").Size(), 4u) << "all, as with -1";
  EXPECT_THAT(Emulation("redis:6.2").Run("SLOWLOG GET x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Emulation("redis:7.0").Run("SLOWLOG GET -2"), Error("ERR count should be greater than or equal to -1"));
}

TEST(DialectDetails, WhatASubscribedClientMayDo) {
  Emulation old("redis:6.2");
  old.Run("SUBSCRIBE c");
  EXPECT_THAT(old.Run("ACL WHOAMI"),
              Error("ERR Can't execute 'acl': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
                    "this context"));
}

TEST(DialectDetails, FieldsOfMemoryStats) {
  const auto fields = [](const std::string& version) {
    Emulation server(version, RespVersion::kResp2);
    const TestReply stats = server.Run("MEMORY STATS");
    std::vector<std::string> names;
    for (size_t i = 0; i < stats.Size(); i += 2) names.push_back(stats[i].Text());
    return names;
  };
  EXPECT_THAT(fields("redis:6.2"), Not(testing::Contains("functions.caches")));
  EXPECT_THAT(fields("redis:7.2"), testing::Contains("functions.caches"));
  EXPECT_THAT(fields("redis:7.2"), Not(testing::Contains("allocator.muzzy")));
  EXPECT_THAT(fields("valkey:8.0"), testing::Contains("overhead.db.hashtable.lut"));
  EXPECT_THAT(fields("valkey:8.0"), Not(testing::Contains("script.VMs")));
  EXPECT_THAT(fields("redis:8.0"), testing::Contains("script.VMs"));
}

TEST(DialectDetails, InfoCountsClientsThatWereClosedForTheirBuffers) {
  Emulation later("redis:7.4");
  ++later.server->services().env.stats.query_limit_disconnections;
  const std::string stats = later.Run("INFO stats").Text();
  EXPECT_THAT(stats, HasSubstr("client_query_buffer_limit_disconnections:1\r\n"));
  EXPECT_THAT(stats, HasSubstr("client_output_buffer_limit_disconnections:0\r\nreply_buffer_shrinks:"));
  EXPECT_THAT(Emulation("redis:7.2").Run("INFO stats").Text(), Not(HasSubstr("limit_disconnections")));
  EXPECT_THAT(TestClient(later.server).Run("INFO memory").Text(), HasSubstr("allocator_muzzy:0\r\n"));
  TestServer plain;
  EXPECT_THAT(TestClient(plain).Run("INFO memory").Text(), Not(HasSubstr("allocator_muzzy")));
}

}  // namespace
}  // namespace respite
