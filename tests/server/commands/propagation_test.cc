// The commands that later commands and options propagate. Replicas of older versions must be able to execute it,
// because Redis ignores a command that its primary sends and it does not know.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

struct PropagationCase {
  std::vector<std::string> setup;    // commands that run before
  std::string command;               // the command under test
  std::vector<std::string> journal;  // what is propagated for it; a line that ends with `*` is only a beginning
};

// Whether the emulated version may lack this command. The documentation says what is then lost.
bool MayBeUnknown(const std::string& command) { return command == "XIDMPRECORD" || command == "XNACK"; }

// Expects that a server that emulates an older version executes all propagated commands, and then has the same data.
void ExpectOlderVersionFollows(TestServer& server, const std::string& version) {
  TestServer older(TestServer::Options{.directives = {"emulate " + version}});
  TestClient client(older);
  for (const RecordingJournal::Record& record : server.journal().Records()) {
    const TestReply reply = client.Run(record.words);
    if (MayBeUnknown(record.words.front())) continue;
    EXPECT_FALSE(reply.HasValue() && reply.tree->IsError()) << testing::PrintToString(record.words) << " " << reply;
  }
  EXPECT_EQ(SnapshotDifference(SnapshotOf(*server), SnapshotOf(*older)), "")
      << testing::PrintToString(server.journal().Lines());
}

void ExpectPropagated(const std::vector<PropagationCase>& cases, const std::string& version,
                      const std::vector<std::string>& directives = {}) {
  for (const PropagationCase& one : cases) {
    SCOPED_TRACE(one.command);
    TestServer server(TestServer::Options{.directives = directives});
    TestClient client(server);
    for (const std::string& line : one.setup) {
      const TestReply reply = client.Run(line);
      EXPECT_FALSE(reply.HasValue() && reply.tree->IsError()) << line << " " << reply;
    }
    const size_t before = server.journal().Lines().size();
    const TestReply reply = client.Run(one.command);
    EXPECT_FALSE(reply.HasValue() && reply.tree->IsError()) << reply;
    std::vector<std::string> lines = server.journal().Lines();
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(before));
    EXPECT_EQ(lines.size(), one.journal.size()) << testing::PrintToString(lines);
    for (size_t i = 0; i < std::min(lines.size(), one.journal.size()); ++i) {
      const std::string& expected = one.journal[i];
      if (expected.ends_with("*")) {
        EXPECT_TRUE(lines[i].starts_with(expected.substr(0, expected.size() - 1))) << lines[i];
      } else {
        EXPECT_EQ(lines[i], expected);
      }
    }
    ExpectOlderVersionFollows(server, version);
  }
}

TEST(Propagation, StringsBecomeSet) {
  ExpectPropagated(
      {{{}, "MSETEX 2 a 1 b 2 NX EX 1000", {"0: SET a 1 PXAT 1700001000000", "0: SET b 2 PXAT 1700001000000"}},
       {{"SET a 1 EX 100"}, "MSETEX 1 a 2 XX KEEPTTL", {"0: SET a 2 KEEPTTL"}},
       {{"SET a 1"}, "MSETEX 2 a 2 b 3", {"0: SET a 2", "0: SET b 3"}},
       {{"SET a 1"}, "MSETEX 2 a 2 b 3 NX", {}},
       {{"SET a 1"}, "SET a 2 IFEQ 1", {"0: SET a 2"}},
       {{"SET a 1"}, "SET a 2 IFNE 2 EX 5", {"0: SET a 2 PXAT 1700000005000"}},
       {{"SET a 1"}, "SET a 2 IFDNE 0123456789abcdef KEEPTTL", {"0: SET a 2 KEEPTTL"}},
       {{"SET a 1"}, "DELIFEQ a 1", {"0: DEL a"}},
       {{"SET a 1"}, "DELEX a IFNE 2", {"0: DEL a"}},
       {{"SET a 1"}, "INCREX a BYINT 5 EX 1000", {"0: SET a 6 PXAT 1700001000000"}},
       {{"SET a 1 EX 9"}, "INCREX a BYFLOAT 0.5 PERSIST", {"0: SET a 1.5"}},
       {{"SET x c", "SET y !"}, "BITOP DIFF d x y", {"0: SET d B"}},
       {{"SET x !", "SET y c"}, "BITOP DIFF1 d x y", {"0: SET d B"}},
       {{"SET x c", "SET y !"}, "BITOP ANDOR d x y", {"0: SET d !"}},
       {{"SET x c", "SET y !", "RPUSH d e"}, "BITOP ONE d x y", {"0: SET d B"}},
       {{"SET d c EX 100"}, "BITOP ONE d none other", {"0: DEL d"}},
       {{"SET x c", "SET y !"}, "BITOP XOR d x y", {"0: BITOP XOR d x y"}}},
      "redis:7.0");
}

