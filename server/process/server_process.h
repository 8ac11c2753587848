// ServerProcess: one run of the program, from its loaded configuration to its exit code. It owns the files, limits,
// signals and title of the process, the loop of the main thread, and the servers of the process.
//
// It starts in this order: checks of the system, background, first log lines, limits, servers, listeners, pidfile and
// port file, loading of data, readiness. It ends when its last server has stopped. It does not free memory at exit.
//
// Without the directives `nodes` and `sentinels` there is one server, with the settings and the directory of the
// process. With them there are several (NodePlan), all on the loop of the main thread. With `node-threads yes` each
// server has its own loop and thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "server/config/config.h"
#include "server/config/folder.h"
#include "server/lab/recording/recorder.h"
#include "server/process/daemon.h"
#include "server/process/group/hosted_server.h"
#include "server/process/group/node_members.h"
#include "server/process/group/node_plan.h"
#include "server/process/group/node_restarts.h"
#include "server/process/limits.h"
#include "server/process/node_server.h"
#include "server/process/parent_watch.h"
#include "server/process/process_title.h"
#include "server/process/ready_fd.h"
#include "server/process/signals.h"
#include "server/process/small_files.h"
#include "server/process/supervisor.h"

namespace respite {

class ServerProcess final : public NodeServer::Owner, public NodeRestarts::Owner {
 public:
  // All must outlive this object.
  ServerProcess(Config& config, const CommandLine& line, ProcessTitle& title);
  ~ServerProcess() override;

  // Returns the exit code when the server has stopped or could not start. Release builds exit instead of returning,
  // because freeing a large keyspace takes long.
  int Run();

  // NodeServer::Owner
  void PrepareChild(const NodeServer& node, ChildWork work) override;  // title, processors and OOM score
  void HandleServerStopped(NodeServer& node) override;
  void OnShutdownCancelled() override;
  void OnShutdownStatus(const std::string& status) override;
  void HandleRoleChange(NodeServer& node) override;
  void HandleTitleChange(const NodeServer& node) override;
  std::optional<std::string> HandleOomScoreChange(NodeServer& node) override;
  void HandleIdleServer() override;  // ends the process, if all servers are idle

  // NodeRestarts::Owner
  std::unique_ptr<NodeServer> MakeServer(const HostedServer& hosted) override;
  void HandleServerKilled(HostedServer&) override { --living_; }      // it no longer counts as running
  void HandleServerRestarting(HostedServer&) override { ++living_; }  // it counts as running again
  void HandleServerRestarted(HostedServer& hosted) override;          // the server has restarted
  void HandleRestartFailure(HostedServer& hosted) override;           // the server cannot restart

 private:
  using Step = NodeServer::Step;

