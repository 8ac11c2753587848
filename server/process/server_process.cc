#include "server/process/server_process.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/number_text.h"
#include "server/clients/acl/permissions.h"
#include "server/commands/collation.h"
#include "server/config/value_text.h"
#include "server/process/banner.h"
#include "server/process/cpu_list.h"
#include "server/process/crash_report.h"
#include "server/process/signal_log.h"
#include "server/process/system_checks.h"
#include "server/storage/data_set.h"

namespace respite {

namespace {

constexpr char kDefaultPidfile[] = "/var/run/redis.pid";  // for daemons without a `pidfile`
constexpr uint64_t kSuspiciousMaxMemory = uint64_t{1} << 20;

}  // namespace

ServerProcess::ServerProcess(Config& config, const CommandLine& line, ProcessTitle& title)
    : config_(config),
      line_(line),
      title_(title),
      log_(clock_),
      oom_score_(log_),
      children_(pace_, log_, [this](ChildWork work) { PrepareChild(work); }) {}

ServerProcess::~ServerProcess() { RemoveCrashReport(); }

int ServerProcess::Run() {
  const Settings& settings = config_.settings();
  OpenLog();
  for (const ConfigNote& note : config_.TakeNotes()) log_.Log(note.level, note.text);
  WarnAboutSystem(settings, log_);
  GoToBackground();
  LogStarting(line_, log_);
  log_.SetRole('M');
  log_.Notice("monotonic clock: POSIX clock_gettime");
  if (RaiseLimits() == Step::kFailed) return 1;
  Build();
  const bool chooses_port = settings.port == kAutoPort;  // then the port is known only after Listen
  if (chooses_port && Listen() == Step::kFailed) return 1;
  LogMode(settings, log_);
  WarnAboutBacklog(settings, log_);
  if (RefuseModules() == Step::kFailed || CheckLocale() == Step::kFailed) return 1;
  if (auto reason = server_->permissions().LoadConfiguredUsers()) {
    Fail(*reason);
    return 1;
  }
  if (!chooses_port && Listen() == Step::kFailed) return 1;
  if (Announce() == Step::kFailed) return 1;
  log_.Notice("Server initialized");
  const Step loaded = LoadData();
  if (loaded == Step::kFailed) return Abandon();
  int exit_code = 0;
  if (loaded == Step::kDone) {
    LogReady();
    daemon_.Release();
    host_->Start();
    exit_code = loop_->Run();
  }
  log_.Warning("Redis is now ready to exit, bye bye...");
#ifdef NDEBUG
  _exit(exit_code);
#else
  return exit_code;  // sanitizers and coverage need the destructors
#endif
}

void ServerProcess::OpenLog() {
  const Settings& settings = config_.settings();
  std::string path = settings.logfile.empty() ? std::string() : AbsolutePath(settings.logfile);
  log_.SetLevel(settings.loglevel);
  SetSignalLog(path);
  log_.SetFile(std::move(path));
  if (settings.syslog_enabled) log_.EnableSyslog(settings.syslog_ident, settings.syslog_facility);
}

void ServerProcess::GoToBackground() {
  supervisor_.emplace(config_.settings().supervised, log_);
  in_background_ = config_.settings().daemonize && !supervisor_->Active();
  if (in_background_) daemon_ = Daemon::Start();
}

ServerProcess::Step ServerProcess::RaiseLimits() {
  OpenFilesGrant grant = RaiseOpenFiles(config_.settings().maxclients);
  if (grant.maxclients == 0) return Fail(grant.notes[0].text);
  const bool reduced = grant.maxclients < config_.settings().maxclients;
  config_.Adjust().maxclients = grant.maxclients;
  if (reduced) {
    // Logged after readiness, since launchers take Redis' words for a failed start.
    notes_after_ready_ = std::move(grant.notes);
    return Step::kDone;
  }
  for (const ConfigNote& note : grant.notes) log_.Log(note.level, note.text);
  return Step::kDone;
}

void ServerProcess::Build() {
  BindToProcessors(config_.settings().server_cpulist);  // later threads inherit it
  server_ = std::make_unique<Node>(
      Node::Parts{config_, clock_, pace_, log_, HashKey::FromKernel(), SystemSeed(), files_, children_});
  for (const ConfigLine& line : config_.lines().rename_command) {
    server_->commands().Rename(line.words[1], line.words[2]);  // CheckRenames has tried it
  }
  loop_ = std::make_unique<EventLoop>(pace_);
  host_ = std::make_unique<NodeHost>(*loop_, server_->host_parts());
  listener_ = std::make_unique<Listener>(*host_);
  if (config_.settings().crash_log_enabled) InstallCrashReport(server_->services());
  files_.OnThreadStart([this] { BindToProcessors(config_.settings().bio_cpulist); });
  server_->reclaimer().OnThreadStart([this] { BindToProcessors(config_.settings().bio_cpulist); });
  signals_.emplace();
  StartWatchdog();
  host_->OnTick([this] {
    watchdog_.Feed();
    state_log_.Tick({.clock = clock_,
                     .log = log_,
                     .keyspace = server_->keyspace(),
                     .clients = server_->clients(),
                     .memory = server_->memory(),
                     .phase = server_->phase()});
  });
  loop_->OnStop([this] { Withdraw(); });
  server_->shutdown().OnCancelled([this] { signals_->Forget(); });
  server_->shutdown().OnStatus([this](const std::string& status) { supervisor_->Stopping(status); });
  WatchSignals();
}

// Redis: extends a period shorter than two ticks of the timer.
void ServerProcess::StartWatchdog() {
  int& period_ms = config_.Adjust().watchdog_period;
  if (period_ms > 0) period_ms = std::max(period_ms, 2 * (1000 / server_->pulse().Hz()));
  watchdog_.SetPeriod(std::chrono::milliseconds(period_ms));
}

void ServerProcess::WatchSignals() {
  loop_->OnReadable(signals_->DescriptorToWatch(), [this] {
    WatchSignals();
    host_->Enter();
    server_->shutdown().Signalled(signals_->Take());
  });
}

// Runs in the child.
void ServerProcess::PrepareChild(ChildWork work) {
  const Settings& settings = config_.settings();
  const bool snapshot = work != ChildWork::kRewrite;
  oom_score_.Apply(settings, OomScore::Process::kChild);
  if (settings.set_proc_title) {
    title_.Set(ProcessTitleText(config_, snapshot ? "redis-rdb-bgsave" : "redis-aof-rewrite"));
  }
  BindToProcessors(snapshot ? settings.bgsave_cpulist : settings.aof_rewrite_cpulist);
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

ServerProcess::Step ServerProcess::Listen() {
  if (Tls::IsWanted(config_.settings())) {
    if (auto reason = server_->tls().Configure(config_.settings())) {
      log_.Warning(*reason);
      return Fail("Failed to configure TLS. Check logs for more info.");
    }
  }
  if (auto reason = listener_->Open()) return Fail(*reason);
  if (!listener_->HasTcp() && !listener_->HasTls() && !listener_->HasUnix())
    return Fail("Configured to not listen anywhere, exiting.");
  return Step::kDone;
}

// Writes the files after opening the listeners, so that a second server that finds the port taken does not overwrite
// the files of the first.
ServerProcess::Step ServerProcess::Announce() {
  const Settings& settings = config_.settings();
  if (in_background_ && settings.pidfile.empty()) config_.Adjust().pidfile = kDefaultPidfile;
  if (!settings.pidfile.empty()) {
    WriteObjection objection = pidfile_.WriteInPlace(settings.pidfile, std::to_string(getpid()) + "\n");
    if (objection) notes_after_ready_.push_back({LogLevel::kWarning, "Failed to write PID file: " + *objection});
  }
  if (!settings.port_file.empty()) {
    std::string port = std::to_string(settings.MainPort()) + "\n";
    if (auto objection = port_file_.WriteAtOnce(settings.port_file, port)) {
      pidfile_.Remove();
      return Fail("Failed to write the port file " + settings.port_file + ": " + *objection);
    }
  }
  UpdateTitle();
  WatchSettings();
  return Step::kDone;
}

ServerProcess::Step ServerProcess::LoadData() {
  if (auto reason = server_->cluster().Open()) return Fail(*reason);
  if (auto reason = server_->snapshots().Claim()) return Fail(*reason);
  switch (OpenDataSet(server_->services())) {
    case LoadOutcome::kAbsent:
    case LoadOutcome::kLoaded:
      server_->replication().Start();
      if (auto reason = server_->cluster().Start()) return Fail(*reason);
      return Step::kDone;
    case LoadOutcome::kStopped:
      return Step::kStopped;
    case LoadOutcome::kFailed:
      return Step::kFailed;
  }
  return Step::kFailed;
}

// Reverts Announce.
int ServerProcess::Abandon() {
  pidfile_.Remove();
  port_file_.Remove();
  listener_->Close();
  return 1;
}

void ServerProcess::LogReady() {
  const Settings& settings = config_.settings();
  for (const std::string& warning : UnsupportedSettings(config_)) log_.Warning(warning);
  if (listener_->HasTcp()) log_.Notice("Ready to accept connections tcp");
  if (listener_->HasUnix()) log_.Notice("Ready to accept connections unix");
  if (listener_->HasTls()) log_.Notice("Ready to accept connections tls");
  if (listener_->HasTcp() || listener_->HasTls()) {  // Redis' words before 5.0, for which some launchers wait
    log_.Notice("The server is now ready to accept connections on port " + std::to_string(settings.MainPort()));
  }
  supervisor_->Ready();
  for (const ConfigNote& note : std::exchange(notes_after_ready_, {})) log_.Log(note.level, note.text);
  if (settings.maxmemory > 0 && settings.maxmemory < kSuspiciousMaxMemory) {
    log_.Warning("WARNING: You specified a maxmemory value that is less than 1MB (current value is " +
                 std::to_string(settings.maxmemory) + " bytes). Are you sure this is what you really want?");
  }
  ApplyOomScore();
  server_->replication().OnRole([this] { ApplyOomScore(); });
}

OomScore::Outcome ServerProcess::ApplyOomScore() {
  const bool is_replica = server_->replication().role().is_replica;
  return oom_score_.Apply(config_.settings(), is_replica ? OomScore::Process::kReplica : OomScore::Process::kPrimary);
}

void ServerProcess::UpdateTitle() {
  if (config_.settings().set_proc_title) title_.Set(ProcessTitleText(config_, line_.program));
}

std::optional<std::string> ServerProcess::Reopen(Listener::Protocol protocol) {
  if (listener_->Reopen(protocol)) return "Unable to listen on this port. Check server logs.";
  UpdateTitle();
  return std::nullopt;
}

std::optional<std::string> ServerProcess::ReopenTls() {
  if (!Tls::IsWanted(config_.settings())) server_->tls().Drop();
  if (Tls::IsWanted(config_.settings()) && !server_->tls().Configured()) {
    if (auto reason = server_->tls().Configure(config_.settings())) {
      log_.Warning(*reason);
      return "Unable to update TLS configuration. Check server logs.";
    }
  }
  return Reopen(Listener::Protocol::kTls);
}

void ServerProcess::WatchSettings() {
  WatchMaxClients(config_, log_);
  config_.OnChange({"port"}, [this] { return Reopen(Listener::Protocol::kTcp); });
  config_.OnChange({"tls-port"}, [this] { return ReopenTls(); });
  config_.OnChange({"bind"}, [this]() -> std::optional<std::string> {
    if (!Reopen(Listener::Protocol::kTcp) && !Reopen(Listener::Protocol::kTls)) return std::nullopt;
    return "Failed to bind to specified addresses.";
  });
  config_.OnChange({"proc-title-template"}, [this]() -> std::optional<std::string> {
    UpdateTitle();
    return std::nullopt;
  });
  config_.OnChange({"oom-score-adj", "oom-score-adj-values"}, [this]() -> std::optional<std::string> {
    if (ApplyOomScore() == OomScore::Outcome::kDone) return std::nullopt;
    return "Failed to set current oom_score_adj. Check server logs.";
  });
  config_.OnChange({"watchdog-period"}, [this]() -> std::optional<std::string> {
    StartWatchdog();
    return std::nullopt;
  });
  config_.OnChange({"crash-log-enabled"}, [this]() -> std::optional<std::string> {
    if (config_.settings().crash_log_enabled) {
      InstallCrashReport(server_->services());
    } else {
      RemoveCrashReport();
    }
    return std::nullopt;
  });
}

// Closes the listeners first: a client whose connection closes now cannot reconnect to this server.
void ServerProcess::Withdraw() {
  server_->cluster().Close();
  if (pidfile_.Exists()) log_.Notice("Removing the pid file.");
  pidfile_.Remove();
  port_file_.Remove();
  if (listener_->HasUnix()) log_.Notice("Removing the unix socket file.");
  listener_->Close();
}

ServerProcess::Step ServerProcess::Fail(const std::string& reason) {
  log_.Warning(reason);
  return Step::kFailed;
}

}  // namespace respite