TEST(Propagation, ListsBecomePopsAndPushes) {
  ExpectPropagated(
      {{{"RPUSH l a b c"}, "LMOVEM l m LEFT RIGHT", {"0: LMOVE l m LEFT RIGHT"}},
       {{"RPUSH l a b c", "RPUSH m x"}, "LMOVEM l m LEFT LEFT COUNT 2 OBO", {"0: LPOP l 2", "0: LPUSH m a b"}},
       {{"RPUSH l a b c", "RPUSH m x"}, "LMOVEM l m LEFT LEFT COUNT 2 BULK", {"0: LPOP l 2", "0: LPUSH m b a"}},
       {{"RPUSH l a b c", "RPUSH m x"}, "BLMOVEM l m RIGHT RIGHT 0 COUNT 9 OBO", {"0: RPOP l 3", "0: RPUSH m c b a"}},
       {{"RPUSH l a b c"}, "LMOVEM l l LEFT RIGHT COUNT 2 OBO", {"0: LPOP l 2", "0: RPUSH l a b"}},
       {{"RPUSH l a b c", "EXPIRE l 100"}, "LMOVEM l l LEFT LEFT COUNT 3 OBO", {"0: RPUSH l c b a", "0: LPOP l 3"}},
       {{"RPUSH l a b c", "EXPIRE l 100"}, "LMOVEM l l RIGHT RIGHT COUNT 3 OBO", {"0: LPUSH l a b c", "0: RPOP l 3"}},
       {{"RPUSH l a b c", "EXPIRE l 100"}, "LMOVEM l l RIGHT LEFT COUNT 3 BULK", {"0: LPUSH l c b a", "0: RPOP l 3"}},
       {{"RPUSH l a"}, "LMOVEM l m LEFT RIGHT EXACTLY 2 OBO", {}},
       {{"RPUSH l a b a"}, "LREM l -9223372036854775808 a", {"0: LREM l -9223372036854775807 a"}}},
      "redis:7.0");
}

TEST(Propagation, SortedListsBecomeTheirElements) {
  ExpectPropagated({{{"RPUSH l 3 1 0x2"}, "SORT l STORE d", {"0: DEL d", "0: RPUSH d 1 0x2 3"}},
                    {{"RPUSH l b a", "SET d x"}, "SORT l BY w_* GET n_* GET # STORE d", {"0: DEL d", "0: RPUSH d *"}},
                    {{"RPUSH l 3 1 -0.5"}, "SORT l STORE d", {"0: SORT l STORE d"}},
                    {{"SET d x"}, "SORT none BY w_* STORE d", {"0: DEL d"}},
                    {{"RPUSH l 1"}, "SORT l", {}}},
                   "redis:7.0");
}