  void OpenLog(Logger& log);    // as the directives say
  void GoToBackground();        // `daemonize`, unless there is a supervisor
  Step RaiseLimits();           // number of open files
  Step Prepare();               // everything before serving
  uint32_t CountNodes() const;  // number of servers of the process
  void PrepareWorlds();         // lets a single server have worlds, if TEST is allowed
  void PrepareRestarts();       // lets all servers restart, if TEST is allowed
  Step OpenRecording();         // the file of the directive `record`
  Step CreateServers();         // all servers of the process
  void CreatePlannedServers();  // the servers of plan_
  void AddHostedServer(HostedServer hosted);
  // Runs the work for each server on its thread, and waits for it. Returns kFailed if it failed for a server.
  Step RunOnEachServer(const std::function<Step(NodeServer&)>& work);
  Step Build();                       // the Node of each server
  Step RefuseModules();               // fails if there is a `loadmodule` line
  Step CheckLocale();                 // whether `locale-collate` exists
  Step FormClusterOrSentinelGroup();  // tells the nodes their roles
  Step PublishPortsAndPid();          // pidfile, port file and title
  Step WritePortFile();               // `port-file`: one port per line
  void StartServing();                // makes all servers load; those with their own thread then serve
  void HandleServerLoaded(const NodeServer& node, Step outcome);  // after the last: ConnectServers or ReportReadiness
  // Waits until the servers of this mode are connected to each other. Called after all servers have loaded their data.
  void ConnectServers(ServerMode mode);
  void HandleServersConnected(ServerMode mode);                // continues with the Sentinels, or ReportReadiness
  void AwaitConnected(NodeServer& node, int64_t deadline_ms);  // polls; then HandleServersConnected
  void ReportReadiness();                                      // logs, and tells launcher and supervisor
  void WritePortsToReadyFd();                                  // writes the ports to the launcher
  // Runs `task` on the thread of the server: directly if that is the main thread. Requires: the server's loop runs.
  static void RunOnThreadOf(const HostedServer& hosted, std::function<void()> task);
  // Runs `task` on the main thread: directly if no server has its own thread.
  void Tell(std::function<void()> task);
  void WatchSignals();  // SIGTERM and SIGINT
  // Stops all servers as if this signal had arrived.
  void End(int signal);
  Step CheckParentProcess();                                  // kStopped: the parent has already ended
  void WatchParent();                                         // for `exit-with-parent`
  void ShutDownAfterParent();                                 // shuts down, since the parent has ended
  void ShutDownIdleProcess();                                 // shuts down, for `exit-on-idle`
  void SignalServer(HostedServer& hosted);                    // makes this server shut down
  void SignalRemainingServers();                              // after the signalled ones have stopped
  void UpdateTitle(const Settings& shown);                    // of the process, from these settings
  OomScore::Outcome ApplyOomScore(const Settings& settings);  // for the current role
  bool IsSentinel() const { return config_.mode() == ServerMode::kSentinel; }
  char Role() const;
  void RemovePidAndPortFiles();    // pidfile and port file
  int CleanUpFailedStart();        // cleans up after a failed start; returns 1
  int ExitProcess(int exit_code);  // logs the end; exits in release builds
  Step Fail(const std::string& reason);

  Config& config_;  // configuration of the process; nodes derive their configuration from it
  const CommandLine& line_;
  ProcessTitle& title_;
  SystemClock clock_;
  SystemPace pace_;
  Logger log_;
  std::mutex mutex_;  // protects title_, oom_score_ and the settings that they use
  OomScore oom_score_;
  Daemon daemon_;
  std::optional<Supervisor> supervisor_;  // systemd or upstart
  bool in_background_ = false;
  ReadyFd ready_fd_;
  ParentWatch parent_;                         // for `exit-with-parent`
  std::vector<ConfigNote> notes_after_ready_;  // messages to log after readiness
  PidOrPortFile pidfile_;
  PidOrPortFile port_file_;
  SystemFiles files_;
  std::optional<uint64_t> seed_;        // of random choices
  std::unique_ptr<Recorder> recorder_;  // null: connections are not recorded
  std::string ports_;                   // one per line, for the port file
  std::optional<ShutdownSignals> signals_;
  std::optional<NodePlan> plan_;  // nullopt: one server
  std::unique_ptr<WatchedLoop> main_;
  std::vector<HostedServer> hosted_;        // all servers of the process
  std::unique_ptr<NodeRestarts> restarts_;  // null: servers cannot restart
  std::unique_ptr<NodeMembers> members_;    // null: there is one server, or each has its own thread
  std::atomic<int> living_ = 0;             // servers that have not stopped
  std::atomic<int> exit_code_ = 0;          // of the process
  std::atomic<bool> is_ending_ = false;     // by a signal, or by an event that is handled like one
  bool has_lost_parent_ = false;            // the parent has ended
  int64_t next_idle_end_ms_ = 0;            // Pace time of the next ShutDownIdleProcess, at the earliest
  int signal_ = 0;                          // of the current shutdown; 0: no shutdown
  int awaited_ = 0;                         // servers that have not loaded or connected yet
  bool has_failed_ = false;                 // a server could not load
};

}  // namespace respite
