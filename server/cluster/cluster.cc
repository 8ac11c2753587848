#include "server/cluster/cluster.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "server/config/announced_place.h"

namespace respite {

namespace {

constexpr int64_t kTicksPerRandomPing = 10;
constexpr int kRandomPingCandidates = 5;
constexpr int64_t kMinAnnouncementIntervalMs = 1000;  // minimum time between two announcements of a new primary

}  // namespace

Result<std::unique_ptr<Cluster>, std::string> Cluster::Make(const Parts& parts, Bytes file_text) {
  Random random(parts.random_seed);
  if (file_text.empty()) {
    const NodeId id = NodeId::Draw(random);
    parts.log.Notice("No cluster configuration found, I'm " + id.String());
    auto view = std::make_unique<ClusterView>(id, NodeId::Draw(random));
    view->RequestSave(ClusterView::Save::kNow);
    return std::make_unique<Cluster>(parts, std::move(view), random);
  }
  const PortChoice port = parts.settings.tls_cluster ? PortChoice::kTls : PortChoice::kTcp;
  auto view = ParseNodesFile(file_text, port, random);
  if (!view.ok()) return Failure(std::move(view).error());
  parts.log.Notice("Node configuration loaded, I'm " + view.value()->me().id.String());
  return std::make_unique<Cluster>(parts, std::move(view).value(), random);
}

Cluster::Cluster(const Parts& parts, std::unique_ptr<ClusterView> view, Random random)
    : clock_(parts.real_clock, parts.wall_ms),
      random_(random),
      view_(std::move(view)),
      core_{parts.settings, clock_, parts.log, random_, parts.network, parts.host, *view_},
      bus_(core_, *this),
      failure_detector_({core_, bus_}),
      gossip_({core_, bus_, failure_detector_}),
      role_(core_),
      slot_claims_({core_, bus_, role_}),
      manual_failover_({core_, bus_, gossip_}),
      election_({core_, bus_, gossip_, role_, manual_failover_, [this] { SaveNow(); }}),
      migration_({core_, role_}),
      health_(core_) {
  role_.SetRoleChangeHandler([this] {
    primary_follows_me_since_ms_ = 0;
    manual_failover_.Reset();
    election_.Cancel();
  });
}

std::optional<std::string> Cluster::Start() {
  if (auto reason = bus_.Listen()) return reason;
  ApplySettings();
  for (ClusterNode* node : view_->All()) {
    node->born_ms = clock_.NowMs();
    if (node->Is(kNodeFail)) node->failed_at_ms = clock_.NowMs();
  }
  if (view_->me().primary != nullptr) {
    announced_primary_ = view_->me().primary->id;
    role_.ReconnectToPrimary();
  }
  EndTurn();
  return std::nullopt;
}

void Cluster::SetMyAddress() {
  const Settings& settings = core_.settings;
  const auto choose = [](int announced, int own) { return static_cast<uint16_t>(announced != 0 ? announced : own); };
  NodeAddress address = view_->me().address;
  address.tcp_port = choose(settings.cluster_announce_port, settings.bound_port);
  address.tls_port = choose(settings.cluster_announce_tls_port, settings.tls_port);
  address.bus_port = choose(settings.cluster_announce_bus_port, bus_.Port());
  if (!settings.cluster_announce_ip.empty()) address.ip = settings.cluster_announce_ip;
  if (address == view_->me().address) return;
  view_->me().address = std::move(address);
  view_->RecordChange();
  view_->RequestSave();
}

void Cluster::ApplySettings() {
  SetMyAddress();
  ClusterNode& me = view_->me();
  const Settings& settings = core_.settings;
  const auto take = [this](std::string& place, const std::string& announced) {
    if (place == announced) return;
    place = announced;
    view_->RecordChange();
    view_->RequestSave();
  };
  take(me.hostname, settings.cluster_announce_hostname);
  take(me.human_name, settings.cluster_announce_human_nodename);
  take(me.client_ipv4, settings.cluster_announce_client_ipv4);
  take(me.client_ipv6, settings.cluster_announce_client_ipv6);
  // Unlike the other texts, this one may contain any characters. Some of them would make nodes.conf unreadable.
  take(me.availability_zone, MayBeAnnounced(settings.availability_zone) ? settings.availability_zone : std::string());
  UpdateNoFailoverFlag();
  view_->RequestHealthCheck();  // depends on cluster-require-full-coverage
}

// Sets the flag "nofailover" of this node if cluster-replica-no-failover is on, or if this node is a replica with
// incomplete data. Otherwise clears the flag. A replica with this flag does not begin an election when its primary
// fails, so other replicas ignore its offset when they compute their rank in the election.
void Cluster::UpdateNoFailoverFlag() {
  ClusterNode& me = view_->me();
  const bool is_unfit = me.IsReplica() && !core_.host.HasWholeData();
  if (core_.settings.cluster_replica_no_failover || is_unfit) {
    me.Set(kNodeNoFailover);
  } else {
    me.Clear(kNodeNoFailover);
  }
}

// --- Time.

void Cluster::Tick() {
  ++tick_count_;
  UpdateNoFailoverFlag();
  SetMyAddress();  // CONFIG SET port may have changed it
  gossip_.EndLateHandshakes();
  failure_detector_.ResetPfailCount();
  ConnectToAll();
  const std::vector<ClusterNode*>& all = view_->All();
  if (tick_count_ % kTicksPerRandomPing == 0) PingRandomNode();
  AnnounceNewPrimary();
  for (ClusterNode* node : all) {
    if ((node->flags & (kNodeMyself | kNodeNoAddress | kNodeHandshake)) == 0) MonitorNode(*node);
  }
  bus_.CloseLinksOverLimit();
  migration_.Continue();
  manual_failover_.Continue();
  election_.Continue();
  FollowPrimaryOfPrimary();
  if (!view_->is_ok) view_->RequestHealthCheck();
}

void Cluster::ConnectToAll() {
  for (ClusterNode* node : view_->All()) {
    if ((node->flags & (kNodeMyself | kNodeNoAddress)) == 0) bus_.ConnectToNode(*node);
  }
}

bool Cluster::IsConnectedToAllNodes() const {
  return std::ranges::all_of(view_->All(), [](const ClusterNode* node) {
    const bool is_elsewhere = (node->flags & (kNodeMyself | kNodeNoAddress)) == 0;
    return !is_elsewhere || (node->outbound_link != nullptr && node->outbound_link->IsOpen());
  });
}

// Chooses a few random nodes. Pings the one whose last PONG is the oldest, of those that are connected and have
// answered the last PING.
void Cluster::PingRandomNode() {
  ClusterNode* oldest = nullptr;
  for (int i = 0; i < kRandomPingCandidates; ++i) {
    ClusterNode& node = *view_->All()[random_.Below(view_->All().size())];
    const bool may_be_asked = node.outbound_link != nullptr && node.outbound_link->IsOpen() && node.ping_sent_ms == 0 &&
                              (node.flags & (kNodeMyself | kNodeHandshake)) == 0;
    if (!may_be_asked) continue;
    if (oldest == nullptr || node.pong_received_ms < oldest->pong_received_ms) oldest = &node;
  }
  if (oldest != nullptr) gossip_.Ping(*oldest);
}

// Tells all nodes, at most once per second, that this node follows another primary than before. In Redis, they learn
// this only from the next PING, up to half a node timeout later. Until then, they would treat a former primary that
// returns from a network partition as a primary.
void Cluster::AnnounceNewPrimary() {
  const ClusterNode* const primary = view_->me().primary;
  const NodeId now = primary == nullptr ? NodeId() : primary->id;
  const bool is_news = primary != nullptr && now != announced_primary_;
  if (is_news && clock_.NowMs() - primary_announced_at_ms_ < kMinAnnouncementIntervalMs) return;
  announced_primary_ = now;
  if (!is_news) return;
  primary_announced_at_ms_ = clock_.NowMs();
  gossip_.AnnounceMyself();
}

void Cluster::MonitorNode(ClusterNode& node) {
  const int64_t now_ms = clock_.NowMs();
  const int64_t half_ms = core_.TimeoutMs() / 2;
  const bool is_open = node.outbound_link != nullptr && node.outbound_link->IsOpen();
  // Replaces an old connection on which a PING stays unanswered: the other node may have lost this connection.
  const bool is_stuck = node.outbound_link != nullptr && now_ms - node.outbound_link->born_ms > core_.TimeoutMs() &&
                        node.ping_sent_ms != 0 && now_ms - node.ping_sent_ms > half_ms &&
                        now_ms - node.data_received_ms > half_ms;
  if (is_stuck) bus_.DropOutboundLink(node);
  const int64_t interval_ms = core_.settings.cluster_ping_interval;
  const int64_t most_ms = interval_ms != 0 ? interval_ms : half_ms;
  if (is_open && !is_stuck && node.ping_sent_ms == 0 && now_ms - node.pong_received_ms > most_ms) {
    return gossip_.Ping(node);
  }
  if (is_open && !is_stuck && manual_failover_.IsRequestedBy(node)) return gossip_.Ping(node);
  failure_detector_.MarkPfailIfSilent(node);
}

void Cluster::SaveAndSend() {
  if (view_->TakeHealthCheckRequest()) health_.UpdateClusterState();
  SaveNow();
  bus_.Flush();
}

void Cluster::EndTurn() {
  SaveAndSend();
  if (reported_view_version_ == view_->version()) return;
  reported_view_version_ = view_->version();
  core_.host.OnTopologyChanged();
}

void Cluster::SaveNow() {
  switch (view_->TakeSaveRequest()) {
    case ClusterView::Save::kNo:
      return;
    case ClusterView::Save::kLater:
      return Save(ClusterHost::Durably::kWritten);
    case ClusterView::Save::kNow:
      return Save(ClusterHost::Durably::kSynced);
  }
}

// Saves nodes.conf. If that fails, the server ends, and this node sends no more packets: other nodes must not learn
// anything from this node (such as a vote) that it will have forgotten after a restart.
void Cluster::Save(ClusterHost::Durably durably) {
  if (!core_.host.Save(*view_, durably)) bus_.Mute();
}

// --- Packets.

void Cluster::OnLinkConnected(BusLink& link) {
  if (link.node == nullptr) return;
  ClusterNode& node = *link.node;
  const int64_t waits_since_ms = node.ping_sent_ms;
  gossip_.Ping(node, node.Is(kNodeMeet) ? PacketType::kMeet : PacketType::kPing);
  // Keeps the time of a PING that was not answered on the previous connection: the node has been silent since then, not
  // only since the new PING.
  if (waits_since_ms != 0) node.ping_sent_ms = waits_since_ms;
  node.Clear(kNodeMeet);
}

ClusterNode* Cluster::IdentifySender(BusLink& link, const PacketHeader& header) {
  ClusterNode* sender = view_->Find(header.sender);
  if (sender == nullptr || sender->Is(kNodeHandshake)) return nullptr;
  if (link.direction() == BusLink::Direction::kFrom && link.node == nullptr && !sender->IsMyself()) {
    bus_.BindInboundLink(link, *sender);
  }
  return sender;
}

void Cluster::OnPacket(BusLink& link, const BusPacket& packet) {
  ClusterNode* sender = IdentifySender(link, packet.header);
  if (sender != nullptr && !sender->IsMyself()) UpdateEpochsAndOffset(*sender, packet.header);
  if (std::holds_alternative<PingBody>(packet.body)) return HandlePingPongOrMeet(link, sender, packet);
  if (sender != nullptr && !sender->IsMyself()) HandleOtherPacket(*sender, packet);
}

void Cluster::UpdateEpochsAndOffset(ClusterNode& sender, const PacketHeader& header) {
  sender.data_received_ms = clock_.NowMs();
  if (header.current_epoch > view_->current_epoch) {
    view_->current_epoch = header.current_epoch;
    view_->RequestSave();
  }
  if (header.config_epoch > sender.config_epoch) {
    sender.config_epoch = header.config_epoch;
    view_->RequestSave();
    if (view_->me().primary == &sender && !core_.host.IsLinked()) core_.host.HandleNewEpochOfPrimary();
  }
  sender.offset = static_cast<int64_t>(header.offset);
  if ((header.flags & kNodeReplica) != 0) sender.replica_offset = sender.offset;
  sender.offset_at_ms = clock_.NowMs();
  if (view_->me().primary == &sender) manual_failover_.ReceivePrimaryOffset(header);
}

void Cluster::HandleOtherPacket(ClusterNode& sender, const BusPacket& packet) {
  switch (packet.header.type) {
    case PacketType::kFail:
      return failure_detector_.HandleFailPacket(std::get<FailBody>(packet.body).id, sender);
    case PacketType::kPublish:
    case PacketType::kPublishShard:
      return core_.host.Deliver(packet.header.type, std::get<PublishBody>(packet.body));
    case PacketType::kVoteRequest:
      return election_.ReceiveVoteRequest(sender, packet.header);
    case PacketType::kVote:
      return election_.ReceiveVote(sender, packet.header);
    case PacketType::kPauseRequest:
      return manual_failover_.ReceivePauseRequest(sender);
    case PacketType::kUpdate:
      return slot_claims_.ApplyUpdate(std::get<UpdateBody>(packet.body));
    case PacketType::kPing:
    case PacketType::kPong:
    case PacketType::kMeet:
    case PacketType::kModule:
      return;
  }
}

void Cluster::HandlePingPongOrMeet(BusLink& link, ClusterNode* sender, const BusPacket& packet) {
  const PacketHeader& header = packet.header;
  if (header.type != PacketType::kPong) {
    if (header.type == PacketType::kMeet || view_->me().address.ip.empty()) LearnMyIp(link);
    if (header.type == PacketType::kMeet && sender == nullptr) BeginHandshakeWithSender(link, header);
    bus_.Send(link, gossip_.ComposePing(PacketType::kPong, sender));
  }
  if (link.direction() == BusLink::Direction::kTo && link.node != nullptr)
    sender = HandleAnswerFromNode(link, sender, header);
  if (sender == nullptr || sender->IsMyself()) return;
  if (header.type == PacketType::kPing) UpdateAddress(*sender, link, header);
  if (header.type == PacketType::kPong) RecordPong(*sender);
  if (header.type == PacketType::kPong && link.direction() == BusLink::Direction::kTo)
    manual_failover_.ReceivePong(*sender);
  UpdateRole(*sender, header);
  slot_claims_.ApplyClaims(*sender, header);
  gossip_.Receive(*sender, packet);
}

// Takes the local IP of a link as this node's IP, unless cluster-announce-ip is set.
void Cluster::LearnMyIp(const BusLink& link) {
  if (!core_.settings.cluster_announce_ip.empty()) return;
  const std::string ip = link.LocalIp();
  if (ip.empty() || ip == view_->me().address.ip) return;
  view_->me().address.ip = ip;
  core_.log.Notice("IP address for this node updated to " + ip);
  view_->RecordChange();
  view_->RequestSave();
}

NodeAddress Cluster::SenderAddress(const BusLink& link, const PacketHeader& header) const {
  const bool is_tls_first = core_.settings.tls_cluster;
  return {.ip = header.ip.empty() ? link.PeerIp() : header.ip,
          .tcp_port = is_tls_first ? header.other_port : header.port,
          .tls_port = is_tls_first ? header.port : header.other_port,
          .bus_port = header.bus_port};
}

void Cluster::BeginHandshakeWithSender(const BusLink& link, const PacketHeader& header) {
  if (header.sender.IsValid()) gossip_.BeginHandshakeAfterMeet(SenderAddress(link, header));
}

ClusterNode* Cluster::HandleAnswerFromNode(BusLink& link, ClusterNode* sender, const PacketHeader& header) {
  ClusterNode& node = *link.node;
  if (node.Is(kNodeHandshake)) return EndHandshake(node, sender, link, header);
  if (node.id == header.sender) return sender;
  // Forgets the address of `node`: the node that answers at this address has another id.
  core_.log.Debug("PONG contains mismatching sender ID about node " + node.id.String());
  node.Set(kNodeNoAddress);
  node.address = {};
  bus_.DropOutboundLink(node);
  view_->RecordChange();
  view_->RequestSave();
  return nullptr;
}

ClusterNode* Cluster::EndHandshake(ClusterNode& node, ClusterNode* known, const BusLink& link,
                                   const PacketHeader& header) {
  if (known != nullptr) {
    core_.log.Verbose("Handshake: we already know node " + known->LogName() + ", updating the address if needed.");
    if (!known->IsMyself()) UpdateAddress(*known, link, header);
    gossip_.Remove(node);
    return nullptr;
  }
  // Refuses the sender if its id is invalid, or if a node with this id is known already. The sender may have sent the
  // random id of another node in handshake, which it can read in packets and replies.
  if (!header.sender.IsValid() || view_->Find(header.sender) != nullptr) return nullptr;
  view_->Rename(node, header.sender);
  core_.log.Debug("Handshake with node " + node.id.String() + " completed.");
  node.Clear(kNodeHandshake);
  node.Set((header.flags & kNodeReplica) != 0 ? kNodeReplica : kNodePrimary);
  UpdateEpochsAndOffset(node, header);
  view_->RequestSave();
  return &node;
}

void Cluster::RecordPong(ClusterNode& node) {
  node.pong_received_ms = clock_.NowMs();
  node.ping_sent_ms = 0;
  failure_detector_.ClearFailureOnAnswer(node);
}

void Cluster::UpdateAddress(ClusterNode& node, const BusLink& link, const PacketHeader& header) {
  if (node.outbound_link.get() == &link) return;  // this address is known already: the link was made to it
  NodeAddress address = SenderAddress(link, header);
  if (address == node.address || address.bus_port == 0) return;
  core_.log.Notice(StrCat("Address updated for node ", node.LogName(), ", now ", address.ip, ":",
                          address.tcp_port != 0 ? address.tcp_port : address.tls_port));
  node.address = std::move(address);
  node.Clear(kNodeNoAddress);
  bus_.DropOutboundLink(node);
  view_->RecordChange();
  view_->RequestSave();
  if (view_->me().primary == &node) role_.ReconnectToPrimary();
}

void Cluster::UpdateRole(ClusterNode& sender, const PacketHeader& header) {
  ClusterNode& me = view_->me();
  if ((header.flags & kNodeNoFailover) != 0) {
    sender.Set(kNodeNoFailover);
  } else {
    sender.Clear(kNodeNoFailover);
  }
  if (me.primary == &sender && header.primary == me.id) return HandlePrimaryFollowingMe();
  if (me.primary == &sender) primary_follows_me_since_ms_ = 0;
  if (header.primary.IsNull()) {
    if (!sender.IsReplica()) return;
    view_->MarkAsPrimary(sender);
    view_->RequestSave();
    return view_->RequestHealthCheck();
  }
  ClusterNode* primary = view_->Find(header.primary);
  if (sender.IsReplica() && sender.primary == primary) return;
  view_->DropSlotsOf(sender);
  view_->MarkAsReplica(sender, primary == &sender ? nullptr : primary);
  view_->RequestSave();
  view_->RequestHealthCheck();
}

// Called when the primary of this node says that it is a replica of this node. Then no node serves the slots, and this
// node has the data. This happens if the primary was promoted, and then restarted with a nodes.conf from before the
// promotion. Takes over the slots after the primary has said so for cluster-node-timeout, because a packet from before
// the promotion may arrive late. Waits until a load or a slow script has ended. Perhaps this node is the one with an
// old nodes.conf. So takes over only if this node was linked to the primary lately, has complete data, and no other
// replica has more (HasDataToReplacePrimary).
void Cluster::HandlePrimaryFollowingMe() {
  const int64_t now_ms = clock_.NowMs();
  if (primary_follows_me_since_ms_ == 0) primary_follows_me_since_ms_ = now_ms;
  if (now_ms - primary_follows_me_since_ms_ < core_.TimeoutMs()) return;
  if (core_.host.IsInLongTask()) return;
  primary_follows_me_since_ms_ = 0;
  if (!election_.HasDataToReplacePrimary()) {
    return core_.log.Warning(
        "My master says that it is my replica. Not taking over its slots, because I do not have all of its data (see "
        "replica_data in INFO replication), was not linked to it lately, or another replica has more.");
  }
  core_.log.Warning("My master says that it is my replica. Taking over its slots.");
  slot_claims_.BumpEpoch();
  election_.TakeOver();
}

void Cluster::FollowPrimaryOfPrimary() {
  const ClusterNode* const primary = view_->me().primary;
  ClusterNode* const top = primary == nullptr ? nullptr : primary->primary;
  if (top != nullptr && top->IsPrimary()) role_.Follow(*top);
}

// --- Operators.

void Cluster::Forget(ClusterNode& node) { gossip_.Forget(node, core_.settings.cluster_blacklist_ttl * 1000); }

void Cluster::Replicate(ClusterNode& primary) { role_.Follow(primary); }

void Cluster::LeavePrimary() {
  ClusterNode& me = view_->me();
  if (me.IsPrimary()) return;
  role_.Promote();
  core_.host.DeleteAllKeys();
  manual_failover_.Reset();
  election_.Cancel();
  me.shard = NodeId::Draw(random_);
  core_.log.Notice("Stop replication and turning myself into empty master");
  view_->RequestSave();
  view_->RequestHealthCheck();
}

void Cluster::AddSlots(const SlotSet& slots) {
  slots.ForEach([&](int slot) {
    view_->SetImporting(slot, nullptr);
    view_->Assign(slot, &view_->me());
  });
  view_->RequestSave();
  view_->RequestHealthCheck();
}

void Cluster::DeleteSlots(const SlotSet& slots) {
  slots.ForEach([&](int slot) { view_->Assign(slot, nullptr); });
  view_->RequestSave();
  view_->RequestHealthCheck();
}

void Cluster::GiveSlot(int slot, ClusterNode& owner) {
  ClusterNode& me = view_->me();
  const bool was_mine = view_->Owner(slot) == &me;
  if (view_->MigratingTo(slot) != nullptr && !core_.host.HasKeysInSlot(slot)) view_->SetMigrating(slot, nullptr);
  const bool is_imported = &owner == &me && view_->ImportingFrom(slot) != nullptr;
  view_->Assign(slot, &owner);
  view_->RequestSave();
  view_->RequestHealthCheck();
  if (is_imported) {
    // Takes a larger config epoch, because otherwise the former owner would continue to claim the slot.
    if (slot_claims_.BumpEpoch()) core_.log.Notice(StrCat("configEpoch updated after importing slot ", slot));
    view_->SetImporting(slot, nullptr);
    return gossip_.BroadcastPong(Gossip::To::kAll);
  }
  if (!was_mine || me.slot_count != 0 || &owner == &me || !core_.settings.cluster_allow_replica_migration) return;
  core_.log.Notice("Configuration change detected. Reconfiguring myself as a replica of " + owner.id.String());
  role_.Follow(owner);
}

// Claims the slots with a larger epoch, because otherwise the former owner would continue to claim them. Saves
// nodes.conf, and tells all nodes immediately.
void Cluster::TakeSlots(const SlotSet& slots) {
  slots.ForEach([&](int slot) { view_->Assign(slot, &view_->me()); });
  slot_claims_.BumpEpoch();
  view_->RequestSave(ClusterView::Save::kNow);
  view_->RequestHealthCheck();
  gossip_.BroadcastPong(Gossip::To::kAll);
}

void Cluster::FailOver(FailoverMode mode) {
  manual_failover_.Reset();
  election_.Cancel();
  if (mode == FailoverMode::kTakeOver) {
    core_.log.Notice("Taking over the master (user request).");
    slot_claims_.BumpEpoch();
    return election_.TakeOver();
  }
  switch (mode) {
    case FailoverMode::kForce:
      core_.log.Notice("Forced failover user request accepted.");
      return manual_failover_.Start(ManualFailover::Mode::kForce);
    case FailoverMode::kIfPrimaryIsGone:
      core_.log.Notice("My master asks me to replace it, because it stops.");
      return manual_failover_.Start(ManualFailover::Mode::kIfPrimaryIsGone);
    default:
      core_.log.Notice("Manual failover user request accepted.");
      return manual_failover_.Start(ManualFailover::Mode::kAsk);
  }
}

void Cluster::Reset(ResetMode mode) {
  ClusterNode& me = view_->me();
  const bool was_replica = me.IsReplica();
  if (was_replica) {
    role_.Promote();
    core_.host.DeleteAllKeys();
  }
  manual_failover_.Reset();
  election_.Cancel();
  for (int slot = 0; slot < kSlotCount; ++slot) view_->Assign(slot, nullptr);
  view_->StopSlotMoves();
  const std::vector<ClusterNode*> all = view_->All();
  for (ClusterNode* node : all) {
    if (!node->IsMyself()) gossip_.Remove(*node);
  }
  if (was_replica || mode == ResetMode::kHard) me.shard = NodeId::Draw(random_);
  if (mode == ResetMode::kHard) {
    view_->current_epoch = view_->last_vote_epoch = me.config_epoch = 0;
    core_.log.Notice("configEpoch set to 0 via CLUSTER RESET HARD");
    view_->Rename(me, NodeId::Draw(random_));
    core_.log.Notice("Node hard reset, now I'm " + me.id.String());
  }
  view_->RequestSave(ClusterView::Save::kNow);
  view_->RequestHealthCheck();
}

void Cluster::SetEpoch(uint64_t epoch) {
  view_->me().config_epoch = epoch;
  view_->current_epoch = std::max(view_->current_epoch, epoch);
  core_.log.Notice(StrCat("configEpoch set to ", epoch, " via CLUSTER SET-CONFIG-EPOCH"));
  view_->RequestSave();
  view_->RequestHealthCheck();
}

void Cluster::Publish(PacketType type, Bytes channel, Bytes message) {
  BusPacket packet;
  packet.header = bus_.MakeHeader(type);
  packet.body = PublishBody{std::string(channel), std::string(message)};
  if (type == PacketType::kPublish) return bus_.Broadcast(packet);
  const ClusterNode* const primary = &view_->PrimaryOf(view_->me());
  bus_.Broadcast(packet, [&](const ClusterNode& node) { return &node == primary || node.primary == primary; });
}

}  // namespace respite