TEST(Propagation, SortedSetsBecomeTheirMembers) {
  ExpectPropagated(
      {{{"ZADD z 5 a 6 b", "SADD y b c", "SET d x"},
        "ZUNIONSTORE d 2 z y WEIGHTS 2 0.1 AGGREGATE COUNT",
        {"0: DEL d", "0: ZADD d 0.1 c 2 a 2.1 b"}},
       {{"ZADD z 5 a 6 b"}, "ZINTERSTORE z 2 z z AGGREGATE COUNT", {"0: DEL z", "0: ZADD z 2 a 2 b"}},
       {{"ZADD z 5 a"}, "ZUNIONSTORE d 1 z WEIGHTS -inf AGGREGATE COUNT", {"0: DEL d", "0: ZADD d -inf a"}},
       {{"ZADD z 5 a", "SET d x"}, "ZINTERSTORE d 2 z none AGGREGATE COUNT", {"0: DEL d"}},
       {{"ZADD z 5 a"}, "ZINTERSTORE d 2 z none AGGREGATE COUNT", {}},
       {{"ZADD z 5 a"}, "ZUNIONSTORE d 1 z AGGREGATE MAX", {"0: ZUNIONSTORE d 1 z AGGREGATE MAX"}},
       {{"GEOADD g 1 1 m"}, "GEOSEARCHSTORE d g BYPOLYGON 3 0 0 2 4 4 0", {"0: DEL d", "0: ZADD d 3377822*"}},
       {{"GEOADD g 1 1 m"}, "GEOSEARCHSTORE d g BYPOLYGON 3 0 0 2 4 4 0 STOREDIST", {"0: DEL d", "0: ZADD d 1*"}},
       {{"GEOADD g 1 1 m", "SET d x"}, "GEOSEARCHSTORE d g BYPOLYGON 3 5 5 7 9 9 5", {"0: DEL d"}},
       {{"GEOADD g 1 1 m 1 1 n"},
        "GEOSEARCHSTORE d g FROMLONLAT 1 1 BYRADIUS 9 km COUNT 1 ANY",
        {"0: DEL d", "0: ZADD d 3377822*"}}},
      "redis:7.0");
}

TEST(Propagation, ManyMembersTakeSeveralCommands) {
  TestServer server;
  TestClient client(server);
  for (int i = 0; i < 2001; ++i) client.Run(StrCat("ZADD z ", i, " m", i));
  const size_t before = server.journal().Records().size();
  client.Run("ZUNIONSTORE d 1 z AGGREGATE COUNT");
  const auto& records = server.journal().Records();
  ASSERT_EQ(records.size(), before + 4);
  EXPECT_EQ(records[before + 1].words.size(), 2002u);
  EXPECT_EQ(records[before + 3].words.size(), 4u);
  ExpectOlderVersionFollows(server, "redis:7.0");
}

TEST(Propagation, NumbersHaveAFormThatAllVersionsRead) {
  const std::vector<PropagationCase> cases = {
      {{}, "ZADD z CH 0x10 a 1.5 b", {"0: ZADD z CH 16 a 1.5 b"}},
      {{"ZADD z 1 a"}, "ZADD z INCR 0x1p-1 a", {"0: ZADD z INCR 0.5 a"}},
      {{"ZADD z 1 a 2 b"}, "ZUNIONSTORE d 1 z WEIGHTS 0x10", {"0: DEL d", "0: ZADD d 16 a 32 b"}},
      {{}, "GEOADD g CH 0x1 -0x1 0x1 2 3 n", {"0: GEOADD g CH 1 -1 0x1 2 3 n"}},
      {{"GEOADD g 1 1 m"}, "GEOSEARCHSTORE d g FROMLONLAT 1 1 BYRADIUS 0x5 km", {"0: DEL d", "0: ZADD d *"}},
      {{"GEOADD g 1 1 0x1"},
       "GEOSEARCHSTORE d g FROMMEMBER 0x1 BYRADIUS 5 km",
       {"0: GEOSEARCHSTORE d g FROMMEMBER 0x1 BYRADIUS 5 km"}},
      {{"ZADD z 1 a"}, "ZINCRBY z 0x1 a", {"0: ZINCRBY z 1 a"}},
      {{"ZADD z 1 a 2 b 3 c"}, "ZREMRANGEBYSCORE z (0x1 0x2", {"0: ZREMRANGEBYSCORE z (1 2"}},
      {{"ZADD z 1 a 1 b 1 c"}, "ZREMRANGEBYLEX z [b +", {"0: ZREMRANGEBYLEX z [b +"}},
      {{"ZADD z 1 a 2 b 3 c"}, "ZREMRANGEBYLEX z [b +", {"0: ZREMRANGEBYRANK z 1 2"}},
      {{"ZADD z 1 a 2 b 3 c"}, "ZREMRANGEBYLEX z [d +", {}},
      {{"ZADD z 1 a 2 b 3 c"}, "ZREMRANGEBYSCORE z 2 1e999", {"0: ZREMRANGEBYSCORE z 2 inf"}},
      {{"ZADD z 1 a 2 b 3 c"}, "ZREMRANGEBYSCORE z -inf (2", {"0: ZREMRANGEBYSCORE z -inf (2"}},
      {{"ZADD z 1 a 2 b 3 c"},
       "ZRANGESTORE d z 0x3 (0x1 BYSCORE REV LIMIT 1 5",
       {"0: ZRANGESTORE d z 3 (1 BYSCORE REV LIMIT 1 5"}}};
  ExpectPropagated(cases, "redis:8.0");
  ExpectPropagated(cases, "valkey:9.1");
}

