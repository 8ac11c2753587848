#include "server/cluster/gossip.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "server/cluster/failure_detector.h"
#include "server/config/announced_place.h"

namespace respite {

namespace {

// A packet describes one in ten of the known nodes, chosen at random, but at least three (fewer only in a smaller
// cluster), and also each PFAIL node. Each pair of nodes exchanges at least four packets per node timeout, so a
// majority learns of a failure within a node timeout.
constexpr size_t kShareOfNodes = 10;
constexpr size_t kMinEntries = 3;
constexpr int64_t kMinHandshakeMs = 1000;
constexpr int64_t kClockDriftMs = 500;
constexpr int kMaxHandshakes = 1000;  // maximum of handshakes after MEET packets
// Maximum number of nodes that this node adds, and of ids that it ignores, because of packets of other nodes. CLUSTER
// MEET and FORGET of an operator may exceed it.
constexpr size_t kMaxNodes = 10'000;
constexpr size_t kMaxForgotten = 1000;

// Returns the canonical form of an IPv4 or IPv6 address, or nullopt if the text is no such address.
std::optional<std::string> NormalIp(const std::string& ip) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, ip.c_str(), parsed.data()) != 1) continue;
    return inet_ntop(family, parsed.data(), text.data(), text.size());
  }
  return std::nullopt;
}

}  // namespace

// --- Handshakes.

bool Gossip::MeetNode(const NodeAddress& address) {
  const auto ip = NormalIp(address.ip);
  if (!ip || address.bus_port == 0) return false;
  NodeAddress normal = address;
  normal.ip = *ip;
  BeginHandshake(normal, kNodeMeet);
  return true;
}

void Gossip::BeginHandshakeAfterMeet(const NodeAddress& address) {
  const auto ip = NormalIp(address.ip);
  if (!ip || address.bus_port == 0) return;
  const auto is_begun = [](const ClusterNode* node) { return node->Is(kNodeHandshake); };
  if (std::ranges::count_if(parts_.core.view.All(), is_begun) >= kMaxHandshakes) return;
  BeginHandshake(address, 0);
}

ClusterNode* Gossip::BeginHandshake(const NodeAddress& address, uint16_t more_flags) {
  ClusterView& view = parts_.core.view;
  for (const ClusterNode* node : view.All()) {
    const bool is_same = node->address.ip == address.ip && node->address.bus_port == address.bus_port;
    if (node->Is(kNodeHandshake) && is_same) return nullptr;
  }
  ClusterNode& node = view.Add(NodeId::Draw(parts_.core.random), kNodeHandshake | more_flags);
  node.shard = NodeId::Draw(parts_.core.random);
  node.address = address;
  node.born_ms = parts_.core.NowMs();
  return &node;
}

void Gossip::EndLateHandshakes() {
  const int64_t limit_ms = std::max(parts_.core.TimeoutMs(), kMinHandshakeMs);
  std::erase_if(forgotten_until_ms_, [&](const auto& one) { return one.second <= parts_.core.NowMs(); });
  const std::vector<ClusterNode*> all = parts_.core.view.All();
  for (ClusterNode* node : all) {
    if (node->Is(kNodeHandshake) && !node->IsMyself() && parts_.core.NowMs() - node->born_ms > limit_ms) Remove(*node);
  }
}

// --- Sending.

std::vector<const ClusterNode*> Gossip::ChooseNodesForGossip(const ClusterNode* receiver) {
  const ClusterView& view = parts_.core.view;
  const std::vector<ClusterNode*>& all = view.All();
  const size_t most = all.size() > 2 ? all.size() - 2 : 0;
  const size_t wanted = std::min(std::max(all.size() / kShareOfNodes, kMinEntries), most);
  const auto is_worth_it = [&](const ClusterNode& node) {
    if (&node == receiver || node.IsMyself() || node.last_random_gossip == composed_packet_count_) return false;
    if ((node.flags & (kNodeHandshake | kNodeNoAddress | kNodePfail)) != 0) return false;
    return node.outbound_link != nullptr || node.slot_count != 0;
  };
  std::vector<const ClusterNode*> chosen;
  for (size_t tries = wanted * 3; tries != 0 && chosen.size() < wanted; --tries) {
    ClusterNode& node = *all[parts_.core.random.Below(all.size())];
    if (!is_worth_it(node)) continue;
    node.last_random_gossip = composed_packet_count_;
    chosen.push_back(&node);
  }
  // Adds every PFAIL node, except the receiver and nodes in handshake or without an address, because a node becomes
  // FAIL only if a majority of the primaries reports it.
  for (const ClusterNode* node : all) {
    const bool is_told = node != receiver && (node->flags & (kNodeHandshake | kNodeNoAddress)) == 0;
    if (node->Is(kNodePfail) && is_told) chosen.push_back(node);
  }
  return chosen;
}

