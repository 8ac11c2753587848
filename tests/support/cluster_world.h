// ClusterWorld: many nodes of a cluster on fake time and a network in memory. It has no data; only the code of
// server/cluster/ runs. The seed decides everything.
//
//   ClusterWorld world({.seed = 1});
//   world.AddCluster(3, 1);          // three primaries with a replica each, which know each other
//   world.Step(5000);
//   EXPECT_TRUE(world.Agrees());
//   world[0].Stop();
//
// A connection delivers in order and loses nothing while it lives. Faults: nodes are separated (in one direction or
// both; bytes sent meanwhile wait), frozen, or stopped; connections break.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/late_bound.h"
#include "base/log.h"
#include "base/random.h"
#include "server/cluster/cluster.h"
#include "server/config/settings.h"

namespace respite {

class ClusterWorld {
 public:
  struct Options {
    uint64_t seed = 1;
    int64_t node_timeout_ms = 2000;
    int64_t delay_ms = 1;  // minimum delay of each message; a random delay of up to the same length is added
    std::function<void(Settings&)> adjust = [](Settings&) {};
  };

  class Member final : private ClusterHost {
   public:
    Member(ClusterWorld& world, int index);
    ~Member() override;

    Cluster& operator*() { return *cluster_; }
    Cluster* operator->() { return cluster_.get(); }
    bool Runs() const { return cluster_ != nullptr; }
    int index() const { return index_; }
    Settings& settings() { return settings_; }
    NodeId id() const { return id_; }
    // Ends the process, or starts it from its nodes.conf.
    void Stop();
    void Start();
    const std::string& file() const { return file_; }
    void SetFile(std::string text) { file_ = std::move(text); }

    // Returns this member's view of another member; null if it does not know it.
    ClusterNode* Find(const Member& other) { return cluster_->view().Find(other.id()); }
    bool IsLinkedTo(const Member& primary) const { return IsLinked() && primary_ == primary.index_; }
    bool IsPrimary() const { return cluster_->view().me().IsPrimary(); }

    void EndLongTask();

    // The replication state that the cluster code sees.
    int64_t offset = 0;
    bool has_whole_data = true;
    bool has_link = true;  // false: the primary refuses replication, although the bus works
    std::set<int> slots_with_keys;
    bool holds_writes = false;
    bool is_in_long_task = false;  // tasks wait for EndLongTask
    int promotions = 0;
    int new_epochs_of_primary = 0;  // calls of HandleNewEpochOfPrimary
    std::vector<PublishBody> delivered;
    bool is_frozen = false;
    bool fails_to_save = false;
    int64_t wall_error_ms = 0;  // error of its wall clock at the start

   private:
    friend class ClusterWorld;
    class Port;

    // ClusterHost
    int64_t Offset() const override { return offset; }
    std::optional<int64_t> DataAgeMs() const override {
      return synced_at_ms_ ? std::optional(world_.NowMs() - *synced_at_ms_) : std::nullopt;
    }
    bool IsInLongTask() const override { return is_in_long_task; }
    void HandleNewEpochOfPrimary() override { ++new_epochs_of_primary; }
    bool IsLinked() const override;
    bool HasWholeData() const override { return has_whole_data; }
    void Follow(const std::string& ip, int port, std::optional<int64_t> shared_until) override;
    void Promote() override;
    bool HasKeysInSlot(int slot) const override { return slots_with_keys.contains(slot); }
    bool HasKeys() const override { return !slots_with_keys.empty(); }
    void DeleteKeysInSlot(int slot, const ClusterView&) override { slots_with_keys.erase(slot); }
    void DeleteAllKeys() override { slots_with_keys.clear(); }
    void RunNowOrAfterLongTask(std::function<void()> task) override;
    void PauseWrites() override { holds_writes = true; }
    void ResumeWrites() override { holds_writes = false; }
    void Deliver(PacketType, const PublishBody& message) override { delivered.push_back(message); }
    void OnTopologyChanged() override {}
    bool Save(const ClusterView& view, Durably) override;

    void Tick();
    void CopyFromPrimary();

