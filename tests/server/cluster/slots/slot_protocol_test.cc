// The conversation of a slot migration, byte for byte as Valkey 9.1 holds it. The test plays the target or the source.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/server/cluster/slots/slot_migration_fixture.h"

namespace respite {
namespace {

using testing::HasSubstr;

std::string Sync(const std::string& word) { return EncodeRequest({"CLUSTER", "SYNCSLOTS", word}); }

const std::string kName(40, 'c');

// The target is played by the test. The source has a key of the slot.
class PlayedTargetTest : public SlotMigrationTest {
 protected:
  void Play(const std::vector<std::string>& more = {}) {
    std::vector<std::string> directives = {"cluster-require-full-coverage no"};
    directives.insert(directives.end(), more.begin(), more.end());
    Form(3, 0, directives);
    ReplicationMember& source = Owns(At(0), "{t}") ? At(0) : Owns(At(1), "{t}") ? At(1) : At(2);
    ReplicationMember& target = &source == &At(0) ? At(1) : At(0);
    source_ = &source;
    source_id_ = Id(source);
    target_id_ = Id(target);
    port_ = target.port();
    source.Run("SET {t}a 1");
    target.Stop();
    stranger_ = &world_.network().Listen(port_);
  }
  void Migrate() {
    const std::string slot = std::to_string(KeySlot("t"));
    stranger_->received.clear();
    EXPECT_THAT(source_->Run("CLUSTER MIGRATESLOTS SLOTSRANGE " + slot + " " + slot + " NODE " + target_id_), Ok());
    world_.network().Run();
  }
  // Returns what the source sends next.
  std::string Take() { return std::exchange(stranger_->received, {}); }
  std::string Say(Bytes bytes) {
    world_.network().SendAs(port_, bytes);
    world_.network().Run();
    return Take();
  }
  std::string Establish() {
    const std::string slot = std::to_string(KeySlot("t"));
    const std::string name = source_->Run("CLUSTER GETSLOTMIGRATIONS")[0][1].Text();
    return EncodeRequest(
        {"CLUSTER", "SYNCSLOTS", "ESTABLISH", "SOURCE", source_id_, "NAME", name, "SLOTSRANGE", slot, slot});
  }
  // The slots are still here, and writes are served.
  void ExpectStays(const std::string& what) {
    world_.network().Run();
    EXPECT_EQ(State(*source_), "failed") << what;
    EXPECT_TRUE(Owns(*source_, "{t}")) << what;
    EXPECT_THAT(source_->Run("SET {t}a 1"), Ok()) << what;
  }
  static std::string Snapshot() {
    return EncodeRequest({"SELECT", "0"}) + EncodeRequest({"SET", "{t}a", "1"}) + Sync("SNAPSHOT-EOF");
  }

