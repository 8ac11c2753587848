// Clusters of whole servers, with data and clients, while connections break, machines are separated, processes end,
// replicas are promoted, and slots move key by key and as a whole. The test compares what clients saw with what a
// cluster promises:
//
//   - A read returns a value that a client has written to that key.
//   - An acknowledged write that all replicas of its node had is never lost, unless it was overwritten. After the move
//     of its slot this means the new node and its replicas.
//   - An acknowledged write is not lost either if its node has owned the slot ever since.
//   - After a slot's move was aborted, each of its keys is at one of both nodes.
//   - After all faults end, all nodes agree on one owner of each slot.
//
// Other acknowledged writes may be lost because replication is asynchronous.
//
// RESPITE_CLUSTER_STORIES sets the number of runs. RESPITE_CLUSTER_SEED repeats the run with this seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "base/key_slot.h"
#include "base/random.h"
#include "base/str_cat.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/cluster/nodes_text.h"
#include "server/cluster/slots/slot_migrations.h"
#include "tests/support/replication_world.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

constexpr int kNodeTimeoutMs = 1000;
constexpr int64_t kHistoryPatienceMs = 90'000;
constexpr int kClusterBusDistance = 10000;
constexpr int kMaxRedirections = 6;

bool IsError(const TestReply& reply) { return reply.tree && reply.tree->IsError(); }
bool IsNull(const TestReply& reply) { return reply.tree && reply.tree->IsNull(); }

// --- What clients did, and whether that may be.

// An acknowledged write.
struct Write {
  int value = 0;
  ReplicationMember* node = nullptr;
  int term = 0;          // the node's term when it acknowledged the write
  int64_t offset = 0;    // the node's replication offset after the write
  bool is_safe = false;  // all replicas of the node have had it
};

class OperationHistory {
 public:
  int Attempt(const std::string& key) {
    tried_[key].insert(++last_);
    return last_;
  }
  void Acknowledge(const std::string& key, Write write) { writes_[key].push_back(write); }
  void Read(const std::string& key, std::optional<int> value) const {
    const auto tried = tried_.find(key);
    const bool was_written = !value || (tried != tried_.end() && tried->second.contains(*value));
    EXPECT_TRUE(was_written) << key << " has " << *value << ", which nobody wrote";
  }
  // Records that the writes of a slot are now at another node, whose replicas may not have them yet.
  void Move(int slot, ReplicationMember* node, int term, int64_t offset) {
    for (auto& [key, writes] : writes_) {
      if (KeySlot(key) != slot) continue;
      for (Write& write : writes) write = {.value = write.value, .node = node, .term = term, .offset = offset};
    }
  }
  template <class Visit>
  void ForEachUnsafe(Visit visit) {
    for (auto& [key, writes] : writes_) {
      for (Write& write : writes) {
        if (!write.is_safe) visit(key, write);
      }
    }
  }
  // Returns the value of the last write that cannot be lost: the key may have no older value now.
  template <class MayBeLost>
  int Floor(const std::string& key, MayBeLost may_be_lost) const {
    int floor = 0;
    const auto found = writes_.find(key);
    if (found == writes_.end()) return floor;
    for (const Write& write : found->second) {
      if (write.is_safe || !may_be_lost(write)) floor = write.value;
    }
    return floor;
  }
  size_t Count() const {
    size_t count = 0;
    for (const auto& [key, writes] : writes_) count += writes.size();
    return count;
  }

 private:
  int last_ = 0;
  std::map<std::string, std::set<int>> tried_;
  std::map<std::string, std::vector<Write>> writes_;
};

// --- The cluster and what happens to it.

class ClusterStory {
 public:
  explicit ClusterStory(uint64_t seed) : random_(seed), world_(seed) {
    primaries_ = 3 + random_.Below(2);
    const size_t replicas = 1 + random_.Below(2);
    for (size_t i = 0; i < primaries_ * (1 + replicas); ++i) world_.Add(Directives());
    terms_.resize(world_.members().size());
    was_primary_.resize(world_.members().size());
    Form(replicas);
  }

  void Run() {
    for (int act = 0; act < 25; ++act) {
      Act();
      for (uint64_t i = random_.Below(12); i > 0; --i) Visit();
      Pass(static_cast<int64_t>(random_.Below(random_.Below(3) == 0 ? 6000 : 600)));
    }
    Heal();
    if (!testing::Test::HasFailure()) Judge();
  }
  size_t Writes() const { return history_.Count(); }

 private:
  static std::vector<std::string> Directives() {
    return {"cluster-enabled yes",    StrCat("cluster-node-timeout ", kNodeTimeoutMs),
            "appendonly yes",         "appendfsync always",
            "repl-timeout 5",         "repl-ping-replica-period 1",
            "repl-diskless-sync yes", "cluster-migration-barrier 5"};
  }