GossipEntry Gossip::MakeGossipEntry(const ClusterNode& node) const {
  const bool is_tls_first = parts_.core.settings.tls_cluster;
  GossipEntry entry;
  entry.id = node.id;
  entry.ping_sent_s = static_cast<uint32_t>(node.ping_sent_ms / 1000);
  entry.pong_received_s = static_cast<uint32_t>(node.pong_received_ms / 1000);
  entry.ip = node.address.ip;
  entry.port = is_tls_first ? node.address.tls_port : node.address.tcp_port;
  entry.other_port = is_tls_first ? node.address.tcp_port : node.address.tls_port;
  entry.bus_port = node.address.bus_port;
  entry.flags = node.flags;
  return entry;
}

PingExtensions Gossip::MyExtensions() {
  const ClusterNode& me = parts_.core.view.me();
  PingExtensions extensions;
  if (!me.hostname.empty()) extensions.hostname = me.hostname;
  if (!me.human_name.empty()) extensions.human_name = me.human_name;
  extensions.shard = me.shard;
  if (!me.client_ipv4.empty()) extensions.client_ipv4 = me.client_ipv4;
  if (!me.client_ipv6.empty()) extensions.client_ipv6 = me.client_ipv6;
  if (!me.availability_zone.empty()) extensions.availability_zone = me.availability_zone;
  const int64_t now_ms = parts_.core.NowMs();
  for (const auto& [id, until_ms] : forgotten_until_ms_) {
    if (until_ms > now_ms) extensions.forgotten.push_back({id, static_cast<uint64_t>((until_ms - now_ms) / 1000)});
  }
  return extensions;
}

BusPacket Gossip::ComposePing(PacketType type, const ClusterNode* receiver) {
  ++composed_packet_count_;
  BusPacket packet;
  packet.header = parts_.bus.MakeHeader(type);
  PingBody body;
  for (const ClusterNode* node : ChooseNodesForGossip(receiver)) body.gossip.push_back(MakeGossipEntry(*node));
  body.extensions = MyExtensions();
  packet.body = std::move(body);
  return packet;
}

void Gossip::Ping(ClusterNode& node, PacketType type) {
  if (type != PacketType::kPong) node.ping_sent_ms = parts_.core.NowMs();
  parts_.bus.Send(node, ComposePing(type, &node));
}

void Gossip::BroadcastPong(To whom) {
  ClusterView& view = parts_.core.view;
  const ClusterNode* const shard = &view.PrimaryOf(view.me());
  for (ClusterNode* node : view.All()) {
    if (node->IsMyself() || node->Is(kNodeHandshake) || node->outbound_link == nullptr) continue;
    if (whom == To::kSiblings && node->primary != shard) continue;
    parts_.bus.Send(*node, ComposePing(PacketType::kPong, node));
  }
}

void Gossip::AnnounceMyself() {
  BusPacket packet;
  packet.header = parts_.bus.MakeHeader(PacketType::kPong);
  packet.body = PingBody{.gossip = {}, .extensions = MyExtensions()};
  parts_.bus.Broadcast(packet);
}

// --- Receiving.

NodeAddress Gossip::AddressOf(const GossipEntry& entry) const {
  const bool is_tls_first = parts_.core.settings.tls_cluster;
  return {.ip = entry.ip,
          .tcp_port = is_tls_first ? entry.other_port : entry.port,
          .tls_port = is_tls_first ? entry.port : entry.other_port,
          .bus_port = entry.bus_port};
}

void Gossip::Receive(ClusterNode& sender, const BusPacket& packet) {
  const PingBody& body = std::get<PingBody>(packet.body);
  for (const GossipEntry& entry : body.gossip) ApplyGossipEntry(sender, entry);
  ApplyExtensions(sender, body.extensions);
}

void Gossip::ApplyGossipEntry(ClusterNode& sender, const GossipEntry& entry) {
  if (ClusterNode* node = parts_.core.view.Find(entry.id)) {
    if (!node->IsMyself()) UpdateKnownNode(sender, *node, entry);
    return;
  }
  if ((entry.flags & (kNodeNoAddress | kNodeHandshake)) != 0 || !entry.id.IsValid() || IsForgotten(entry.id)) return;
  if (NormalIp(entry.ip) && entry.bus_port != 0) AddGossipedNode(entry);
}

