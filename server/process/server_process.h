// ServerProcess: one run of the program, from its loaded configuration to its exit code. It has what belongs to the
// process: its files, limits, signals and title, the loop of the main thread; and the servers that run in it.
//
// It starts in this order: checks of the system, background, first log lines, limits, servers, listeners, pidfile and
// port file, data sets, readiness. It ends when its last server has stopped. It leaves memory to the system.
//
// Without the directives `nodes` and `sentinels` there is one server, with the settings and the directory of the
// process. With them there are several (NodePlan), all on the loop of the main thread, or, with `node-threads yes`,
// each on a loop and a thread of its own.
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
  // because freeing a large data set takes long.
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
  // All but serving: returns at the first failure.
  Step Prepare();
  uint32_t CountNodes() const;
  // Lets the only server have worlds, and all of them begin again, if they allow TEST.
  void PrepareWorlds();
  void PrepareLives();
  Step OpenRecording();
  Step MakeResidents();
  void MakeSeveral();
  void AddHostedServer(HostedServer hosted);
  // Runs the work for each server on its thread, and waits for it. kFailed: one has failed.
  Step OnEach(const std::function<Step(NodeServer&)>& work);
  Step Build();
  Step RefuseModules();
  Step CheckLocale();
  // The nodes agree on who is what.
  Step FormGroup();
  Step Announce();
  Step WritePortFile();
  // Has all servers load, and those with a thread of their own serve.
  void StartServing();
  void OnLoaded(const NodeServer& node, Step outcome);
  // All have loaded: waits until these are connected.
  void Settle(ServerMode mode);
  void OnSettled(ServerMode mode);
  void AwaitSettled(NodeServer& node, int64_t deadline_ms);
  void BeReady();
  // Writes the ports to the launcher.
  void TellReady();
  // Runs `task` on the thread of the server, whose loop runs: at once if this is it.
  static void OnThreadOf(const HostedServer& hosted, std::function<void()> task);
  // Runs `task` on the main thread: at once if this is it.
  void Tell(std::function<void()> task);
  void WatchSignals();
  // All servers are to end, as if this signal had arrived.
  void End(int signal);
  // kStopped: it has ended before the server started.
  Step FindParent();
  void WatchParent();
  void EndAfterParent();
  void EndIdle();
  void Signal(HostedServer& hosted);
  // Those that the signal has not reached yet, when those that it has reached have stopped.
  void SignalOthers();
  void UpdateTitle(const Settings& shown);
  // Tells the kernel how dear this process is in its present role.
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
  std::mutex mutex_;  // of title_, oom_score_ and the settings that these use
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
  std::unique_ptr<Recorder> recorder_;  // null: nothing is written down
  std::string ports_;                   // one on a line, for the port file
  std::optional<ShutdownSignals> signals_;
  std::optional<NodePlan> plan_;  // nothing: one server
  std::unique_ptr<WatchedLoop> main_;
  std::vector<HostedServer> hosted_;
  std::unique_ptr<NodeRestarts> lives_;   // null: who ends does not begin again
  std::unique_ptr<NodeMembers> members_;  // null: there is one server, or they have threads
  std::atomic<int> living_ = 0;           // servers that have not stopped
  std::atomic<int> exit_code_ = 0;
  std::atomic<bool> is_ending_ = false;  // a signal, or what counts as one, asked for it
  bool has_lost_parent_ = false;
  int64_t next_idle_end_ms_ = 0;  // of pace_; the next try
  int signal_ = 0;                // of the end that is under way; 0: none
  int awaited_ = 0;               // servers that have not loaded, or not settled
  bool has_failed_ = false;
};

}  // namespace respite