  ReplicationMember& At(size_t index) { return world_.members()[index]; }
  size_t Count() { return world_.members().size(); }
  size_t Some() { return random_.Below(Count()); }
  static ClusterView& View(ReplicationMember& member) { return member->services().cluster.cluster()->view(); }
  static std::string Id(ReplicationMember& member) { return View(member).me().id.String(); }
  ReplicationMember* MemberAt(int port) { return port < 7001 ? nullptr : &At(static_cast<size_t>(port - 7001)); }
  ReplicationMember* MemberOf(const ClusterNode* node) {
    return node == nullptr ? nullptr : MemberAt(node->address.tcp_port);
  }

  void Form(size_t replicas) {
    for (size_t i = 0; i < primaries_; ++i) {
      const size_t first = kSlotCount * i / primaries_;
      const size_t last = kSlotCount * (i + 1) / primaries_ - 1;
      At(i).Run(StrCat("CLUSTER ADDSLOTSRANGE ", first, " ", last));
      At(i).Run(StrCat("CLUSTER SET-CONFIG-EPOCH ", i + 1));
    }
    for (size_t i = 1; i < Count(); ++i) {
      const int port = At(i).port();
      At(0).Run(StrCat("CLUSTER MEET 127.0.0.1 ", port, " ", port + kClusterBusDistance));
    }
    Await("to meet", [this] {
      return std::ranges::all_of(world_.members(), [this](ReplicationMember& one) {
        const auto& all = View(one).All();
        return all.size() == Count() && std::ranges::none_of(all, [](auto* node) { return node->Is(kNodeHandshake); });
      });
    });
    for (size_t i = primaries_; i < Count(); ++i) {
      At(i).Run("CLUSTER REPLICATE " + Id(At((i - primaries_) / replicas)));
    }
    Await("to agree", [this] { return Disagreement().empty(); });
  }

  // Lets time pass, and notes which writes have become safe.
  void Pass(int64_t elapsed_ms) {
    for (int64_t passed_ms = 0; passed_ms < elapsed_ms; passed_ms += 100) {
      world_.network().Step(100);
      Observe();
    }
  }
  template <class Holds>
  void Await(const char* what, Holds holds) {
    for (int64_t passed_ms = 0; passed_ms < kHistoryPatienceMs && !holds(); passed_ms += 500) Pass(500);
    ASSERT_TRUE(holds()) << "the nodes fail " << what << ": " << Disagreement() << Views();
  }
  // The cluster views of all nodes, and the last lines of their logs.
  std::string Views() {
    constexpr size_t kTail = 3000;
    std::string text;
    for (ReplicationMember& member : world_.members()) {
      const std::string log = member.Log();
      StrAppend(text, "\n---- ", member.port(), "\n", NodesFileText(View(member), PortChoice::kTcp),
                log.substr(log.size() - std::min(log.size(), kTail)));
    }
    return text;
  }

  void Observe() {
    for (size_t i = 0; i < Count(); ++i) {
      const bool is_primary = At(i).Runs() && View(At(i)).me().IsPrimary();
      if (was_primary_[i] != is_primary) ++terms_[i];
      was_primary_[i] = is_primary;
    }
    NoteImports();
    history_.ForEachUnsafe([this](const std::string&, Write& write) { write.is_safe = AllHave(write); });
  }
  int TermOf(const ReplicationMember& member) const { return terms_[static_cast<size_t>(member.port() - 7001)]; }

  bool AllHave(const Write& write) {
    ReplicationMember& node = *write.node;
    if (!node.Runs() || TermOf(node) != write.term) return false;
    int replicas = 0;
    for (const ClusterNode* known : View(node).me().replicas) {
      ReplicationMember* const replica = MemberOf(known);
      const bool has_it = replica != nullptr && replica->Runs() && replica->IsLinked() &&
                          View(*replica).me().primary != nullptr &&
                          View(*replica).me().primary->id == View(node).me().id &&
                          replica->history().id == node.history().id && replica->history().offset >= write.offset;
      if (!has_it) return false;
      ++replicas;
    }
    return replicas != 0;
  }

  // --- Clients.

  void Visit() {
    const std::string key = StrCat("key", random_.Below(40));
    if (random_.Below(3) == 0) {
      const TestReply reply = Ask(key, "GET " + key).second;
      if (!reply.HasValue() || IsError(reply)) return;
      history_.Read(key, IsNull(reply) ? std::nullopt : std::optional(std::stoi(reply.Text())));
      return;
    }
    const int value = history_.Attempt(key);
    const auto [node, reply] = Ask(key, StrCat("SET ", key, " ", value));
    if (!reply.HasValue() || IsError(reply)) return;
    Observe();  // the node's term may have begun since the last call
    history_.Acknowledge(key, {.value = value, .node = node, .term = TermOf(*node), .offset = node->history().offset});
  }

