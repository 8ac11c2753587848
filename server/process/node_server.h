// NodeServer: one server of this process, with everything that belongs to it alone: settings, log, data, clients,
// listeners, children. A process has one, or several (the directive `nodes`), which share a loop or have one each.
//
// It starts in steps, which its Owner takes with all servers: Build, Open, ReadNodesFile, Load; then its loop runs. All
// of them, and the destructor's work (Discard), happen on the thread of the loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "server/cluster/cluster_node.h"
#include "server/config/config.h"
#include "server/net/event_loop.h"
#include "server/node/listener.h"
#include "server/node/node.h"
#include "server/process/crash/watchdog.h"
#include "server/process/forked_children.h"
#include "server/process/started_programs.h"
#include "server/process/state_log.h"
#include "server/storage/data_set.h"
#include "server/storage/folder_files.h"

namespace respite {

// A loop, and what blocks it.
struct WatchedLoop {
  explicit WatchedLoop(const Pace& pace) : loop(pace) {}
  EventLoop loop;
  Watchdog watchdog;
};

class NodeServer {
 public:
  // What a server asks of its process. Called on the thread of the server's loop.
  class Owner {
   public:
    virtual ~Owner() = default;
    // In a new child.
    virtual void PrepareChild(const NodeServer& node, ChildWork work) = 0;
    // The server stops, in the middle of a Turn; its listeners are still open. Called once.
    virtual void OnStop(NodeServer& node) = 0;
    virtual void OnShutdownCancelled() = 0;
    virtual void OnShutdownStatus(const std::string& status) = 0;
    // It has become a primary or a replica.
    virtual void OnRole(NodeServer& node) = 0;
    // The ports, or what the title shows of the server, have changed.
    virtual void OnTitle(const NodeServer& node) = 0;
    // A directive of the process has changed. Returns why it cannot take effect.
    virtual std::optional<std::string> OnOomScore(NodeServer& node) = 0;
    // A server has had no client for as long as `exit-on-idle` says. Called at each tick.
    virtual void OnIdle() = 0;
  };

  struct Parts {
    Owner& owner;
    Config& config;
    Logger& log;
    const Clock& clock;
    const Pace& pace;
    uint32_t nodes;   // of the process
    uint64_t number;  // among them, from 0; another one for each server, and the same in each run
    // With it, each server of the process makes the same random choices in each run.
    std::optional<uint64_t> seed;
    // kWithin: clients come from another server of the process; it listens only if it has a port.
    enum class Reach : uint8_t { kListens, kWithin } reach = Reach::kListens;
    Recorder* recorder = nullptr;  // null: connections are not written down
  };
  explicit NodeServer(const Parts& parts);
  ~NodeServer();
  NodeServer(const NodeServer&) = delete;
  NodeServer& operator=(const NodeServer&) = delete;

  std::optional<uint64_t> seed() const { return parts_.seed; }

  // kFailed: the reason is already logged. kStopped: somebody has stopped it meanwhile.
  enum class Step : uint8_t { kDone, kFailed, kStopped };

  // Makes the Node; with `port auto` it listens, since the log shows the port. The loop must outlive the server.
  Step Build(WatchedLoop& loop);
  // Reads the users and listens.
  Step Open();

  // --- One of several nodes of a cluster.

  // Finds a port for the bus that is free, and keeps it until Load. Requires: Open was done.
  Step ReserveBusPort();
  // That of `bind`, if it names one.
  std::string BoundAddress() const;
  // Where the others reach it. Requires: ReserveBusPort was done.
  NodeAddress Address() const;
  // What is in nodes.conf: empty if there is none. Nothing: it cannot be read; the reason is logged.
  std::optional<std::string> ReadNodesFile();
  // What it is told about the cluster instead of what is in its file.
  struct ClusterStart {
    std::string text;  // of nodes.conf
    ClusterMode::Belief belief = ClusterMode::Belief::kOwn;
  };
  void SetClusterStart(ClusterStart start) { cluster_start_ = std::move(start); }

  // --- One that has replicas, or a primary, in this process.

