// Servers that follow each other while connections break, machines are separated, processes end and roles change. After
// all faults end, all have the same data.
//
// RESPITE_REPLICATION_ROUNDS sets the number of rounds. RESPITE_REPLICATION_SEED repeats the round with this seed.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "base/random.h"
#include "base/str_cat.h"
#include "tests/support/replication_world.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

class ReplicationStory {
 public:
  explicit ReplicationStory(uint64_t seed) : random_(seed), world_(seed) {
    const size_t members = 2 + random_.Below(3);
    for (size_t i = 0; i < members; ++i) world_.Add(Directives());
    primary_ = 0;
    for (size_t i = 1; i < members; ++i) FollowSomebody(i);
    world_.network().SetPiece(1 + random_.Below(3000));
  }

  void Run() {
    for (int act = 0; act < 30; ++act) {
      Act();
      if (random_.Below(3) == 0) world_.network().Step(static_cast<int64_t>(random_.Below(1500)));
      if (random_.Below(2) == 0) world_.network().Run();
    }
    Heal();
    ExpectTheSame();
  }

 private:
  ReplicationMember& At(size_t index) { return world_.members()[index]; }
  ReplicationMember& Primary() { return At(primary_); }
  size_t Some() { return random_.Below(world_.members().size()); }

  std::vector<std::string> Directives() {
    std::vector<std::string> lines = {"repl-timeout 5", "repl-ping-replica-period 1"};
    if (random_.Below(2) == 0) lines.push_back("repl-diskless-sync yes");
    constexpr std::array<const char*, 3> kLoads = {"disabled", "on-empty-db", "swapdb"};
    lines.push_back(std::string("repl-diskless-load ") + kLoads[random_.Below(kLoads.size())]);
    if (random_.Below(4) == 0) lines.push_back("repl-backlog-size 16kb");
    if (random_.Below(4) == 0) lines.push_back("appendonly yes");
    return lines;
  }
  // Makes the server follow another one, in a chain or a star; never in a circle.
  void FollowSomebody(size_t index) {
    if (index == primary_ || !At(index).Runs()) return;
    const bool is_chain = random_.Below(3) == 0 && leader_ != index && leader_ != primary_ && At(leader_).Runs();
    At(index).Follow(is_chain ? At(leader_) : Primary());
    if (!is_chain) leader_ = index;
  }
  std::string Key() { return StrCat("key", random_.Below(12)); }