TEST(Propagation, NegativeOffsetsOfZRangeStore) {
  const std::string large = "ZADD z 1 a 2 b 3 c 4 d";
  ExpectPropagated({{{large}, "ZRANGESTORE d z -inf +inf BYSCORE LIMIT -1 5", {}},
                    {{large, "SET d x"}, "ZRANGESTORE d z -inf +inf BYSCORE LIMIT -1 5", {"0: DEL d"}},
                    {{large}, "ZRANGESTORE d z 1 2", {"0: ZRANGESTORE d z 1 2"}}},
                   "redis:8.0", {"zset-max-listpack-entries 2"});
  ExpectPropagated(
      {{{large}, "ZRANGESTORE d z -inf (4 BYSCORE LIMIT -2 5", {"0: ZRANGESTORE d z -inf (4 BYSCORE LIMIT 1 5"}},
       {{large}, "ZRANGESTORE d z + - BYLEX REV LIMIT -1 1", {"0: ZRANGESTORE d z + - BYLEX REV LIMIT 3 1"}},
       {{large, "SET d x"}, "ZRANGESTORE d z -inf +inf BYSCORE LIMIT -9 5", {"0: DEL d"}}},
      "redis:7.0", {"zset-max-listpack-entries 2", "emulate redis:8.0"});
}

TEST(Propagation, FieldDeadlinesBecomeHPExpireAt) {
  ExpectPropagated(
      {{{}, "HSETEX h EX 100 FIELDS 2 a 1 b 2", {"0: HSET h a 1 b 2", "0: HPEXPIREAT h 1700000100000 FIELDS 2 a b"}},
       {{"HSET h a 1 b 2 c 3", "HEXPIRE h 10 FIELDS 1 a", "HEXPIRE h 20 FIELDS 1 c"},
        "HSETEX h FXX KEEPTTL FIELDS 3 a 4 b 5 c 6",
        {"0: HSET h a 4 b 5 c 6", "0: HPEXPIREAT h 1700000010000 FIELDS 1 a",
         "0: HPEXPIREAT h 1700000020000 FIELDS 1 c"}},
       {{"HSET h a 1"}, "HSETEX h KEEPTTL FIELDS 1 a 4", {"0: HSET h a 4"}},
       {{"HSET h a 1 b 2"}, "HSETEX h PXAT 1 FIELDS 2 a 4 c 5", {"0: HDEL h a c"}},
       {{"HSET h a 1", "HEXPIRE h 10 FIELDS 1 a"},
        "HINCRBYFLOAT h a 0.5",
        {"0: HSET h a 1.5", "0: HPEXPIREAT h 1700000010000 FIELDS 1 a"}},
       {{"HSET h a 1 b 2"}, "HGETEX h PX 5 FIELDS 1 a", {"0: HPEXPIREAT h 1700000000005 FIELDS 1 a"}},
       {{"HSET h a 1 b 2"}, "HGETDEL h FIELDS 2 a c", {"0: HDEL h a"}}},
      "redis:7.4");
}

const std::vector<std::string> kStreamWithGroups = {"XADD s 1-0 f v",
                                                    "XADD s 2-0 f v",
                                                    "XADD s 3-0 f v",
                                                    "XADD s 4-0 f v",
                                                    "XGROUP CREATE s g 0",
                                                    "XGROUP CREATE s h 0",
                                                    "XREADGROUP GROUP g c STREAMS s >",
                                                    "XREADGROUP GROUP h c STREAMS s >",
                                                    "XACK s h 1-0 3-0 4-0",
                                                    "XACK s g 3-0 4-0"};  // pending: g 1-0 2-0, h 2-0

