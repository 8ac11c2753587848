#include "server/process/group/node_members.h"

#include <algorithm>
#include <utility>

#include "base/duration_text.h"
#include "server/cluster/bus.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/lab/group_clock_move.h"

namespace respite {

namespace {

constexpr int64_t kMaxMs = 5000;
constexpr char kLagRule[] = "TEST CLUSTER LAG";

constexpr char kNoCluster[] =
    "these nodes are no cluster. SENTINEL FAILOVER, sent to a Sentinel, makes another one the primary";
constexpr char kDead[] = "the node is dead. TEST CLUSTER REVIVE lets it begin again";
constexpr char kAlive[] = "the node is alive";
constexpr char kOwnEnd[] = "a node cannot kill itself so that it stays dead. Ask another one, or use TEST CRASH";
constexpr char kUnowned[] = "no node that is alive owns the slot";
constexpr char kNoPrimary[] = "the node is a replica. Only primaries own slots";
constexpr char kNoReplica[] = "the node is a primary already";
constexpr char kOnTheMove[] = "the slot is on its way already";
constexpr char kDisagreement[] = "not all nodes that are alive knew of it after 5 seconds";
constexpr char kNotMoved[] = "the slot did not move. CLUSTER GETSLOTMIGRATIONS, sent to its owner, says why";
constexpr char kTooFar[] = "the clock cannot go beyond the end of the year 9999";
constexpr char kNotBack[] = "the node cannot begin again; its log says why";

// Returns true if a link to `target` leads to the server with these settings.
bool IsAt(const Settings& settings, const Link::Target& target) {
  const auto bus = BusPortOf(settings);
  const bool is_port = target.port == settings.MainPort() ||
                       (settings.tls_port != 0 && target.port == settings.tls_port) ||
                       (settings.cluster_enabled && bus.ok() && target.port == bus.value());
  const bool is_loopback = target.host == "127.0.0.1" || target.host == "::1" || target.host == "localhost";
  return is_port && (is_loopback || target.host == settings.cluster_announce_ip ||
                     std::ranges::find(settings.bind, target.host) != settings.bind.end());
}

NodeGroup::Role RoleOf(const NodeServer& node) {
  if (node.config().mode() == ServerMode::kSentinel) return NodeGroup::Role::kSentinel;
  return node.IsReplica() ? NodeGroup::Role::kReplica : NodeGroup::Role::kPrimary;
}

}  // namespace

NodeMembers::NodeMembers(NodeRestarts& restarts, std::vector<HostedServer>& hosted_servers, const RealClock& real_clock)
    : restarts_(restarts), hosted_servers_(hosted_servers), real_clock_(real_clock) {
  for (HostedServer& hosted : hosted_servers_) hosted.node->services().lab.group = this;
}

void NodeMembers::HandleServerRestarted(HostedServer& hosted) {
  hosted.node->services().lab.group = this;
  output_delays_ms_.erase(static_cast<size_t>(&hosted - hosted_servers_.data()));
  for (size_t i = 0; i < hosted_servers_.size(); ++i) ApplyNetworkConditions(i);
}

// --- Queries

bool NodeMembers::Lives(size_t member) const { return hosted_servers_[member].Lives(); }

ClockControl* NodeMembers::FindMovableClock(size_t member) const {
  // Returns the clock that TEST CLOCK can move, or null. Sentinels have no such clock, because they only communicate
  // with other servers, which takes real time.
  if (!Lives(member) || RoleOf(*hosted_servers_[member].node) == Role::kSentinel) return nullptr;
  ClockControl& clock = hosted_servers_[member].node->services().lab.clock;
  return clock.HasMovableClock() ? &clock : nullptr;
}

const ClockControl* NodeMembers::ClockOf(size_t member) const { return FindMovableClock(member); }

Cluster* NodeMembers::ClusterOf(size_t member) const {
  return Lives(member) ? hosted_servers_[member].node->services().cluster.cluster() : nullptr;
}

std::optional<size_t> NodeMembers::MemberWithId(const NodeId& id) const {
  for (size_t i = 0; i < hosted_servers_.size(); ++i) {
    const Cluster* const cluster = ClusterOf(i);
    if (cluster != nullptr && cluster->view().me().id == id) return i;
  }
  return std::nullopt;
}

std::vector<NodeGroup::Member> NodeMembers::List() const {
  std::vector<Member> list;
  for (size_t i = 0; i < hosted_servers_.size(); ++i) {
    const NodeServer& node = *hosted_servers_[i].node;
    const Cluster* const cluster = ClusterOf(i);
    list.push_back({.name = hosted_servers_[i].name,
                    .id = cluster == nullptr ? std::string() : cluster->view().me().id.String(),
                    .port = node.settings().MainPort(),
                    .is_alive = Lives(i),
                    .role = RoleOf(node)});
  }
  return list;
}

// --- Tasks that take several turns

std::optional<std::string> NodeMembers::BeginTask(const TaskClient& asker, const Task& task) {
  // Forgets tasks whose latest possible end (`until_ms`) was more than kMaxMs ago. Their clients would have fetched the
  // outcome by now if they still existed.
  std::erase_if(pending_, [&](const auto& one) { return real_clock_.NowMs() > one.second.until_ms + kMaxMs; });
  PendingTask pending{.task = task, .until_ms = real_clock_.NowMs() + kMaxMs};
  std::optional<std::string> refusal;
  switch (task.kind) {
    case Task::Kind::kKill:
      refusal = BeginNodeKill(asker, task.member);
      break;
    case Task::Kind::kRevive:
      refusal = BeginNodeRestart(asker, task.member);
      break;
    case Task::Kind::kMove:
      refusal = BeginMove(pending);
      break;
    case Task::Kind::kFailOver:
      refusal = BeginFailOver(task.member);
      break;
    case Task::Kind::kClock:
      refusal = BeginClockMove(asker, task.clock);
      break;
  }
  if (!refusal) pending_.insert_or_assign(asker, pending);
  return refusal;
}

std::optional<std::string> NodeMembers::BeginNodeKill(const TaskClient& asker, size_t member) {
  if (!Lives(member)) return kDead;
  HostedServer& hosted = hosted_servers_[member];
  if (&hosted.node->services() == asker.node) return kOwnEnd;
  restarts_.RunLater([this, asker, member] {
    if (Lives(member)) restarts_.Kill(hosted_servers_[member]);
    End(asker, {});
  });
  return std::nullopt;
}

std::optional<std::string> NodeMembers::BeginNodeRestart(const TaskClient& asker, size_t member) {
  if (Lives(member)) return kAlive;
  restarts_.RunLater([this, asker, member] {
    const bool is_back = Lives(member) || restarts_.Revive(hosted_servers_[member]);
    End(asker, {is_back ? std::nullopt : std::optional<std::string>(kNotBack)});
  });
  return std::nullopt;
}

std::optional<std::string> NodeMembers::BeginMove(PendingTask& pending) {
  const size_t member = pending.task.member;
  const int slot = pending.task.slot;
  if (!Lives(member)) return kDead;
  const Cluster* const target = ClusterOf(member);
  if (target == nullptr) return kNoCluster;
  if (target->view().me().IsReplica()) return kNoPrimary;
  const ClusterNode* const owner = target->view().Owner(slot);
  pending.exporter = owner == nullptr ? std::nullopt : MemberWithId(owner->id);
  if (!pending.exporter) return kUnowned;
  if (*pending.exporter == member) return std::nullopt;
  NodeServer& exporter = *hosted_servers_[*pending.exporter].node;
  SlotSet slots;
  slots.Add(slot);
  if (exporter.services().slot_migrations.FindExportedSlot(slots)) return kOnTheMove;
  exporter.host().MarkActive();
  exporter.services().slot_migrations.Export(slots, target->view().me().id);
  return std::nullopt;
}

// Makes the replica `member` begin a CLUSTER FAILOVER. Uses FORCE if its primary is dead or not connected, because the
// replica then needs only the votes of the other primaries. Returns nullopt, or a text that says why it cannot begin.
std::optional<std::string> NodeMembers::BeginFailOver(size_t member) {
  if (!Lives(member)) return kDead;
  Cluster* const cluster = ClusterOf(member);
  if (cluster == nullptr) return kNoCluster;
  const ClusterNode& me = cluster->view().me();
  if (me.IsPrimary() || me.primary == nullptr) return kNoReplica;
  const bool has_primary = MemberWithId(me.primary->id).has_value() && me.primary->outbound_link != nullptr;
  hosted_servers_[member].node->host().MarkActive();
  cluster->FailOver(has_primary ? Cluster::FailoverMode::kAsk : Cluster::FailoverMode::kForce);
  return std::nullopt;
}

// Moves the clocks of all live nodes, except Sentinels, in the next turn of the loop. Each clock moves in a task of its
// own, and the last task stores the outcome for the client. Returns nullopt, or a text that says why the clocks cannot
// move.
std::optional<std::string> NodeMembers::BeginClockMove(const TaskClient& asker, const ClockMove& move) {
  std::vector<ClockControl*> clocks;
  std::vector<NodeHost*> hosts;
  for (size_t i = 0; i < hosted_servers_.size(); ++i) {
    ClockControl* const clock = FindMovableClock(i);
    if (clock == nullptr) continue;
    clocks.push_back(clock);
    hosts.push_back(&hosted_servers_[i].node->host());
  }
  const GroupClockMove joint(move, clocks);
  if (!joint.IsPossible()) return kTooFar;
  const auto left = std::make_shared<size_t>(clocks.size());
  for (size_t i = 0; i < clocks.size(); ++i) {
    hosts[i]->Post([this, asker, joint, left, clock = clocks[i]] {
      joint.Do(*clock);
      if (--*left == 0) End(asker, {.reached_event = joint.target_event()});
    });
  }
  return std::nullopt;
}

void NodeMembers::End(const TaskClient& asker, Outcome outcome) {
  const auto found = pending_.find(asker);
  if (found != pending_.end()) found->second.outcome = std::move(outcome);
}

std::optional<NodeGroup::Outcome> NodeMembers::TakeOutcome(const TaskClient& asker) {
  const auto found = pending_.find(asker);
  if (found == pending_.end()) return Outcome{kDisagreement};
  auto outcome = found->second.outcome ? found->second.outcome : FindOutcome(found->second);
  if (outcome) pending_.erase(found);
  return outcome;
}

std::optional<NodeGroup::Outcome> NodeMembers::FindOutcome(const PendingTask& pending) const {
  const Task& task = pending.task;
  if (task.kind != Task::Kind::kMove && task.kind != Task::Kind::kFailOver) return std::nullopt;
  if (!Lives(task.member)) return Outcome{kDead};
  if (AllNodesKnowResult(task)) return Outcome{};
  if (task.kind == Task::Kind::kMove && *pending.exporter != task.member) {
    if (!Lives(*pending.exporter)) return Outcome{kUnowned};
    const NodeId own = ClusterOf(*pending.exporter)->view().me().id;
    const ClusterNode* const owner = ClusterOf(*pending.exporter)->view().Owner(task.slot);
    const bool is_given = owner == nullptr || owner->id != own;
    if (!is_given && !hosted_servers_[*pending.exporter].node->services().slot_migrations.IsExporting())
      return Outcome{kNotMoved};
  }
  return real_clock_.NowMs() < pending.until_ms ? std::nullopt : std::optional(Outcome{kDisagreement});
}

bool NodeMembers::AllNodesKnowResult(const Task& task) const {
  const NodeId id = ClusterOf(task.member)->view().me().id;
  const auto knows = [&](const ClusterView& view) {
    if (task.kind == Task::Kind::kMove) {
      const ClusterNode* const owner = view.Owner(task.slot);
      return owner != nullptr && owner->id == id;
    }
    const ClusterNode* const node = view.Find(id);
    return node != nullptr && node->IsPrimary();
  };
  for (size_t i = 0; i < hosted_servers_.size(); ++i) {
    const Cluster* const cluster = ClusterOf(i);
    if (cluster != nullptr && !knows(cluster->view())) return false;
  }
  return true;
}

// --- Network conditions

void NodeMembers::Partition(Sides sides) {
  partition_ = std::move(sides);
  for (size_t i = 0; i < hosted_servers_.size(); ++i) ApplyNetworkConditions(i);
}

bool NodeMembers::AreApart(size_t one, size_t other) const {
  const auto side_of = [&](size_t member) {
    return std::ranges::find_if(partition_,
                                [&](const auto& side) { return std::ranges::find(side, member) != side.end(); });
  };
  const auto side = side_of(one);
  const auto others_side = side_of(other);
  return side != partition_.end() && others_side != partition_.end() && side != others_side;
}

void NodeMembers::ApplyNetworkConditions(size_t member) {
  if (!Lives(member)) return;
  struct Way {
    const Settings* to;
    LinkConditions conditions;
  };
  std::vector<Way> ways;
  for (size_t i = 0; i < hosted_servers_.size(); ++i) {
    const LinkConditions conditions{
        .is_cut = AreApart(member, i), .send_delay_ms = LagOf(member), .receive_delay_ms = LagOf(i)};
    const bool is_slow = conditions.send_delay_ms != 0 || conditions.receive_delay_ms != 0;
    if (i != member && (conditions.is_cut || is_slow))
      ways.push_back({&hosted_servers_[i].node->settings(), conditions});
  }
  LoopNetwork& network = hosted_servers_[member].node->host().network();
  if (ways.empty()) return network.SetConditions(nullptr);
  network.SetConditions([ways = std::move(ways)](const Link::Target& target) {
    const auto way = std::ranges::find_if(ways, [&](const Way& one) { return IsAt(*one.to, target); });
    return way == ways.end() ? LinkConditions{} : way->conditions;
  });
}

int64_t NodeMembers::LagOf(size_t member) const {
  const auto lag = output_delays_ms_.find(member);
  return lag == output_delays_ms_.end() ? 0 : lag->second;
}

// Delays everything that a node sends by `delay_ms`; 0 ends the delay. On links that the node has opened, its sent
// bytes are delayed. On links that other nodes have opened to it, those nodes delay the bytes that they receive. A rule
// of TEST FAULT, which Lag adds to the node, delays its replies to clients.
void NodeMembers::Lag(size_t member, int64_t delay_ms) {
  output_delays_ms_[member] = delay_ms;
  for (size_t i = 0; i < hosted_servers_.size(); ++i) ApplyNetworkConditions(i);
  FaultRules& faults = hosted_servers_[member].node->services().lab.faults;
  faults.Delete(kLagRule);
  if (delay_ms == 0) return;
  FaultDefinition order;
  order.name = kLagRule;
  order.words = {"DO", "DELAY-REPLY", DurationText(delay_ms)};
  order.action = RequestFault{.kind = RequestFault::Kind::kDelayReply, .amount = delay_ms};
  faults.Add(std::move(order));
}

}  // namespace respite
