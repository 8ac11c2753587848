// ServerProcess: one run of the program, from its loaded configuration to its exit code. It owns the files, limits,
// signals and title of the process, the loop of the main thread, and the servers of the process.
//
// A process starts in this order: checks of the system, change to the background, first log lines, limits, servers,
// listeners, pidfile and port file, loading of data, readiness. (With several servers the port file is written after
// the loading.) The process ends when its last server has stopped. Release builds then free no memory.
//
// Without the directives `nodes` and `sentinels` there is one server, with the settings and the directory of the
// process. With these directives there are several servers (NodePlan), all on the loop of the main thread. With
// `node-threads yes` each server has its own loop and thread.
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

class ServerProcess final : public NodeServer::Owner, public NodeRestarts::Owner {  // one run of the program
 public:
  // All arguments must outlive this object.
  ServerProcess(Config& config, const CommandLine& line, ProcessTitle& title);
  ~ServerProcess() override;

  // Returns the exit code when the last server has stopped or the start has failed. After a successful start, release
  // builds exit instead of returning, because freeing a large keyspace takes long.
  int Run();  // runs the servers until they end; returns the exit code

  // The functions of NodeServer::Owner.
  void PrepareChild(const NodeServer& node, ChildWork work) override;  // sets title, processors and OOM score
  void HandleServerStopped(NodeServer& node) override;  // discards the server; after the last, ends the process
  void OnShutdownCancelled() override;  // a server has cancelled its shutdown: shuts down no more servers
  void OnShutdownStatus(const std::string& status) override;  // reports `status` to systemd, if the process ends
  void HandleRoleChange(NodeServer& node) override;           // shows the role in the log and in oom_score_adj
  void HandleTitleChange(const NodeServer& node) override;    // updates the process title if this is the first server
  std::optional<std::string> HandleOomScoreChange(NodeServer& node) override;  // sets oom_score_adj; returns the error
  void HandleIdleServer() override;  // shuts the process down, if all servers are idle

  // The functions of NodeRestarts::Owner.
  std::unique_ptr<NodeServer> MakeServer(const HostedServer& hosted) override;  // makes a server, without Build
  void HandleServerKilled(HostedServer&) override {  // counts the killed server as no longer running
    --running_server_count_;
  }
  void HandleServerReviving(HostedServer&) override { ++running_server_count_; }  // the server counts as running
  void HandleServerRestarted(HostedServer& hosted) override;  // restores the server's links and TEST WORLD
  void HandleRestartFailure(HostedServer& hosted) override;  // frees the server; if that was the last, ends the process

 private:
  using Step = NodeServer::Step;

  void OpenLog(Logger& log);    // opens the log as the directives say
  void GoToBackground();        // sets supervisor_; daemonizes for `daemonize`, unless supervised
  Step RaiseLimits();           // raises the limit of open files, or lowers maxclients
  Step PrepareToServe();        // creates the servers, opens their ports, writes pidfile and title
  uint32_t CountNodes() const;  // number of servers of the process
  void PrepareWorlds();         // lets a single server have isolated test servers, if TEST is allowed
  void PrepareRestarts();       // enables TEST CRASH, if allowed; not in a Sentinel or with node-threads
  Step OpenRecording();         // opens the file of the directive `record`
  Step CreateServers();         // creates all servers of the process
  // Returns an error message if it cannot start a thread.
  std::optional<std::string> CreatePlannedServers();  // creates the servers of plan_; nullopt: success
  void AddHostedServer(HostedServer hosted);          // adds a server to hosted_servers_
  // Runs the work for each server on the thread of that server, and waits until the work is done for all. Returns
  // kFailed if it failed for one of them; then some servers may have been skipped.
  Step RunOnEachServer(const std::function<Step(NodeServer&)>& work);  // runs `work` for each server, and waits
  Step BuildNodes();                                                   // creates the Node of each server
  Step RefuseModules();                                                // fails if there is a `loadmodule` line
  Step CheckLocale();                 // fails if the locale of `locale-collate` does not exist
  Step FormClusterOrSentinelGroup();  // makes the nodes of `nodes` a cluster, or replicas with Sentinels
  Step PublishPortsAndPid();          // writes pidfile, process title and (for a single server) port file
  Step WritePortFile();               // writes `port-file`, if set, with one port per line
  void StartServing();                // makes all servers load; those with a thread of their own then serve clients
  // Called on the main thread when the load of a server has ended. A failed load ends the process with exit code 1. A
  // load that was stopped while the server still runs ends the process with exit code 0. After the last load, the
  // servers connect to each other (with the directive `nodes`), or ReportReadiness is called.
  void HandleLoadOutcome(const NodeServer& node, Step outcome);  // counts the server as loaded, or ends the process
  // Makes the servers of this mode (data servers first, then Sentinels) connect to each other, and returns immediately.
  // ContinueAfterConnecting is called when all are connected, or after one second. Requires: all servers have loaded
  // their data.
  void ConnectServers(ServerMode mode);  // connects the servers of this mode to each other, without waiting
  // Called when the servers of `mode` are connected to each other, or have not managed it within a second. If these
  // were data servers and there are Sentinels, connects the Sentinels. Otherwise the start is complete: writes the port
  // file and reports readiness. If the port file cannot be written, ends the process.
  void ContinueAfterConnecting(ServerMode mode);  // connects the Sentinels next, or reports readiness
  // Checks every millisecond, without blocking, until `node` is connected or `deadline_ms` (real time) has passed. When
  // this holds for all servers that are being connected, ContinueAfterConnecting runs.
  void AwaitConnected(NodeServer& node, int64_t deadline_ms);  // polls until the server's links are open, or a deadline
  void ReportReadiness();      // tells log, supervisor and launcher that the servers are ready
  void WritePortsToReadyFd();  // writes the ports to the launcher's pipe
  // Runs `task` on the thread of the server. If that is the main thread, runs it before returning. Otherwise posts it
  // to the loop of this thread. Requires: that loop runs.
  static void RunOnThreadOf(const HostedServer& hosted,  // runs `task` on the thread of this server
                            std::function<void()> task);
  // Runs `task` on the main thread. If the servers have threads of their own (`nodes` with `node-threads yes`), runs it
  // later; otherwise before returning.
  void RunOnMainThread(std::function<void()> task);  // runs `task` on the main thread
  void WatchSignals();                               // makes SIGTERM and SIGINT shut down the servers
  // Shuts down all servers as if this signal had arrived.
  void End(int signal);
  Step CheckParentProcess();                  // for `exit-with-parent`: finds the parent; kStopped: already ended
  void WatchParent();                         // shuts down when the parent ends, for `exit-with-parent`
  void ShutDownAfterParent();                 // shuts down because the parent has ended
  void ShutDownIdleProcess();                 // shuts down for `exit-on-idle`, unless tried within the last second
  void ShutDownServer(HostedServer& hosted);  // shuts this server down as shutdown_signal_ asks
  void ShutDownReplicasAfterPrimaries();  // shuts down the remaining servers (replicas) when the primaries have stopped
  void UpdateTitle(const Settings& shown);  // makes the process title show these settings, for set-proc-title
  OomScore::Outcome ApplyOomScore(const Settings& settings);  // sets oom_score_adj for the role: primary or replica
  bool IsSentinel() const { return config_.mode() == ServerMode::kSentinel; }  // true: the process runs one Sentinel
  char Role() const;
  void RemovePidAndPortFiles();          // removes pidfile and port file
  int CleanUpFailedStart();              // closes listeners, removes files and empty folders; returns exit code 1
  int ExitProcess(int exit_code);        // logs the end; in release builds exits and does not return
  Step Fail(const std::string& reason);  // logs the reason; returns kFailed

