// The fixture of the tests of slot migration: clusters on a fake network.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/key_slot.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/cluster/slots/slot_migrations.h"
#include "tests/support/replication_world.h"

namespace respite {

inline constexpr int kSlotBusDistance = 10000;

class SlotMigrationTest : public testing::Test {
 protected:
  static constexpr int kNodeTimeoutMs = 1000;

  // Creates primaries with an even share of the slots; the first one gets `replicas` replicas.
  void Form(int primaries, int replicas = 0, const std::vector<std::string>& more = {}) {
    std::vector<std::string> directives = {"cluster-enabled yes", StrCat("cluster-node-timeout ", kNodeTimeoutMs),
                                           "repl-ping-replica-period 1", "cluster-allow-replica-migration no"};
    directives.insert(directives.end(), more.begin(), more.end());
    for (int i = 0; i < primaries + replicas; ++i) world_.Add(directives);
    for (int i = 0; i < primaries; ++i) {
      At(i).Run(
          StrCat("CLUSTER ADDSLOTSRANGE ", kSlotCount * i / primaries, " ", kSlotCount * (i + 1) / primaries - 1));
      At(i).Run(StrCat("CLUSTER SET-CONFIG-EPOCH ", i + 1));
    }
    for (int i = 1; i < primaries + replicas; ++i) {
      At(0).Run(StrCat("CLUSTER MEET 127.0.0.1 ", At(i).port(), " ", At(i).port() + kSlotBusDistance));
    }
    Step(5000);
    for (int i = primaries; i < primaries + replicas; ++i)
      EXPECT_THAT(At(i).Run("CLUSTER REPLICATE " + Id(At(0))), Ok());
    Step(6000);
    for (ReplicationMember& member : world_.members()) {
      EXPECT_THAT(member.Run("CLUSTER INFO").Text(), testing::HasSubstr("cluster_state:ok")) << member.port();
    }
  }

  ReplicationMember& At(int index) { return world_.members()[static_cast<size_t>(index)]; }
  void Step(int64_t ms) { world_.network().Step(ms); }
  static std::string Id(ReplicationMember& member) {
    return member->services().cluster.cluster()->view().me().id.String();
  }
  // Two primaries: the one that has the slot of "{t}", and the other.
  struct Pair {
    ReplicationMember& source;
    ReplicationMember& target;
  };
  Pair FormPair(const std::vector<std::string>& more = {}) {
    Form(2, 0, more);
    return Owns(At(0), "{t}") ? Pair{At(0), At(1)} : Pair{At(1), At(0)};
  }
  static bool Owns(ReplicationMember& member, Bytes key) {
    const ClusterView& view = member->services().cluster.cluster()->view();
    return view.Owner(KeySlot(key)) == &view.me();
  }
  TestReply Migrate(ReplicationMember& source, ReplicationMember& target, Bytes key) {
    const std::string slot = std::to_string(KeySlot(key));
    return source.Run("CLUSTER MIGRATESLOTS SLOTSRANGE " + slot + " " + slot + " NODE " + Id(target));
  }
  // The state of the latest migration.
  static std::string State(ReplicationMember& member) {
    const auto jobs = member->services().slot_migrations.Jobs();
    return jobs.empty() ? "none" : std::string(StateName(jobs.front().state));
  }
  static std::string Message(ReplicationMember& member) {
    return member->services().slot_migrations.Jobs().front().message;
  }
  static size_t KeysAt(ReplicationMember& member) { return member->services().data.dataset.keyspace[0].Size(); }
  // Steps until the latest migration has this state.
  void StepUntil(ReplicationMember& member, const std::string& state) {
    for (int i = 0; i < 3000 && State(member) != state; ++i) Step(10);
    ASSERT_EQ(State(member), state) << member.Log();
  }
  // Cuts the connection when the target has the slots, hidden, and none of their keys have arrived.
  void StopHalfway(ReplicationMember& source, ReplicationMember& target) {
    for (int i = 0; i < 500 && State(target) != "waiting-for-ack"; ++i) world_.network().RunOnce();
    ASSERT_EQ(State(target), "waiting-for-ack") << source.Log() << target.Log();
    world_.network().SetApart(source.port(), target.port());
  }

  ReplicationWorld world_{7};
};

}  // namespace respite
