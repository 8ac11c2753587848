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
  void PrepareChild(const NodeServer& node, ChildWork work) override;
  void OnStop(NodeServer& node) override;
  void OnShutdownCancelled() override;
  void OnShutdownStatus(const std::string& status) override;
  void OnRole(NodeServer& node) override;
  void OnTitle(const NodeServer& node) override;
  std::optional<std::string> OnOomScore(NodeServer& node) override;
  void OnIdle() override;

  // NodeRestarts::Owner
  std::unique_ptr<NodeServer> MakeServer(const HostedServer& hosted) override;
  void OnKilled(HostedServer&) override { --living_; }
  void OnReviving(HostedServer&) override { ++living_; }
  void OnBack(HostedServer& hosted) override;
  void OnLost(HostedServer& hosted) override;

 private:
  using Step = NodeServer::Step;

  void OpenLog(Logger& log);
  void GoToBackground();
  Step RaiseLimits();
  // Does everything before serving. Returns at the first failure.
  Step Prepare();
  uint32_t CountNodes() const;
  // PrepareWorlds lets a single server have worlds. PrepareLives lets all servers restart. Both require that TEST is
  // allowed.
  void PrepareWorlds();
  void PrepareLives();
  Step OpenRecording();
  Step MakeResidents();
  void MakeSeveral();
  void AddHostedServer(HostedServer hosted);
  // Runs the work for each server on its thread, and waits for it. Returns kFailed if it failed for a server.
  Step OnEach(const std::function<Step(NodeServer&)>& work);
  Step Build();
  Step RefuseModules();
  Step CheckLocale();
  // Decides the roles of the nodes and tells them about each other.
  Step FormGroup();
  Step Announce();
  Step WritePortFile();
  // Makes all servers load, and servers with their own thread serve.
  void StartServing();
  void OnLoaded(const NodeServer& node, Step outcome);
  // Waits until the servers of this mode are connected to each other. Called after all servers have loaded their data.
  void Settle(ServerMode mode);
  void OnSettled(ServerMode mode);
  void AwaitSettled(NodeServer& node, int64_t deadline_ms);
  void BeReady();
  // Writes the ports to the launcher.
  void TellReady();
  // Runs `task` on the thread of the server: directly if that is the main thread. Requires: the server's loop runs.
  static void OnThreadOf(const HostedServer& hosted, std::function<void()> task);
  // Runs `task` on the main thread: directly if no server has its own thread.
  void Tell(std::function<void()> task);
  void WatchSignals();
  // Stops all servers as if this signal had arrived.
  void End(int signal);
  // Returns kStopped if the parent has already ended.
  Step FindParent();
  void WatchParent();
  void EndAfterParent();
  void EndIdle();
  void Signal(HostedServer& hosted);
  // Signals the remaining servers after all signalled servers have stopped.
  void SignalOthers();
  void UpdateTitle(const Settings& shown);
  // Sets oom_score_adj for the current role.
  OomScore::Outcome ApplyOomScore(const Settings& settings);
  bool IsSentinel() const { return config_.mode() == ServerMode::kSentinel; }
  char Role() const;
  void RemoveFiles();
  int Abandon();
  int Leave(int exit_code);
  Step Fail(const std::string& reason);

  Config& config_;
  const CommandLine& line_;
  ProcessTitle& title_;
  SystemClock clock_;
  SystemPace pace_;
  Logger log_;
  std::mutex mutex_;  // protects title_, oom_score_ and the settings that they use
  OomScore oom_score_;
  Daemon daemon_;
  std::optional<Supervisor> supervisor_;
  bool in_background_ = false;
  ReadyFd ready_fd_;
  ParentWatch parent_;
  std::vector<ConfigNote> notes_after_ready_;
  AnnouncementFile pidfile_;
  AnnouncementFile port_file_;
  SystemFiles files_;
  std::optional<uint64_t> seed_;        // of random choices
  std::unique_ptr<Recorder> recorder_;  // null: connections are not recorded
  std::string ports_;                   // one per line, for the port file
  std::optional<ShutdownSignals> signals_;
  std::optional<NodePlan> plan_;  // nullopt: one server
  std::unique_ptr<WatchedLoop> main_;
  std::vector<HostedServer> hosted_;
  std::unique_ptr<NodeRestarts> restarts_;  // null: servers cannot restart
  std::unique_ptr<NodeMembers> members_;    // null: there is one server, or each has its own thread
  std::atomic<int> living_ = 0;             // servers that have not stopped
  std::atomic<int> exit_code_ = 0;
  std::atomic<bool> is_ending_ = false;  // by a signal, or by an event that is handled like one
  bool has_lost_parent_ = false;
  int64_t next_idle_end_ms_ = 0;  // in Pace time; the next attempt of EndIdle
  int signal_ = 0;                // of the current shutdown; 0: no shutdown
  int awaited_ = 0;               // number of servers that have not loaded, or not settled
  bool has_failed_ = false;
};

}  // namespace respite