void Gossip::UpdateKnownNode(ClusterNode& sender, ClusterNode& node, const GossipEntry& entry) {
  const bool fails = (entry.flags & (kNodePfail | kNodeFail)) != 0;
  if (sender.IsPrimary() && &sender != &node) {
    if (fails) {
      parts_.failure_detector.AddFailureReport(node, sender);
    } else {
      parts_.failure_detector.WithdrawFailureReport(node, sender);
    }
  }
  // Sets the time of the last PONG of `node` to the time that the sender reports, if the reported time is later,
  // because this saves a PING. Does so only if no node reports `node` as down and no PING to `node` is pending. Ignores
  // a time that is more than kClockDriftMs in the future.
  if (!fails && !node.IsFailing() && node.ping_sent_ms == 0 && node.reports.empty()) {
    const int64_t pong_ms = int64_t{entry.pong_received_s} * 1000;
    if (pong_ms <= parts_.core.NowMs() + kClockDriftMs && pong_ms > node.pong_received_ms) {
      node.pong_received_ms = pong_ms;
    }
  }
  // Replaces the address of `node` by the one that the sender knows, if the sender reaches `node` and this node does
  // not, because `node` may have moved.
  const NodeAddress address = AddressOf(entry);
  const bool has_address = (entry.flags & kNodeNoAddress) == 0 && address.bus_port != 0 && NormalIp(address.ip);
  const bool has_moved = address.ip != node.address.ip || address.bus_port != node.address.bus_port ||
                         address.tcp_port != node.address.tcp_port || address.tls_port != node.address.tls_port;
  if (!node.IsFailing() || fails || !has_address || !has_moved) return;
  parts_.bus.DropOutboundLink(node);
  node.address = address;
  node.Clear(kNodeNoAddress);
  parts_.core.view.RecordChange();
}

// Adds a node that another node has described in its gossip. The new node's primary and slots become known later, from
// its own packets.
void Gossip::AddGossipedNode(const GossipEntry& entry) {
  if (parts_.core.view.KnownNodeCount() >= kMaxNodes) return;
  const bool is_replica = (entry.flags & kNodeReplica) != 0;
  ClusterNode& node = parts_.core.view.Add(entry.id, is_replica ? kNodeReplica : kNodePrimary);
  node.address = AddressOf(entry);
  node.born_ms = parts_.core.NowMs();
  node.shard = NodeId::Draw(parts_.core.random);
  parts_.core.view.RequestSave();
}

void Gossip::ApplyExtensions(ClusterNode& sender, const PingExtensions& extensions) {
  ClusterView& view = parts_.core.view;
  const auto take = [&](std::string& place, const std::optional<std::string>& told, bool (*is_sound)(Bytes)) {
    const std::string text = told.value_or("");
    if (place == text || (!text.empty() && !is_sound(text))) return;
    place = text;
    view.RecordChange();
    view.RequestSave();
  };
  take(sender.hostname, extensions.hostname, MayBeAnnounced);
  take(sender.human_name, extensions.human_name, MayBeAnnounced);
  take(sender.client_ipv4, extensions.client_ipv4, IsIpv4);
  take(sender.client_ipv6, extensions.client_ipv6, IsIpv6);
  take(sender.availability_zone, extensions.availability_zone, MayBeAnnounced);
  // A packet with a shard but without a secret is from a node that is not, or no longer, a node of Redis.
  if (extensions.internal_secret || extensions.shard) sender.internal_secret = extensions.internal_secret.value_or("");
  // A node that does not announce its shard belongs to the shard of its primary.
  const NodeId shard = extensions.shard.value_or(sender.primary != nullptr ? sender.primary->shard : sender.shard);
  const bool was_known = sender.is_shard_known;
  if (extensions.shard && shard.IsValid()) sender.is_shard_known = true;
  if (shard.IsValid() && sender.shard != shard) {
    sender.shard = shard;
    // Moves this node into the shard of its primary, if that shard was not known when this node began to follow the
    // primary. If the primary changes its shard later, this node stays in the old shard, to which its data belongs.
    if (view.me().primary == &sender && !was_known) view.me().shard = shard;
    view.RecordChange();
    view.RequestSave();
  }
  for (const PingExtensions::Forgotten& forgotten : extensions.forgotten) {
    ClusterNode* node = view.Find(forgotten.id);
    if (forgotten_until_ms_.size() >= kMaxForgotten) break;
    const bool may_go = node != nullptr && node != &sender && !node->IsMyself() && view.me().primary != node;
    const auto most_s = static_cast<uint64_t>(parts_.core.settings.cluster_blacklist_ttl);
    if (may_go) Forget(*node, static_cast<int64_t>(std::min(forgotten.ttl_s, most_s) * 1000));
  }
}

// --- Forgetting.

void Gossip::Forget(ClusterNode& node, int64_t for_ms) {
  forgotten_until_ms_[node.id] = parts_.core.NowMs() + for_ms;
  Remove(node);
  parts_.core.view.RequestSave();
  parts_.core.view.RequestHealthCheck();
}

bool Gossip::IsForgotten(const NodeId& id) {
  const auto found = forgotten_until_ms_.find(id);
  return found != forgotten_until_ms_.end() && found->second > parts_.core.NowMs();
}

void Gossip::Remove(ClusterNode& node) {
  parts_.bus.DropBothLinks(node);
  parts_.core.view.Remove(node);
}

}  // namespace respite
