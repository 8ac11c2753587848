// ServerProcess: one run of the server, from its loaded configuration to its exit code.
//
// It starts in this order: checks of the system, background, first log lines, limits, Node, listeners, pidfile and port
// file, data set, readiness. It stops by removing the files and closing the listeners before the connections of
// clients. It leaves memory to the system.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "persistence/file_system.h"
#include "server/config/config.h"
#include "server/net/event_loop.h"
#include "server/node/listener.h"
#include "server/node/node.h"
#include "server/process/daemon.h"
#include "server/process/forked_children.h"
#include "server/process/limits.h"
#include "server/process/process_title.h"
#include "server/process/signals.h"
#include "server/process/small_files.h"
#include "server/process/state_log.h"
#include "server/process/supervisor.h"
#include "server/process/watchdog.h"

namespace respite {

class ServerProcess {
 public:
  // All must outlive this object.
  ServerProcess(Config& config, const CommandLine& line, ProcessTitle& title);
  ~ServerProcess();

  // Returns the exit code when the server has stopped or could not start. Release builds exit instead of returning,
  // because freeing a large data set takes long.
  int Run();

 private:
  // kFailed: the reason is already logged.
  enum class Step : uint8_t { kDone, kFailed, kStopped };

  void OpenLog();
  void GoToBackground();
  Step RaiseLimits();
  void Build();
  void PrepareChild(ChildWork work);
  Step RefuseModules();
  Step CheckLocale();
  Step Listen();
  Step Announce();
  // Loads the data set while clients are served.
  Step LoadData();
  void WatchSignals();
  void LogReady();
  void WatchSettings();
  void StartWatchdog();
  void UpdateTitle();
  // Tells the kernel how dear this process is in its present role.
  OomScore::Outcome ApplyOomScore();
  std::optional<std::string> Reopen(Listener::Protocol protocol);
  std::optional<std::string> ReopenTls();
  // Reverts Announce when the server stops.
  void Withdraw();
  int Abandon();
  Step Fail(const std::string& reason);

  Config& config_;
  const CommandLine& line_;
  ProcessTitle& title_;
  SystemClock clock_;
  SystemPace pace_;
  Logger log_;
  OomScore oom_score_;
  Daemon daemon_;
  std::optional<Supervisor> supervisor_;
  bool in_background_ = false;
  std::vector<ConfigNote> notes_after_ready_;
  AnnouncementFile pidfile_;
  AnnouncementFile port_file_;
  std::optional<ShutdownSignals> signals_;
  Watchdog watchdog_;
  StateLog state_log_;
  SystemFiles files_;
  ForkedChildren children_;
  std::unique_ptr<Node> server_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<NodeHost> host_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace respite
