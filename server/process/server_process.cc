#include "server/process/server_process.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

#include "base/duration_text.h"
#include "base/random.h"
#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/commands/data/collation.h"
#include "server/config/value_text.h"
#include "server/process/banner.h"
#include "server/process/cpu_list.h"
#include "server/process/crash/signal_log.h"
#include "server/process/group/group_start.h"
#include "server/process/system_checks.h"

namespace respite {

namespace {

constexpr char kDefaultPidfile[] = "/var/run/redis.pid";  // for daemons without a `pidfile`
constexpr uint64_t kSuspiciousMaxMemory = uint64_t{1} << 20;
constexpr int64_t kLookEveryMs = 1;
constexpr int64_t kSettleMs = 1000;  // after this time the servers are ready even if nodes have not yet connected
constexpr int64_t kAskParentEveryMs = 500;
constexpr int64_t kEndAgainMs = 1000;  // pause before a failed shutdown (exit-on-idle, parent gone) is repeated

}  // namespace

ServerProcess::ServerProcess(Config& config, const CommandLine& line, ProcessTitle& title)
    : config_(config), line_(line), title_(title), log_(clock_), oom_score_(log_) {
  if (!config.settings().nodes.empty()) plan_.emplace(config);
}

// Discards each server on the thread on which it was created.
ServerProcess::~ServerProcess() {
  for (HostedServer& hosted : hosted_servers_) {
    if (hosted.thread != nullptr) hosted.thread->Do([&hosted] { hosted.node->Discard(); });
    hosted.thread.reset();
    hosted.worlds.reset();
    hosted.node.reset();
  }
}

// Lets a single server have worlds (isolated test servers). Nodes of a cluster know only each other: they have none.
void ServerProcess::PrepareWorlds() {
  const bool is_alone = !plan_ && !IsSentinel() && !config_.settings().cluster_enabled;
  if (!is_alone || config_.settings().test_commands == Permission::kNever) return;
  hosted_servers_[0].worlds = std::make_unique<NodeWorlds>(
      NodeWorlds::Parts{*this, *hosted_servers_[0].node, *main_loop_, config_, clock_, real_clock_});
}

// Makes restarts possible (TEST CRASH, TEST CLUSTER). A server with a thread of its own cannot restart: it is created
// and destroyed on its thread, while the main thread refers to it.
void ServerProcess::PrepareRestarts() {
  const bool has_threads = plan_ && config_.settings().node_threads;
  if (IsSentinel() || has_threads || config_.settings().test_commands == Permission::kNever) return;
  restarts_ = std::make_unique<NodeRestarts>(*this, hosted_servers_, *main_loop_);
  if (plan_) members_ = std::make_unique<NodeMembers>(*restarts_, hosted_servers_, real_clock_);
}

void ServerProcess::HandleServerRestarted(HostedServer& hosted) {
  if (&hosted == hosted_servers_.data()) PrepareWorlds();
  if (members_ != nullptr) members_->HandleServerRestarted(hosted);
  if (!config_.settings().announce.empty()) RouteToRealAddresses(config_.settings().announce, hosted_servers_);
}

void ServerProcess::HandleRestartFailure(HostedServer& hosted) {
  hosted.node->log().Warning("The server cannot begin again.");
  hosted.is_killed = true;
  hosted.node->Discard();
  if (running_server_count_.fetch_sub(1) != 1) return;
  exit_code_ = 1;
  RemovePidAndPortFiles();
  main_loop_->loop.Stop(exit_code_);
}

int ServerProcess::Run() {
  const int ready_fd = config_.settings().ready_fd;
  const auto objection = ready_fd == 0 ? std::nullopt : ready_fd_.Take(ready_fd);
  OpenLog(log_);
  LogIdentity(config_.settings(), log_);
  for (const ConfigNote& note : config_.TakeNotes()) log_.Log(note.level, note.text);
  if (objection) {
    log_.Warning(*objection);
    return 1;
  }
  if (CheckParentProcess() == Step::kStopped) return 0;
  WarnAboutSystem(config_.settings(), log_);
  GoToBackground();
  LogStarting(line_, config_, log_);
  log_.SetRole(Role());
  log_.Notice("monotonic clock: POSIX clock_gettime");
  if (RaiseLimits() == Step::kFailed) return 1;
  if (PrepareToServe() == Step::kFailed) return CleanUpFailedStart();
  PrepareWorlds();
  PrepareRestarts();
  if (!IsSentinel()) log_.Notice("Server initialized");
  StartServing();
  const int exit_code = has_failed_ ? 1 : main_loop_->loop.Run();
  return has_failed_ ? CleanUpFailedStart() : ExitProcess(exit_code);
}

int ServerProcess::ExitProcess(int exit_code) {
  if (recorder_ != nullptr) recorder_->End();
  if (plan_) plan_->RemoveTemporaryFolder();
  log_.Warning("Redis is now ready to exit, bye bye...");
#ifdef NDEBUG
  _exit(exit_code);
#else
  return exit_code;  // sanitizers and coverage need the destructors
#endif
}

void ServerProcess::OpenLog(Logger& log) {
  const Settings& settings = config_.settings();
  std::string path = settings.logfile.empty() ? std::string() : AbsolutePath(settings.logfile);
  log.SetLevel(settings.loglevel);
  log.SetFormat(settings.log_format, settings.log_timestamp_format);
  SetSignalLog(path);
  log.SetFile(std::move(path));
  if (settings.syslog_enabled) log.EnableSyslog(settings.syslog_ident, settings.syslog_facility);
}

void ServerProcess::GoToBackground() {
  supervisor_.emplace(config_.settings().supervised, log_);
  in_background_ = config_.settings().daemonize && !supervisor_->HasSupervisor();
  if (in_background_) daemon_ = Daemon::Start();
}

ServerProcess::Step ServerProcess::RaiseLimits() {
  OpenFilesGrant grant = RaiseOpenFilesLimit(config_.settings().maxclients, CountNodes());
  if (grant.maxclients == 0) return Fail(grant.notes[0].text);
  const bool reduced = grant.maxclients < std::exchange(config_.MutableSettings().maxclients, grant.maxclients);
  if (reduced) {
    // Logs the notes about a reduced maxclients only after the line that reports readiness. Launchers that read these
    // texts of Redis earlier assume that the start has failed.
    notes_after_ready_ = std::move(grant.notes);
    return Step::kDone;
  }
  for (const ConfigNote& note : grant.notes) log_.Log(note.level, note.text);
  return Step::kDone;
}

// --- The servers

uint32_t ServerProcess::CountNodes() const { return plan_ ? static_cast<uint32_t>(plan_->Count()) : 1; }

ServerProcess::Step ServerProcess::PrepareToServe() {
  BindToProcessors(config_.settings().server_cpulist);  // later threads inherit it
  main_loop_ = std::make_unique<WatchedLoop>(real_clock_);
  StartPurgingLater(main_loop_->loop, config_.settings());
  signals_.emplace();
  WatchSignals();
  if (parent_watch_.pid() != 0) WatchParent();
  seed_ = config_.settings().seed;
  if (!config_.settings().record.empty()) {
    if (!seed_) seed_ = SystemSeed();  // a replay uses it to make equal table orders and random choices
    recorder_ = std::make_unique<Recorder>(Recorder::Parts{.files = files_, .real_clock = real_clock_, .log = log_});
  }
  if (CreateServers() == Step::kFailed || BuildNodes() == Step::kFailed) return Step::kFailed;
  WarnAboutBacklog(config_.settings(), log_);
  if (RefuseModules() == Step::kFailed || CheckLocale() == Step::kFailed) return Step::kFailed;
  if (RunOnEachServer([](NodeServer& node) { return node.Open(); }) == Step::kFailed) return Step::kFailed;
  if (OpenRecording() == Step::kFailed) return Step::kFailed;
  if (plan_ && FormClusterOrSentinelGroup() == Step::kFailed) return Step::kFailed;
  return PublishPortsAndPid();
}

// Opens the recording after the listeners, so that a second server whose port is taken does not overwrite the recording
// of the first.
ServerProcess::Step ServerProcess::OpenRecording() {
  if (recorder_ == nullptr) return Step::kDone;
  const Settings& settings = config_.settings();
  const RecordingStart start = {clock_.WallUs(), seed_, std::string(DialectOf(settings.emulate).name)};
  const auto objection = recorder_->Open(settings.record, start);
  return objection ? Fail(*objection) : Step::kDone;
}

ServerProcess::Step ServerProcess::CreateServers() {
  if (!plan_) {
    AddHostedServer({});
    return Step::kDone;
  }
  auto objection = plan_->Check();
  if (!objection) objection = plan_->MakeFolders();
  if (!objection) objection = CreatePlannedServers();
  return objection ? Fail(*objection) : Step::kDone;
}

std::optional<std::string> ServerProcess::CreatePlannedServers() try {
  for (int i = 0; i < plan_->Count(); ++i) {
    HostedServer hosted;
    hosted.name = plan_->NameOf(i);
    hosted.folder = std::make_unique<OwnFolder>(plan_->FolderOf(i));
    hosted.config = plan_->ConfigOf(i, *hosted.folder);
    hosted.log = std::make_unique<Logger>(clock_);
    OpenLog(*hosted.log);
    hosted.log->SetName(hosted.name);
    hosted.log->SetRole(plan_->IsSentinel(i) ? 'X' : 'M');
    if (config_.settings().node_threads) hosted.thread = std::make_unique<TaskThread>(hosted.name);
    AddHostedServer(std::move(hosted));
  }
  return std::nullopt;
} catch (const std::system_error& no_thread) {
  return StrCat("Cannot start a thread for each node: ", no_thread.code().message());
}

void ServerProcess::AddHostedServer(HostedServer hosted) {
  hosted_servers_.push_back(std::move(hosted));
  hosted_servers_.back().node = MakeServer(hosted_servers_.back());
  ++running_server_count_;
}

std::unique_ptr<NodeServer> ServerProcess::MakeServer(const HostedServer& hosted) {
  const auto number = static_cast<uint64_t>(&hosted - hosted_servers_.data());
  return std::make_unique<NodeServer>(NodeServer::Parts{.owner = *this,
                                                        .config = hosted.config == nullptr ? config_ : *hosted.config,
                                                        .log = hosted.log == nullptr ? log_ : *hosted.log,
                                                        .clock = clock_,
                                                        .real_clock = real_clock_,
                                                        .nodes = CountNodes(),
                                                        .number = number,
                                                        .seed = seed_,
                                                        .recorder = recorder_.get()});
}

ServerProcess::Step ServerProcess::RunOnEachServer(const std::function<Step(NodeServer&)>& work) {
  std::atomic<bool> has_failed = false;
  for (HostedServer& hosted : hosted_servers_) {
    const auto run = [&] {  // several threads may run it, so it only ever sets `has_failed`
      if (!has_failed && work(*hosted.node) == Step::kFailed) has_failed = true;
    };
    if (hosted.thread == nullptr) {
      run();
    } else {
      hosted.thread->Do(run);
    }
    if (has_failed) break;
  }
  for (HostedServer& hosted : hosted_servers_) {
    if (hosted.thread != nullptr) hosted.thread->AwaitTasks();
  }
  return has_failed ? Step::kFailed : Step::kDone;
}

// Creates each loop and its servers on the thread that will run them, because the creating thread counts their memory.
ServerProcess::Step ServerProcess::BuildNodes() {
  return RunOnEachServer([this](NodeServer& node) {
    const auto of_node = [&](const HostedServer& hosted) { return hosted.node.get() == &node; };
    HostedServer& hosted = *std::ranges::find_if(hosted_servers_, of_node);
    if (hosted.thread != nullptr) hosted.loop = std::make_unique<WatchedLoop>(real_clock_);
    return node.Build(hosted.loop == nullptr ? *main_loop_ : *hosted.loop);
  });
}

ServerProcess::Step ServerProcess::RefuseModules() {
  if (config_.lines().loadmodule.empty()) return Step::kDone;
  const std::string& path = config_.lines().loadmodule[0].words[1];
  log_.Warning("Module " + path + " failed to load: this server has no modules");
  return Fail("Can't load module from " + path + ": server aborting");
}

ServerProcess::Step ServerProcess::CheckLocale() {
  const std::string& name = config_.settings().locale_collate;
  if (name.empty() || Collation(name).Exists()) return Step::kDone;
  return Fail("Failed to configure LOCALE for invalid locale name.");
}

ServerProcess::Step ServerProcess::FormClusterOrSentinelGroup() {
  GroupStart start(config_, *plan_, hosted_servers_);
  std::optional<std::string> reason;
  if (plan_->HasSentinels()) {
    reason = start.FormSentinelGroup();
  } else {
    if (RunOnEachServer([](NodeServer& node) { return node.ReserveBusPort(); }) == Step::kFailed) return Step::kFailed;
    reason = start.FormCluster();
  }
  if (!config_.settings().announce.empty()) RouteToRealAddresses(config_.settings().announce, hosted_servers_);
  if (!reason) return Step::kDone;
  return reason->empty() ? Step::kFailed : Fail(*reason);
}

// Writes the pidfile and the port file. Called after the listeners are open, so that a second server whose port is
// taken does not overwrite the files of the first. If the process has several nodes, ContinueAfterConnecting writes the
// port file later, when all of them serve clients.
ServerProcess::Step ServerProcess::PublishPortsAndPid() {
  const Settings& settings = config_.settings();
  for (const HostedServer& hosted : hosted_servers_) {
    StrAppend(ports_, hosted.node->settings().MainPort(), "\n");
  }
  if (in_background_ && settings.pidfile.empty()) config_.MutableSettings().pidfile = kDefaultPidfile;
  if (!settings.pidfile.empty()) {
    WriteObjection objection = pidfile_.WriteInPlace(settings.pidfile, StrCat(getpid(), "\n"));
    if (objection) notes_after_ready_.push_back({LogLevel::kWarning, "Failed to write PID file: " + *objection});
  }
  if (!plan_ && WritePortFile() == Step::kFailed) return Step::kFailed;
  UpdateTitle(hosted_servers_[0].node->settings());
  return Step::kDone;
}

ServerProcess::Step ServerProcess::WritePortFile() {
  const std::string& path = config_.settings().port_file;
  if (path.empty()) return Step::kDone;
  const auto objection = port_file_.WriteAtomically(path, ports_);
  return objection ? Fail("Failed to write the port file " + path + ": " + *objection) : Step::kDone;
}

// --- Loading and serving

void ServerProcess::StartServing() {
  awaited_server_count_ = static_cast<int>(hosted_servers_.size());
  for (HostedServer& hosted : hosted_servers_) {
    NodeServer& node = *hosted.node;
    if (hosted.thread == nullptr) {
      if (!has_failed_) HandleLoadOutcome(node, node.Load());
      continue;
    }
    hosted.thread->Do([this, &node] {
      const Step outcome = node.Load();
      RunOnMainThread([this, &node, outcome] { HandleLoadOutcome(node, outcome); });
      if (outcome != Step::kDone) return;
      node.loop().Run();
      if (running_server_count_ != 0) node.Discard();  // otherwise the process ends now
    });
  }
}

void ServerProcess::HandleLoadOutcome(const NodeServer& node, Step outcome) {
  if (outcome == Step::kFailed) {
    has_failed_ = true;
    main_loop_->loop.Stop(1);
    return;
  }
  if (outcome == Step::kStopped && !node.HasStopped()) main_loop_->loop.Stop(0);
  if (--awaited_server_count_ == 0 && running_server_count_ != 0)
    plan_ ? ConnectServers(ServerMode::kStandalone) : ReportReadiness();
}

void ServerProcess::ConnectServers(ServerMode mode) {
  const auto settles = [&](const HostedServer& hosted) { return hosted.node->config().mode() == mode; };
  const int64_t deadline_ms = real_clock_.NowMs() + kSettleMs;
  awaited_server_count_ = static_cast<int>(std::ranges::count_if(hosted_servers_, settles));
  for (HostedServer& hosted : hosted_servers_) {
    if (!settles(hosted)) continue;
    NodeServer& node = *hosted.node;
    node.loop().PostFromAnyThread([this, &node, deadline_ms] {
      node.ConnectToPeers();
      AwaitConnected(node, deadline_ms);
    });
  }
}

void ServerProcess::AwaitConnected(NodeServer& node, int64_t deadline_ms) {
  if (!node.IsConnectedOrStopped() && real_clock_.NowMs() < deadline_ms) {
    return node.loop().RunAfter(kLookEveryMs, [this, &node, deadline_ms] { AwaitConnected(node, deadline_ms); });
  }
  RunOnMainThread([this, mode = node.config().mode()] {
    if (--awaited_server_count_ == 0) ContinueAfterConnecting(mode);
  });
}

// Connects the Sentinels last, because they keep the first INFO of a server for seconds. Then the start is complete.
void ServerProcess::ContinueAfterConnecting(ServerMode mode) {
  if (mode == ServerMode::kStandalone && plan_->HasSentinels()) return ConnectServers(ServerMode::kSentinel);
  if (WritePortFile() == Step::kDone) return ReportReadiness();
  has_failed_ = true;
  main_loop_->loop.Stop(1);
}

void ServerProcess::ReportReadiness() {
  const Settings& settings = config_.settings();
  for (const std::string& warning : UnsupportedSettingWarnings(config_)) log_.Warning(warning);
  log_.SetRole(Role());
  for (const HostedServer& hosted : hosted_servers_) {
    RunOnThreadOf(hosted, [&node = *hosted.node] { node.LogReady(); });
  }
  supervisor_->ReportReady();
  WritePortsToReadyFd();
  for (const ConfigNote& note : std::exchange(notes_after_ready_, {})) log_.Log(note.level, note.text);
  if (settings.maxmemory > 0 && settings.maxmemory < kSuspiciousMaxMemory) {
    log_.Warning(StrCat("WARNING: You specified a maxmemory value that is less than 1MB (current value is ",
                        settings.maxmemory, " bytes). Are you sure this is what you really want?"));
  }
  ApplyOomScore(settings);
  daemon_.Release();
}

void ServerProcess::WritePortsToReadyFd() {
  const ReadyFd::Outcome outcome = ready_fd_.Tell(ports_);
  if (outcome == ReadyFd::Outcome::kDone) return;
  log_.Warning(StrCat("Failed to write the ports to ready-fd ", config_.settings().ready_fd));
  // The pipe had a reader when the server started. So a pipe without a reader shows that the launcher has ended before
  // the server began to watch the launcher.
  if (outcome == ReadyFd::Outcome::kNobodyReads && config_.settings().exit_with_parent) ShutDownAfterParent();
}

void ServerProcess::RunOnThreadOf(const HostedServer& hosted, std::function<void()> task) {
  if (hosted.thread == nullptr) return task();
  hosted.node->loop().InterruptFromAnyThread(std::move(task));  // a slow script must not delay a shutdown
}

void ServerProcess::RunOnMainThread(std::function<void()> task) {
  if (!config_.settings().node_threads || !plan_) return task();
  main_loop_->loop.PostFromAnyThread(std::move(task));
}

// --- The end

void ServerProcess::WatchSignals() {
  main_loop_->loop.CallWhenReadable(signals_->PollDescriptor(), [this] {
    WatchSignals();
    End(signals_->Take());
  });
}

void ServerProcess::End(int signal) {
  is_ending_ = true;
  shutdown_signal_ = signal;
  for (HostedServer& hosted : hosted_servers_) {
    if (hosted.Lives() && !hosted.node->IsReplica()) ShutDownServer(hosted);
  }
  ShutDownReplicasAfterPrimaries();
}

ServerProcess::Step ServerProcess::CheckParentProcess() {
  if (!config_.settings().exit_with_parent) return Step::kDone;
  switch (parent_watch_.Find()) {
    case ParentWatch::Finding::kThere:
      break;
    case ParentWatch::Finding::kOutside:
      log_.Notice("exit-with-parent: the parent is outside of this container, so there is nobody to watch");
      break;
    case ParentWatch::Finding::kGone:
      log_.Notice("exit-with-parent: the process that started this server has ended already");
      return Step::kStopped;
  }
  return Step::kDone;
}

void ServerProcess::WatchParent() {
  const auto look = [this] { return parent_watch_.HasEnded() ? ShutDownAfterParent() : WatchParent(); };
  if (parent_watch_.PollDescriptor() < 0) return main_loop_->loop.RunAfter(kAskParentEveryMs, look);
  main_loop_->loop.CallWhenReadable(parent_watch_.PollDescriptor(), look);
}

void ServerProcess::ShutDownAfterParent() {
  log_.Notice("exit-with-parent: the process that started this server has ended. Shutting down.");
  has_lost_parent_ = true;
  End(SIGTERM);
}

void ServerProcess::HandleIdleServer() {
  const int64_t limit_ms = config_.settings().exit_on_idle;
  const auto is_used = [&](const HostedServer& hosted) { return hosted.Lives() && hosted.node->IdleMs() < limit_ms; };
  if (!is_ending_ && std::ranges::none_of(hosted_servers_, is_used)) RunOnMainThread([this] { ShutDownIdleProcess(); });
}

void ServerProcess::ShutDownIdleProcess() {
  if (is_ending_ || real_clock_.NowMs() < next_idle_shutdown_ms_) return;
  next_idle_shutdown_ms_ = real_clock_.NowMs() + kEndAgainMs;
  log_.Notice("exit-on-idle: no client for " + DurationText(config_.settings().exit_on_idle) + ". Shutting down.");
  End(SIGTERM);
}

void ServerProcess::ShutDownServer(HostedServer& hosted) {
  hosted.is_shutdown_requested = true;
  RunOnThreadOf(hosted, [&node = *hosted.node, signal = shutdown_signal_] { node.HandleSignal(signal); });
}

// Shuts down replicas after the primaries have stopped, because a primary first sends everything to its replicas.
void ServerProcess::ShutDownReplicasAfterPrimaries() {
  const auto is_awaited = [](const HostedServer& hosted) { return hosted.is_shutdown_requested && hosted.Lives(); };
  if (shutdown_signal_ == 0 || std::ranges::any_of(hosted_servers_, is_awaited)) return;
  for (HostedServer& hosted : hosted_servers_) {
    if (hosted.Lives()) ShutDownServer(hosted);
  }
}

void ServerProcess::OnShutdownCancelled() {
  is_ending_ = false;
  signals_->ForgetSignal();
  RunOnMainThread([this] {
    shutdown_signal_ = 0;
    for (HostedServer& hosted : hosted_servers_) hosted.is_shutdown_requested = false;
    if (has_lost_parent_) main_loop_->loop.RunAfter(kEndAgainMs, [this] { End(SIGTERM); });
  });
}

// Reports the status to the supervisor if the whole process is ending, but nothing if only one of several servers is.
void ServerProcess::OnShutdownStatus(const std::string& status) {
  if (is_ending_ || running_server_count_ == 1) supervisor_->ReportStopping(status);
}

// Does nothing for a server that a TEST command has killed. Otherwise ends the loop of the server, or, for a server on
// the main loop, discards the server in a later turn. After the last server, ends the main loop.
void ServerProcess::HandleServerStopped(NodeServer& node) {
  const auto is_its = [&](const HostedServer& hosted) { return hosted.node.get() == &node && hosted.is_killed; };
  if (std::ranges::any_of(hosted_servers_, is_its)) return;
  if (node.exit_code() != 0) exit_code_ = node.exit_code();
  const bool is_last = running_server_count_.fetch_sub(1) == 1;
  if (is_last) RemovePidAndPortFiles();
  if (!is_last && !is_ending_) node.log().Notice("This node has stopped. The process goes on with the others.");
  if (!is_last && is_ending_) main_loop_->loop.PostFromAnyThread([this] { ShutDownReplicasAfterPrimaries(); });
  if (&node.loop() != &main_loop_->loop) {
    node.loop().Stop(node.exit_code());
    if (is_last) main_loop_->loop.PostFromAnyThread([this] { main_loop_->loop.Stop(exit_code_); });
  } else if (is_last) {
    main_loop_->loop.Stop(exit_code_);
  } else {
    main_loop_->loop.Post(nullptr, [&node] { node.Discard(); });
  }
}

void ServerProcess::RemovePidAndPortFiles() {
  if (pidfile_.Exists()) log_.Notice("Removing the pid file.");
  pidfile_.Remove();
  port_file_.Remove();
}

// After a failed start: stops loops, closes listeners, removes pidfile, port file and new folders. Returns exit code 1.
int ServerProcess::CleanUpFailedStart() {
  for (HostedServer& hosted : hosted_servers_) {
    NodeServer& node = *hosted.node;
    if (hosted.thread != nullptr && hosted.loop != nullptr) {
      node.loop().PostFromAnyThread([&node] { node.loop().Stop(1); });
      hosted.thread->AwaitTasks();
    }
    node.CloseListeners();
  }
  RemovePidAndPortFiles();
  if (plan_) plan_->RemoveFolders();
  return 1;
}

// --- Shared by the servers

// Called in a new child process: sets its oom-score-adj, title and processors. No other thread exists in the child.
void ServerProcess::PrepareChild(const NodeServer& node, ChildWork work) {
  const Settings& settings = node.settings();
  const bool snapshot = work != ChildWork::kRewrite && work != ChildWork::kBackup;
  oom_score_.Apply(settings, OomScore::Process::kChild);
  if (settings.set_proc_title) {
    title_.Set(ProcessTitleText(node.config(), snapshot ? "redis-rdb-bgsave" : "redis-aof-rewrite"));
  }
  BindToProcessors(snapshot ? settings.bgsave_cpulist : settings.aof_rewrite_cpulist);
}

char ServerProcess::Role() const {
  if (IsSentinel()) return 'X';
  if (hosted_servers_.empty()) return 'M';
  const bool is_replica =
      std::ranges::all_of(hosted_servers_, [](const HostedServer& hosted) { return hosted.node->IsReplica(); });
  return is_replica ? 'S' : 'M';
}

void ServerProcess::HandleRoleChange(NodeServer& node) {
  log_.SetRole(Role());
  ApplyOomScore(node.settings());
}

OomScore::Outcome ServerProcess::ApplyOomScore(const Settings& settings) {
  const std::lock_guard lock(mutex_);
  return oom_score_.Apply(settings, Role() == 'S' ? OomScore::Process::kReplica : OomScore::Process::kPrimary);
}

std::optional<std::string> ServerProcess::HandleOomScoreChange(NodeServer& node) {
  if (ApplyOomScore(node.settings()) == OomScore::Outcome::kDone) return std::nullopt;
  return "Failed to set current oom_score_adj. Check server logs.";
}

// Updates the process title if `node` is the first server, whose settings the title shows.
void ServerProcess::HandleTitleChange(const NodeServer& node) {
  if (&node == hosted_servers_[0].node.get()) UpdateTitle(node.settings());
}

void ServerProcess::UpdateTitle(const Settings& shown) {
  const std::lock_guard lock(mutex_);
  Settings& settings = config_.MutableSettings();
  if (&shown != &settings) {
    settings.bound_port = shown.bound_port;
    settings.tls_port = shown.tls_port;
    settings.bind = shown.bind;
    settings.proc_title_template = shown.proc_title_template;
  }
  if (settings.set_proc_title) title_.Set(ProcessTitleText(config_, line_.program));
}

ServerProcess::Step ServerProcess::Fail(const std::string& reason) {
  log_.Warning(reason);
  return Step::kFailed;
}

}  // namespace respite
