// CLUSTER MIGRATESLOTS: whole servers on a fake network. The seeded stories of cluster_history_test.cc use it as well.
#include <string>

#include "server/cluster/slots/slot_change_collector.h"
#include "server/storage/hidden_slots_text.h"
#include "tests/server/cluster/slots/slot_migration_fixture.h"

namespace respite {
namespace {

using testing::HasSubstr;

TEST_F(SlotMigrationTest, MovesValuesOfAllTypes) {
  const auto [source, target] = FormPair();
  source.Run("SET {t}string text");
  source.Run("SET {t}number 42 EX 1000");
  for (int i = 0; i < 300; ++i) source.Run(StrCat("RPUSH {t}list element", i));
  for (int i = 0; i < 300; ++i) source.Run(StrCat("HSET {t}hash field", i, " value"));
  for (int i = 0; i < 300; ++i) source.Run(StrCat("ZADD {t}zset ", i, " member", i));
  source.Run("SADD {t}set a b c");
  source.Run("XADD {t}stream 1-1 a b");
  source.Run("XGROUP CREATE {t}stream group 0");
  source.Run("XREADGROUP GROUP group me STREAMS {t}stream >");
  source.Run({"JSON.SET", "{t}document", "$", R"({"a":[1,2.5,null]})"});
  for (int i = 0; i < 300; ++i) source.Run(StrCat("VADD {t}vectors VALUES 2 ", i, " 1 element", i, " SETATTR ", i));
  source.Run("SET {elsewhere} stays");
  const std::string similar = source.Run("VSIM {t}vectors VALUES 2 3 1 COUNT 300 TRUTH").Text();
  const std::string digest = source.Run("DEBUG DIGEST-VALUE {t}string {t}number {t}list {t}hash {t}zset {t}set").Text();

  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  StepUntil(source, "success");
  EXPECT_EQ(State(target), "success");
  EXPECT_EQ(source.Run("GET {t}string").Text(), StrCat("MOVED ", KeySlot("t"), " 127.0.0.1:", target.port()));
  EXPECT_EQ(target.Run("DEBUG DIGEST-VALUE {t}string {t}number {t}list {t}hash {t}zset {t}set").Text(), digest);
  EXPECT_EQ(target.Run("XPENDING {t}stream group").Size(), 4u);
  EXPECT_EQ(target.Run("TTL {t}number").Integer(), 1000);
  EXPECT_EQ(target.Run("JSON.GET {t}document").Text(), R"({"a":[1,2.5,null]})");
  EXPECT_EQ(target.Run("VSIM {t}vectors VALUES 2 3 1 COUNT 300 TRUTH").Text(), similar);
  EXPECT_EQ(target.Run("VGETATTR {t}vectors element7").Text(), "7");
  EXPECT_EQ(KeysAt(target), 9u);
  EXPECT_EQ(source.Run(StrCat("CLUSTER COUNTKEYSINSLOT ", KeySlot("t"))).Integer(), 0);
  EXPECT_TRUE(target->services().data.dataset.keyspace.hidden().IsEmpty());
}

TEST_F(SlotMigrationTest, HidesKeysUntilTheirSlotIsHere) {
  const auto [source, target] = FormPair();
  for (int i = 0; i < 50; ++i) source.Run(StrCat("SET {t}", i, " value EX 100"));
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  world_.network().SetPiece(200);
  for (int i = 0; i < 5000 && KeysAt(target) < 20; ++i) world_.network().RunOnce();
  world_.network().SetApart(source.port(), target.port());
  ASSERT_GE(KeysAt(target), 20u);
  ASSERT_NE(State(target), "success");

  EXPECT_EQ(target.Run("DBSIZE").Integer(), 0);
  EXPECT_EQ(target.Run("KEYS *").Size(), 0u);
  EXPECT_EQ(target.Run("SCAN 0 COUNT 1000")[1].Size(), 0u);
  EXPECT_THAT(target.Run("RANDOMKEY"), Nil());
  EXPECT_THAT(target.Run("INFO keyspace").Text(), testing::Not(HasSubstr("db0:")));
  EXPECT_THAT(target.Run("GET {t}1").Text(), HasSubstr("MOVED"));
  // The source decides what expires and what is evicted.
  target.server().clock().StepWallMs(200'000);
  for (int i = 0; i < 20; ++i) target->housekeeping().Tick();
  target.Run("CONFIG SET maxmemory-policy allkeys-random");
  target.Run("CONFIG SET maxmemory 1");
  target.Run("PING");
  target.Run("CONFIG SET maxmemory 0");
  EXPECT_GE(KeysAt(target), 20u);
}

TEST_F(SlotMigrationTest, MovesKeysOfAllDatabases) {
  const auto [source, target] = FormPair({"cluster-databases 4"});
  source.Run("SET {t} zero");
  source.Run("SELECT 2");
  source.Run("SET {t} two");
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  for (int i = 0; i < 500 && State(source) != "snapshotting"; ++i) world_.network().RunOnce();
  source.Run("APPEND {t} !");
  StepUntil(source, "success");
  EXPECT_EQ(target.Run("GET {t}").Text(), "zero");
  target.Run("SELECT 2");
  EXPECT_EQ(target.Run("GET {t}").Text(), "two!");
  EXPECT_EQ(source->services().data.dataset.keyspace[2].Size(), 0u);
}

TEST_F(SlotMigrationTest, SendsTheChangesOfMeanwhile) {
  const auto [source, target] = FormPair();
  source.Run("SET {t}a 1");
  source.Run("SET {t}b 2");
  source.Run("SET {t}old 1");
  source.Run({"JSON.SET", "{t}document", "$", "[1]"});
  source.Run("VADD {t}vectors VALUES 2 1 1 a");
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  for (int i = 0; i < 500 && State(source) != "snapshotting"; ++i) world_.network().RunOnce();
  ASSERT_EQ(State(source), "snapshotting");
  source.Run("RENAME {t}a {t}b");
  source.Run("INCR {t}new");
  source.Run("INCR {t}new");
  source.Run("DEL {t}old");
  source.Run("JSON.ARRAPPEND {t}document $ 2");
  source.Run("VADD {t}vectors VALUES 2 1 2 b");
  source.Run("MULTI");
  source.Run("APPEND {t}text one");
  source.Run("APPEND {t}text two");
  source.Run("EXEC");
  source.Run({"EVAL", "redis.call('RPUSH', KEYS[1], 'x', 'y') return redis.call('LPOP', KEYS[1])", "1", "{t}list"});
  StepUntil(source, "success");
  EXPECT_EQ(target.Run("GET {t}b").Text(), "1");
  EXPECT_EQ(target.Run("GET {t}new").Text(), "2");
  EXPECT_EQ(target.Run("GET {t}text").Text(), "onetwo");
  EXPECT_EQ(target.Run("LRANGE {t}list 0 -1").Size(), 1u);
  EXPECT_EQ(target.Run("JSON.GET {t}document").Text(), "[1,2]");
  EXPECT_EQ(target.Run("VCARD {t}vectors").Integer(), 2);
  EXPECT_EQ(target.Run("EXISTS {t}a {t}old").Integer(), 0);
  EXPECT_EQ(KeysAt(target), 6u);
}

TEST_F(SlotMigrationTest, HoldsWritesBackOnlyForTheLastChanges) {
  Form(3);
  ReplicationMember& source = Owns(At(0), "{t}") ? At(0) : Owns(At(1), "{t}") ? At(1) : At(2);
  ReplicationMember& target = &source == &At(0) ? At(1) : At(0);
  source.Run("SET {t}a 1");
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  for (int i = 0; i < 2000 && State(source) != "failover-paused"; ++i) world_.network().RunOnce();
  ASSERT_EQ(State(source), "failover-paused");
  TestClient writer(source.server());
  writer.Send("INCR {t}a");
  TestClient reader(source.server());
  EXPECT_EQ(reader.Run("GET {t}a").Text(), "1");
  EXPECT_FALSE(writer.Read().HasValue());
  // The target takes no slots over, so the source executes the paused write.
  world_.network().SetApart(source.port(), target.port());
  Step(5500);
  EXPECT_EQ(State(source), "failed");
  EXPECT_EQ(writer.Read().Integer(), 2);
}

TEST_F(SlotMigrationTest, FailureLeavesTheSlotsAndNoKeys) {
  const auto [source, target] = FormPair();
  for (int i = 0; i < 3000; ++i) source.Run(StrCat("SET {t}", i, " value"));
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  for (int i = 0; i < 5000 && KeysAt(target) < 2500; ++i) world_.network().RunOnce();
  ASSERT_GE(KeysAt(target), 2500u);
  ASSERT_FALSE(target->services().data.dataset.keyspace.hidden().IsEmpty());
  world_.network().Break(source.port(), target.port());
  Step(1000);
  EXPECT_EQ(State(source), "failed");
  EXPECT_EQ(State(target), "failed");
  EXPECT_EQ(KeysAt(target), 0u);
  EXPECT_TRUE(target->services().data.dataset.keyspace.hidden().IsEmpty());
  EXPECT_EQ(KeysAt(source), 3000u);
  EXPECT_TRUE(Owns(source, "t"));
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  StepUntil(source, "success");
  EXPECT_EQ(KeysAt(target), 3000u);
}

TEST_F(SlotMigrationTest, IsCancelled) {
  const auto [source, target] = FormPair();
  EXPECT_THAT(source.Run("CLUSTER CANCELSLOTMIGRATIONS"), Error("ERR No migrations ongoing"));
  source.Run("SET {t}a 1");
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  StopHalfway(source, target);
  EXPECT_THAT(source.Run("CLUSTER CANCELSLOTMIGRATIONS"), Ok());
  world_.network().SetAllTogether();
  Step(500);
  EXPECT_EQ(State(source), "cancelled");
  EXPECT_EQ(State(target), "failed");
  EXPECT_EQ(KeysAt(target), 0u);
  EXPECT_EQ(source.Run("GET {t}a").Text(), "1");
}

// After the source has allowed the target to take over, writes must not continue at the source.
TEST_F(SlotMigrationTest, IsNotCancelledOnceTheTargetMayTakeOver) {
  const auto [source, target] = FormPair();
  source.Run("SET {t}a 1");
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  for (int i = 0; i < 5000 && State(source) != "failover-granted"; ++i) world_.network().RunOnce();
  ASSERT_EQ(State(source), "failover-granted");
  EXPECT_THAT(source.Run("CLUSTER CANCELSLOTMIGRATIONS"), Error("ERR No migrations ongoing"));
  EXPECT_EQ(source.Run("CLUSTER MIGRATION CANCEL ALL").Integer(), 0);
  TestClient writer(source.server());
  writer.Send("SET {t}a 2");
  StepUntil(source, "success");
  EXPECT_THAT(writer.Read(), ErrorStartsWith("MOVED"));
  EXPECT_TRUE(Owns(target, "{t}"));
}

TEST_F(SlotMigrationTest, IsEndedByFlushAllAtEitherSide) {
  const auto [source, target] = FormPair();
  for (ReplicationMember* flushed : {&source, &target}) {
    source.Run("SET {t}a 1");
    EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
    for (int i = 0; i < 500 && State(source) != "snapshotting"; ++i) world_.network().RunOnce();
    flushed->Run("FLUSHALL");
    Step(500);
    EXPECT_EQ(State(source), "failed") << flushed->port();
    EXPECT_EQ(State(target), "failed") << flushed->port();
    EXPECT_TRUE(target->services().data.dataset.keyspace.hidden().IsEmpty());
    EXPECT_EQ(KeysAt(target), 0u);
  }
  EXPECT_EQ(source.Run("GET {t}a").Text(), "1");
}

TEST_F(SlotMigrationTest, ReplicasHideTheKeysTooAndCleanUpWhenPromoted) {
  Form(3, 1, {"cluster-replica-validity-factor 0"});
  ReplicationMember& target = At(0);
  ReplicationMember& source = At(1);
  ReplicationMember& replica = At(3);
  std::string key = "{t}";
  while (!Owns(source, key)) key = "{t" + key.substr(1);
  for (int i = 0; i < 50; ++i) source.Run(StrCat("SET ", key, i, " value"));
  target.Run("SET {own}" + std::string(Owns(target, "own") ? "" : "x") + " 1");
  EXPECT_THAT(Migrate(source, target, key), Ok());
  for (int i = 0; i < 1000 && KeysAt(replica) < 20; ++i) world_.network().RunOnce();
  ASSERT_GE(KeysAt(replica), 20u);
  EXPECT_EQ(State(replica), "occurring-on-primary");
  EXPECT_LE(replica.Run("DBSIZE").Integer(), 1);
  EXPECT_LE(replica.Run("KEYS *").Size(), 1u);
  target.Stop();
  Step(8000);
  ASSERT_TRUE(replica->services().cluster.cluster()->view().me().IsPrimary()) << replica.Log();
  EXPECT_LE(KeysAt(replica), 1u);
  EXPECT_TRUE(replica->services().data.dataset.keyspace.hidden().IsEmpty());
  EXPECT_EQ(State(source), "failed");
  EXPECT_EQ(KeysAt(source), 50u);
}

TEST_F(SlotMigrationTest, ReplicasHaveTheKeysAfterwards) {
  Form(2, 1);
  ReplicationMember& target = At(0);
  ReplicationMember& source = At(1);
  ReplicationMember& replica = At(2);
  std::string key = "{t}";
  while (!Owns(source, key)) key = "{t" + key.substr(1);
  for (int i = 0; i < 50; ++i) source.Run(StrCat("SET ", key, i, " value"));
  EXPECT_THAT(Migrate(source, target, key), Ok());
  StepUntil(source, "success");
  Step(500);
  ExpectSameData(target, replica);
  EXPECT_EQ(replica.Run("DBSIZE").Integer(), target.Run("DBSIZE").Integer());
  EXPECT_TRUE(replica->services().data.dataset.keyspace.hidden().IsEmpty());
}

// Hidden keys stay hidden after a restart, and are then deleted because no migration continues.
class SlotMigrationRestartTest : public SlotMigrationTest {
 protected:
  void RestartTarget(const std::string& preamble);
};

void SlotMigrationRestartTest::RestartTarget(const std::string& preamble) {
  const auto [source, target] = FormPair({"appendonly yes", "appendfsync always", "aof-use-rdb-preamble " + preamble});
  for (int i = 0; i < 50; ++i) source.Run(StrCat("SET {t}", i, " value"));
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  for (int i = 0; i < 1000 && KeysAt(target) < 20; ++i) world_.network().RunOnce();
  ASSERT_FALSE(target->services().data.dataset.keyspace.hidden().IsEmpty());
  target.Run("BGREWRITEAOF");
  target->housekeeping().Tick();
  target.Crash();
  target.Start();
  EXPECT_FALSE(target->services().data.dataset.keyspace.hidden().IsEmpty());
  EXPECT_EQ(target.Run("DBSIZE").Integer(), 0);
  Step(3000);
  EXPECT_TRUE(target->services().data.dataset.keyspace.hidden().IsEmpty());
  EXPECT_EQ(KeysAt(target), 0u);
  EXPECT_EQ(State(source), "failed");
  EXPECT_EQ(target->services().cluster.cluster()->view().importing().size(), 0u);
}

TEST_F(SlotMigrationRestartTest, IsForgottenByARestartFromAnRdbBase) { RestartTarget("yes"); }
TEST_F(SlotMigrationRestartTest, IsForgottenByARestartFromACommandBase) { RestartTarget("no"); }

TEST_F(SlotMigrationTest, SourceMayWriteToNothingElse) {
  const auto [source, target] = FormPair();
  std::string own = "{own}";
  while (!Owns(target, own)) own = "{o" + own.substr(1);
  target.Run("SET " + own + " 1");
  const std::string slot = std::to_string(KeySlot("t"));
  const std::string name(40, 'a');
  const std::string establish = "CLUSTER SYNCSLOTS ESTABLISH SOURCE " + Id(source) + " NAME " + name + " SLOTSRANGE ";
  TestClient liar(target.server());
  const std::string own_slot = std::to_string(KeySlot(own));
  EXPECT_THAT(liar.Run(establish + own_slot + " " + own_slot).Text(), HasSubstr("is not served by the source"));
  EXPECT_THAT(liar.Run(establish + slot + " " + slot), Ok());
  liar.Raw(EncodeRequest({"SET", own, "stolen"}) + EncodeRequest({"CLUSTER", "SYNCSLOTS", "FAILOVER-GRANTED"}));
  Step(100);
  EXPECT_TRUE(liar.Closed());
  EXPECT_EQ(target.Run("GET " + own).Text(), "1");
  EXPECT_EQ(State(target), "failed");
  EXPECT_THAT(target.Run("CLUSTER SYNCSLOTS FINISH STATE SUCCESS NAME " + name).Text(),
              HasSubstr("for replicas and files only"));
  EXPECT_THAT(target.Run("CLUSTER SYNCSLOTS FAILOVER-GRANTED").Text(), HasSubstr("No slot migration was established"));
}

// The original names of renamed commands are reserved for records that change data. Before a fix, SHUTDOWN was executed
// as well.
TEST_F(SlotMigrationTest, SourceFindsNoCommandThatWasRenamedAway) {
  const auto [source, target] = FormPair({"rename-command CONFIG \"\"", "rename-command SET \"\""});
  const std::string slot = std::to_string(KeySlot("t"));
  TestClient liar(target.server());
  EXPECT_THAT(liar.Run("CLUSTER SYNCSLOTS ESTABLISH SOURCE " + Id(source) + " NAME " + std::string(40, 'a') +
                       " SLOTSRANGE " + slot + " " + slot),
              Ok());
  liar.Raw(EncodeRequest({"SET", "{t}", "1"}));
  EXPECT_EQ(KeysAt(target), 1u);
  liar.Raw(EncodeRequest({"CONFIG", "SET", "hz", "77"}));
  EXPECT_NE(target->services().env.settings.hz, 77);
  Step(100);
  EXPECT_EQ(State(target), "failed");
}

// A file records what a migration did to the keys. Loading it must not begin a migration and take slots from their
// owner.
TEST_F(SlotMigrationTest, FilesCannotTakeSlotsOver) {
  const auto [source, target] = FormPair({"appendonly yes", "appendfsync always", "enable-debug-command yes"});
  const std::string slot = std::to_string(KeySlot("t"));
  std::string records = EncodeRequest({"CLUSTER", "SYNCSLOTS", "ESTABLISH", "SOURCE", Id(source), "NAME",
                                       std::string(40, 'a'), "SLOTSRANGE", slot, slot});
  for (const char* step : {"ACK", "SNAPSHOT-EOF", "PAUSED", "FAILOVER-GRANTED"}) {
    records += EncodeRequest({"CLUSTER", "SYNCSLOTS", step});
  }
  target.files().Put("appendonlydir/appendonly.aof.1.incr.aof", records + EncodeRequest({"SET", "{t}", "1"}));
  EXPECT_THAT(target.Run("DEBUG LOADAOF"), Ok());
  EXPECT_EQ(State(target), "none");
  EXPECT_TRUE(target->services().data.dataset.keyspace.hidden().Has(KeySlot("t")));
  Step(5000);
  EXPECT_TRUE(Owns(source, "{t}"));
  EXPECT_FALSE(Owns(target, "{t}"));
  EXPECT_TRUE(target->services().data.dataset.keyspace.hidden().IsEmpty());
  EXPECT_EQ(KeysAt(target), 0u);
}

// --- Found by an attack.

// A client that sends what a source would send.
class FakeSource {
 public:
  FakeSource(ReplicationMember& target, ReplicationMember& source, Bytes key, char name)
      : client_(target.server()), slot_(std::to_string(KeySlot(key))) {
    const std::string id = source->services().cluster.cluster()->view().me().id.String();
    EXPECT_THAT(client_.Run("CLUSTER SYNCSLOTS ESTABLISH SOURCE " + id + " NAME " + std::string(40, name) +
                            " SLOTSRANGE " + slot_ + " " + slot_),
                Ok());
  }
  // Returns the target's reply, if any.
  std::string Say(Bytes line) {
    const TestReply reply = client_.Run(line);
    return reply.HasValue() ? reply.Text() : "";
  }
  TestClient& client() { return client_; }

 private:
  TestClient client_;
  const std::string slot_;
};

TEST_F(SlotMigrationTest, TakesOverOnlyWhatIsCompleteAndInTime) {
  const auto [source, target] = FormPair();
  FakeSource liar(target, source, "{t}", 'a');
  liar.Say("CLUSTER SYNCSLOTS FAILOVER-GRANTED");
  Step(100);
  EXPECT_TRUE(liar.client().Closed());
  EXPECT_THAT(Message(target), HasSubstr("does not follow the last one"));
  FakeSource late(target, source, "{t}", 'b');
  for (const char* step : {"ACK", "SNAPSHOT-EOF", "PAUSED"}) late.Say(StrCat("CLUSTER SYNCSLOTS ", step));
  EXPECT_EQ(State(target), "failover-requested");
  target.server().clock().AdvanceMs(1600);
  late.Say("CLUSTER SYNCSLOTS FAILOVER-GRANTED");
  Step(1000);
  EXPECT_THAT(Message(target), HasSubstr("too late"));
  EXPECT_TRUE(Owns(source, "t"));
}

TEST_F(SlotMigrationTest, ResetEndsAnImport) {
  const auto [source, target] = FormPair();
  FakeSource reset(target, source, "{t}", 'a');
  reset.Say("RESET");
  EXPECT_EQ(State(target), "failed");
  Step(100);
  EXPECT_TRUE(target->services().data.dataset.keyspace.hidden().IsEmpty());
  EXPECT_TRUE(target->services().slot_migrations.imports().IsEmpty());
}

TEST_F(SlotMigrationTest, SourceMayNotRunScripts) {
  const auto [source, target] = FormPair();
  FakeSource liar(target, source, "{t}", 'a');
  liar.client().Run({"EVAL", "return redis.call('SET', 'any', 1)", "0"});
  Step(100);
  EXPECT_EQ(State(target), "failed");
  EXPECT_EQ(KeysAt(target), 0u);
  EXPECT_THAT(target.Run({"EVAL", "return redis.pcall('CLUSTER', 'SYNCSLOTS', 'ACK')", "0"}).Text(),
              HasSubstr("not allowed from script"));
}

// A client that poses as a source could otherwise run commands that were renamed away, and read their replies.
TEST_F(SlotMigrationTest, SourceFindsOriginalNamesOnlyOfWhatSourcesSend) {
  const auto [source, target] =
      FormPair({"rename-command KEYS \"\"", "rename-command SCRIPT \"\"", "rename-command SELECT \"\""});
  for (const std::vector<std::string>& request :
       {std::vector<std::string>{"KEYS", "*"}, {"SCRIPT", "LOAD", "return 1"}}) {
    FakeSource liar(target, source, "{t}", 'a');
    EXPECT_EQ(liar.Say("CLIENT REPLY ON"), "OK");
    EXPECT_THAT(liar.client().Run(request).Text(), HasSubstr("unknown command")) << request[0];
    Step(100);
    EXPECT_EQ(State(target), "failed") << request[0];
  }
  FakeSource sender(target, source, "{t}", 'b');
  sender.client().Raw(EncodeRequest({"SELECT", "0"}) + EncodeRequest({"SET", "{t}", "1"}));
  EXPECT_EQ(KeysAt(target), 1u);
}

TEST_F(SlotMigrationTest, SourceMayNotWriteWithoutKeys) {
  const auto [source, target] = FormPair();
  std::string own = "{u}";
  while (!Owns(target, own)) own = "{u" + own.substr(1);
  target.Run("SET " + own + " 1");
  for (const char* line : {"FLUSHALL", "FLUSHDB", "FUNCTION FLUSH"}) {
    FakeSource liar(target, source, "{t}", 'a');
    liar.client().Run(line);
    Step(100);
    EXPECT_EQ(State(target), "failed") << line;
    EXPECT_THAT(target.Run("GET " + own), Bulk("1")) << line;
  }
}

TEST_F(SlotMigrationTest, NamesAndHiddenSlotsAreTakenOnce) {
  const auto [source, target] = FormPair();
  std::string other = "{u}";
  while (!Owns(source, other) || KeySlot(other) == KeySlot("t")) other = "{u" + other.substr(1);
  FakeSource first(target, source, "{t}", 'a');
  TestClient second(target.server());
  const std::string slot = std::to_string(KeySlot(other));
  EXPECT_THAT(second
                  .Run("CLUSTER SYNCSLOTS ESTABLISH SOURCE " + Id(source) + " NAME " + std::string(40, 'a') +
                       " SLOTSRANGE " + slot + " " + slot)
                  .Text(),
              HasSubstr("of this name already"));
  EXPECT_THAT(target.Run(StrCat("CLUSTER SETSLOT ", KeySlot("t"), " IMPORTING ", Id(source))).Text(),
              HasSubstr("Slot import in progress"));
}

TEST_F(SlotMigrationTest, IsEndedWhenTheTargetIsForgotten) {
  Form(3);
  ReplicationMember& source = Owns(At(0), "{t}") ? At(0) : Owns(At(1), "{t}") ? At(1) : At(2);
  ReplicationMember& target = &source == &At(0) ? At(1) : At(0);
  source.Run("SET {t}a 1");
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  for (int i = 0; i < 500 && State(source) != "snapshotting"; ++i) world_.network().RunOnce();
  EXPECT_THAT(source.Run("CLUSTER FORGET " + Id(target)), Ok());
  Step(500);
  EXPECT_EQ(State(source), "failed");
  EXPECT_EQ(Message(source), "the target was forgotten");
  EXPECT_FALSE(Owns(target, "t"));
}

TEST_F(SlotMigrationTest, MigrationsInBothDirectionsDoNotBlockEachOther) {
  const auto [one, other] = FormPair();
  std::string back = "{u}";
  while (!Owns(other, back)) back = "{u" + back.substr(1);
  one.Run("SET {t}a 1");
  other.Run("SET " + back + "a 1");
  EXPECT_THAT(Migrate(one, other, "{t}"), Ok());
  EXPECT_THAT(Migrate(other, one, back), Ok());
  // Both pause writes at the same time.
  for (int i = 0; i < 3000 && !(one->services().clients.pause.IsOn() && other->services().clients.pause.IsOn()); ++i)
    world_.network().RunOnce();
  Step(500);
  EXPECT_EQ(one->services().slot_migrations.IsExporting(), false);
  EXPECT_TRUE(Owns(other, "t"));
  EXPECT_TRUE(Owns(one, back));
}

// The target dies after its takeover, and its replica has the keys but does not know of the takeover. The source has
// given the slots up.
TEST_F(SlotMigrationTest, PromotedReplicaClaimsWhatNobodyOwns) {
  Form(3, 1, {"cluster-replica-validity-factor 0", "cluster-require-full-coverage no"});
  ReplicationMember& target = At(0);
  ReplicationMember& source = At(1);
  ReplicationMember& replica = At(3);
  std::string key = "{t}";
  while (!Owns(source, key)) key = "{t" + key.substr(1);
  for (int i = 0; i < 50; ++i) source.Run(StrCat("SET ", key, i, " value"));
  EXPECT_THAT(Migrate(source, target, key), Ok());
  for (int i = 0; i < 5000 && KeysAt(replica) < 50; ++i) world_.network().RunOnce();
  ASSERT_GE(KeysAt(replica), 50u);
  ASSERT_EQ(State(replica), "occurring-on-primary");
  world_.network().SetApart(target.port(), replica.port());
  world_.network().SetApart(target.port(), At(2).port());
  for (int i = 0; i < 3000 && State(source) != "success"; ++i) world_.network().RunOnce();
  ASSERT_EQ(State(source), "success");
  target.Stop();
  world_.network().SetAllTogether();
  Step(20'000);
  ASSERT_TRUE(replica->services().cluster.cluster()->view().me().IsPrimary()) << replica.Log();
  EXPECT_TRUE(replica->services().data.dataset.keyspace.hidden().IsEmpty());
  EXPECT_TRUE(Owns(replica, key)) << replica.Log();
  EXPECT_EQ(replica.Run("GET " + key + "7").Text(), "value");
}

// The error texts are those of Valkey 9.
TEST_F(SlotMigrationTest, RefusesWhatMakesNoSense) {
  Form(3);
  const auto refusal = [&](int node, const std::string& rest) {
    return At(node).Run("CLUSTER MIGRATESLOTS " + rest).Text();
  };
  const std::string other = Id(At(1));
  EXPECT_THAT(refusal(0, ""), HasSubstr("wrong number of arguments"));
  EXPECT_EQ(refusal(0, "INVALID 0 1"), "ERR syntax error");
  EXPECT_THAT(refusal(0, "SLOTSRANGE"), HasSubstr("wrong number of arguments"));
  EXPECT_EQ(refusal(0, "SLOTSRANGE 0"), "ERR No end slot for final slot range");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 16385 16388"), "ERR Invalid or out of range slot");
  EXPECT_EQ(refusal(0, "SLOTSRANGE a 0"), "ERR No slot ranges specified");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 0 a"), "ERR Invalid or out of range slot");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 1 0"), "ERR Start slot number 1 is greater than end slot number 0");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 0 16383"), "ERR Requested slots span multiple shards");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 0 5 3 6"), "ERR Slot range 3-6 overlaps with previous range 0-5");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 0 0"), "ERR syntax error");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 0 0 NODE blah"), "ERR Invalid node name: blah");
  EXPECT_THAT(refusal(0, "SLOTSRANGE 0 0 NODE " + std::string(40, 'a')), HasSubstr("Unknown node name"));
  EXPECT_EQ(refusal(2, "SLOTSRANGE 0 0 NODE " + other), "ERR Slots are not served by this node");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 0 0 NODE " + Id(At(0))), "ERR Target node can not be this node");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 0 2 NODE " + other + " SLOTSRANGE 1 1 NODE " + other),
            "ERR Slot ranges in migrations overlap");
  At(0).Run("CLUSTER SETSLOT 0 MIGRATING " + other);
  EXPECT_EQ(refusal(0, "SLOTSRANGE 1 1 NODE " + other), "ERR Slots are being manually migrated");
  At(0).Run("CLUSTER SETSLOT 0 STABLE");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 0 1 NODE " + other + " SLOTSRANGE 5 5 NODE " + Id(At(2))), "OK");
  EXPECT_EQ(refusal(0, "SLOTSRANGE 1 1 NODE " + other), "ERR I am already migrating slot 1");
  EXPECT_THAT(At(0).Run("CLUSTER SETSLOT 0 MIGRATING " + other).Text(), HasSubstr("Slot export in progress"));
  Step(2000);
  EXPECT_EQ(At(1)->services().cluster.cluster()->view().Owner(1), &At(1)->services().cluster.cluster()->view().me());
  EXPECT_EQ(At(2)->services().cluster.cluster()->view().Owner(5), &At(2)->services().cluster.cluster()->view().me());
  EXPECT_EQ(At(0).Run("CLUSTER GETSLOTMIGRATIONS").Size(), 2u);
  At(0).Run("CONFIG SET cluster-slot-migration-log-max-len 1");
  Step(500);
  EXPECT_EQ(At(0).Run("CLUSTER GETSLOTMIGRATIONS").Size(), 1u);
}

