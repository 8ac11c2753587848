// Slot migration with the protocol of Redis 8.4. Two of our nodes use it if they believe that the other is a node of
// Redis. tests/system/slot_migration_redis_test.py does the same with a real one.
#include <optional>
#include <string>
#include <vector>

#include "tests/server/cluster/slots/slot_migration_fixture.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kSecret(40, '5');

class RedisProtocolTest : public SlotMigrationTest {
 protected:
  void Begin(int keys, const std::vector<std::string>& more = {}) {
    pair_.emplace(FormPair(more));
    for (int i = 0; i < keys; ++i) source().Run(StrCat("SET {t}", i, " value"));
    AnnounceSecret();
  }
  ReplicationMember& source() { return pair_->source; }
  ReplicationMember& target() { return pair_->target; }
  // Our nodes announce no secret, so each PING of the source makes the target forget it again.
  void AnnounceSecret() {
    for (ReplicationMember* member : {&source(), &target()}) {
      const ClusterView& view = (*member)->services().cluster.cluster()->view();
      const_cast<ClusterNode*>(view.Find(*NodeId::Parse(Id(source()))))->internal_secret = kSecret;  // NOLINT
    }
  }
  void Import() {
    EXPECT_EQ(target().Run(StrCat("CLUSTER MIGRATION IMPORT ", KeySlot("t"), " ", KeySlot("t"))).Text().size(), 40u);
  }
  void StepUntilOwned() {
    for (int i = 0; i < 6000 && !Owns(target(), "{t}"); ++i) {
      AnnounceSecret();
      Step(10);
    }
    ASSERT_TRUE(Owns(target(), "{t}")) << Message(target()) << source().Log() << target().Log();
    StepUntil(source(), "success");
  }

 private:
  std::optional<Pair> pair_;
};

TEST_F(RedisProtocolTest, KeysChangesAndFunctionsArrive) {
  Begin(200);
  source().Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 7 end)"});
  source().Run("PEXPIRE {t}1 1000000");
  Import();
  for (int i = 0; i < 100 && !Owns(target(), "{t}"); ++i) {
    source().Run(StrCat("RPUSH {t}list ", i));
    source().Run(StrCat("DEL {t}", i + 100));
    world_.network().RunOnce();
  }
  StepUntilOwned();
  EXPECT_EQ(State(target()), "success");
  EXPECT_EQ(KeysAt(source()), 0u);
  EXPECT_EQ(target().Run("GET {t}0").Text(), "value");
  EXPECT_THAT(target().Run("PTTL {t}1").Integer(), testing::Gt(900'000));
  EXPECT_EQ(target().Run("FCALL f 0").Integer(), 7);
  const int pushed = static_cast<int>(target().Run("LLEN {t}list").Integer());
  EXPECT_EQ(KeysAt(target()), 200u - static_cast<size_t>(pushed) + 1);
  for (int i = 0; i < pushed; ++i) EXPECT_EQ(target().Run(StrCat("LINDEX {t}list ", i)).Text(), std::to_string(i));
}

enum class Breaks : uint8_t { kMain, kSnapshot };  // which connection to the source breaks
struct Break {
  Breaks connection;
  uint64_t bytes;  // how many bytes of the source arrive before
};

class BrokenConnectionTest : public RedisProtocolTest, public testing::WithParamInterface<Break> {};

// Each broken connection ends the attempt; the next one succeeds, and no key is lost or there twice.
TEST_P(BrokenConnectionTest, TheNextAttemptSucceeds) {
  const auto [connection, bytes] = GetParam();
  Begin(100);
  if (connection == Breaks::kMain) world_.network().BreakNextAfter(source().port(), bytes);
  Import();
  if (connection == Breaks::kSnapshot) {
    for (int i = 0; i < 5000 && State(source()) != "reading-establish-response"; ++i) world_.network().RunOnce();
    world_.network().BreakNextAfter(source().port(), bytes);
  }
  StepUntilOwned();
  EXPECT_EQ(target()->services().slot_migrations.Jobs().front().retries, 1);
  EXPECT_EQ(KeysAt(source()), 0u);
  EXPECT_EQ(KeysAt(target()), 100u);
}

INSTANTIATE_TEST_SUITE_P(AtBytes, BrokenConnectionTest,
                         testing::Values(Break{Breaks::kMain, 1}, Break{Breaks::kMain, 5}, Break{Breaks::kMain, 9},
                                         Break{Breaks::kMain, 20}, Break{Breaks::kMain, 32}, Break{Breaks::kMain, 40},
                                         Break{Breaks::kSnapshot, 1}, Break{Breaks::kSnapshot, 5},
                                         Break{Breaks::kSnapshot, 20}, Break{Breaks::kSnapshot, 1000},
                                         Break{Breaks::kSnapshot, 3000}));

TEST_F(RedisProtocolTest, ANodeMayOnlyAskForSlots) {
  Begin(2);
  std::optional<TestClient> main(std::in_place, source().server());
  TestClient& node = *main;
  EXPECT_THAT(node.Run({"AUTH", "internal connection", std::string(40, '6')}),
              Error("WRONGPASS invalid internal password"));
  EXPECT_THAT(node.Run({"AUTH", "internal connection", ""}), Error("WRONGPASS invalid internal password"));
  EXPECT_THAT(node.Run("CLUSTER SYNCSLOTS SNAPSHOT-EOF").Text(), StartsWith("ERR"));
  EXPECT_THAT(node.Run({"AUTH", "internal connection", kSecret}), Ok());
  for (const char* line :
       {"GET {t}1", "SET {t}1 a", "CONFIG GET *", "EVAL 'return 1' 0", "CLUSTER NODES", "FLUSHALL"}) {
    EXPECT_THAT(node.Run(line).Text(), StartsWith("NOPERM")) << line;
  }
  const std::string slot = std::to_string(KeySlot("t"));
  const std::string name(40, 'c');
  EXPECT_THAT(node.Run("CLUSTER SYNCSLOTS SYNC " + name + " " + slot + " " + slot).Text(), StartsWith("ERR The node"));
  EXPECT_THAT(node.Run("CLUSTER SYNCSLOTS CONF NODE-ID " + Id(target())), Ok());
  node.Send("CLUSTER SYNCSLOTS SYNC " + name + " " + slot + " " + slot);
  EXPECT_EQ(node.Raw(""), "+RDBCHANNELSYNCSLOTS\r\n");
  TestClient snapshot(source().server());
  EXPECT_THAT(snapshot.Run({"AUTH", "internal connection", kSecret}), Ok());
  EXPECT_THAT(snapshot.Run("CLUSTER SYNCSLOTS RDBCHANNEL " + std::string(40, 'd')).Text(), StartsWith("ERR"));
  // A connection that ends fails the export, and writes continue.
  snapshot.Send("CLUSTER SYNCSLOTS RDBCHANNEL " + name);
  EXPECT_THAT(snapshot.Raw(""), StartsWith("+SLOTSSNAPSHOT\r\n"));
  main.reset();
  Step(100);
  EXPECT_EQ(State(source()), "failed");
  EXPECT_EQ(source().Run("SET {t}1 b").Text(), "OK");
}

TEST_F(RedisProtocolTest, WithoutASecretTheNameIsThatOfAnyUser) {
  const auto [source, target] = FormPair();
  TestClient client(source.server());
  EXPECT_THAT(client.Run({"AUTH", "internal connection", ""}).Text(), HasSubstr("invalid username-password pair"));
}

}  // namespace
}  // namespace respite
