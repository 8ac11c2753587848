#include "server/process/group/node_plan.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/str_cat.h"
#include "server/config/announced_place.h"

namespace respite {

namespace {

constexpr mode_t kFolderMode = 0755;
constexpr char kSentinelFile[] = "/sentinel.conf";

// Settings with the path of a file that all nodes share. A relative path means a file in the directory of the process,
// not of the node.
constexpr std::array kSharedFiles = {&Settings::tls_ca_cert_dir,     &Settings::tls_ca_cert_file,
                                     &Settings::tls_cert_file,       &Settings::tls_client_cert_file,
                                     &Settings::tls_client_key_file, &Settings::tls_dh_params_file,
                                     &Settings::tls_key_file,        &Settings::aclfile};
// Settings with a port number. The first node uses the port itself, the second node the next port, and so on. The value
// 0 or less (no port) stays as it is.
constexpr std::array kPorts = {&Settings::port,
                               &Settings::tls_port,
                               &Settings::cluster_port,
                               &Settings::cluster_announce_port,
                               &Settings::cluster_announce_tls_port,
                               &Settings::cluster_announce_bus_port,
                               &Settings::replica_announce_port};

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string NameOfNode(int node) { return StrCat("node-", node + 1); }

// Sets the announced address of a node. If `place` is a host name, a cluster announces it as hostname, so that the
// nodes need not resolve it.
void AnnounceAt(const AnnouncedHost& place, Settings& settings) {
  if (settings.sentinels > 0) {
    settings.replica_announce_ip = place.host;
  } else if (place.is_address) {
    settings.cluster_announce_ip = place.host;
  } else {
    settings.cluster_announce_hostname = place.host;
    settings.cluster_preferred_endpoint_type = ClusterEndpointType::kHostname;
  }
}

bool IsTemporary(const Settings& settings) {
  // Sentinels, and nodes that start empty, have a temporary directory. Nodes with unix sockets have none, because
  // clients must know the directory of the sockets. (`sentinels` with `unixsocket` is refused, see config.cc.)
  return settings.sentinels > 0 || (settings.starts_empty && settings.unixsocket.empty());
}

}  // namespace

NodePlan::NodePlan(const Config& config)
    : config_(config),
      layout_(NodeLayout::Parse(config.settings().nodes).value()),
      sentinel_count_(config.settings().sentinels),
      is_temporary_(IsTemporary(config.settings())),
      home_(config.settings().dir) {}

std::string NodePlan::NameOf(int node) const {
  return IsSentinel(node) ? StrCat("sentinel-", node - layout_.Count() + 1) : NameOfNode(node);
}

std::string NodePlan::FolderOf(int node) const { return home_ + "/" + NameOf(node); }

std::optional<std::string> NodePlan::Check() const {
  const Settings& settings = config_.settings();
  for (const auto port : kPorts) {
    if (settings.*port <= 0 || settings.*port + Count() - 1 <= kHighestPort) continue;
    return StrCat("There are not ", Count(), " ports from ", settings.*port, " on, one for each of the nodes");
  }
  if (settings.unixsocket.starts_with('/')) {
    return "With nodes, unixsocket must be a relative path: each node has its own in its directory";
  }
  if (is_temporary_) return std::nullopt;
  const std::string next = home_ + "/" + NameOfNode(layout_.Count());
  if (!Exists(next + "/" + settings.cluster_config_file)) return std::nullopt;
  return StrCat(next, " belongs to a cluster of more than ", layout_.Count(), " nodes");
}

std::optional<std::string> NodePlan::MakeFolders() {
  if (is_temporary_) {
    const char* const place = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): before any thread
    home_ = std::string(place == nullptr || place[0] == '\0' ? "/tmp" : place) + "/respite-XXXXXX";
    if (mkdtemp(home_.data()) == nullptr) return "Can't create the directory " + home_ + ": " + std::strerror(errno);
  }
  for (int i = 0; i < Count(); ++i) {
    const std::string path = FolderOf(i);
    if (mkdir(path.c_str(), kFolderMode) == 0) {
      made_folders_.push_back(path);
    } else if (errno != EEXIST) {
      return "Can't create the directory " + path + ": " + std::strerror(errno);
    }
  }
  return std::nullopt;
}

void NodePlan::RemoveFolders() {
  for (const std::string& path : made_folders_) rmdir(path.c_str());
  made_folders_.clear();
  RemoveTemporaryFolder();
}

void NodePlan::RemoveTemporaryFolder() {
  std::error_code ignored;
  if (is_temporary_ && home_ != config_.settings().dir) std::filesystem::remove_all(home_, ignored);
}

std::unique_ptr<Config> NodePlan::ConfigOf(int node, Folder& folder) const {
  std::unique_ptr<Config> config = config_.CopyForServerIn(folder);
  Settings& settings = config->MutableSettings();
  for (const auto port : kPorts) {
    if (settings.*port > 0) settings.*port += node;
  }
  for (const auto path : kSharedFiles) {
    std::string& file = settings.*path;
    if (!file.empty() && !file.starts_with('/')) file = config_.settings().dir + "/" + file;
  }
  if (!settings.announce.empty()) AnnounceAt(AnnouncedHost::Parse(settings.announce).value(), settings);
  if (HasSentinels() && layout_.PrimaryOf(node)) settings.load.clear();  // it copies its primary's data
  // Lets a primary begin a diskless synchronisation when all its replicas in this process wait for it, because it has
  // no other replicas.
  if (!config->WasSet("repl-diskless-sync-max-replicas")) settings.repl_diskless_sync_max_replicas = layout_.replicas;
  if (IsSentinel(node)) config->BecomeSentinel(FolderOf(node) + kSentinelFile);
  return config;
}

}  // namespace respite