  // Sends a request to a random node, and follows its redirections.
  std::pair<ReplicationMember*, TestReply> Ask(const std::string& key, const std::string& request) {
    ReplicationMember* node = &At(Some());
    bool asks = false;
    for (int i = 0; i < kMaxRedirections && node != nullptr && node->Runs(); ++i) {
      TestClient client(node->server());
      if (asks) client.Run("ASKING");
      TestReply reply = client.Run(request);
      if (!reply.HasValue() || !IsError(reply)) return {node, reply};
      const std::string text = reply.Text();
      asks = text.starts_with("ASK ");
      if (!asks && !text.starts_with("MOVED ")) return {node, reply};
      EXPECT_EQ(text.substr(text.find(' ') + 1, text.rfind(' ') - text.find(' ') - 1), std::to_string(KeySlot(key)));
      node = MemberAt(std::stoi(text.substr(text.rfind(':') + 1)));
    }
    return {node, TestReply()};
  }

  // --- Faults.

  void Act() {
    FakeNetwork& network = world_.network();
    ReplicationMember& one = At(Some());
    ReplicationMember& other = At(Some());
    switch (random_.Below(16)) {
      case 0:
        return network.Break(one.port(), other.port());
      case 1:
        if (one.port() != other.port()) network.SetApart(one.port(), other.port());
        return;
      case 2:
        return Split();
      case 3:
        return network.SetAllTogether();
      case 4:
        return network.SetDelay(static_cast<int64_t>(random_.Below(3) * 100));
      case 5:
        if (one.Runs()) random_.Below(2) == 0 ? one.Crash() : one.Stop();
        return;
      case 6:
      case 7:
        for (ReplicationMember& member : world_.members()) {
          if (!member.Runs()) member.Start();
        }
        return;
      case 8:
        if (one.Runs()) one.Run("CLUSTER FAILOVER");
        return;
      case 9:
        if (one.Runs() && random_.Below(3) == 0) one.Run("CLUSTER FAILOVER FORCE");
        return;
      case 10:
      case 11:
        return MoveSlot();
      case 12:
        if (one.Runs() && random_.Below(4) == 0) one.Run("CLUSTER BUMPEPOCH");
        return;
      case 13:
      case 14:
        return MigrateSlots();
      case 15:
        if (one.Runs() && random_.Below(3) == 0) one.Run("CLUSTER CANCELSLOTMIGRATIONS");
        return;
      default:
        return;
    }
  }

  void Split() {
    for (ReplicationMember& one : world_.members()) {
      for (ReplicationMember& other : world_.members()) {
        if (one.port() < other.port() && random_.Below(2) == 0) world_.network().SetApart(one.port(), other.port());
      }
    }
  }

  // Moves a slot as redis-cli does.
  void MoveSlot() {
    const int slot = KeySlot(StrCat("key", random_.Below(40)));
    ReplicationMember& asked = At(Some());
    ReplicationMember* const source = asked.Runs() ? MemberOf(View(asked).Owner(slot)) : nullptr;
    ReplicationMember& target = At(Some());
    if (source == nullptr || !source->Runs() || !target.Runs() || source == &target) return;
    const std::string text = std::to_string(slot);
    half_moved_.insert(slot);
    if (IsError(target.Run("CLUSTER SETSLOT " + text + " IMPORTING " + Id(*source)))) return;
    if (IsError(source->Run("CLUSTER SETSLOT " + text + " MIGRATING " + Id(target)))) return;
    for (int tries = 0; tries < 10 && source->Runs(); ++tries) {
      const TestReply keys = source->Run("CLUSTER GETKEYSINSLOT " + text + " 10");
      if (keys.Size() == 0) break;
      std::string request = StrCat("MIGRATE 127.0.0.1 ", target.port(), " '' 0 500 KEYS");
      for (size_t i = 0; i < keys.Size(); ++i) request += " " + keys[i].Text();
      TestClient client(source->server());
      client.Send(request);
      Pass(600);
    }
    // Giving away a slot that still has keys would delete the keys.
    if (!source->Runs() || !target.Runs() || source->Run("CLUSTER COUNTKEYSINSLOT " + text).Integer() != 0) return;
    const bool is_taken = !IsError(target.Run("CLUSTER SETSLOT " + text + " NODE " + Id(target)));
    const bool is_given = !IsError(source->Run("CLUSTER SETSLOT " + text + " NODE " + Id(target)));
    if (is_taken && is_given) half_moved_.erase(slot);
    if (is_taken) NoteMove(slot, target);
  }
  void NoteMove(int slot, ReplicationMember& target) {
    Observe();
    history_.Move(slot, &target, TermOf(target), target.history().offset);
  }

