// The behaviour of Sentinels on fake time and a network in memory.
#include "server/sentinel/sentinel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/sentinel_world.h"

namespace respite {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kLimitMs = 120'000;
constexpr int kPrimaryPort = SentinelWorld::kFirstServer;

class SentinelTest : public testing::Test {
 protected:
  explicit SentinelTest(const SentinelWorld::Options& options = {}) : world_(options) {}

  void Settle() {
    ASSERT_TRUE(world_.StepUntil([this] { return world_.AllKnowAll(); }, kLimitMs));
  }
  // Steps until all Sentinels name a primary other than the first one.
  void AwaitSwitch() {
    const auto has_switched = [this] { return world_.Agrees() && world_[0].primary().address.port != kPrimaryPort; };
    ASSERT_TRUE(world_.StepUntil(has_switched, kLimitMs)) << world_.Disagreement();
    EXPECT_EQ(world_.Contradiction(), "");
  }
  SentinelWorld::Server& Promoted() {
    return world_.server(world_[0].primary().address.port - SentinelWorld::kFirstServer);
  }
  // The Sentinel that carried out the failover.
  SentinelWorld::Member& Leader() {
    for (int i = 0; i < world_.Count(); ++i) {
      if (world_[i].HasTold("+promoted-slave")) return world_[i];
    }
    ADD_FAILURE() << "nobody has promoted a replica";
    return world_[0];
  }

  // Whether any Sentinel has published this event.
  bool Any(Bytes event) {
    for (int i = 0; i < world_.Count(); ++i) {
      if (world_[i].HasTold(event)) return true;
    }
    return false;
  }