TEST(Propagation, RemovedEntriesOfStreams) {
  ExpectPropagated(
      {{kStreamWithGroups, "XDELEX s IDS 3 1-0 9-0 3-0", {"0: XDEL s 1-0 3-0"}},
       {kStreamWithGroups,
        "XDELEX s DELREF IDS 2 2-0 3-0",
        {"0: XACK s g 2-0", "0: XACK s h 2-0", "0: XDEL s 2-0 3-0"}},
       {kStreamWithGroups, "XDELEX s ACKED IDS 2 2-0 3-0", {"0: XDEL s 3-0"}},
       {kStreamWithGroups, "XDELEX s ACKED IDS 1 2-0", {}},
       {kStreamWithGroups, "XACKDEL s g IDS 2 2-0 3-0", {"0: XACK s g 2-0", "0: XDEL s 2-0"}},
       {kStreamWithGroups, "XACKDEL s g DELREF IDS 1 2-0", {"0: XACK s g 2-0", "0: XACK s h 2-0", "0: XDEL s 2-0"}},
       {kStreamWithGroups, "XACKDEL s g ACKED IDS 2 1-0 2-0", {"0: XACK s g 1-0 2-0", "0: XDEL s 1-0"}},
       {kStreamWithGroups,
        "XTRIM s MAXLEN 2 DELREF",
        {"0: XACK s g 1-0 2-0", "0: XACK s h 2-0", "0: XTRIM s MINID = 3-0"}},
       {kStreamWithGroups, "XTRIM s MAXLEN 0 ACKED", {"0: XDEL s 3-0 4-0"}},
       {{"XADD s 1-0 f v", "XADD s 2-0 f v"}, "XTRIM s MAXLEN 1 ACKED", {"0: XTRIM s MINID = 2-0"}},
       {{"XADD s 1-0 f v", "XADD s 2-0 f v"}, "XTRIM s MAXLEN 0 ACKED", {"0: XTRIM s MAXLEN = 0"}},
       {{"XADD s 1-0 f v", "XADD s 2-0 f v"}, "XTRIM s MAXLEN 1 KEEPREF", {"0: XTRIM s MAXLEN = 1"}},
       {kStreamWithGroups, "XADD s MAXLEN 4 ACKED 5-0 f v", {"0: XADD s 5-0 f v", "0: XDEL s 3-0"}},
       {kStreamWithGroups,
        "XADD s DELREF MAXLEN 1 5-0 f v",
        {"0: XADD s 5-0 f v", "0: XACK s g 1-0 2-0", "0: XACK s h 2-0", "0: XTRIM s MINID = 5-0"}},
       {kStreamWithGroups, "XADD s MAXLEN 4 KEEPREF 5-0 f v", {"0: XADD s MAXLEN = 4 5-0 f v"}}},
      "redis:7.0");
}

// XDEL raises the greatest deleted ID, which a trim leaves as it is.
TEST(Propagation, ATrimWithGapsKeepsTheGreatestDeletedId) {
  std::vector<std::string> setup = {"XADD s 0-1 f v", "XADD s 0-2 f v", "XDEL s 0-2"};
  setup.insert(setup.end(), kStreamWithGroups.begin(), kStreamWithGroups.end());
  setup.insert(setup.end(), {"XACK s g 0-1", "XACK s h 0-1"});
  ExpectPropagated(
      {{setup,
        "XTRIM s MAXLEN 0 ACKED",
        {"0: XTRIM s MINID = 1-0", "0: XDEL s 3-0 4-0", "0: XSETID s 4-0 ENTRIESADDED 6 MAXDELETEDID 0-2"}}},
      "redis:7.0");
}

TEST(Propagation, IdempotentEntriesBecomeXAddAndARecord) {
  ExpectPropagated({{{},
                     "XADD s IDMP p i MAXLEN ~ 5 * f v",
                     {"0: XADD s MAXLEN = 1 1700000000000-0 f v", "0: XIDMPRECORD s p i 1700000000000-0"}},
                    {{"XADD s IDMP p i * f v"}, "XADD s IDMP p i * f v", {}},
                    {{}, "XADD s IDMPAUTO p * f v", {"0: XADD s 1700000000000-0 f v", "0: XIDMPRECORD s p *"}}},
                   "redis:7.0");
}