  void Write() {
    if (!Primary().Runs()) return;
    const std::string key = Key();
    switch (random_.Below(14)) {
      case 0:
        Primary().Run(StrCat("SELECT ", random_.Below(4)));
        return;
      case 1:
        Primary().Run("DEL " + key);
        return;
      case 2:
        Primary().Run(StrCat("SET ", key, " 5 PX ", random_.Below(3000) + 1));
        return;
      case 3:
        Primary().Run("MULTI");
        for (int i = 0; i < 3; ++i) Primary().Run(StrCat("INCR counter", random_.Below(4)));
        Primary().Run(StrCat("SELECT ", random_.Below(4)));
        Primary().Run("INCR counter");
        Primary().Run("EXEC");
        return;
      case 4:
        Primary().Run("SADD set" + key + " 1 2 3 4 5 6");
        Primary().Run("SPOP set" + key + " 2");
        return;
      case 5:
        Primary().Run("XADD x" + key + " MAXLEN 5 * f v");
        return;
      case 6:
        Primary().Run("RPUSH l" + key + " a b c");
        Primary().Run("LPOP l" + key);
        return;
      case 7:
        Primary().Run("EVAL \"redis.call('INCR', KEYS[1]) return redis.call('APPEND', KEYS[2], 'x')\" 2 counter s" +
                      key);
        return;
      case 8:
        if (random_.Below(10) == 0) Primary().Run("FLUSHDB");
        Primary().Run({"JSON.SET", "j" + key, "$", "[1]"});
        Primary().Run(StrCat("JSON.ARRAPPEND j", key, " $ ", random_.Below(4)));
        Primary().Run(StrCat("VADD v", key, " VALUES 2 1 ", random_.Below(9), " e", random_.Below(9)));
        Primary().Run(StrCat("VREM v", key, " e", random_.Below(9)));
        return;
      case 9:
        Primary().Run({"SET", "big" + key, std::string(random_.Below(20'000), 'b')});
        return;
      default:
        Primary().Run("INCR counter");
    }
  }

  void Promote() {
    const size_t next = Some();
    if (next == primary_ || !At(next).Runs()) return;
    primary_ = next;
    At(next).Run("REPLICAOF NO ONE");
    for (size_t i = 0; i < world_.members().size(); ++i)
      if (random_.Below(2) == 0) FollowSomebody(i);
  }

  void Restart() {
    const size_t index = Some();
    ReplicationMember& member = At(index);
    if (!member.Runs()) return Start(index);
    if (random_.Below(2) == 0 && !member->services().storage.child_processes.Busy()) member.Run("SAVE");
    random_.Below(3) == 0 ? member.Crash() : member.Stop();
    if (random_.Below(2) == 0) Start(index);
  }
  void Start(size_t index) {
    if (index == primary_) return At(index).Start();
    At(index).Start({StrCat("replicaof 127.0.0.1 ", Primary().port())});
  }

  void Act() {
    FakeNetwork& network = world_.network();
    const int one = 7001 + static_cast<int>(Some());
    const int other = 7001 + static_cast<int>(Some());
    switch (random_.Below(24)) {
      case 0:
        return network.Break(one, other);
      case 1:
        return network.BreakNextAfter(one, random_.Below(2000));
      case 2:
        return network.SetApart(one, other);
      case 3:
        return network.SetTogether(one, other);
      case 4:
        return network.Silence(one, other);
      case 5:
        return network.SetDelay(static_cast<int64_t>(random_.Below(3) * 150));
      case 6:
        return network.SetWindow(random_.Below(2) == 0 ? SIZE_MAX : 100 + random_.Below(30'000));
      case 7:
        return random_.Below(2) == 0 ? network.Refuse(one) : network.Accept(one);
      case 8:
        return Promote();
      case 9:
        return Restart();
      case 10:
        return FollowSomebody(Some());
      case 11:
        if (Primary().Runs()) Primary().Run("FAILOVER TIMEOUT 1000");
        return;
      default:
        for (uint64_t i = random_.Below(20); i > 0; --i) Write();
    }
  }

  void Heal() {
    FakeNetwork& network = world_.network();
    network.SetAllTogether();
    network.SetDelay(0);
    network.SetWindow(SIZE_MAX);
    for (size_t i = 0; i < world_.members().size(); ++i) {
      network.Accept(At(i).port());
      if (!At(i).Runs()) Start(i);
    }
    for (ReplicationMember& member : world_.members()) member.Run("FAILOVER ABORT");
    network.Step(8000);  // also lets earlier requests to other servers end
    Primary().Run("REPLICAOF NO ONE");
    for (size_t i = 0; i < world_.members().size(); ++i)
      if (i != primary_) At(i).Follow(Primary());
    network.Step(15'000);
    Write();
    network.Step(15'000);
  }

  void ExpectTheSame() {
    for (ReplicationMember& member : world_.members()) {
      if (&member == &Primary()) continue;
      EXPECT_TRUE(member.IsLinked()) << member.port() << "\n" << member.Log();
      EXPECT_EQ(member.history().id, Primary().history().id);
      EXPECT_EQ(member.history().offset, Primary().history().offset);
      ExpectSameData(Primary(), member);
      if (testing::Test::HasFailure()) {
        std::printf("---- %d\n%s---- %d\n%s", Primary().port(), Primary().Log().c_str(), member.port(),
                    member.Log().c_str());
        return;
      }
    }
  }

  Random random_;
  ReplicationWorld world_;
  size_t primary_ = 0;
  size_t leader_ = 0;
};

TEST(RandomReplicationTest, AllAgreeWhenAllIsWellAgain) {
  const uint64_t rounds = NumberFromEnvironment("RESPITE_REPLICATION_ROUNDS", 150);
  const uint64_t first = NumberFromEnvironment("RESPITE_REPLICATION_SEED", 1);
  for (uint64_t seed = first; seed < first + rounds; ++seed) {
    SCOPED_TRACE(StrCat("RESPITE_REPLICATION_SEED=", seed));
    ReplicationStory(seed).Run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace respite
