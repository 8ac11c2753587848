#include "server/process/group/group_start.h"

#include <cstring>
#include <utility>

#include "base/str_cat.h"
#include "persistence/file_system.h"
#include "server/cluster/bus.h"
#include "server/config/announced_place.h"
#include "server/sentinel/sentinel_mode.h"

namespace respite {

namespace {

constexpr size_t kSentinelIdLength = 40;
constexpr char kService[] = "mymaster";

std::string HostIn(const std::string& announce) { return AnnouncedHost::Parse(announce).value().host; }

}  // namespace

void RouteToRealAddresses(const std::string& announce, const std::vector<HostedServer>& hosted_servers) {
  LocalNodeRoutes routes(HostIn(announce));
  for (const HostedServer& hosted : hosted_servers) {
    const Settings& settings = hosted.node->settings();
    const auto bus = BusPortOf(settings);
    const int bus_port = settings.cluster_enabled && bus.ok() ? bus.value() : 0;
    for (const int port : {settings.bound_port, settings.tls_port, bus_port}) {
      if (port != 0) routes.Add(port, hosted.node->BoundAddress());
    }
  }
  for (const HostedServer& hosted : hosted_servers) {
    if (hosted.Lives()) hosted.node->host().network().SetRoutes(routes);
  }
}

// Seeds the random numbers for node IDs and replication IDs. With the directive `seed`, each server i (0, 1 …) uses a
// seed derived from `seed` and i, so GroupStart uses one derived from `seed` and a number that no server has,
// plan.Count().
GroupStart::GroupStart(const Config& config, const NodePlan& plan, std::vector<HostedServer>& hosted_servers)
    : config_(config),
      plan_(plan),
      hosted_servers_(hosted_servers),
      random_(config.settings().seed ? DerivedSeed(*config.settings().seed, static_cast<uint64_t>(plan.Count()))
                                     : SystemSeed()),
      ids_(config.settings().seed ? IdSource(random_.Next()) : IdSource()) {}

void GroupStart::ShareReplidsOfEmptyNodes() {
  std::vector<std::string> histories;
  for (int i = 0; i < plan_.layout().Count(); ++i) {
    const auto primary = plan_.layout().PrimaryOf(i);
    histories.push_back(primary ? histories[static_cast<size_t>(*primary)] : ids_.Hex(History::kIdLength));
    hosted_servers_[static_cast<size_t>(i)].node->SetReplidIfEmpty(histories.back());
  }
}

// --- Cluster

std::optional<std::string> GroupStart::FormCluster() {
  std::vector<ClusterStartPlan::Member> members;
  for (const HostedServer& hosted : hosted_servers_) {
    auto text = hosted.node->ReadNodesFile();
    if (!text) return std::string();
    members.push_back({hosted.node->Address(), std::move(*text)});
  }
  const PortChoice port = config_.settings().tls_cluster ? PortChoice::kTls : PortChoice::kTcp;
  auto start = ClusterStartPlan::Plan(plan_.layout(), members, port, random_);
  if (!start.ok()) return "The cluster cannot start: " + start.error();
  const auto trust =
      start.value().members_agree ? ClusterMode::NodesFileTrust::kAgreed : ClusterMode::NodesFileTrust::kOwn;
  for (size_t i = 0; i < hosted_servers_.size(); ++i) {
    hosted_servers_[i].node->SetInitialCluster({start.value().texts[i], trust});
  }
  if (start.value().is_new) ShareReplidsOfEmptyNodes();
  return std::nullopt;
}

// --- Servers with Sentinels

std::optional<std::string> GroupStart::FormSentinelGroup() {
  for (int i = 0; i < plan_.layout().Count(); ++i) FollowPrimary(i);
  if (config_.settings().load.empty()) ShareReplidsOfEmptyNodes();
  const SentinelGroupPlan sentinels = MakeSentinelPlan();
  for (int i = plan_.layout().Count(); i < plan_.Count(); ++i) {
    if (auto reason = WriteSentinelLines(i, sentinels.LinesOf(static_cast<size_t>(i - plan_.layout().Count()))))
      return reason;
  }
  return std::nullopt;
}

// Makes a replica follow its primary. Also gives a primary the password of the group, because it may later become a
// replica of another node.
void GroupStart::FollowPrimary(int node) {
  Settings& settings = hosted_servers_[static_cast<size_t>(node)].config->MutableSettings();
  if (settings.masterauth.empty()) settings.masterauth = settings.requirepass;
  const auto primary = plan_.layout().PrimaryOf(node);
  if (!primary) return;
  const SentinelGroupPlan::Place place = PlaceOf(*primary);
  settings.replicaof = PrimaryAddress{place.host, place.port};
}

SentinelGroupPlan::Place GroupStart::PlaceOf(int node) const {
  const NodeServer& server = *hosted_servers_[static_cast<size_t>(node)].node;
  const Settings& settings = server.settings();
  const int port = settings.tls_replication && settings.tls_port != 0 ? settings.tls_port : settings.bound_port;
  if (!config_.settings().announce.empty()) return {.host = HostIn(config_.settings().announce), .port = port};
  const bool is_announced = !plan_.IsSentinel(node) && !settings.replica_announce_ip.empty();
  return {.host = is_announced ? settings.replica_announce_ip : server.BoundAddress(),
          .port = is_announced && settings.replica_announce_port != 0 ? settings.replica_announce_port : port};
}

std::string GroupStart::SentinelMasterName(int primary) {
  return primary == 0 ? kService : kService + (StrCat("-", primary + 1));
}

SentinelGroupPlan GroupStart::MakeSentinelPlan() {
  SentinelGroupPlan sentinels;
  const Settings& settings = hosted_servers_[0].node->settings();
  sentinels.user = settings.masteruser;
  sentinels.password = settings.masterauth;
  if (!config_.settings().announce.empty()) sentinels.announced_host = HostIn(config_.settings().announce);
  for (int i = 0; i < plan_.Count(); ++i) {
    if (plan_.IsSentinel(i)) {
      sentinels.members.push_back({PlaceOf(i), ids_.Hex(kSentinelIdLength)});
    } else if (const auto primary = plan_.layout().PrimaryOf(i)) {
      sentinels.services[static_cast<size_t>(*primary)].replicas.push_back(PlaceOf(i));
    } else {
      sentinels.services.push_back({.name = SentinelMasterName(i), .primary = PlaceOf(i), .replicas = {}});
    }
  }
  return sentinels;
}

std::optional<std::string> GroupStart::WriteSentinelLines(int sentinel, const std::string& lines) {
  Config& config = *hosted_servers_[static_cast<size_t>(sentinel)].config;
  SystemFiles files;
  if (const IoError error = ReplaceFile(files, config.file(), lines)) {
    return "Can't write " + config.file() + ": " + std::strerror(error);  // NOLINT(concurrency-mt-unsafe): at start
  }
  auto error = config.RereadSentinelLines();
  if (!error) error = CheckSentinelLines(config);
  return error ? std::optional(error->text) : std::nullopt;
}

}  // namespace respite
