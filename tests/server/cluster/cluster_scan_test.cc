// CLUSTERSCAN.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/key_slot.h"
#include "base/random.h"
#include "base/str_cat.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/commands/cluster/slot_tags.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

TEST(SlotTagsTest, EachSlotHasAShortTag) {
  for (int slot = 0; slot < kSlotCount; ++slot) {
    ASSERT_EQ(KeySlot(TagOfSlot(slot)), slot);
    ASSERT_LE(TagOfSlot(slot).size(), 3u);
  }
  EXPECT_EQ(TagOfSlot(0), "06S");
  EXPECT_EQ(TagOfSlot(1), "Qi");
}

class ClusterScanTest : public testing::Test {
 protected:
  ClusterScanTest() {
    EXPECT_EQ(server_->services().cluster.Open(), std::nullopt);
    EXPECT_EQ(server_->services().cluster.Start(), std::nullopt);
    EXPECT_THAT(Run("CLUSTER ADDSLOTSRANGE 0 16383"), Ok());
    server_.RunCronFor(6000);
  }
  TestReply Run(Bytes line) { return client_.Run(line); }
  ClusterView& view() { return server_->services().cluster.cluster()->view(); }

  // Runs one call and returns the next cursor.
  std::string Step(const std::string& cursor, const std::string& options, std::multiset<std::string>& found) {
    const TestReply reply = Run("CLUSTERSCAN " + cursor + " " + options);
    EXPECT_EQ(reply.Size(), 2u) << reply.Text();
    if (reply.Size() != 2) return "0";
    for (size_t i = 0; i < reply[1].Size(); ++i) found.insert(reply[1][i].Text());
    return reply[0].Text();
  }
  std::multiset<std::string> ScanAll(const std::string& options = "", std::string cursor = "0") {
    std::multiset<std::string> found;
    do cursor = Step(cursor, options, found);
    while (cursor != "0" && !HasFailure());
    return found;
  }

  TestServer server_{TestServer::Options{
      .directives = {"cluster-enabled yes", "cluster-node-timeout 100000000", "cluster-databases 2"}}};
  TestClient client_{server_};
};

TEST_F(ClusterScanTest, BeginsWithTheFirstSlot) {
  EXPECT_THAT(Run("CLUSTERSCAN 0"), ArrayOf({Bulk("0-{06S}-0"), ArrayOf({})}));
  EXPECT_THAT(Run("CLUSTERSCAN 0 SLOT 1"), ArrayOf({Bulk("0-{Qi}-0"), ArrayOf({})}));
  EXPECT_THAT(Run("CLUSTERSCAN 0-{06S}-0"), ArrayOf({Bulk("0"), ArrayOf({})}));
}

TEST_F(ClusterScanTest, FindsEachKeyOnceWhileNothingChanges) {
  std::multiset<std::string> keys;
  for (int i = 0; i < 2000; ++i) keys.insert(StrCat(i % 4 == 0 ? "{06S}" : "key", i));
  for (const std::string& key : keys) Run("SET " + key + " 1");
  EXPECT_EQ(ScanAll(), keys);
  EXPECT_EQ(ScanAll("COUNT 1"), keys);
  EXPECT_EQ(ScanAll("COUNT 100000"), keys);
  EXPECT_EQ(ScanAll("SLOT 0").size(), 500u);
  EXPECT_EQ(ScanAll("TYPE list").size(), 0u);
  EXPECT_EQ(ScanAll("MATCH {06S}1??").size(), 25u);
  Run("SELECT 1");
  EXPECT_EQ(ScanAll().size(), 0u);
}

// Keys that exist during the whole scan are returned, whatever happens to other keys.
TEST_F(ClusterScanTest, FindsWhatStaysWhileOthersComeAndGo) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Random random(seed);
    const auto some = [&] { return "{" + std::string(TagOfSlot(static_cast<int>(random.Below(8)))) + "}"; };
    std::set<std::string> staying;
    for (uint64_t i = random.Below(1000); i > 0; --i) staying.insert(StrCat(some(), "stay", i));
    for (const std::string& key : staying) Run("SET " + key + " 1");
    std::multiset<std::string> found;
    std::string cursor = "0";
    do {
      cursor = Step(cursor, StrCat("COUNT ", 1 + random.Below(50)), found);
      for (uint64_t i = random.Below(30); i > 0; --i) Run(StrCat("SET ", some(), random.Below(400), " 1"));
      for (uint64_t i = random.Below(30); i > 0; --i) Run(StrCat("DEL ", some(), random.Below(400)));
    } while (cursor != "0" && !HasFailure());
    for (const std::string& key : staying) EXPECT_TRUE(found.contains(key)) << key;
    Run("FLUSHALL");
  }
}

