// PlayedPrimaryTest: a fixture with replicas whose primary is played by the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {

inline constexpr int kStrangePort = 9000;
inline const std::string kStrangeId(40, 'b');
inline const std::string kEofMark(40, 'e');

// A primary that the test plays, and a replica with each mode of loading.
class PlayedPrimaryTest : public testing::Test {
 protected:
  struct Pair {
    explicit Pair(std::vector<std::string> directives, uint64_t seed = 5)
        : world(seed), stranger(world.network().Listen(kStrangePort)), replica(world.Add(std::move(directives))) {}

    void Say(Bytes bytes) {
      world.network().SendAs(kStrangePort, bytes);
      world.network().Run();
    }
    void Follow() { replica.Run(StrCat("REPLICAOF 127.0.0.1 ", kStrangePort)); }
    // Answers the handshake up to PSYNC after the replica has connected.
    void Greet() {
      for (int i = 0; i < 900 && stranger.received.find("PING") == std::string::npos; ++i) world.network().Step(100);
      Say("+PONG\r\n+OK\r\n+OK\r\n+OK\r\n");
      ASSERT_THAT(stranger.received, testing::HasSubstr("PSYNC"));
      stranger.received.clear();
    }
    void SendSnapshot(const std::string& rdb, int64_t offset = 100) {
      Say(StrCat("+FULLRESYNC ", kStrangeId, " ", offset, "\r\n$", rdb.size(), "\r\n", rdb));
    }
    void Link(const std::string& rdb) {
      Greet();
      SendSnapshot(rdb);
      ASSERT_TRUE(replica.IsLinked());
      stranger.received.clear();
    }
    // Gives the replica's data a history that other servers know.
    void AddReplica() {
      ReplicationMember& other = world.Add({});
      other.Follow(replica);
      world.network().Step(2500);
      ASSERT_TRUE(other.IsLinked());
    }
    void BreakLink() {
      stranger.received.clear();
      world.network().HangUpAs(kStrangePort);
      world.network().Run();
    }
    // Breaks a full resynchronization after the replica has dropped its data.
    void LoseData() {
      BreakLink();
      Greet();
      Say("+FULLRESYNC " + kStrangeId + " 500\r\n$5000\r\n" + LongRdb().substr(0, 1000));
      BreakLink();
    }

    ReplicationWorld world;
    FakeNetwork::Stranger& stranger;
    ReplicationMember& replica;
  };

  static std::string Rdb(const std::vector<std::string>& lines) {
    TestServer other({.directives = {"save \"\""}});
    TestClient client(other);
    for (const std::string& line : lines) client.Run(line);
    client.Run("SAVE");
    return other.files().Content("dump.rdb");
  }
  static std::string LongRdb() {
    std::vector<std::string> lines;
    lines.reserve(200);
    for (int i = 0; i < 200; ++i) lines.push_back(StrCat("SET key", i, " value"));
    return Rdb(lines);
  }
  // Sends PSYNC … FAILOVER, as a primary does that hands over its role.
  static TestReply AskForRole(ReplicationMember& replica) {
    TestClient client(replica.server());
    return client.Run(StrCat("PSYNC ", replica.history().id, " ", replica.history().offset + 1, " FAILOVER"));
  }
  static void ExpectUnfit(ReplicationMember& replica, const std::string& state) {
    EXPECT_FALSE(replica.history().IsWhole());
    EXPECT_EQ(replica.Info("replica_data"), state);
    EXPECT_EQ(replica.Info("slave_priority"), "0");
    EXPECT_EQ(replica.Info("master_link_status"), "down");
    EXPECT_THAT(AskForRole(replica), ErrorStartsWith("ERR PSYNC FAILOVER can't be sent to a replica without valid"));
    EXPECT_EQ(replica.Info("role"), "slave");
  }
  static void ExpectFit(ReplicationMember& replica) {
    EXPECT_TRUE(replica.history().IsWhole());
    EXPECT_EQ(replica.Info("replica_data"), "");
    EXPECT_EQ(replica.Info("slave_priority"), "100");
  }
};

}  // namespace respite