TEST_F(SlotMigrationTest, TellsTheFieldsOfValkey) {
  const auto [source, target] = FormPair();
  EXPECT_THAT(Migrate(source, target, "{t}"), Ok());
  StepUntil(source, "success");
  const TestReply job = source.Run("CLUSTER GETSLOTMIGRATIONS")[0];
  ASSERT_EQ(job.Size(), 24u);
  const std::vector<std::string> names = {"name",        "operation",   "slot_ranges",      "target_node",
                                          "source_node", "create_time", "last_update_time", "last_ack_time",
                                          "state",       "message",     "cow_size",         "remaining_repl_size"};
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(job[2 * i].Text(), names[i]);
  const std::string slot = std::to_string(KeySlot("t"));
  EXPECT_EQ(job[1].Text().size(), 40u);
  EXPECT_EQ(job[3].Text(), "EXPORT");
  EXPECT_EQ(job[5].Text(), slot + "-" + slot);
  EXPECT_EQ(job[7].Text(), Id(target));
  EXPECT_EQ(job[9].Text(), Id(source));
}

// Ends the connection at every possible byte.
TEST_F(SlotMigrationTest, ConnectionsMayEndAnywhere) {
  const auto [source, target] = FormPair();
  for (int i = 0; i < 5; ++i) source.Run(StrCat("SET {t}", i, " ", i));
  int failures = 0;
  for (uint64_t bytes = 0; bytes < 60; ++bytes) {
    ReplicationMember& from = Owns(source, "t") ? source : target;
    ReplicationMember& to = &from == &source ? target : source;
    world_.network().BreakNextAfter(to.port(), bytes);
    ASSERT_THAT(Migrate(from, to, "{t}"), Ok()) << bytes << from.Log();
    Step(9000);
    failures += State(from) == "failed" ? 1 : 0;
    ASSERT_NE(Owns(source, "t"), Owns(target, "t")) << bytes;
    ReplicationMember& owner = Owns(source, "t") ? source : target;
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(owner.Run(StrCat("GET {t}", i)).Text(), std::to_string(i)) << bytes << source.Log() << target.Log();
    }
    ASSERT_EQ(KeysAt(source) + KeysAt(target), 5u) << bytes;
    ASSERT_THAT(owner.Run("SET {t}0 0"), Ok());
  }
  EXPECT_GT(failures, 5);
}