    std::vector<std::function<void()>> tasks_after_long_task_;
    ClusterWorld& world_;
    const int index_;
    Settings settings_;
    Logger log_;
    LateBound<Network> network_;
    std::unique_ptr<Port> port_;
    std::unique_ptr<Cluster> cluster_;
    NodeId id_;
    std::string file_;
    int primary_ = -1;                     // index of its primary; -1: none
    std::optional<int64_t> synced_at_ms_;  // nullopt: not linked to its primary since its start
    int starts_ = 0;
  };

  explicit ClusterWorld(Options options);
  ~ClusterWorld();
  ClusterWorld(const ClusterWorld&) = delete;
  ClusterWorld& operator=(const ClusterWorld&) = delete;

  // --- Members.

  Member& Add();
  // Adds `primaries` that share all slots, each with `replicas_each` replicas: first all primaries, then the replicas
  // of the first, of the second and so on. They join by MEET, ADDSLOTS and REPLICATE. Returns when all agree.
  void AddCluster(int primaries, int replicas_each);
  // Adds the same nodes as AddCluster, but starts them from nodes.conf files that describe the cluster, as after a
  // restart. Much faster for many nodes. Returns when all are connected.
  void AddKnownCluster(int primaries, int replicas_each);
  Member& operator[](int index) { return *members_[static_cast<size_t>(index)]; }
  int Count() const { return static_cast<int>(members_.size()); }
  void Meet(Member& one, Member& other);

  // --- Time.

  void Step(int64_t elapsed_ms);
  // Steps until `holds` returns true, which it tests ten times a second. Returns false if it does not within
  // `limit_ms`.
  bool StepUntil(const std::function<bool()>& holds, int64_t limit_ms);
  int64_t NowMs() const { return clock_.NowMs(); }

  // --- Faults.

  enum class Direction : uint8_t { kBoth, kOneWay };
  void SetApart(int from, int to, Direction direction = Direction::kBoth);
  void SetAllTogether();
  // Splits the world in two.
  void Split(const std::set<int>& island);
  void BreakLinks(int one, int other);
  // Connects to the bus of a member from outside the cluster. SetApart knows this connection as kStranger.
  static constexpr int kStranger = -1;
  std::unique_ptr<Link> ConnectAsUnknownNode(int to, Link::User& user);

  // --- What they believe.

  // Whether all running members have the same owner for each slot and serve requests. kEpochs also requires equal
  // epochs; a node that started from an old file may never learn its own.
  enum class About : uint8_t { kEpochs, kOwners };
  bool Agrees(About about = About::kEpochs) { return Disagreement(about).empty(); }
  // Describes why they disagree; empty if they agree.
  std::string Disagreement(About about = About::kEpochs);
  // Index of the owner of the slot in this member's view; -1 if there is none.
  int OwnerFor(Member& member, int slot);
  uint64_t MessagesDelivered() const { return messages_; }

 private:
  struct Pipe;
  class SimLink;
  class SimListening;
  struct Event {
    int64_t due_ms;
    uint64_t number;  // events due at the same time happen in the order of their creation
    std::function<void()> action;
    bool operator>(const Event& other) const {
      return due_ms != other.due_ms ? due_ms > other.due_ms : number > other.number;
    }
  };

  void At(int64_t due_ms, std::function<void()> action) { events_.push({due_ms, ++numbers_, std::move(action)}); }
  int64_t Delay();
  bool IsHeldUp(int from, int to) const;
  bool Hears(int from, int to) const;
  std::shared_ptr<Pipe> Connect(int from, int to, Link::User& user);
  void ScheduleTick(int index, int64_t due_ms);
  void Connect(const std::shared_ptr<Pipe>& pipe);
  void Wake(const std::shared_ptr<Pipe>& pipe, int end);
  void Receive(int index, const std::function<void()>& action);
  int IndexOf(const NodeId& id) const;

  const Options options_;
  ManualClock clock_;
  Random random_;
  std::deque<std::unique_ptr<Member>> members_;
  std::vector<std::shared_ptr<Pipe>> pipes_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t numbers_ = 0;
  uint64_t messages_ = 0;
  std::set<std::pair<int, int>> apart_;
  std::vector<std::function<void()>> held_up_;  // run by SetAllTogether
};

}  // namespace respite