TEST_F(ClusterScanTest, GoesToTheSlotOfThePattern) {
  EXPECT_THAT(Run("CLUSTERSCAN 0 MATCH {Qi}-*"), ArrayOf({Bulk("0-{Qi}-0"), ArrayOf({})}));
  EXPECT_THAT(Run("CLUSTERSCAN 0-{06S}-0 MATCH x{Qi}-*"), ArrayOf({Bulk("0-{Qi}-0"), ArrayOf({})}));
  EXPECT_THAT(Run("CLUSTERSCAN 0-{Qi}-0 MATCH {06S}-*"), ArrayOf({Bulk("0"), ArrayOf({})}));
  EXPECT_THAT(Run("CLUSTERSCAN 0 SLOT 0 MATCH {Qi}-*"), ArrayOf({Bulk("0"), ArrayOf({})}));
  EXPECT_THAT(Run("CLUSTERSCAN 0 MATCH foo"),
              ArrayOf({Bulk("0-{" + std::string(TagOfSlot(12182)) + "}-0"), ArrayOf({})}));
  // The star may match a text with its own hash tag.
  EXPECT_THAT(Run("CLUSTERSCAN 0 MATCH *{Qi}-*"), ArrayOf({Bulk("0-{06S}-0"), ArrayOf({})}));
  EXPECT_THAT(Run("CLUSTERSCAN 0 MATCH {Q?}-*"), ArrayOf({Bulk("0-{06S}-0"), ArrayOf({})}));
  EXPECT_THAT(Run("CLUSTERSCAN 0 MATCH {}{Qi}-*"), ArrayOf({Bulk("0-{06S}-0"), ArrayOf({})}));
  Run("MSET {Qi}-a 1 {Qi}-b 1 {Qi}c 1");
  EXPECT_EQ(ScanAll("MATCH {Qi}-*"), (std::multiset<std::string>{"{Qi}-a", "{Qi}-b"}));
}

TEST_F(ClusterScanTest, APlaceOfAnotherServerBeginsTheSlotAgain) {
  for (int i = 0; i < 100; ++i) Run(StrCat("SET {06S}", i, " 1"));
  std::multiset<std::string> found;
  const std::string cursor = Step("0-{06S}-0", "COUNT 10", found);
  const std::string place = cursor.substr(cursor.find('}'));
  EXPECT_LT(ScanAll("SLOT 0", cursor).size(), 100u);
  EXPECT_EQ(ScanAll("SLOT 0", "other1-{06S" + place).size(), 100u);
  EXPECT_EQ(ScanAll("SLOT 0", "0-{06S" + place).size(), 100u);
}

TEST_F(ClusterScanTest, GoesWhereTheSlotIs) {
  ClusterNode& other = view().Add(NodeId::FromBytes(std::string(NodeId::kLength, 'b')), kNodePrimary);
  other.address = {.ip = "10.0.0.2", .tcp_port = 7002, .tls_port = 0, .bus_port = 17002};
  for (int slot = 100; slot < 200; ++slot) view().Assign(slot, &other);
  EXPECT_THAT(Run("CLUSTERSCAN 0-{06S}-0"), ArrayOf({Bulk("0-{" + std::string(TagOfSlot(100)) + "}-0"), ArrayOf({})}));
  EXPECT_THAT(Run("CLUSTERSCAN 0-{" + std::string(TagOfSlot(100)) + "}-0"), Error("MOVED 100 10.0.0.2:7002"));
  EXPECT_THAT(Run("CLUSTERSCAN 0-{" + std::string(TagOfSlot(200)) + "}-0"), ArrayOf({Bulk("0"), ArrayOf({})}));
  view().Assign(0, nullptr);
  EXPECT_THAT(Run("CLUSTERSCAN 0-{06S}-0"), Error("CLUSTERDOWN Hash slot not served"));
  view().Assign(0, &view().me());
  server_.RunCronFor(6000);
  // A slot that is being moved away is scanned where its keys still are.
  EXPECT_THAT(Run("CLUSTER SETSLOT 1 MIGRATING " + other.id.String()), Ok());
  EXPECT_THAT(Run("CLUSTERSCAN 0-{Qi}-0 SLOT 1"), ArrayOf({Bulk("0"), ArrayOf({})}));
}

TEST_F(ClusterScanTest, RefusesWhatIsNoCursor) {
  for (const char* cursor :
       {"invalid", "abc-def-ghi", "0-", "0-{0}", "0-{}-0", "-{06S}-0", "0-{06S}-", "0-{06S}-x", "{foo}-{06S}-0"}) {
    EXPECT_THAT(Run("CLUSTERSCAN " + std::string(cursor)), Error("ERR Invalid cursor")) << cursor;
  }
  EXPECT_THAT(Run("CLUSTERSCAN 0-{06S}-0 SLOT 1"), Error("ERR Cursor slot mismatch"));
  EXPECT_THAT(Run("CLUSTERSCAN 0 SLOT 0 SLOT 0"), Error("ERR SLOT option can only be specified once"));
  EXPECT_THAT(Run("CLUSTERSCAN 0 SLOT 16384"), Error("ERR Invalid or out of range slot"));
  EXPECT_THAT(Run("CLUSTERSCAN 0 TYPE nothing"), Error("ERR unknown type name 'nothing'"));
  EXPECT_THAT(Run("CLUSTERSCAN 0 COUNT 0"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SCAN 0 SLOT 0"), Error("ERR syntax error"));
}

TEST(ClusterScanAloneTest, NeedsACluster) {
  TestServer server;
  TestClient client(server);
  EXPECT_THAT(client.Run("CLUSTERSCAN 0"), Error("ERR This instance has cluster support disabled"));
}

}  // namespace
}  // namespace respite