TEST(HiddenSlotsTextTest, IsReadAgain) {
  HiddenSlots hidden;
  SlotSet slots;
  for (int slot : {0, 1, 2, 7, 16383}) slots.Add(slot);
  const std::string one(40, 'a');
  const std::string two(40, 'b');
  hidden.Hide(one, slots);
  slots.Add(9);
  hidden.Hide(two, slots);  // the other slots are hidden already
  EXPECT_EQ(HiddenSlotsText(hidden), one + " 0-2 7-7 16383-16383;" + two + " 9-9");
  HiddenSlots read;
  ReadHiddenSlots(HiddenSlotsText(hidden), read);
  EXPECT_EQ(read.All(), hidden.All());
  std::string repeated;
  for (int i = 0; i < 5000; ++i) repeated += StrCat(std::string(36, 'c'), 1000 + i, " 0-16383;");
  HiddenSlots few;
  ReadHiddenSlots(repeated, few);
  EXPECT_EQ(few.All().size(), 1u) << "a set without slots is not kept";
  EXPECT_TRUE(few.Has(16383));
  few.Reveal(few.All().begin()->first);
  EXPECT_FALSE(few.Has(16383));
  for (const char* damaged : {"", ";", "x 1-2", " 1-2"}) {
    HiddenSlots none;
    ReadHiddenSlots(damaged, none);
    EXPECT_TRUE(none.IsEmpty()) << damaged;
  }
  for (const char* damaged : {"", " 1", " a-b", " 5-4", " 0-16384", " -1-2"}) {
    HiddenSlots none;
    ReadHiddenSlots(one + damaged, none);
    EXPECT_TRUE(none.IsEmpty()) << damaged;
  }
}

void HideSlot(ReplicationMember& member, Bytes key) {
  SlotSet slots;
  slots.Add(KeySlot(key));
  member->services().data.dataset.keyspace.hidden().Hide("name", slots);
}

// Redis 8.6.3 deletes the keys, and the migration succeeds without them.
TEST_F(SlotMigrationTest, TrimSlotsRefusesSlotsThatArrive) {
  const auto [source, target] = FormPair();
  HideSlot(target, "{t}");
  EXPECT_THAT(target.Run(StrCat("TRIMSLOTS RANGES 1 ", KeySlot("{t}"), " ", KeySlot("{t}"))),
              Error("ERR Slot import in progress."));
}

// The append-only file may end before the record that shows the slots.
TEST_F(SlotMigrationTest, SlotsThatThisNodeOwnsAreShownAtOnce) {
  const auto [source, target] = FormPair();
  source.Run("SET {t}k 1");
  HideSlot(source, "{t}");
  EXPECT_THAT(source.Run("DBSIZE"), Int(0));
  Step(100);
  EXPECT_THAT(source.Run("DBSIZE"), Int(1));
}

}  // namespace
}  // namespace respite