  SentinelWorld world_;
};

TEST_F(SentinelTest, SentinelsFindReplicasAndEachOther) {
  Settle();
  EXPECT_THAT(world_[0].events(), Contains("+monitor master mymaster 127.0.0.1 7000 quorum 2"));
  EXPECT_THAT(world_[0].events(), Contains("+slave slave 127.0.0.1:7001 127.0.0.1 7001 @ mymaster 127.0.0.1 7000"));
  const std::string id = world_[1]->state().id;
  EXPECT_THAT(world_[0].events(), Contains("+sentinel sentinel " + id + " 127.0.0.1 8001 @ mymaster 127.0.0.1 7000"));
  EXPECT_THAT(world_[0].file(), HasSubstr("sentinel known-replica mymaster 127.0.0.1 7001\n"));
  EXPECT_THAT(world_[0].file(), HasSubstr("sentinel known-sentinel mymaster 127.0.0.1 8001 " + id + "\n"));
}

TEST_F(SentinelTest, APrimaryThatStopsIsReplaced) {
  Settle();
  world_.StopServer(0);
  AwaitSwitch();
  const auto& told = Leader().events();
  const std::string primary = "master mymaster 127.0.0.1 7000";
  for (const std::string& event :
       {"+sdown " + primary, "+odown " + primary + " #quorum ", std::string("+new-epoch 1"), "+try-failover " + primary,
        "+vote-for-leader " + Leader()->state().id + " 1", "+elected-leader " + primary,
        "+failover-state-select-slave " + primary, std::string("+selected-slave slave 127.0.0.1:"),
        std::string("+failover-state-send-slaveof-noone slave "), std::string("+failover-state-wait-promotion slave "),
        std::string("+promoted-slave slave "), "+failover-state-reconf-slaves " + primary,
        std::string("+slave-reconf-sent slave "), std::string("+slave-reconf-inprog slave "),
        std::string("+slave-reconf-done slave "), "+failover-end " + primary,
        std::string("+switch-master mymaster 127.0.0.1 7000 127.0.0.1 ")}) {
    EXPECT_THAT(told, Contains(StartsWith(event)));
  }
  for (int i = 0; i < world_.Count(); ++i) {
    EXPECT_NE(world_[i].HasTold("+config-update-from sentinel "), &world_[i] == &Leader());
  }
}

TEST_F(SentinelTest, TheNewPrimaryIsReachedAtOnce) {
  Settle();
  for (int i = 0; i < world_.Count(); ++i) world_[i].primary().down_after_ms = 400;
  world_.StopServer(0);
  AwaitSwitch();
  world_.Step(5000);
  for (int i = 0; i < world_.Count(); ++i) {
    EXPECT_FALSE(world_[i].HasTold(StrCat("+sdown master mymaster 127.0.0.1 ", Promoted().port)));
  }
}

TEST_F(SentinelTest, TheOneThatComesBackFollows) {
  Settle();
  world_.StopServer(0);
  AwaitSwitch();
  world_.StartServer(0);
  EXPECT_TRUE(world_.StepUntil([this] { return world_.Agrees(); }, kLimitMs)) << world_.Disagreement();
  EXPECT_EQ(world_.server(0).follows, Promoted().port);
}

TEST_F(SentinelTest, TheOrderIsOneTransaction) {
  Settle();
  world_.StopServer(0);
  AwaitSwitch();
  EXPECT_THAT(Promoted().heard, testing::IsSupersetOf({"SLAVEOF NO ONE", "CONFIG REWRITE", "CLIENT KILL TYPE normal",
                                                       "CLIENT KILL TYPE pubsub"}));
}

TEST_F(SentinelTest, TheReplicaWithTheLowestPriorityIsChosen) {
  world_.server(1).priority = 50;
  world_.server(2).priority = 10;
  Settle();
  world_.StopServer(0);
  AwaitSwitch();
  EXPECT_EQ(Promoted().port, 7002);
}

TEST_F(SentinelTest, AReplicaOfPriorityZeroIsNeverChosen) {
  world_.server(1).priority = 0;
  world_.server(2).priority = 0;
  Settle();
  world_.StopServer(0);
  const auto has_given_up = [this] { return Any("-failover-abort-no-good-slave"); };
  ASSERT_TRUE(world_.StepUntil(has_given_up, kLimitMs));
  EXPECT_FALSE(Any("+selected-slave"));
}

TEST_F(SentinelTest, TheReplicaWithMoreDataIsChosen) {
  Settle();
  world_.SetApart(7001, 7000);
  world_.Step(3000);
  world_.server(2).offset += 1000;
  world_.Step(11'000);
  world_.StopServer(0);
  AwaitSwitch();
  EXPECT_EQ(Promoted().port, 7002) << testing::PrintToString(Leader().events());
}

// Such a replica was cut off during an earlier failover, and its offset is of another history.
TEST_F(SentinelTest, AReplicaThatFollowsTheFormerPrimaryIsNotPreferred) {
  Settle();
  world_.StopServer(0);
  AwaitSwitch();
  world_.StartServer(0);
  ASSERT_TRUE(world_.StepUntil([this] { return world_.Agrees() && world_.AllKnowAll(); }, kLimitMs));
  const int second_port = Promoted().port;
  const int remaining = second_port == 7001 ? 2 : 1;
  world_.StopServer(second_port - SentinelWorld::kFirstServer);
  world_.server(remaining).follows =
      kPrimaryPort;  // a primary that is up would get it back by SLAVEOF of the Sentinels
  world_.server(remaining).offset += 1000;
  const auto has_switched = [&] { return world_.Agrees() && world_[0].primary().address.port != second_port; };
  ASSERT_TRUE(world_.StepUntil(has_switched, kLimitMs)) << world_.Disagreement();
  EXPECT_EQ(Promoted().port, kPrimaryPort) << testing::PrintToString(world_[0].events());
}

TEST_F(SentinelTest, AReplicaThatFollowsAReplicaIsNotPreferred) {
  Settle();
  world_.StopServer(0);
  world_.server(2).follows = 7001;
  world_.server(2).offset += 1000;
  AwaitSwitch();
  EXPECT_EQ(Promoted().port, 7001) << testing::PrintToString(Leader().events());
}

// The Sentinel does not know that the name, or an address on the other side of NAT, is the primary's.
TEST_F(SentinelTest, AReplicaMayReportThePrimaryByAnotherAddress) {
  Settle();
  world_.StopServer(0);
  world_.server(2).primary_host = "localhost";
  world_.server(2).offset += 1000;
  AwaitSwitch();
  EXPECT_EQ(Promoted().port, 7002) << testing::PrintToString(Leader().events());
}

// The Sentinel can look up that the name is the one of a server that it knows.
TEST_F(SentinelTest, AReplicaThatReportsAnotherServerByItsNameIsNotPreferred) {
  Settle();
  for (int i = 0; i < world_.Count(); ++i) world_[i]->state().options.resolves_hostnames = true;
  world_.names["one.example"] = "127.0.0.1";
  world_.StopServer(0);
  world_.server(2).primary_host = "one.example";
  world_.server(2).follows = 7001;
  world_.server(2).offset += 1000;
  AwaitSwitch();
  EXPECT_EQ(Promoted().port, 7001) << testing::PrintToString(Leader().events());
}

TEST_F(SentinelTest, AMinorityDoesNotAct) {
  Settle();
  world_[1].Stop();
  world_[2].Stop();
  world_.StopServer(0);
  world_.Step(60'000);
  EXPECT_TRUE(world_[0].HasTold("+sdown master"));
  EXPECT_FALSE(world_[0].HasTold("+odown"));
  EXPECT_EQ(world_[0].primary().address.port, kPrimaryPort);
}

TEST_F(SentinelTest, AnOpinionThatIsOldDoesNotCount) {
  Settle();
  world_.StopServer(0);
  ASSERT_TRUE(world_.StepUntil([this] { return world_[0].primary().is_objectively_down || Any("+odown"); }, kLimitMs));
  AwaitSwitch();
}

TEST_F(SentinelTest, AForcedFailoverNeedsNoVotes) {
  Settle();
  world_[1].Stop();
  world_[2].Stop();
  world_[0]->failover().ForceFailover(world_[0].primary());
  AwaitSwitch();
  EXPECT_TRUE(world_[0].HasTold("+elected-leader"));
}

TEST_F(SentinelTest, AFailoverThatFindsNobodyToPromoteIsTriedAgain) {
  Settle();
  world_.server(1).priority = world_.server(2).priority = 0;
  world_.Step(11'000);
  world_.StopServer(0);
  ASSERT_TRUE(world_.StepUntil([this] { return Any("-failover-abort-no-good-slave"); }, kLimitMs));
  world_.server(1).priority = 100;
  AwaitSwitch();
}

TEST_F(SentinelTest, APrimaryThatSaysItIsAReplicaIsDownAfterAWhile) {
  Settle();
  world_.server(0).follows = 7001;
  world_.server(1).follows = 0;
  ASSERT_TRUE(world_.StepUntil([this] { return Any("+sdown master"); }, kLimitMs));
}

TEST_F(SentinelTest, AReplicaThatFollowsSomebodyElseIsSentBack) {
  Settle();
  world_.server(2).follows = 7001;
  const auto is_back = [this] { return world_.server(2).follows == kPrimaryPort; };
  ASSERT_TRUE(world_.StepUntil(is_back, kLimitMs));
  EXPECT_TRUE(Any("+fix-slave-config slave 127.0.0.1:7002"));
}

TEST_F(SentinelTest, AReplicaThatBecomesAPrimaryIsSentBack) {
  Settle();
  world_.server(2).follows = 0;
  ASSERT_TRUE(world_.StepUntil([this] { return world_.server(2).follows == kPrimaryPort; }, kLimitMs));
  EXPECT_TRUE(Any("+convert-to-slave slave 127.0.0.1:7002"));
}

TEST_F(SentinelTest, ARestartIsToldAndNoFailure) {
  Settle();
  world_.StopServer(0);
  world_.Step(200);
  world_.StartServer(0);
  ASSERT_TRUE(world_.StepUntil([this] { return Any("+reboot master mymaster"); }, kLimitMs))
      << testing::PrintToString(world_[0].events());
  EXPECT_FALSE(Any("+sdown master"));
}

TEST_F(SentinelTest, ASentinelThatWasFrozenOnlyListens) {
  Settle();
  world_[0].is_frozen = true;
  world_.Step(5000);
  world_[0].is_frozen = false;
  world_.Step(500);
  EXPECT_TRUE(world_[0].HasTold("+tilt #tilt mode entered"));
  EXPECT_FALSE(world_[0].HasTold("+sdown"));
  world_.StopServer(0);
  AwaitSwitch();
  EXPECT_NE(&Leader(), &world_[0]);
  EXPECT_TRUE(world_.StepUntil([this] { return world_[0].HasTold("-tilt #tilt mode exited"); }, kLimitMs));
}

TEST_F(SentinelTest, ASentinelKeepsItsIdAndWhatItKnows) {
  Settle();
  world_.StopServer(0);
  AwaitSwitch();
  const std::string id = world_[1]->state().id;
  const int port = world_[1].primary().address.port;
  const uint64_t epoch = world_[1]->state().current_epoch;
  world_[1].Stop();
  world_[1].Start();
  EXPECT_EQ(world_[1]->state().id, id);
  EXPECT_EQ(world_[1].primary().address.port, port);
  EXPECT_EQ(world_[1]->state().current_epoch, epoch);
  EXPECT_EQ(world_[1].primary().sentinels.size(), 2u);
}

// The file may come from a backup.
TEST_F(SentinelTest, AnOldFileIsBroughtUpToDate) {
  Settle();
  const std::string old = world_[2].file();
  world_.StopServer(0);
  AwaitSwitch();
  world_[2].Stop();
  world_[2].SetFile(old);
  world_[2].Start();
  EXPECT_EQ(world_[2].primary().address.port, kPrimaryPort);
  EXPECT_TRUE(world_.StepUntil([this] { return world_.Agrees(); }, kLimitMs)) << world_.Disagreement();
  EXPECT_NE(world_[2].primary().address.port, kPrimaryPort);
}

TEST_F(SentinelTest, ASentinelWithoutAnIdChoosesOneAndKeepsIt) {
  world_[2].Stop();
  world_[2].SetFile("sentinel monitor mymaster 127.0.0.1 7000 2\n");
  world_[2].Start();
  const std::string id = world_[2]->state().id;
  EXPECT_EQ(id.size(), 40u);
  EXPECT_THAT(world_[2].file(), StartsWith("sentinel myid " + id + "\n"));
}

TEST_F(SentinelTest, AVoteIsRememberedAcrossARestart) {
  Settle();
  const auto first = world_[0]->election().VoteForLeader(world_[0].primary(), 7, "somebody");
  EXPECT_EQ(first.leader, "somebody");
  world_[0].Stop();
  world_[0].Start();
  const auto second = world_[0]->election().VoteForLeader(world_[0].primary(), 7, "somebody-else");
  EXPECT_NE(second.leader, "somebody-else");
  EXPECT_EQ(second.epoch, 7u);
}

TEST_F(SentinelTest, TwoThatWantToLeadAgree) {
  Settle();
  world_.StopServer(0);
  for (int i = 0; i < world_.Count(); ++i) {
    world_[i].primary().is_down = world_[i].primary().is_objectively_down = true;
    world_[i]->failover().StartIfNeeded(world_[i].primary());
  }
  AwaitSwitch();
}

TEST_F(SentinelTest, ARenamedCommandIsSentUnderItsName) {
  Settle();
  for (int i = 0; i < world_.Count(); ++i) world_[i].primary().renamed_commands = {{"SLAVEOF", "sEcReT"}};
  for (int i = 0; i < world_.Servers(); ++i) world_.server(i).renamed = {{"SLAVEOF", "sEcReT"}};
  world_.StopServer(0);
  const auto has_ordered = [this] {
    return std::ranges::count(world_.server(1).heard, "sEcReT NO ONE") +
               std::ranges::count(world_.server(2).heard, "sEcReT NO ONE") >
           0;
  };
  EXPECT_TRUE(world_.StepUntil(has_ordered, kLimitMs));
}

TEST_F(SentinelTest, ASentinelThatMovesIsKnownAtItsNewAddress) {
  Settle();
  const std::string id = world_[1]->state().id;
  world_[0]->hello_protocol().Receive("127.0.0.1,8999," + id + ",0,mymaster,127.0.0.1,7000,0");
  EXPECT_TRUE(
      world_[0].HasTold("+sentinel-address-switch master mymaster 127.0.0.1 7000 ip 127.0.0.1 port 8999 for " + id));
  EXPECT_EQ(world_[0].primary().sentinels.size(), 2u);
}

TEST_F(SentinelTest, AnotherIdAtTheSameAddressReplacesTheFormer) {
  Settle();
  const std::string id(40, 'a');
  world_[0]->hello_protocol().Receive("127.0.0.1,8001," + id + ",0,mymaster,127.0.0.1,7000,0");
  EXPECT_TRUE(world_[0].HasTold("+sentinel-invalid-addr sentinel "));
  EXPECT_EQ(world_[0].primary().sentinels.size(), 2u);
  EXPECT_TRUE(world_[0].primary().sentinels.contains(id));
}

std::string ForgedHello(int number) {
  std::string id = std::to_string(number);
  id.insert(0, kSentinelIdLength - id.size(), '0');
  return StrCat("127.0.0.1,", 20'000 + number, ",", id, ",0,mymaster,127.0.0.1,7000,0");
}

TEST_F(SentinelTest, AFloodOfHelloMessagesIsBoundedAndReplacesNoneThatAnswers) {
  Settle();
  std::vector<std::string> real;
  for (const auto& [id, sentinel] : world_[0].primary().sentinels) real.push_back(id);
  ASSERT_EQ(real.size(), 2u);
  const int saves = world_[0].saves;
  const auto& known = world_[0].primary().sentinels;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 2000; ++i) world_[0]->hello_protocol().Receive(ForgedHello(round * 2000 + i));
    EXPECT_EQ(known.size(), kMaxPeerSentinels);
    world_.Step(100);
  }
  EXPECT_LE(world_[0].saves - saves, 2);
  world_.Step(3000);  // the replicas that do not exist are down now
  world_[0]->hello_protocol().Receive(ForgedHello(44'000));
  EXPECT_TRUE(known.contains(ForgedHello(44'000).substr(16, kSentinelIdLength)));
  for (int i = 30'000; i < 40'000; ++i) world_[0]->hello_protocol().Receive(ForgedHello(i));
  EXPECT_EQ(known.size(), kMaxPeerSentinels);
  for (const std::string& id : real) EXPECT_TRUE(known.contains(id));
}

// A name server may take a second for each name.
TEST_F(SentinelTest, NamesThatOthersSayAreNotAllLookedUp) {
  Settle();
  world_[0]->state().options.resolves_hostnames = true;
  const int before = world_[0].look_ups;
  for (int i = 0; i < 100; ++i) {
    std::string hello = ForgedHello(i);
    hello.replace(0, 9, StrCat("host", i));
    world_[0]->hello_protocol().Receive(hello);
  }
  EXPECT_LE(world_[0].look_ups - before, SentinelState::kLookUpsPerTick);
}

TEST_F(SentinelTest, APrimaryThatNamesTooManyReplicasIsNotBelieved) {
  Settle();
  std::string& lines = world_.server(0).more_info;
  for (int i = 0; i < 5000; ++i) {
    StrAppend(lines, "slave", i + 2, ":ip=127.0.0.1,port=", 10'000 + i, "\r\n");
  }
  lines += "slave9999:ip=" + std::string(300, 'a') + ",port=1\r\n" + std::string(2'000'000, 'x');
  world_.Step(11'000);
  const auto& replicas = world_[0].primary().replicas;
  EXPECT_EQ(replicas.size(), kMaxReplicas);
  EXPECT_TRUE(replicas.contains("127.0.0.1:7001"));
  EXPECT_TRUE(replicas.contains("127.0.0.1:7002"));
  EXPECT_LE(world_[0].primary().info->size(), size_t{1} << 20);
  lines = "slave2:ip=127.0.0.1,port=19999\r\n";  // the other replicas are down by now
  world_.Step(11'000);
  EXPECT_TRUE(replicas.contains("127.0.0.1:19999"));
  EXPECT_TRUE(replicas.contains("127.0.0.1:7001"));
}

TEST_F(SentinelTest, HelloMessagesThatMakeNoSenseChangeNothing) {
  Settle();
  const std::string before = world_[0].file();
  for (const char* message : {"", ",,,,,,,", "a,b,c", "127.0.0.1,8001,x,0,nobody,127.0.0.1,7000,0",
                              "127.0.0.1,99999,yyy,0,mymaster,127.0.0.1,7000,0", "1,2,3,4,5,6,7,8,9"}) {
    world_[0]->hello_protocol().Receive(message);
  }
  world_.Step(1000);
  EXPECT_EQ(world_[0].file(), before);
}

// --- Found by an attack.

TEST_F(SentinelTest, HelloMessagesPutNoWordsIntoTheFile) {
  Settle();
  world_[0]->state().options.resolves_hostnames = true;
  const std::string before = world_[0].file();
  const std::string id(40, 'a');
  const std::string known = world_[1]->state().id;
  const std::string own = world_[0]->state().id;
  for (const std::string& message :
       {std::string("127.0.0.1,8005,x\nsentinel monitor evil 6.6.6.6 6379 1\n#,0,mymaster,127.0.0.1,7000,0"),
        std::string("127.0.0.1,8005,a b,0,mymaster,127.0.0.1,7000,0"),
        "x y,8005," + id + ",0,mymaster,127.0.0.1,7000,0",
        "x\nsentinel monitor evil 6.6.6.6 6379 1\n#,8005," + id + ",0,mymaster,127.0.0.1,7000,0",
        "127.0.0.1,8005," + id + ",0,mymaster,\"q,7000,9", "127.0.0.1,8005," + id + ",0,mymaster,127.0.0.1,0,9",
        "127.0.0.1,8005," + id + ",18446744073709551615,mymaster,127.0.0.1,7000,0",
        "127.0.0.1,8005," + id + ",0,mymaster,127.0.0.1,7009,18446744073709551615",
        "x y,8005," + known + ",0,mymaster,127.0.0.1,7000,0",
        "127.0.0.1,8005," + own + ",0,mymaster,127.0.0.1,7000,0"}) {
    world_[0]->hello_protocol().Receive(message);
    EXPECT_EQ(world_[0].primary().sentinels.size(), 2u) << message;
  }
  world_.Step(200);
  EXPECT_EQ(world_[0].file(), before);
}

TEST_F(SentinelTest, AVoteThatIsNotOnDiskIsNotTold) {
  Settle();
  world_[0].fails_to_save = true;
  EXPECT_EQ(world_[0]->election().VoteForLeader(world_[0].primary(), 7, "somebody").leader, "");
  EXPECT_EQ(world_[0]->election().VoteForLeader(world_[0].primary(), 7, "somebody").leader, "");
  world_[0].fails_to_save = false;
  EXPECT_EQ(world_[0]->election().VoteForLeader(world_[0].primary(), 7, "somebody").leader, "somebody");
}

// The others have moved to another epoch, for another primary, while this one is being elected for its failover.
TEST_F(SentinelTest, VotesOfAnotherEpochElectNobody) {
  Settle();
  Primary& primary = world_[0].primary();
  const std::string id = world_[0]->state().id;
  world_[0]->state().current_epoch = 7;
  EXPECT_EQ(world_[0]->election().VoteForLeader(primary, 7, id).leader, id);
  world_[0]->state().current_epoch = 8;
  for (const auto& [name, sentinel] : primary.sentinels) {
    sentinel->voted_for = id;
    sentinel->voted_in_epoch = 8;
  }
  EXPECT_EQ(world_[0]->election().VoteAndFindLeader(primary, 7), "");
  for (const auto& [name, sentinel] : primary.sentinels) sentinel->voted_in_epoch = 7;
  EXPECT_EQ(world_[0]->election().VoteAndFindLeader(primary, 7), id);
}

}  // namespace
}  // namespace respite
