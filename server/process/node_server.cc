#include "server/process/node_server.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/digest.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/clients/acl/permissions.h"
#include "server/cluster/cluster.h"
#include "server/lab/fixture_loader.h"
#include "server/lab/recording/recorder.h"
#include "server/net/socket_address.h"
#include "server/process/banner.h"
#include "server/process/cpu_list.h"
#include "server/process/crash/crash_report.h"
#include "server/process/limits.h"
#include "server/sentinel/sentinel.h"
#include "server/storage/data_set.h"

namespace respite {

namespace {

constexpr int64_t kLogStatisticsEveryMs = 5000;
constexpr Bytes kCopied = "copied to the server that begins again";

}  // namespace

NodeServer::NodeServer(const Parts& parts)
    : parts_(parts),
      files_(system_files_, *parts.config.settings().folder),
      children_(parts.real_clock, parts.log, [this](ChildWork work) { parts_.owner.PrepareChild(*this, work); }),
      last_client_ms_(parts.real_clock.NowMs()) {}

NodeServer::~NodeServer() { Discard(); }

NodeServer::Step NodeServer::Build(WatchedLoop& loop) {
  loop_ = &loop;
  node_ = std::make_unique<Node>(MakeNodeParts());
  for (const ConfigLine& line : parts_.config.lines().rename_command) {
    services().env.commands.Rename(line.words[1], line.words[2]);  // CheckRenames has tried it already
  }
  host_ = std::make_unique<NodeHost>(loop_->loop, *node_);
  listener_ = std::make_unique<Listener>(*host_, parts_.recorder);
  services().storage.loading.Begin(0);  // the loop may serve other servers before this server has loaded
  AttachHandlers();
  StartWatchdog();
  if (settings().port == kAutoPort && Listen() == Step::kFailed) return Step::kFailed;
  LogMode(config(), log());
  return Step::kDone;
}

Node::Parts NodeServer::MakeNodeParts() {
  Node::Parts node = {parts_.config, parts_.clock, parts_.real_clock, parts_.log, HashKey::FromKernel(),
                      SystemSeed(),  files_,       children_};
  if (!settings().hash_seed.empty()) {
    // The directive `hash-seed` determines the order in which SCAN returns keys, as in Valkey. The order is equal for
    // all servers with the same value. The directive `seed` takes precedence.
    const auto digest = Sha256(settings().hash_seed);
    std::memcpy(&node.hash_key.low, digest.data(), sizeof node.hash_key.low);
    std::memcpy(&node.hash_key.high, digest.data() + sizeof node.hash_key.low, sizeof node.hash_key.high);
  }
  if (!parts_.seed) return node;
  Random seeds(DerivedSeed(*parts_.seed, parts_.number));
  node.hash_key = {.low = seeds.Next(), .high = seeds.Next()};
  node.random_seed = seeds.Next();
  node.ids = IdSource(seeds.Next());
  return node;
}

void NodeServer::AttachHandlers() {
  if (settings().crash_log_enabled) AddToCrashReport(services());
  system_files_.SetThreadPrologue([this] { BindToProcessors(settings().bio_cpulist); });
  services().data.lazy_free_thread.SetThreadPrologue([this] { BindToProcessors(settings().bio_cpulist); });
  host_->SetTickHandler([this] {
    loop_->watchdog.Feed();
    LogStatistics();
    MeasureIdleTime();
    if (parts_.recorder != nullptr) parts_.recorder->Flush();
  });
  host_->SetStopHandler([this](int exit_code) { OnStop(exit_code); });
  services().storage.shutdown.SetCancellationHandler([this] { parts_.owner.OnShutdownCancelled(); });
  services().storage.shutdown.SetStatusHandler(
      [this](const std::string& status) { parts_.owner.OnShutdownStatus(status); });
}

void NodeServer::LogStatistics() {
  if (!log().IsLevelEnabled(LogLevel::kVerbose) || services().env.phase.IsInLongTask()) return;
  const int64_t now_ms = parts_.clock.MonotonicMs();
  if (now_ms < next_statistics_log_ms_) return;
  next_statistics_log_ms_ = now_ms + kLogStatisticsEveryMs;
  const Keyspace& keyspace = services().data.dataset.keyspace;
  for (int index = 0; index < keyspace.Count(); ++index) {
    const Database& database = keyspace[index];
    if (database.Size() == 0 && database.CountKeysWithDeadline() == 0) continue;
    log().Verbose(StrCat("DB ", index, ": ", database.Size(), " keys (", database.CountKeysWithDeadline(),
                         " volatile) in ", database.Entries().Capacity(), " slots HT."));
  }
  const size_t replicas = services().replication.replicas().All().size();
  log().Debug(StrCat(services().clients.registry.OpenCount() - replicas, " clients connected (", replicas,
                     " replicas), ", services().data.memory.UsedBytes(), " bytes in use"));
}

// Starts or stops the watchdog as `watchdog-period` says. As in Redis, a period shorter than two ticks of the timer is
// extended to two ticks.
void NodeServer::StartWatchdog() {
  int& period_ms = config().MutableSettings().watchdog_period;
  if (period_ms > 0) period_ms = std::max(period_ms, 2 * (1000 / services().clients.timer_frequency.Hz()));
  loop_->watchdog.SetPeriod(std::chrono::milliseconds(period_ms));
}

bool NodeServer::HasClients() const {
  bool has_some = false;
  services().clients.registry.ForEach([&](const Session& session) {
    has_some = has_some || session.kind == SessionKind::kNormal || session.kind == SessionKind::kPubSub;
  });
  const Worlds* const worlds = services().lab.worlds;
  return has_some || (worlds != nullptr && worlds->HaveClients());
}

// Measures how long the server has had no client. A client that connected and left between two ticks also counts.
void NodeServer::MeasureIdleTime() {
  if (settings().exit_on_idle == 0) return;
  const int64_t now_ms = parts_.real_clock.NowMs();
  const uint64_t before = std::exchange(accepted_connection_count_, services().env.stats.connections);
  if (HasClients() || accepted_connection_count_ != before) last_client_ms_ = now_ms;
  idle_ms_ = now_ms - last_client_ms_;
  if (idle_ms_ >= settings().exit_on_idle) parts_.owner.HandleIdleServer();
}

NodeServer::Step NodeServer::Open() {
  if (auto reason = services().clients.permissions.LoadConfiguredUsers()) return Fail(*reason);
  if (settings().port != kAutoPort && Listen() == Step::kFailed) return Step::kFailed;
  WatchSettings();
  if (services().lab.clock.HasMovableClock()) services().lab.snapshots.RememberConfigAndUsers();
  return Step::kDone;
}

NodeServer::Step NodeServer::Listen() {
  if (parts_.reach == Parts::Reach::kWithin && settings().port == 0) return Step::kDone;
  if (Tls::IsWanted(settings())) {
    if (auto reason = services().tls.Configure(settings())) {
      log().Warning(*reason);
      return Fail("Failed to configure TLS. Check logs for more info.");
    }
  }
  if (auto reason = listener_->Open()) return Fail(*reason);
  if (!listener_->HasTcp() && !listener_->HasTls() && !listener_->HasUnix())
    return Fail("Configured to not listen anywhere, exiting.");
  return Step::kDone;
}

// --- The cluster

// Reserves the port of the cluster bus. Usually this is the port kBusPortDistance above the client port. That one may
// be in use if the system chose the client port, so any free port is reserved then.
NodeServer::Step NodeServer::ReserveBusPort() {
  Settings& settings = config().MutableSettings();
  const bool is_chosen = settings.cluster_port == 0 && settings.port == kAutoPort && !settings.tls_cluster;
  const Result<int, std::string> wanted = is_chosen ? Result<int, std::string>(0) : BusPortOf(settings);
  if (!wanted.ok()) return Fail(wanted.error());
  int port = wanted.value();
  for (const std::string& bound : settings.bind) {
    const bool is_optional = bound.starts_with('-');
    auto reserved = ReserveTcpPort(is_optional ? bound.substr(1) : bound, port);
    if (!reserved.ok() && is_optional) continue;
    if (!reserved.ok()) {
      return Fail(StrCat("Failed listening on the cluster bus: ", bound, ":", port, ": ", reserved.error().text));
    }
    port = PortOf(reserved.value().Get());
    bus_port_sockets_.push_back(std::move(reserved).value());
  }
  if (is_chosen) settings.cluster_port = port;
  return Step::kDone;
}

std::string NodeServer::BoundAddress() const {
  const auto is_address = [](const std::string& bound) {
    return bound.find('*') == std::string::npos && bound != "0.0.0.0" && bound != "::";
  };
  const auto bound = std::ranges::find_if(settings().bind, is_address);
  return bound == settings().bind.end() ? "127.0.0.1" : bound->substr(bound->starts_with('-') ? 1 : 0);
}

NodeAddress NodeServer::Address() const {
  const Settings& own = settings();
  const auto choose = [](int announced, int used) { return static_cast<uint16_t>(announced != 0 ? announced : used); };
  return {.ip = own.cluster_announce_ip.empty() ? BoundAddress() : own.cluster_announce_ip,
          .tcp_port = choose(own.cluster_announce_port, own.bound_port),
          .tls_port = choose(own.cluster_announce_tls_port, own.tls_port),
          .bus_port = choose(own.cluster_announce_bus_port, PortOf(bus_port_sockets_[0].Get()))};
}

std::optional<std::string> NodeServer::ReadNodesFile() {
  auto text = services().cluster.ReadNodesFile();
  if (text.ok()) return std::move(text).value();
  Fail(text.error());
  return std::nullopt;
}

std::optional<std::string> NodeServer::OpenCluster() {
  if (!initial_cluster_) return services().cluster.Open();
  return services().cluster.OpenWith(initial_cluster_->text, initial_cluster_->trust);
}

void NodeServer::ApplyReplidIfEmpty() {
  if (!replid_if_empty_.empty()) services().replication.ShareEmptyHistory(replid_if_empty_);
}

// --- Start

NodeServer::Step NodeServer::Load() {
  if (has_stopped_) return Step::kStopped;
  services().storage.loading.End();
  if (!IsSentinel()) return LoadData();
  if (!settings().load.empty()) return Fail("load: a Sentinel has no data");
  services().storage.shutdown.NeverSave();
  host_->MarkActive();
  services().sentinel.Start(programs_);
  host_->Start();
  return Step::kDone;
}

NodeServer::Step NodeServer::LoadData() {
  if (auto reason = OpenCluster()) return Fail(*reason);
  if (auto reason = services().storage.snapshots.LockDumpAtStartup()) return Fail(*reason);
  switch (ReadData()) {
    case LoadOutcome::kAbsent:
      ApplyReplidIfEmpty();
      break;
    case LoadOutcome::kLoaded:
      break;
    case LoadOutcome::kStopped:
      return Step::kStopped;
    case LoadOutcome::kFailed:
      return Step::kFailed;
  }
  if (auto reason = LoadFixtures(services())) return has_stopped_ ? Step::kStopped : Fail(*reason);
  services().replication.Start();
  if (auto reason = services().cluster.Start()) return Fail(*reason);
  bus_port_sockets_.clear();
  is_replica_ = services().replication.role().is_replica;
  services().replication.SetRoleHandler([this] { HandleRoleChange(); });
  host_->Start();
  return Step::kDone;
}

// Loads the data. If this server replaces another one, copies the keys and function libraries of that server; otherwise
// loads the files. A copy has no replication ID, as after the load of an append-only file.
LoadOutcome NodeServer::ReadData() {
  if (data_source_ == nullptr) return LoadDataAtStartup(services());
  Node& before = *std::exchange(data_source_, nullptr)->node_;
  NamedSnapshots& snapshots = before.services().lab.snapshots;
  snapshots.Save(kCopied);
  const auto reason = snapshots.CopyTo(kCopied, services().data.dataset, services().execution.function_libraries);
  if (reason) services().env.log.Warning("The data of the server before cannot be used: " + *reason);
  return reason ? LoadOutcome::kFailed : LoadOutcome::kLoaded;
}

void NodeServer::InheritTestState(const NodeServer& before) {
  Lab& lab = before.services().lab;
  services().lab.clock.Restore(lab.clock.Save());
  services().lab.journal.TakeOverFrom(lab.journal);
  services().lab.lint.TakeOverFrom(lab.lint);
  services().lab.missing.TakeOverFrom(lab.missing);
}

void NodeServer::ConnectToPeers() {
  if (has_stopped_) return;
  host_->MarkActive();
  services().cluster.ConnectToAll();
  services().sentinel.ConnectToAll();
}

bool NodeServer::IsConnectedOrStopped() const {
  if (has_stopped_) return true;
  const Role& role = services().replication.role();
  const Cluster* cluster = services().cluster.cluster();
  const Sentinel* sentinel = services().sentinel.sentinel();
  return (!role.is_replica || role.is_linked) && (cluster == nullptr || cluster->IsConnectedToAllNodes()) &&
         (sentinel == nullptr || sentinel->HasHeardFromAllInstances());
}

void NodeServer::LogReady() {
  if (has_stopped_ || IsSentinel()) return;
  if (listener_->HasTcp()) log().Notice("Ready to accept connections tcp");
  if (listener_->HasUnix()) log().Notice("Ready to accept connections unix");
  if (listener_->HasTls()) log().Notice("Ready to accept connections tls");
  if (listener_->HasTcp() || listener_->HasTls()) {  // the text of Redis before 5.0, for which some launchers wait
    log().Notice(StrCat("The server is now ready to accept connections on port ", settings().MainPort()));
  }
  // Logs where data is saved. Logs nothing if another server writes the dump file: then LockDumpAtStartup has already
  // logged that this server saves nothing.
  if (!services().storage.snapshots.LeavesDumpToOtherServer()) log().Notice(DataPlaceText(settings()));
}

void NodeServer::HandleRoleChange() {
  is_replica_ = services().replication.role().is_replica;
  parts_.owner.HandleRoleChange(*this);
}

// --- End

void NodeServer::HandleSignal(int signal) {
  if (has_stopped_) return;
  host_->MarkActive();
  services().storage.shutdown.HandleSignal(signal);
}

void NodeServer::Stop() {
  if (has_stopped_) return;
  services().env.phase.Stop();
  host_->Stop(0);
}

void NodeServer::Crash(AppendFsync policy, const Session* spared) {
  services().storage.child_processes.Kill();
  Stop();
  if (services().storage.aof.IsOn()) {
    const IoError error = services().storage.aof.SimulateCrash(policy);
    if (error != kNoError) log().Warning("Failed to cut the append-only file: " + IoErrorText(error));
  }
  services().storage.snapshots.ReleaseLock();
  services().clients.registry.ForEach([&](Session& session) {
    if (&session != spared) services().clients.registry.Close(session);
  });
  CloseServerLinks();
}

// Reserves each port on each `bind` address. Leaves out a port that another process has taken since the server stopped
// listening.
std::vector<Descriptor> NodeServer::ReservePorts() const {
  std::vector<int> ports = {settings().bound_port, settings().tls_port};
  const auto bus = BusPortOf(settings());
  if (settings().cluster_enabled && bus.ok()) ports.push_back(bus.value());
  std::vector<Descriptor> held;
  for (const std::string& bound : settings().bind) {
    for (const int port : ports) {
      if (port <= 0) continue;
      auto reserved = ReserveTcpPort(bound.starts_with('-') ? bound.substr(1) : bound, port);
      if (reserved.ok()) held.push_back(std::move(reserved).value());
    }
  }
  return held;
}

void NodeServer::CloseServerLinks() {
  RemoveFromCrashReport(services());
  services().slot_migrations.Close();
  services().cluster.Close();
  services().sentinel.Close();
}

void NodeServer::OnStop(int exit_code) {
  if (has_stopped_.exchange(true)) return;
  exit_code_ = exit_code;
  parts_.owner.HandleServerStopped(*this);
  if (listener_->HasUnix()) log().Notice("Removing the unix socket file.");
  CloseListeners();
}

void NodeServer::CloseListeners() {
  if (listener_ != nullptr) listener_->Close();
}

void NodeServer::Discard() {
  if (node_ == nullptr) return;
  CloseServerLinks();
  listener_.reset();
  host_.reset();
  node_.reset();
  loop_->loop.closings().ServeAll();  // the loop may have ended, and clients wait for the end of their connections
}

// --- CONFIG SET

std::optional<std::string> NodeServer::Reopen(Listener::Protocol protocol) {
  if (listener_->Reopen(protocol)) return "Unable to listen on this port. Check server logs.";
  parts_.owner.HandleTitleChange(*this);
  return std::nullopt;
}

std::optional<std::string> NodeServer::ReopenTls() {
  if (!Tls::IsWanted(settings())) services().tls.Drop();
  if (Tls::IsWanted(settings()) && !services().tls.IsConfigured()) {
    if (auto reason = services().tls.Configure(settings())) {
      log().Warning(*reason);
      return "Unable to update TLS configuration. Check server logs.";
    }
  }
  return Reopen(Listener::Protocol::kTls);
}

void NodeServer::WatchSettings() {
  WatchMaxClients(config(), log(), parts_.nodes);
  config().AddHook({"port"}, [this] { return Reopen(Listener::Protocol::kTcp); });
  config().AddHook({"tls-port"}, [this] { return ReopenTls(); });
  config().AddHook({"bind"}, [this]() -> std::optional<std::string> {
    if (!Reopen(Listener::Protocol::kTcp) && !Reopen(Listener::Protocol::kTls)) return std::nullopt;
    return "Failed to bind to specified addresses.";
  });
  WatchProcessSettings();
}

void NodeServer::WatchProcessSettings() {
  config().AddHook({"proc-title-template"}, [this]() -> std::optional<std::string> {
    parts_.owner.HandleTitleChange(*this);
    return std::nullopt;
  });
  config().AddHook({"oom-score-adj", "oom-score-adj-values"},
                   [this] { return parts_.owner.HandleOomScoreChange(*this); });
  WatchPurging(config());
  config().AddHook({"watchdog-period"}, [this]() -> std::optional<std::string> {
    StartWatchdog();
    return std::nullopt;
  });
  config().AddHook({"crash-log-enabled"}, [this]() -> std::optional<std::string> {
    if (settings().crash_log_enabled) {
      AddToCrashReport(services());
    } else {
      RemoveFromCrashReport(services());
    }
    return std::nullopt;
  });
}

NodeServer::Step NodeServer::Fail(const std::string& reason) {
  log().Warning(reason);
  return Step::kFailed;
}

}  // namespace respite