// A replica before Redis 8.6 would refuse the whole transaction with the unknown XIDMPRECORD.
TEST(Propagation, TheRecordFollowsTheTransaction) {
  TestServer server;
  StreamRecorder stream(server);
  TestClient client(server);
  client.Run("MULTI");
  client.Run("XADD s IDMP p i * f v");
  client.Run("SET k v");
  client.Run("EXEC");
  client.Run("SET k w");
  const std::string id = "1700000000000-0";
  EXPECT_EQ(stream.Text(), EncodeRequest({"MULTI"}) + EncodeRequest({"SELECT", "0"}) +
                               EncodeRequest({"XADD", "s", id, "f", "v"}) + EncodeRequest({"SET", "k", "v"}) +
                               EncodeRequest({"EXEC"}) + EncodeRequest({"XIDMPRECORD", "s", "p", "i", id}) +
                               EncodeRequest({"SET", "k", "w"}));
}

// Repeats XADD with some idempotent IDs to some streams. The result tells which repetitions the server recognized, as
// the length of the stream is the same after these.
std::string OutcomesOfRepetitions(TestServer& server) {
  TestClient client(server);
  std::string outcomes;
  for (const char* db : {"0", "1"}) {
    client.Run({"SELECT", db});
    for (const char* key : {"s", "t", "u"}) {
      for (const char* id : {"i", "j"}) {
        const int64_t before = client.Run({"XLEN", key}).Integer();
        client.Run({"XADD", key, "IDMP", "p", id, "*", "f", "v"});
        const bool is_recognized = client.Run({"XLEN", key}).Integer() == before;
        if (is_recognized) outcomes += StrCat(" ", db, key, id);
      }
    }
  }
  return outcomes;
}

// A replica must know the same idempotent IDs for the same streams, whatever else the transaction does.
TEST(Propagation, TheRecordStaysInATransactionThatChangesTheKey) {
  const std::string xadd = "XADD s IDMP p i * f v";
  const std::vector<std::vector<std::string>> transactions = {
      {xadd, "DEL s", "XADD s * f other"},
      {xadd, "RENAME s t", "RENAME u s"},
      {xadd, "RENAME s t"},
      {xadd, "COPY s t"},
      {xadd, "copy s t DB 1"},
      {xadd, "MOVE s 1"},
      {xadd, "SWAPDB 0 1"},
      {xadd, "FLUSHALL", "XADD s * f other"},
      {xadd, "XCFGSET s IDMP-MAXSIZE 3"},
      {xadd, "XADD s MAXLEN 1 * f w"},
      {xadd, "XADD s NOMKSTREAM MAXLEN 1 * f w", "XADD s IDMP p j * f v"},
      {"XADD s IDMP p i MAXLEN 0 * f v"},
      {"XADD s IDMP p i MAXLEN 0 * f v", "XADD s IDMP p j MAXLEN 0 * f v"},
      {"XADD s IDMP p i MINID 9999999999999 * f v"},
      {xadd, "XADD s IDMP p j * f v", "SET k v"},
  };
  for (const std::vector<std::string>& transaction : transactions) {
    SCOPED_TRACE(testing::PrintToString(transaction));
    TestServer server;
    StreamRecorder stream(server);
    TestClient client(server);
    client.Run("XADD u * a b");
    client.Run("MULTI");
    for (const std::string& line : transaction) client.Run(line);
    client.Run("EXEC");
    ExpectReplicaMatches(server, stream);
    TestServer replica;
    TestClient primary(replica);
    primary.session().authenticated = true;
    primary.session().kind = SessionKind::kPrimary;
    primary.Raw(stream.Text());
    EXPECT_EQ(OutcomesOfRepetitions(replica), OutcomesOfRepetitions(server));
  }
}

TEST(Propagation, OnlyWhatChangesTheKeyKeepsTheRecordInTheTransaction) {
  PropagatedCommands commands;
  const auto add = [&](std::initializer_list<Bytes> words, uint8_t targets = JournalEntry::kEverybody) {
    commands.Add(0, std::vector<Bytes>(words), targets);
  };
  constexpr uint8_t kRecord = JournalEntry::kEverybody | JournalEntry::kAlone;
  add({"DEL", "s", "t"});
  add({"XADD", "s", "1-0", "t", "u"});
  add({"XIDMPRECORD", "s", "p", "t", "1-0"}, kRecord);
  add({"XADD", "t", "1-0", "f", "v"});
  add({"XIDMPRECORD", "t", "p", "i", "1-0"}, kRecord);
  add({"XADD", "s", "2-0", "f", "v"});
  add({"XIDMPRECORD", "s", "p", "j", "2-0"}, kRecord);
  add({"XADD", "t", "MAXLEN", "=", "1", "2-0", "f", "v"});
  add({"XIDMPRECORD", "t", "p", "j", "2-0"}, kRecord);
  add({"XIDMPRECORD", "only in the file", "p", "j", "2-0"}, JournalEntry::kFile | JournalEntry::kAlone);
  EXPECT_THAT(CommandsAfterExec(PropagatedGroup(commands, 0)), testing::ElementsAre(2u, 6u, 8u));
  add({"flushdb"});
  EXPECT_THAT(CommandsAfterExec(PropagatedGroup(commands, 0)), testing::IsEmpty());
  EXPECT_THAT(CommandsAfterExec(PropagatedGroup(commands, 0, 1)), testing::IsEmpty());
}

