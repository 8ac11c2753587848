// NodeServer: one server of this process, with everything that only this server uses: settings, log, data, clients,
// listeners and children. A process has one server, or several (the directive `nodes`), which share a loop or have one
// each.
//
// It starts in steps, which its Owner takes with all servers: Build, Open, ReadNodesFile, Load. Then its loop runs. All
// steps, and the destructor's work (Discard), happen on the thread of the loop.
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
#include "server/storage/data_set.h"
#include "server/storage/folder_files.h"

namespace respite {

// A loop, and the watchdog that detects when it is blocked
struct WatchedLoop {
  explicit WatchedLoop(const Pace& pace) : loop(pace) {}
  EventLoop loop;
  Watchdog watchdog;
};

class NodeServer {
 public:
  // Requests and events that a server passes to its process. Called on the thread of the server's loop.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Called in a new child.
    virtual void PrepareChild(const NodeServer& node, ChildWork work) = 0;
    // Called when the server stops, in the middle of a turn; its listeners are still open. Called once.
    virtual void OnStop(NodeServer& node) = 0;
    virtual void OnShutdownCancelled() = 0;
    virtual void OnShutdownStatus(const std::string& status) = 0;
    // Called when the server has become a primary or a replica.
    virtual void OnRole(NodeServer& node) = 0;
    // Called when the ports, or other parts of the server in the process title, have changed.
    virtual void OnTitle(const NodeServer& node) = 0;
    // Called when oom-score-adj or oom-score-adj-values has changed. Returns an error text if it cannot take effect.
    virtual std::optional<std::string> OnOomScore(NodeServer& node) = 0;
    // Called at each tick while a server has had no client for as long as `exit-on-idle` says.
    virtual void OnIdle() = 0;
  };

  struct Parts {
    Owner& owner;
    Config& config;
    Logger& log;
    const Clock& clock;
    const Pace& pace;
    uint32_t nodes;   // of the process
    uint64_t number;  // from 0; unique for each server of the process, and equal in each run
    // If set, each server of the process makes the same random choices in each run.
    std::optional<uint64_t> seed;
    // kWithin: clients come from another server of the process. The server listens only if it has a port.
    enum class Reach : uint8_t { kListens, kWithin } reach = Reach::kListens;
    Recorder* recorder = nullptr;  // null: connections are not recorded
  };
  explicit NodeServer(const Parts& parts);
  ~NodeServer();
  NodeServer(const NodeServer&) = delete;
  NodeServer& operator=(const NodeServer&) = delete;

  std::optional<uint64_t> seed() const { return parts_.seed; }

  // kFailed: the reason is already logged. kStopped: the server was stopped meanwhile.
  enum class Step : uint8_t { kDone, kFailed, kStopped };

  // Creates the Node. With `port auto` it also listens, since the log shows the port. The loop must outlive the server.
  Step Build(WatchedLoop& loop);
  // Reads the users and listens.
  Step Open();

  // --- For nodes of a cluster in this process

  // Finds a free port for the bus, and reserves it until Load. Requires: Open was done.
  Step ReserveBusPort();
  // Returns the first specific address of `bind`, or 127.0.0.1.
  std::string BoundAddress() const;
  // Returns the address at which other nodes reach it. Requires: ReserveBusPort was done.
  NodeAddress Address() const;
  // Returns the content of nodes.conf, which is empty if there is none. Returns nullopt if it cannot be read; the
  // reason is logged.
  std::optional<std::string> ReadNodesFile();
  // The state of the cluster to start with, instead of the node's file
  struct ClusterStart {
    std::string text;  // of nodes.conf
    ClusterMode::Belief belief = ClusterMode::Belief::kOwn;
  };
  void SetClusterStart(ClusterStart start) { cluster_start_ = std::move(start); }

  // --- For servers with replicas or a primary in this process

  // Sets the history for a server without data. All servers of a group get the same one, so a replica needs no snapshot
  // from its primary.
  void SetEmptyHistory(std::string id) { empty_history_ = std::move(id); }

