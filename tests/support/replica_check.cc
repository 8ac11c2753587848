#include "tests/support/replica_check.h"

#include <gtest/gtest.h>

#include "server/dataset/journal.h"
#include "server/replication/divergence_watch.h"
#include "server/storage/storage_subsystem.h"
#include "tests/support/test_client.h"

namespace respite {

namespace {

constexpr int64_t kReplicaDayMs = 86'400'000;

}  // namespace

void StreamRecorder::Append(const PropagatedGroup& group) {
  struct {
    std::string& text;
    void Piece(Bytes piece) { text += piece; }
    void Select(const std::string& piece) { text += piece; }
  } take{text_};
  WrapInSelectAndMulti(group, JournalEntry::kReplicas, selected_db_, take);
}

void ExpectReplicaMatches(TestServer& server, const StreamRecorder& stream) {
  TestServer::Options options = server.options();
  options.seed ^= 0x9e3779b97f4a7c15ull;
  options.wall_ms = server.clock().WallMs() + kReplicaDayMs;
  options.files = nullptr;
  TestServer replica(options);
  DivergenceWatch watch({.env = replica->services().env, .durability = replica->services().execution.durability});
  replica->services().execution.observers.Attach(watch);
  {
    TestClient primary(replica);
    primary.session().authenticated = true;
    primary.session().kind = SessionKind::kPrimary;
    primary.Raw(stream.Text());
  }
  replica->services().execution.observers.Detach(watch);
  EXPECT_EQ(replica->services().env.stats.unexpected_errors, 0u) << "a replica refuses what its primary says";
  EXPECT_EQ(SnapshotDifference(SnapshotOf(*server), SnapshotOf(*replica)), "")
      << "on a replica, after " << ::testing::PrintToString(server.journal().Lines());
}

}  // namespace respite
