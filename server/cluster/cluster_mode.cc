#include "server/cluster/cluster_mode.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/clients/pubsub.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_router.h"
#include "server/cluster/server_cluster_host.h"
#include "server/cluster/slot_stats.h"
#include "server/config/config.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/services.h"
#include "server/execution/slot_router.h"

namespace respite {

namespace {

constexpr int64_t kTickMs = 100;

}  // namespace

ClusterMode::ClusterMode(const Services& services, uint64_t random_seed)
    : services_(services), random_seed_(random_seed) {}

ClusterMode::~ClusterMode() { Close(); }

void ClusterMode::Close() {
  services_.execution.router.Attach(nullptr);
  is_started_ = false;
  slot_stats_.reset();
  router_.reset();
  cluster_.reset();
  host_.reset();
}

std::optional<std::string> ClusterMode::Open() {
  if (!services_.env.settings.cluster_enabled) return std::nullopt;
  auto text = ReadNodesFile();
  if (!text.ok()) return std::move(text).error();
  return OpenWith(text.value(), NodesFileTrust::kOwn);
}

Result<std::string, std::string> ClusterMode::ReadNodesFile() {
  host_ = std::make_unique<ServerClusterHost>(services_);
  auto text = host_->OpenNodesFile();
  if (text.ok()) file_text_ = text.value();
  return text;
}

std::optional<std::string> ClusterMode::OpenWith(const std::string& nodes_text, NodesFileTrust trust) {
  auto made = Cluster::Make({.settings = services_.env.settings,
                             .real_clock = services_.env.real_clock,
                             .wall_ms = services_.env.clock.WallMs(),
                             .log = services_.env.log,
                             .random_seed = random_seed_,
                             .network = services_.env.network,
                             .host = *host_},
                            nodes_text);
  if (!made.ok()) return std::move(made).error();
  cluster_ = std::move(made).value();
  if (nodes_text != file_text_) cluster_->view().RequestSave();
  if (trust == NodesFileTrust::kAgreed) cluster_->TrustNodesFile();
  SetReplicaofFromNodesFile();
  router_ =
      std::make_unique<ClusterRouter>(ClusterRouter::Parts{services_.env, services_.data.dataset.keyspace, *cluster_});
  services_.execution.router.Attach(router_.get());
  slot_stats_ = std::make_unique<SlotStats>(services_, *router_);
  return std::nullopt;
}

std::optional<std::string> ClusterMode::Start() {
  if (cluster_ == nullptr) return std::nullopt;
  ClaimSlotsOfLoadedKeys();
  if (auto reason = cluster_->Start()) return reason;
  is_started_ = true;
  return std::nullopt;
}

// Claims slots that have loaded keys and no owner, if this node is a primary. Marks a slot as importing if it has
// loaded keys and another node owns it, because it was probably moving to this node when the server stopped. Ignores
// hidden slots, which this node was importing by CLUSTER MIGRATESLOTS or MIGRATION.
void ClusterMode::ClaimSlotsOfLoadedKeys() {
  ClusterView& view = cluster_->view();
  if (view.me().IsReplica()) return;
  SlotSet claimed;
  for (int slot = 0; slot < kSlotCount; ++slot) {
    if (!host_->HasKeysInSlot(slot) || services_.data.dataset.keyspace.hidden().Has(slot)) continue;
    ClusterNode* owner = view.Owner(slot);
    if (owner == nullptr) claimed.Add(slot);
    if (owner == nullptr || owner == &view.me() || view.ImportingFrom(slot) != nullptr) continue;
    services_.env.log.Notice(StrCat("I have keys for slot ", slot,
                                    ", but the slot is assigned to another node. Setting it to importing state."));
    view.SetImporting(slot, owner);
    view.RequestSave();
  }
  if (claimed.IsEmpty()) return;
  services_.env.log.Notice(
      StrCat("I have keys for ", claimed.Count(), " unassigned slots. Taking responsibility for them."));
  cluster_->AddSlots(claimed);
}

// Sets `replicaof` to the primary that nodes.conf names. Must be called before the data is loaded: a replica keeps
// expired keys while it loads, and may continue the replication from the offset in the loaded file.
void ClusterMode::SetReplicaofFromNodesFile() {
  const ClusterNode* primary = cluster_->view().me().primary;
  if (primary == nullptr) return;
  const NodeAddress& address = primary->address;
  const int port = services_.env.settings.tls_replication ? address.tls_port : address.tcp_port;
  auto& replicaof = services_.env.config.MutableSettings().replicaof;
  replicaof = primary->HasAddress() ? PrimaryAddress{address.ip, port} : PrimaryAddress{};
}

void ClusterMode::ConnectToAll() {
  if (is_started_) cluster_->ConnectToAll();
}

void ClusterMode::Tick() {
  if (!is_started_) return;
  const int64_t now_ms = services_.env.real_clock.NowMs();
  if (now_ms - ticked_at_ms_ < kTickMs) return;
  ticked_at_ms_ = now_ms;
  cluster_->Tick();
  host_->FinishSave();
}

void ClusterMode::EndTurnDuringLongTask() {
  if (is_started_) cluster_->SaveAndSend();
}

void ClusterMode::EndTurn() {
  if (!is_started_) return;
  cluster_->EndTurn();
  if (!host_->TakeTopologyChange()) return;
  RedirectBlockedClients();
  DropLostShardChannels();
  slot_stats_->ResetCountersOfOtherShards(cluster_->view());
}

// Finds blocked requests whose keys this node no longer serves, and runs them again. Their clients then get MOVED or
// another error, as for a new request.
void ClusterMode::RedirectBlockedClients() {
  std::vector<Session*> leaving;
  services_.clients.registry.ForEach([&](Session& session) {
    if (session.blocked_client == nullptr || session.blocked_client->places.empty()) return;
    const BlockedClient& blocked = *session.blocked_client;
    const std::vector<Bytes> words(blocked.words.begin(), blocked.words.end());
    if (!router_->IsServedHere({session, blocked.command, words, blocked.command->flags})) leaving.push_back(&session);
  });
  if (!leaving.empty()) services_.execution.executor.ReadClocks();
  for (Session* session : leaving) {
    if (session->blocked_client == nullptr) continue;
    const Command& command = *session->blocked_client->command;
    const std::vector<std::string> request = session->blocked_client->words;
    services_.clients.blocked.Forget(*session);
    services_.execution.executor.RunAgain(*session, command, std::vector<Bytes>(request.begin(), request.end()),
                                          Progress::Stage::kAgain);
    services_.clients.registry.QueueUnblocked(*session);
  }
}

void ClusterMode::DropLostShardChannels() {
  constexpr PubSubKind kKind = PubSubKind::kShardChannel;
  PubSub& pubsub = services_.clients.pubsub;
  ClusterView& view = cluster_->view();
  const SlotSet lost_slots = view.TakeLostSlots();
  if (pubsub.TopicCount(kKind) == 0) return;
  const ClusterNode* const mine = &view.PrimaryOf(view.me());
  std::vector<std::string> lost;
  for (const Bytes name : pubsub.NamesMatching(kKind, nullptr)) {
    if (lost_slots.Has(KeySlot(name)) || view.Owner(KeySlot(name)) != mine) lost.emplace_back(name);
  }
  for (const std::string& name : lost) {
    for (Session* session : pubsub.Subscribers(kKind, name)) {
      pubsub.Unsubscribe(*session, kKind, name);
      const size_t left = session->subscriptions == nullptr ? 0 : session->subscriptions->Count(kKind);
      const std::string head = session->resp == RespVersion::kResp3 ? ">3" : "*3";
      services_.clients.messages.Push(
          *session, StrCat(head, "\r\n$12\r\nsunsubscribe\r\n$", name.size(), "\r\n", name, "\r\n:", left, "\r\n"));
    }
  }
}

void ClusterMode::ApplySettings() {
  if (is_started_) cluster_->ApplySettings();
  if (slot_stats_ != nullptr) slot_stats_->ApplyEnabledSetting();
}

}  // namespace respite
