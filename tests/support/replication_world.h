// ReplicationWorld: servers that replicate each other on a FakeNetwork. Each has its own files, which survive the
// server.
//
//   ReplicationWorld world(seed);
//   auto& primary = world.Add();
//   auto& replica = world.Add({"repl-diskless-sync no"});
//   replica.Follow(primary);
//   world.network().Step(2000);
//   EXPECT_TRUE(replica.IsLinked());
//   ExpectSameData(primary, replica);
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/fake_network.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/server_life.h"

namespace respite {

class ReplicationWorld {
 public:
  class Member {
   public:
    Member(FakeNetwork& network, int port, std::vector<std::string> directives)
        : network_(network), port_(port), directives_(std::move(directives)) {
      Start();
    }
    ~Member() { Stop(); }

    int port() const { return port_; }
    bool Runs() const { return life_ != nullptr; }
    TestServer& server() { return life_->server(); }
    Node* operator->() { return &*life_->server(); }
    FaultyFiles& files() { return files_; }
    TestClient& client() { return life_->client(); }
    TestReply Run(Bytes line) { return life_->client().Run(line); }
    TestReply Run(std::initializer_list<Bytes> words) { return life_->client().Run(words); }
    std::string Log() const { return life_->Log(); }

    void Follow(Member& primary) { Run(StrCat("REPLICAOF 127.0.0.1 ", primary.port())); }
    bool IsLinked() { return server()->services().replication.role().is_linked; }
    const History& history() { return server()->services().data.dataset.history; }
    // A line of INFO replication.
    std::string Info(const std::string& name) {
      const std::string text = "\r\n" + Run("INFO replication").Text();
      const size_t at = text.find("\r\n" + name + ":");
      if (at == std::string::npos) return "";
      const size_t from = at + name.size() + 3;
      return text.substr(from, text.find("\r\n", from) - from);
    }

    // Starts with these directives in addition to those of Add, on a machine that has run for `uptime_ms`.
    void Start(const std::vector<std::string>& more = {}, int64_t uptime_ms = 0) {
      std::vector<std::string> all = {"enable-debug-command yes", "save \"\"", "repl-diskless-sync-delay 0",
                                      "repl-diskless-sync no"};
      all.insert(all.end(), directives_.begin(), directives_.end());
      all.insert(all.end(), more.begin(), more.end());
      const TestServer::Options usual;
      // Nodes of a cluster must draw different ids.
      const uint64_t seed = usual.seed + static_cast<uint64_t>(port_) + 1000 * static_cast<uint64_t>(starts_++);
      life_ = std::make_unique<ServerLife>(files_, all, usual.wall_ms + network_.NowMs(), seed);
      network_.Attach(life_->server(), port_);
      life_->server().clock().AdvanceMs(uptime_ms);
      life_->server().clock().StepWallMs(-uptime_ms);
      EXPECT_EQ(life_->server()->services().cluster.Open(), std::nullopt);
      life_->server()->services().replication.Start();
      EXPECT_EQ(life_->server()->services().cluster.Start(), std::nullopt);
    }
    // Ends the process; its files stay.
    void Stop() {
      if (life_ == nullptr) return;
      life_->server()->services().slot_migrations.Close();
      life_->server()->services().cluster.Close();
      network_.Detach(life_->server());
      life_.reset();
      files_.Kill();
    }

    // Crashes the machine: the files have only what was synced.
    void Crash() {
      Stop();
      files_.Crash();
    }

   private:
    FakeNetwork& network_;
    const int port_;
    const std::vector<std::string> directives_;
    FaultyFiles files_;
    std::unique_ptr<ServerLife> life_;
    int starts_ = 0;
  };

  explicit ReplicationWorld(uint64_t seed = 1) : network_(seed) {}

  Member& Add(std::vector<std::string> directives = {}) {
    return members_.emplace_back(network_, 7001 + static_cast<int>(members_.size()), std::move(directives));
  }
  FakeNetwork& network() { return network_; }
  std::deque<Member>& members() { return members_; }

 private:
  FakeNetwork network_;
  std::deque<Member> members_;
};

using ReplicationMember = ReplicationWorld::Member;

inline void ExpectSameData(ReplicationMember& one, ReplicationMember& other) {
  EXPECT_EQ(SnapshotDifference(SnapshotOf(*one.server()), SnapshotOf(*other.server())), "");
  EXPECT_EQ(one.Run("DEBUG DIGEST").Text(), other.Run("DEBUG DIGEST").Text());
}

class ReplicationTest : public testing::Test {
 protected:
  FakeNetwork& network() { return world_.network(); }
  ReplicationWorld::Member& AddLinked(ReplicationWorld::Member& primary, std::vector<std::string> directives = {}) {
    ReplicationWorld::Member& replica = world_.Add(std::move(directives));
    replica.Follow(primary);
    network().Step(2500);
    EXPECT_TRUE(replica.IsLinked());
    return replica;
  }
  // Returns a figure of INFO stats, such as sync_partial_ok (replicas accepted without a snapshot).
  static int64_t Stat(ReplicationWorld::Member& member, const std::string& name) {
    const std::string text = member.Run("INFO stats").Text();
    const size_t at = text.find(name + ":");
    return at == std::string::npos ? -1 : std::stoll(text.substr(at + name.size() + 1));
  }

  ReplicationWorld world_{42};
};

}  // namespace respite