  ReplicationMember* source_ = nullptr;
  std::string source_id_;
  std::string target_id_;
  int port_ = 0;
  FakeNetwork::Stranger* stranger_ = nullptr;
};

TEST_F(PlayedTargetTest, TheSourceSaysWhatValkeySays) {
  Play();
  Migrate();
  EXPECT_EQ(Take(), Establish());
  EXPECT_EQ(State(*source_), "reading-establish-response");
  EXPECT_EQ(Say("+OK\r\n"), Sync("ACK") + Snapshot());
  EXPECT_EQ(State(*source_), "replicating");
  source_->Run("MULTI");
  source_->Run("INCR {t}a");
  source_->Run("SET {t}b x");
  source_->Run("EXEC");
  source_->Run("SET {elsewhere} 1");
  EXPECT_EQ(Say(Sync("ACK")),
            EncodeRequest({"SELECT", "0"}) + EncodeRequest({"INCR", "{t}a"}) + EncodeRequest({"SET", "{t}b", "x"}));
  EXPECT_EQ(Say(Sync("REQUEST-PAUSE")), Sync("PAUSED"));
  EXPECT_EQ(State(*source_), "failover-paused");
  TestClient writer(source_->server());
  writer.Send("INCR {t}a");
  EXPECT_FALSE(writer.Read().HasValue());
  EXPECT_EQ(Say(Sync("REQUEST-FAILOVER")), Sync("FAILOVER-GRANTED"));
  EXPECT_EQ(State(*source_), "failover-granted");
  EXPECT_EQ(Say("hello\r\n" + Sync("REQUEST-PAUSE")), "");
  EXPECT_EQ(State(*source_), "failover-granted");
  // The target hangs up and claims nothing, so the source resumes writes.
  world_.network().HangUpAs(port_);
  Step(4000);
  EXPECT_FALSE(writer.Read().HasValue());
  Step(2000);
  ExpectStays("granted");
  EXPECT_EQ(writer.Read().Integer(), 3);
}

TEST_F(PlayedTargetTest, TheOperatorMayUseValkeyCli) {
  Play();
  const std::string slot = std::to_string(KeySlot("t"));
  const std::string token("SLOTSRANGE\0", 11);  // as valkey-cli 9.1.2 sends it
  EXPECT_THAT(source_->Run({"CLUSTER", "MIGRATESLOTS", token, slot, slot, "NODE", target_id_}), Ok());
  world_.network().Run();
  EXPECT_EQ(Take(), Establish());
}

TEST_F(PlayedTargetTest, TheSourceLogsInBeforeItSaysMore) {
  Play({"masteruser mover", "masterauth secret"});
  Migrate();
  EXPECT_EQ(Take(), EncodeRequest({"AUTH", "mover", "secret"}));
  EXPECT_EQ(State(*source_), "reading-auth-response");
  EXPECT_EQ(Say("+OK\r\n"), Establish());
  EXPECT_EQ(Say("-ERR no\r\n"), "");
  ExpectStays("refused");
  EXPECT_EQ(Message(*source_), "the target refused: ERR no");
  Migrate();
  EXPECT_EQ(Say("-WRONGPASS invalid\r\n"), EncodeRequest({"AUTH", "mover", "secret"}));
  ExpectStays("password");
  EXPECT_EQ(Message(*source_), "the target refused: WRONGPASS invalid");
}

TEST_F(PlayedTargetTest, BothSidesTellThatTheyLive) {
  Play({"repl-timeout 5"});
  Migrate();
  Say("+OK\r\n");
  for (int i = 0; i < 10; ++i) {
    Step(1000);
    EXPECT_THAT(Say(Sync("ACK")), HasSubstr(Sync("ACK")));
    ASSERT_EQ(State(*source_), "replicating");
  }
  Step(7000);
  ExpectStays("silence");
  EXPECT_EQ(Message(*source_), "the target does not answer");
}

TEST_F(PlayedTargetTest, LiesEndTheMigration) {
  Play();
  const std::vector<std::string> lies = {"hello\r\n",
                                         "+OK\r\n",
                                         "-ERR\r\n",
                                         "*1000000\r\n",
                                         "*1\r\n$1000000000\r\n",
                                         "*1\r\n:1\r\n",
                                         std::string(100'000, 'x'),
                                         EncodeRequest({"CLUSTER", "SYNCSLOTS"}),
                                         EncodeRequest({"SET", "{t}a", "stolen"}),
                                         EncodeRequest({"FLUSHALL"}),
                                         Sync("WHAT"),
                                         Sync("ESTABLISH"),
                                         Sync("REQUEST-FAILOVER"),
                                         Sync("REQUEST-PAUSE") + Sync("REQUEST-PAUSE"),
                                         Sync("REQUEST-PAUSE") + Sync("REQUEST-FAILOVER") + Sync("ACK")};
  for (const std::string& lie : lies) {
    Migrate();
    Say("+OK\r\n");
    StepUntil(*source_, "replicating");  // the child of the last migration must end first
    Say(lie);
    ExpectStays(lie);
  }
  // Lies instead of the reply to ESTABLISH.
  for (const std::string& lie : {std::string("$-1\r\n"), std::string("\r\n"), std::string(100'000, '+')}) {
    Migrate();
    Say(lie);
    ExpectStays(lie);
  }
  Migrate();
  Say("+OK\r\n" + Sync("REQUEST-PAUSE"));
  ExpectStays("a pause before the snapshot");
  EXPECT_EQ(source_->Run("GET {t}a").Text(), "1");
}

// The source is played by the test.
class PlayedSourceTest : public SlotMigrationTest {
 protected:
  void Play(const std::vector<std::string>& more = {}) {
    const auto [source, target] = FormPair(more);
    source_ = &source;
    target_ = &target;
    client_.emplace(target.server());
  }
  std::string Establish() const {
    const std::string slot = std::to_string(KeySlot("t"));
    return EncodeRequest(
        {"CLUSTER", "SYNCSLOTS", "ESTABLISH", "SOURCE", Id(*source_), "NAME", kName, "SLOTSRANGE", slot, slot});
  }
  std::string Say(Bytes bytes) { return client_->Raw(bytes); }

  ReplicationMember* source_ = nullptr;
  ReplicationMember* target_ = nullptr;
  std::optional<TestClient> client_;
};

TEST_F(PlayedSourceTest, TheTargetSaysWhatValkeySays) {
  Play();
  EXPECT_EQ(Say(Establish()), "+OK\r\n");
  EXPECT_EQ(State(*target_), "waiting-for-ack");
  Step(3000);
  EXPECT_EQ(Say(Sync("ACK")), "");
  EXPECT_EQ(State(*target_), "receiving-snapshot");
  // What Valkey 9.1.2 sends for these values.
  EXPECT_EQ(Say(EncodeRequest({"SELECT", "0"}) + EncodeRequest({"XADD", "{t}x", "1-1", "a", "b"}) +
                EncodeRequest({"XSETID", "{t}x", "1-1", "ENTRIESADDED", "1", "MAXDELETEDID", "0-0"}) +
                EncodeRequest({"XGROUP", "CREATE", "{t}x", "g", "0-0", "ENTRIESREAD", "-1"}) +
                EncodeRequest({"HSETEX", "{t}h", "PXAT", "4102444800000", "FIELDS", "1", "f", "v"}) +
                EncodeRequest({"HMSET", "{t}h", "g", "w"}) + EncodeRequest({"SET", "{t}e", "exp"}) +
                EncodeRequest({"PEXPIREAT", "{t}e", "4102444800000"}) + EncodeRequest({"SADD", "{t}S", "1", "2"})),
            "");
  EXPECT_EQ(Say(Sync("SNAPSHOT-EOF")), Sync("REQUEST-PAUSE"));
  EXPECT_EQ(State(*target_), "waiting-for-paused");
  EXPECT_EQ(Say(EncodeRequest({"set", "{t}e", "later", "PXAT", "4102444800001"}) + EncodeRequest({"UNLINK", "{t}S"}) +
                EncodeRequest({"CLUSTER", "SYNCSLOTS", "CAPA", "future"})),
            "");
  EXPECT_EQ(target_->Run("DBSIZE").Integer(), 0);
  EXPECT_EQ(Say(Sync("PAUSED")), Sync("REQUEST-FAILOVER"));
  EXPECT_EQ(State(*target_), "failover-requested");
  EXPECT_EQ(Say(Sync("FAILOVER-GRANTED")), "");
  EXPECT_TRUE(client_->Closed());
  EXPECT_EQ(State(*target_), "success");
  EXPECT_TRUE(Owns(*target_, "{t}"));
  EXPECT_EQ(target_->Run("PEXPIRETIME {t}e").Integer(), 4102444800001);
  EXPECT_EQ(target_->Run("HPEXPIRETIME {t}h FIELDS 2 f g")[0].Integer(), 4102444800000);
  EXPECT_EQ(target_->Run("DBSIZE").Integer(), 3);
}

// A majority may have elected another owner. Valkey 9.1.2 claims the slots.
TEST_F(PlayedSourceTest, ATargetWhoseClusterIsDownClaimsNothing) {
  Play();
  Say(Establish());
  Say(Sync("ACK") + Sync("SNAPSHOT-EOF"));
  ASSERT_EQ(Say(Sync("PAUSED")), Sync("REQUEST-FAILOVER"));
  ASSERT_THAT(target_->Run(StrCat("CLUSTER DELSLOTS ", Owns(*target_, "a") ? KeySlot("a") : KeySlot("b"))), Ok());
  Step(200);
  ASSERT_THAT(target_->Run("CLUSTER INFO").Text(), HasSubstr("cluster_state:fail"));
  Say(Sync("FAILOVER-GRANTED"));
  EXPECT_FALSE(Owns(*target_, "{t}"));
  EXPECT_EQ(State(*target_), "failed");
}

TEST_F(PlayedSourceTest, TheTargetTellsThatItLives) {
  Play({"repl-timeout 5"});
  Say(Establish());
  Step(2000);
  EXPECT_EQ(Say(Sync("ACK")), "");
  for (int i = 0; i < 10; ++i) {
    Step(1000);
    const TestReply ack = client_->Read();
    ASSERT_EQ(ack.Size(), 3u);
    EXPECT_EQ(ack[2].Text(), "ACK");
    while (client_->Read().HasValue()) {
    }
    Say(Sync("ACK"));
    ASSERT_EQ(State(*target_), "receiving-snapshot");
  }
  Step(7000);
  EXPECT_EQ(State(*target_), "failed");
  EXPECT_EQ(Message(*target_), "the source is silent");
}

TEST_F(PlayedSourceTest, RequestsInAnotherOrderEndTheMigration) {
  Play();
  const std::vector<std::vector<const char*>> lies = {{"SNAPSHOT-EOF"},
                                                      {"PAUSED"},
                                                      {"FAILOVER-GRANTED"},
                                                      {"ACK", "PAUSED"},
                                                      {"ACK", "FAILOVER-GRANTED"},
                                                      {"ACK", "SNAPSHOT-EOF", "SNAPSHOT-EOF"},
                                                      {"ACK", "WHAT"},
                                                      {"ACK", "SNAPSHOT-EOF", "FAILOVER-GRANTED"},
                                                      {"ACK", "FINISH"},
                                                      {"ACK", "SNAPSHOT-EOF", "PAUSED", "PAUSED"},
                                                      {"ACK", "ESTABLISH"},
                                                      {"ACK", "REQUEST-FAILOVER"}};
  for (const auto& lie : lies) {
    client_.emplace(target_->server());
    ASSERT_EQ(Say(Establish()), "+OK\r\n");
    Say(EncodeRequest({"SET", "{t}a", "1"}));
    for (const char* word : lie) Say(Sync(word));
    Step(200);
    EXPECT_TRUE(client_->Closed()) << lie.back();
    EXPECT_EQ(State(*target_), "failed") << lie.back();
    EXPECT_EQ(KeysAt(*target_), 0u) << lie.back();
    EXPECT_TRUE(Owns(*source_, "{t}")) << lie.back();
  }
}

// The stream to replicas and the append-only file have the requests of Valkey 9.
TEST_F(PlayedSourceTest, RecordsAreThoseOfValkey) {
  Form(2, 1, {"appendonly yes", "appendfsync always"});
  target_ = &At(0);
  source_ = &At(1);
  std::string key = "{t}";
  while (!Owns(*source_, key)) key = "{t" + key.substr(1);
  const std::string slot = std::to_string(KeySlot(key));
  const std::string establish = EncodeRequest(
      {"CLUSTER", "SYNCSLOTS", "ESTABLISH", "SOURCE", Id(*source_), "NAME", kName, "SLOTSRANGE", slot, slot});
  const std::string hides =
      EncodeRequest({"CLUSTER", "SYNCSLOTS", "ESTABLISH", "NAME", kName, "SLOTSRANGE", slot, slot});
  const auto finish = [](const std::string& state) {
    return EncodeRequest({"CLUSTER", "SYNCSLOTS", "FINISH", "STATE", state, "NAME", kName});
  };
  const std::string set = EncodeRequest({"SET", key, "1"});
  client_.emplace(target_->server());
  Say(establish + Sync("ACK") + set);
  client_.reset();
  Step(1000);
  client_.emplace(target_->server());
  Say(establish + Sync("ACK") + set + Sync("SNAPSHOT-EOF") + Sync("PAUSED") + Sync("FAILOVER-GRANTED"));
  Step(1000);
  EXPECT_TRUE(Owns(*target_, key));
  const std::string deletes = EncodeRequest({"DEL", key});
  for (const std::string& record : {world_.network().Received(At(2).port(), target_->port()),
                                    target_->files().Content("appendonlydir/appendonly.aof.1.incr.aof")}) {
    EXPECT_THAT(record, HasSubstr(hides + set + deletes + finish("FAILED"))) << record;
    EXPECT_THAT(record, HasSubstr(hides + set + finish("SUCCESS"))) << record;
  }
  EXPECT_EQ(KeysAt(At(2)), 1u);
}

// A primary of Valkey passes the requests of its source on, and adds FINISH.
TEST_F(PlayedSourceTest, RecordsOfValkeyAreRead) {
  Play({"appendonly yes", "appendfsync always"});
  const std::string records = Establish() + Sync("ACK") + EncodeRequest({"SET", "{t}a", "1"}) + Sync("SNAPSHOT-EOF") +
                              Sync("PAUSED") + Sync("FAILOVER-GRANTED") + Sync("FUTURE");
  const std::string finish =
      EncodeRequest({"CLUSTER", "SYNCSLOTS", "FINISH", "STATE", "SUCCESS", "NAME", kName, "MESSAGE", ""});
  const auto load = [&](const std::string& text) {
    target_->files().Put("appendonlydir/appendonly.aof.1.incr.aof", text);
    EXPECT_THAT(target_->Run("DEBUG LOADAOF"), Ok());
  };
  load(records);
  EXPECT_EQ(target_->Run("DBSIZE").Integer(), 0);
  load(records + finish);
  EXPECT_EQ(target_->Run("DBSIZE").Integer(), 1);
  EXPECT_EQ(State(*target_), "none");
}

TEST_F(PlayedSourceTest, SnapshotsOfValkeyTellTheHiddenSlots) {
  Play();
  const std::string slots = std::string("\x02\x7e\x14\x7e\x14\x7e\x15\x7e\x1e", 9);  // 15892-15892 15893-15902
  const auto load = [&](const std::string& item) {
    target_->files().Put("dump.rdb", "VALKEY080\xf3" + item + "\xff" + std::string(8, '\0'));
    return target_->Run("DEBUG RELOAD NOSAVE");
  };
  EXPECT_THAT(load("\x28" + kName + slots), Ok());
  const HiddenSlots& hidden = target_->server()->services().data.dataset.keyspace.hidden();
  ASSERT_TRUE(hidden.All().contains(kName));
  EXPECT_EQ(hidden.All().at(kName).Count(), 11);
  EXPECT_THAT(load("\x28" + kName + std::string("\x80\xff\xff\xff\xff", 5)).Text(), HasSubstr("ERR"));
}

}  // namespace
}  // namespace respite