  // If it has no data, this is its history, as it is that of the others: a replica need not load from its primary.
  void SetEmptyHistory(std::string id) { empty_history_ = std::move(id); }

  // --- One that takes the place of another. These require that Build was done, and that `before` is still there.

  // Its clock goes on where the other one's was, and so does the journal of requests.
  void Inherit(const NodeServer& before);
  // Load copies the data and the functions of the other one, instead of reading files.
  void SetDataOf(const NodeServer& before) { data_of_ = &before; }

  // ---

  // Loads the data set while clients are served, and takes up its role.
  Step Load();
  // Connects to those whom it knows at once: to the other nodes of the cluster, or to all that a Sentinel watches.
  // Requires: all of them have loaded.
  void Reach();
  // Whether a replica follows its primary, the links between nodes are open, and a Sentinel has heard of everybody.
  bool IsSettled() const;
  void LogReady();

  // Ends it at once, and saves nothing: a late script is killed, and no further command runs. Harmless when it has
  // stopped. Requires: Build was done.
  void Stop();
  // The same for a server that was killed: its append-only file keeps what this policy promises, its clients but for
  // `spared` lose their connections, and what it has locked is free. Its data is still there.
  void Crash(AppendFsync policy, const Session* spared);
  // While these are there, nobody else gets its ports, not even for the near end of a connection. Requires: it does not
  // listen any more.
  std::vector<Descriptor> HoldPorts() const;
  // SIGTERM or SIGINT has arrived.
  void Signalled(int signal);
  bool HasStopped() const { return has_stopped_; }
  int exit_code() const { return exit_code_; }
  bool IsReplica() const { return is_replica_; }
  // How long it has had no client but replicas and its primary, at the last tick. Counted only if `exit-on-idle` needs
  // it.
  int64_t IdleMs() const { return idle_ms_; }
  // Stops listening, and removes the file of the unix socket.
  void CloseListeners();
  // Frees everything but settings and log. Harmless when it is done.
  void Discard();

  Config& config() const { return parts_.config; }
  const Settings& settings() const { return parts_.config.settings(); }
  Logger& log() const { return parts_.log; }
  EventLoop& loop() const { return loop_->loop; }
  // Not any more when it is discarded.
  bool IsBuilt() const { return node_ != nullptr; }
  // These require it.
  Node& node() { return *node_; }
  NodeHost& host() { return *host_; }

 private:
  Node::Parts NodeParts();
  void AttachHandlers();
  void StartWatchdog();
  // Its own, or those of its worlds; not its replicas and its primary.
  bool HasClients() const;
  void LookForClients();
  Step Listen();
  std::optional<std::string> OpenCluster();
  void ShareEmptyHistory();
  Step LoadData();
  LoadOutcome ReadData();
  // Ends its work with others; harmless when that is done.
  void LetGo();
  bool IsSentinel() const { return parts_.config.mode() == ServerMode::kSentinel; }
  void NoteRole();
  void OnStop(int exit_code);
  void WatchSettings();
  void WatchProcessSettings();
  std::optional<std::string> Reopen(Listener::Protocol protocol);
  std::optional<std::string> ReopenTls();
  Step Fail(const std::string& reason);

  const Parts parts_;
  WatchedLoop* loop_ = nullptr;
  StateLog state_log_;
  SystemFiles system_files_;
  FolderFiles files_;
  ForkedChildren children_;
  StartedPrograms programs_;
  std::unique_ptr<Node> node_;
  std::unique_ptr<NodeHost> host_;
  std::unique_ptr<Listener> listener_;
  std::vector<Descriptor> reserved_;  // hold the port of the bus
  std::optional<ClusterStart> cluster_start_;
  std::string empty_history_;  // empty: its own
  const NodeServer* data_of_ = nullptr;
  std::atomic<bool> has_stopped_ = false;
  std::atomic<int> exit_code_ = 0;
  std::atomic<bool> is_replica_ = false;
  int64_t last_client_ms_;            // of pace; counted from the start
  uint64_t connections_ = 0;          // that it has had at the last tick
  std::atomic<int64_t> idle_ms_ = 0;  // at the last tick
};

}  // namespace respite