// A new command must be replaced by older ones, with a case in this file, or be named in docs/replication.md.
TEST(Propagation, TheseAreAllLaterWrites) {
  TestServer server;
  const Dialect& older = DialectOf(Emulated::kRedis70);
  std::set<std::string> later;
  server->services().env.commands.ForEach([&](const Command& command) {
    if (command.Is(kWrite) && !older.Has(command.Spec().since)) later.emplace(command.full_name);
  });
  EXPECT_THAT(later, testing::UnorderedElementsAreArray({"ardel",          "ardelrange",     "arinsert",
                                                         "armset",         "arring",         "arseek",
                                                         "arset",          "blmovem",        "cluster|flushslot",
                                                         "delex",          "delifeq",        "hexpire",
                                                         "hexpireat",      "hgetdel",        "hgetex",
                                                         "himport|set",    "hpersist",       "hpexpire",
                                                         "hpexpireat",     "hsetex",         "increx",
                                                         "json.arrappend", "json.arrinsert", "json.arrpop",
                                                         "json.arrtrim",   "json.clear",     "json.del",
                                                         "json.forget",    "json.merge",     "json.mset",
                                                         "json.numincrby", "json.nummultby", "json.set",
                                                         "json.strappend", "json.toggle",    "lmovem",
                                                         "msetex",         "trimslots",      "VADD",
                                                         "VREM",           "VSETATTR",       "xackdel",
                                                         "xcfgset",        "xdelex",         "xidmprecord",
                                                         "xnack"}));
}

// The version is in the last ten bytes of a payload, before the checksum.
uint16_t PayloadVersion(const std::string& payload) { return static_cast<uint8_t>(payload[payload.size() - 10]); }

TEST(Propagation, PayloadsHaveTheOldestVersion) {
  TestServer server;
  TestClient client(server);
  for (const char* line : {"SET text 123", "SADD numbers 1 2", "SADD words a b", "HSET timed f v", "RPUSH list a",
                           "HEXPIRE timed 100 FIELDS 1 f", "XADD stream 1-1 f v", "HSET hash f v", "ZADD sorted 1 a"}) {
    client.Run(line);
  }
  for (const std::string key : {"text", "numbers", "words", "list", "stream", "hash", "sorted", "timed"}) {
    const std::string payload = client.Run("DUMP " + key).Text();
    EXPECT_EQ(PayloadVersion(payload), key == "timed" ? 12 : 11);
    EXPECT_THAT(client.Run({"RESTORE", "copy-" + key, "0", payload}), Ok());
    const std::vector<std::string>& words = server.journal().Records().back().words;
    EXPECT_EQ(words[1], "copy-" + key);
    EXPECT_EQ(PayloadVersion(words[3]), key == "timed" ? 12 : 10) << key;
    EXPECT_EQ(words.size(), 4u) << key;  // no ABSTTL, because there is no deadline
  }
  ExpectOlderVersionFollows(server, "redis:7.4");
  client.Run({"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)"});
  const std::string dump = client.Run("FUNCTION DUMP").Text();
  EXPECT_EQ(PayloadVersion(dump), 11);
  EXPECT_THAT(client.Run({"FUNCTION", "RESTORE", dump, "FLUSH"}), Ok());
  const std::vector<std::string>& words = server.journal().Records().back().words;
  EXPECT_EQ(PayloadVersion(words[2]), 10);
  EXPECT_EQ(words[3], "FLUSH");
}

}  // namespace
}  // namespace respite