  // Moves several whole slots together while clients continue.
  void MigrateSlots() {
    const int slot = KeySlot(StrCat("key", random_.Below(40)));
    ReplicationMember& asked = At(Some());
    ReplicationMember* const source = asked.Runs() ? MemberOf(View(asked).Owner(slot)) : nullptr;
    ReplicationMember& target = At(Some());
    if (source == nullptr || !source->Runs() || !target.Runs() || source == &target) return;
    const std::string text = std::to_string(slot);
    source->Run("CLUSTER MIGRATESLOTS SLOTSRANGE " + text + " " + text + " NODE " + Id(target));
  }
  // Records the slots that have arrived at a node since the last call.
  void NoteImports() {
    for (ReplicationMember& member : world_.members()) {
      if (!member.Runs()) continue;
      for (const SlotJob& job : member->services().slot_migrations.Jobs()) {
        const bool has_come = job.operation == SlotJob::Operation::kImport && job.state == SlotJob::State::kSuccess &&
                              noted_.insert(job.name).second;
        if (has_come)
          job.slots.ForEach([&](int slot) { history_.Move(slot, &member, TermOf(member), member.history().offset); });
      }
    }
  }

  // A slot whose move was aborted has keys at two nodes, and an operator must repair it (redis-cli --cluster fix). The
  // newest value at any node counts.
  int NewestAnywhere(const std::string& key) {
    int newest = 0;
    for (ReplicationMember& member : world_.members()) {
      const Snapshot data = SnapshotOf(*member.server());
      const auto found = data.find("0 \"" + key + "\"");
      const size_t digits = found == data.end() ? std::string::npos : found->second.find_first_of("0123456789");
      if (digits != std::string::npos) newest = std::max(newest, std::stoi(found->second.substr(digits)));
    }
    return newest;
  }

  // --- The end.

  void Heal() {
    world_.network().SetAllTogether();
    world_.network().SetDelay(0);
    for (ReplicationMember& member : world_.members()) {
      if (!member.Runs()) member.Start();
    }
    Await("to agree", [this] { return Disagreement().empty(); });
    Pass(3000);
  }

  std::string Disagreement() {
    const ClusterView& first = View(At(0));
    for (ReplicationMember& member : world_.members()) {
      const std::string name = StrCat("the node at ", member.port());
      const ClusterView& view = View(member);
      if (!view.is_ok) return name + " serves nobody";
      for (int slot = 0; slot < kSlotCount; ++slot) {
        if (view.Owner(slot) == nullptr || first.Owner(slot) == nullptr) return name + " lacks an owner";
        if (view.Owner(slot)->id != first.Owner(slot)->id) return StrCat(name, " disagrees on slot ", slot);
        if (!MemberOf(view.Owner(slot))->Runs()) return name + " knows an owner that does not run";
      }
      if (!view.me().IsPrimary() && !member.IsLinked()) return name + " has no link to its primary";
      if (member->services().slot_migrations.IsExporting()) return name + " still sends slots";
      if (!member->services().data.dataset.keyspace.hidden().IsEmpty()) return name + " still hides slots";
    }
    return "";
  }

  void Judge() {
    for (int i = 0; i < 40; ++i) {
      const std::string key = StrCat("key", i);
      const auto [node, reply] = Ask(key, "GET " + key);
      ASSERT_TRUE(reply.HasValue() && !IsError(reply)) << key;
      int value = IsNull(reply) ? 0 : std::stoi(reply.Text());
      if (half_moved_.contains(KeySlot(key))) value = NewestAnywhere(key);
      history_.Read(key, value == 0 ? std::nullopt : std::optional(value));
      const int floor = history_.Floor(key, [this, owner = node](const Write& write) {
        return write.node != owner || write.term != TermOf(*owner);
      });
      EXPECT_GE(value, floor) << key << " lost a write";
    }
  }

  Random random_;
  ReplicationWorld world_;
  size_t primaries_ = 0;
  std::vector<int> terms_;  // how often each node has changed its role or started
  std::vector<bool> was_primary_;
  std::set<int> half_moved_;     // slots whose move was aborted
  std::set<std::string> noted_;  // migrations of slots that have ended
  OperationHistory history_;
};

TEST(ClusterHistoryTest, KeepsWhatItPromises) {
  const uint64_t stories = NumberFromEnvironment("RESPITE_CLUSTER_STORIES", 8);
  const uint64_t first = NumberFromEnvironment("RESPITE_CLUSTER_SEED", 1);
  size_t writes = 0;
  for (uint64_t seed = first; seed < first + stories; ++seed) {
    SCOPED_TRACE(StrCat("RESPITE_CLUSTER_SEED=", seed));
    ClusterStory story(seed);
    if (!HasFailure()) story.Run();
    writes += story.Writes();
    if (HasFailure()) return;
  }
  RecordProperty("acknowledged_writes", std::to_string(writes));
  EXPECT_GT(writes, stories * 20);
}

}  // namespace
}  // namespace respite