  // --- For a replacement of another server. These require that Build was done, and that `before` still exists.

  // Continues the clock, the request journal and the findings of the other server.
  void Inherit(const NodeServer& before);
  // Makes Load copy the data and functions of the other server, instead of reading files.
  void SetDataOf(const NodeServer& before) { data_of_ = &before; }

  // --- All servers

  // Loads the data while clients are served, and assumes its role.
  Step Load();
  // Connects immediately to the known nodes: the other nodes of the cluster, or all servers that a Sentinel watches.
  // Requires: all of them have loaded.
  void Reach();
  // Returns whether all connections are open: a replica's link to its primary, and the links between nodes. A Sentinel
  // must have heard from all servers.
  bool IsSettled() const;
  void LogReady();

  // Stops the server immediately, without saving. Kills a late script, and no further command runs. Does nothing if it
  // has stopped. Requires: Build was done.
  void Stop();
  // Stops the server as if it had been killed. Its append-only file keeps the part that this policy guarantees. All
  // clients except `spared` are disconnected, and its locks are released. The data is still there.
  void Crash(AppendFsync policy, const Session* spared);
  // Reserves the ports of the server until the descriptors are closed, also against use as the local port of a
  // connection. Requires: the server no longer listens.
  std::vector<Descriptor> HoldPorts() const;
  // Handles SIGTERM or SIGINT.
  void Signalled(int signal);
  bool HasStopped() const { return has_stopped_; }
  int exit_code() const { return exit_code_; }
  bool IsReplica() const { return is_replica_; }
  // Returns how long it had no client at the last tick, in milliseconds. Replicas and its primary do not count. Counted
  // only if `exit-on-idle` needs it.
  int64_t IdleMs() const { return idle_ms_; }
  // Stops listening, and removes the file of the unix socket.
  void CloseListeners();
  // Frees everything except settings and log. Does nothing at a second call.
  void Discard();

  Config& config() const { return parts_.config; }
  const Settings& settings() const { return parts_.config.settings(); }
  Logger& log() const { return parts_.log; }
  EventLoop& loop() const { return loop_->loop; }
  // Returns whether the Node exists: after Build and before Discard.
  bool IsBuilt() const { return node_ != nullptr; }
  // The following two functions require IsBuilt().
  const Services& services() const { return node_->services(); }
  NodeHost& host() { return *host_; }

 private:
  Node::Parts NodeParts();
  void AttachHandlers();
  // Logs the sizes of databases and of memory every few seconds if the log shows such lines.
  void LogState();
  void StartWatchdog();
  // Returns whether it or its worlds have clients. Replicas and its primary do not count.
  bool HasClients() const;
  void LookForClients();
  Step Listen();
  std::optional<std::string> OpenCluster();
  void ShareEmptyHistory();
  Step LoadData();
  LoadOutcome ReadData();
  // Ends its communication with other servers. Does nothing at a second call.
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
  int64_t next_state_log_ms_ = 0;  // monotonic
  SystemFiles system_files_;
  FolderFiles files_;
  ForkedChildren children_;
  StartedPrograms programs_;
  std::unique_ptr<Node> node_;
  std::unique_ptr<NodeHost> host_;
  std::unique_ptr<Listener> listener_;
  std::vector<Descriptor> reserved_;  // reserve the port of the bus
  std::optional<ClusterStart> cluster_start_;
  std::string empty_history_;  // empty: it has its own history
  const NodeServer* data_of_ = nullptr;
  std::atomic<bool> has_stopped_ = false;
  std::atomic<int> exit_code_ = 0;
  std::atomic<bool> is_replica_ = false;
  int64_t last_client_ms_;            // in Pace time; initially the start time
  uint64_t connections_ = 0;          // number of connections accepted, as of the last tick
  std::atomic<int64_t> idle_ms_ = 0;  // at the last tick
};

}  // namespace respite
