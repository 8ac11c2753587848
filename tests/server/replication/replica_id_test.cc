// The ID by which a primary knows that a replica has connected again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/str_cat.h"
#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::HasSubstr;

class ReplicaIdTest : public ReplicationTest {
 protected:
  // Makes `client` a replica that has all data of the primary. `options`: what it announces by REPLCONF.
  static void Continue(ReplicationMember& primary, TestClient& client, const std::string& options) {
    EXPECT_THAT(client.Run("REPLCONF " + options), Ok());
    client.Send(StrCat("PSYNC ", primary.history().id, " ", primary.history().offset + 1));
    EXPECT_THAT(client.Raw(""), HasSubstr("+CONTINUE"));
    client.Raw(EncodeRequest({"REPLCONF", "ACK", std::to_string(primary.history().offset)}));
  }
};

// The primary has not noticed that the connection broke.
TEST_F(ReplicaIdTest, AReplicaThatConnectsAgainCountsOnce) {
  ReplicationMember& primary = world_.Add({"repl-timeout 1000", "min-replicas-to-write 1"});
  ReplicationMember& replica = AddLinked(primary, {"repl-timeout 10"});
  TestClient client(primary.server());
  EXPECT_THAT(client.Run("SET a 1"), Ok());
  network().Step(3000);
  ASSERT_THAT(client.Run("WAIT 1 0"), Int(1));
  network().Silence(primary.port(), replica.port());
  network().Step(16'000);
  ASSERT_TRUE(replica.IsLinked());
  EXPECT_EQ(network().ConnectionAttempts(), 2);
  EXPECT_EQ(primary.Info("connected_slaves"), "1");
  EXPECT_EQ(primary.Info("min_slaves_good_slaves"), "1");
  EXPECT_THAT(primary.Log(), HasSubstr("Replica 127.0.0.1:7002 has connected again: closing its older connection"));
  client.Run("WAIT 2 500");
  network().Step(1000);
  EXPECT_THAT(client.Read(), Int(1));
}

// The replica needs a full synchronisation, for which it may throw away its data.
TEST_F(ReplicaIdTest, WhatAnOlderConnectionAcknowledgedDoesNotCount) {
  ReplicationMember& primary = world_.Add({"repl-timeout 1000", "repl-backlog-size 16kb"});
  ReplicationMember& replica = AddLinked(primary, {"repl-timeout 10", "repl-diskless-load flush-before-load"});
  TestClient client(primary.server());
  client.Run("SET a 1");
  network().Step(3000);
  ASSERT_THAT(client.Run("WAIT 1 0"), Int(1));
  network().Silence(primary.port(), replica.port());
  primary.Run({"SET", "big", std::string(100'000, 'x')});
  primary.server().forker().Hold();
  network().Step(16'000);
  ASSERT_FALSE(replica.IsLinked()) << "it waits for the snapshot";
  EXPECT_THAT(client.Run("WAIT 1 500"), NoReply());
  network().Step(1000);
  EXPECT_THAT(client.Read(), Int(0));
}

// Replicas of Redis name no ID. Replicas behind address translation may announce the same address.
TEST_F(ReplicaIdTest, AnAddressIsNoId) {
  ReplicationMember& primary = world_.Add();
  AddLinked(primary);
  TestClient first(primary.server());
  TestClient second(primary.server());
  TestClient third(primary.server());
  TestClient fourth(primary.server());
  Continue(primary, first, "listening-port 6379 ip-address 10.0.0.1 capa psync2");
  Continue(primary, second, "listening-port 6379 ip-address 10.0.0.1 capa psync2");
  Continue(primary, third, "listening-port 6379 ip-address 10.0.0.1 capa psync2 capa respite-id:x");
  EXPECT_EQ(primary.Info("connected_slaves"), "4");
  Continue(primary, fourth, "listening-port 6380 ip-address 10.0.0.2 capa psync2 capa respite-id:x");
  EXPECT_EQ(primary.Info("connected_slaves"), "4");
  EXPECT_FALSE(first.Closed());
  EXPECT_FALSE(second.Closed());
  EXPECT_TRUE(third.Closed());
  EXPECT_FALSE(fourth.Closed());
}

}  // namespace
}  // namespace respite