  Config& config_;  // configuration of the process; nodes derive their configuration from it
  const CommandLine& line_;
  ProcessTitle& title_;  // writes the title that ps shows
  SystemClock clock_;    // reads the time of the machine
  SystemRealClock real_clock_;
  Logger log_;                                 // the log of the process
  std::mutex mutex_;                           // protects title_, oom_score_ and the settings that they use
  OomScore oom_score_;                         // writes oom_score_adj
  Daemon daemon_;                              // lets the parent exit, if the process went to the background
  std::optional<Supervisor> supervisor_;       // reports to systemd or upstart, if one of them manages the process
  bool in_background_ = false;                 // true: the process runs as a daemon (in the background)
  ReadyFd ready_fd_;                           // pipe of `ready-fd`, which gets the ports when the servers are ready
  ParentWatch parent_watch_;                   // watches the process that launched this one (exit-with-parent)
  std::vector<ConfigNote> notes_after_ready_;  // messages to log when the servers are ready
  PidOrPortFile pidfile_;                      // the file of `pidfile`
  PidOrPortFile port_file_;                    // the file of `port-file`
  SystemFiles files_;                          // the file system, for recordings
  std::optional<uint64_t> seed_;               // seed of random choices; nullopt: random
  std::unique_ptr<Recorder> recorder_;         // records connections; null: no recording
  std::string ports_;                          // content of the port file: one port per line
  std::optional<ShutdownSignals> signals_;     // catches SIGTERM and SIGINT; nullopt: not yet
  std::optional<NodePlan> plan_;               // settings of several servers; nullopt: there is only one server
  std::unique_ptr<WatchedLoop> main_loop_;     // loop of the main thread
  std::vector<HostedServer> hosted_servers_;   // all servers of the process
  std::unique_ptr<NodeRestarts> restarts_;     // kills and restarts servers for TEST; null: servers cannot restart
  std::unique_ptr<NodeMembers> members_;       // for TEST CLUSTER; null: not allowed, one server, or node-threads
  std::atomic<int> running_server_count_ = 0;  // number of servers that have not stopped and were not killed
  std::atomic<int> exit_code_ = 0;             // exit code of the process: the one of a failed server, or 0
  std::atomic<bool> is_ending_ = false;        // true: a signal, or an event handled like one, shuts down all servers
  bool has_lost_parent_ = false;               // true: the parent has ended
  int64_t next_idle_shutdown_ms_ = 0;          // if a shutdown for exit-on-idle fails: when to try again (real time)
  int shutdown_signal_ = 0;                    // the signal of the current shutdown; 0: no shutdown
  int awaited_server_count_ = 0;               // number of servers that still have to load or connect
  bool has_failed_ = false;  // true: a server could not load its data, or the port file could not be written
};

}  // namespace respite
