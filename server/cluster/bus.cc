#include "server/cluster/bus.h"

#include <algorithm>
#include <utility>

namespace respite {

namespace {

// Limits for accepted links whose sender is not known yet: the maximum number of such links, and the maximum time in ms
// for which each stays open. Even a large cluster that is just forming has fewer such links.
constexpr size_t kMaxUnidentifiedLinks = 1000;
constexpr int64_t kMaxUnidentifiedMs = 15'000;

}  // namespace

Result<int, std::string> BusPortOf(const Settings& settings) {
  if (settings.cluster_port != 0) return settings.cluster_port;
  const int port = (settings.tls_cluster ? settings.tls_port : settings.bound_port) + kBusPortDistance;
  if (port <= kHighestPort) return port;
  return Failure(
      std::string("Redis port number too high. Cluster communication port is 10,000 port numbers higher than your "
                  "Redis port. Your Redis port number must be 55535 or less."));
}

Bus::~Bus() {
  listening_.reset();
  for (ClusterNode* node : core_.view.All()) DropBothLinks(*node);
  for (const auto& link : unidentified_links_) link->Close();
}

std::optional<std::string> Bus::Listen() {
  auto port = BusPortOf(core_.settings);
  if (!port.ok()) return std::move(port).error();
  port_ = port.value();
  if (!core_.network) return std::nullopt;
  auto opened = core_.network->Listen(
      {.hosts = core_.settings.bind, .port = port_, .uses_tls = core_.settings.tls_cluster}, *this);
  if (!opened.ok()) return "Failed listening on the cluster bus: " + opened.error();
  listening_ = std::move(opened).value();
  return std::nullopt;
}

// --- Links.

void Bus::ConnectToNode(ClusterNode& node) {
  if (node.outbound_link != nullptr || !core_.network) return;
  node.outbound_link = std::make_shared<BusLink>(*this, BusLink::Direction::kTo, &node, core_.NowMs());
  node.outbound_link->Connect(*core_.network.operator->(), {.host = node.address.ip,
                                                            .port = node.address.bus_port,
                                                            .source = core_.settings.bind_source_addr,
                                                            .uses_tls = core_.settings.tls_cluster});
}

void Bus::DropOutboundLink(ClusterNode& node) {
  const auto link = std::exchange(node.outbound_link, nullptr);
  if (link != nullptr) link->Close();
}

void Bus::DropBothLinks(ClusterNode& node) {
  DropOutboundLink(node);
  DropInboundLink(node);
}

void Bus::DropInboundLink(ClusterNode& node) {
  const auto inbound_link = std::exchange(node.inbound_link, nullptr);
  if (inbound_link != nullptr) inbound_link->Close();
}

void Bus::BindInboundLink(BusLink& link, ClusterNode& node) {
  if (link.node != nullptr) return;
  const auto self = link.shared_from_this();
  unidentified_links_.erase(self);
  if (node.inbound_link != nullptr) std::exchange(node.inbound_link, nullptr)->Close();
  node.inbound_link = self;
  link.node = &node;
}

void Bus::CloseLinksOverLimit() {
  CloseUnknownLinksOverLimit();
  const uint64_t limit = core_.settings.cluster_link_sendbuf_limit;
  if (limit == 0) return;
  for (ClusterNode* node : core_.view.All()) {
    for (std::shared_ptr<BusLink>* link : {&node->outbound_link, &node->inbound_link}) {
      if (*link == nullptr || (*link)->UnsentBytes() <= limit) continue;
      core_.log.Warning("Freeing cluster link of node " + node->id.String() + " due to exceeding send buffer limit.");
      ++over_limit_link_count_;
      std::exchange(*link, nullptr)->Close();
    }
  }
}

void Bus::CloseUnknownLinksOverLimit() {
  std::erase_if(unidentified_links_, [this](const std::shared_ptr<BusLink>& link) {
    const bool is_fine =
        link->UnsentBytes() <= BusLink::kMaxBytesWithoutNode && core_.NowMs() - link->born_ms <= kMaxUnidentifiedMs;
    if (is_fine) return false;
    core_.log.Debug("Freeing cluster link of an unknown node.");
    link->Close();
    return true;
  });
}

void Bus::ForEachLink(const std::function<void(const BusLink&)>& visit) const {
  for (const ClusterNode* node : core_.view.All()) {
    if (node->outbound_link != nullptr) visit(*node->outbound_link);
    if (node->inbound_link != nullptr) visit(*node->inbound_link);
  }
}

void Bus::OnAccepted(std::unique_ptr<Link> link) {
  if (unidentified_links_.size() >= kMaxUnidentifiedLinks) return;
  auto made = std::make_shared<BusLink>(*this, BusLink::Direction::kFrom, nullptr, core_.NowMs());
  made->Adopt(std::move(link));
  unidentified_links_.insert(std::move(made));
}

void Bus::OnOpened(BusLink& link) { user_.OnLinkConnected(link); }

void Bus::OnData(BusLink& link) {
  if (link.node != nullptr) link.node->data_received_ms = core_.NowMs();
}

void Bus::OnPacket(BusLink& link, Bytes bytes) {
  const auto packet = BusPacket::Decode(bytes);
  if (!packet.ok()) {
    core_.log.Warning("Dropping a packet of the cluster bus: " + packet.error());
    return;
  }
  const auto type = static_cast<size_t>(packet.value().header.type);
  ++received_[type];
  received_bytes_[type] += bytes.size();
  if (static_cast<int>(type) != filter.type) return user_.OnPacket(link, packet.value());
  core_.log.Warning("Dropping packet that matches debug drop filter");
  if (filter.closes_link) link.OnEnded("closed by DEBUG");
}

void Bus::OnClosed(BusLink& link, const std::string& reason) {
  core_.log.Debug("A link of the cluster bus is over: " + reason);
  const auto self = link.shared_from_this();
  unidentified_links_.erase(self);
  if (link.node == nullptr) return;
  ClusterNode& node = *link.node;
  // A failed attempt to connect counts as an unanswered PING. Otherwise ping_sent_ms would stay 0, and a node that
  // accepts no connection would never become PFAIL.
  if (node.outbound_link == self && !link.IsOpen() && node.ping_sent_ms == 0) node.ping_sent_ms = core_.NowMs();
  if (node.outbound_link == self) node.outbound_link = nullptr;
  if (node.inbound_link == self) node.inbound_link = nullptr;
}

// --- Packets.

const SlotSet& Bus::MySlots() const {
  if (my_slots_version_ == core_.view.version()) return my_slots_;
  my_slots_version_ = core_.view.version();
  my_slots_ = core_.view.SlotsOf(core_.view.PrimaryOf(core_.view.me()));
  return my_slots_;
}

PacketHeader Bus::MakeHeader(PacketType type) const {
  const ClusterNode& me = core_.view.me();
  const ClusterNode& primary = core_.view.PrimaryOf(core_.view.me());
  const Settings& settings = core_.settings;
  PacketHeader header;
  header.type = type;
  const bool is_tls_first = settings.tls_cluster;
  header.port = is_tls_first ? me.address.tls_port : me.address.tcp_port;
  header.other_port = is_tls_first ? me.address.tcp_port : me.address.tls_port;
  header.bus_port = me.address.bus_port;
  header.flags = me.flags;
  header.current_epoch = core_.view.current_epoch;
  header.config_epoch = primary.config_epoch;
  header.offset = static_cast<uint64_t>(core_.host.Offset());
  header.sender = me.id;
  header.slots = MySlots();
  if (me.primary != nullptr) header.primary = me.primary->id;
  header.ip = settings.cluster_announce_ip;
  header.is_cluster_ok = core_.view.is_ok;
  header.message_flags = core_.view.is_paused ? PacketHeader::kPaused : uint8_t{0};
  return header;
}

void Bus::Flush() {
  const auto links = std::exchange(to_flush_, {});
  if (is_mute_) return;
  for (const auto& link : links) link->Flush();
}

void Bus::SendBytes(BusLink& link, PacketType type, Bytes bytes) {
  if (!link.IsOpen()) return;
  ++sent_[static_cast<size_t>(type)];
  sent_bytes_[static_cast<size_t>(type)] += bytes.size();
  link.Send(bytes);
}

void Bus::Send(BusLink& link, const BusPacket& packet) { SendBytes(link, packet.header.type, packet.Encode()); }

void Bus::Send(ClusterNode& node, const BusPacket& packet) {
  if (node.outbound_link != nullptr && node.outbound_link->IsOpen()) Send(*node.outbound_link, packet);
}

void Bus::Broadcast(const BusPacket& packet) {
  Broadcast(packet, [](const ClusterNode&) { return true; });
}

void Bus::Broadcast(const BusPacket& packet, const std::function<bool(const ClusterNode&)>& wanted) {
  const std::string bytes = packet.Encode();
  for (ClusterNode* node : core_.view.All()) {
    if (node->outbound_link == nullptr || (node->flags & (kNodeMyself | kNodeHandshake)) != 0 || !wanted(*node))
      continue;
    SendBytes(*node->outbound_link, packet.header.type, bytes);
  }
}

}  // namespace respite
