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

struct WatchedLoop {  // event loop, and watchdog that detects when it is blocked
  explicit WatchedLoop(const Pace& pace) : loop(pace) {}
  EventLoop loop;
  Watchdog watchdog;  // logs where the loop is blocked
};

class NodeServer {  // one Redis server of this process
 public:
  // Called on the thread of the server's loop.
  class Owner {  // receives requests and events of a server: its process
   public:
    virtual ~Owner() = default;
    // Called in a new child.
    virtual void PrepareChild(const NodeServer& node, ChildWork work) = 0;
    // Called when the server stops, in the middle of a turn; its listeners are still open. Called once.
    virtual void HandleServerStopped(NodeServer& node) = 0;
    virtual void OnShutdownCancelled() = 0;                        // by SHUTDOWN ABORT, or since saving failed
    virtual void OnShutdownStatus(const std::string& status) = 0;  // what the shutdown waits for
    virtual void HandleRoleChange(NodeServer& node) = 0;           // it has become a primary or a replica
    virtual void HandleTitleChange(const NodeServer& node) = 0;    // the ports or other parts of the process title
    // Called when oom-score-adj or oom-score-adj-values has changed. Returns an error text if it cannot take effect.
    virtual std::optional<std::string> HandleOomScoreChange(NodeServer& node) = 0;
    // Called at each tick while a server has had no client for as long as `exit-on-idle` says.
    virtual void HandleIdleServer() = 0;
  };

  struct Parts {     // arguments of the constructor
    Owner& owner;    // receives its events
    Config& config;  // of this server
    Logger& log;
    const Clock& clock;
    const Pace& pace;
    uint32_t nodes;   // number of servers of the process
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

  // With `port auto` it also listens, since the log shows the port. The loop must outlive the server.
  Step Build(WatchedLoop& loop);  // creates the Node
  // Reads the users and listens.
  Step Open();

  // --- For nodes of a cluster in this process

  // Finds a free port for the cluster bus.
  Step ReserveBusPort();             // until Load; requires Open
  std::string BoundAddress() const;  // first specific address of `bind`, or 127.0.0.1
  NodeAddress Address() const;       // for other nodes; requires ReserveBusPort
  // Returns the content of nodes.conf, which is empty if there is none. Returns nullopt if it cannot be read; the
  // reason is logged.
  std::optional<std::string> ReadNodesFile();
  struct ClusterStart {                                      // initial cluster state, instead of nodes.conf
    std::string text;                                        // of nodes.conf
    ClusterMode::Belief belief = ClusterMode::Belief::kOwn;  // whether other nodes agree with `text`
  };
  void SetClusterStart(ClusterStart start) { cluster_start_ = std::move(start); }  // instead of nodes.conf

  // --- For servers with replicas or a primary in this process

  // All servers of a group get the same one, so a replica needs no snapshot from its primary.
  void SetReplidIfEmpty(std::string replid) { replid_if_empty_ = std::move(replid); }  // for a server without data

  // --- For a replacement of another server. These require that Build was done, and that `before` still exists.

  void InheritTestState(const NodeServer& before);  // clock, request journal, findings of lint
  void SetDataSource(const NodeServer& before) {    // Load copies its data, instead of reading files
    data_source_ = &before;
  }

  // --- All servers

  // Loads the data while clients are served, and assumes its role.
  Step Load();
  // Connects immediately to the known nodes: the other nodes of the cluster, or all servers that a Sentinel watches.
  // Requires: all of them have loaded.
  void ConnectToPeers();
  // Returns whether all connections are open: a replica's link to its primary, and the links between nodes. A Sentinel
  // must have heard from all servers.
  bool HasAllConnections() const;
  void LogReady();  // "Ready to accept connections …"

  // Stops the server immediately, without saving. Kills a late script, and no further command runs. Does nothing if it
  // has stopped. Requires: Build was done.
  void Stop();
  // Stops the server as if it had been killed. The append-only file keeps the part that this policy guarantees. All
  // clients except `spared` are disconnected, and the locks of files are released. The data is still there.
  void Crash(AppendFsync policy, const Session* spared);  // stops as if it had been killed
  // Reserves the ports of the server until the descriptors are closed, also against use as the local port of a
  // connection. Requires: the server no longer listens.
  std::vector<Descriptor> ReservePorts() const;
  void HandleSignal(int signal);                    // SIGTERM or SIGINT
  bool HasStopped() const { return has_stopped_; }  // no longer serves, but may still have its data
  int exit_code() const { return exit_code_; }
  bool IsReplica() const { return is_replica_; }
  // Replicas and its primary do not count as clients. Counted only if `exit-on-idle` needs it.
  int64_t IdleMs() const { return idle_ms_; }  // time without clients, as of the last tick
  void CloseListeners();                       // and removes the file of the unix socket
  void Discard();                              // frees everything except settings and log; a second call does nothing

  Config& config() const { return parts_.config; }
  const Settings& settings() const { return parts_.config.settings(); }
  Logger& log() const { return parts_.log; }
  EventLoop& loop() const { return loop_->loop; }
  bool IsBuilt() const { return node_ != nullptr; }  // after Build and before Discard
  // The following two functions require IsBuilt().
  const Services& services() const { return node_->services(); }
  NodeHost& host() { return *host_; }

 private:
  Node::Parts MakeNodeParts();  // arguments for the Node's constructor
  void AttachHandlers();        // for ticks, stops and new threads
  void LogState();              // sizes of databases and memory, every few seconds, if the log shows such lines
  void StartWatchdog();         // with the period of `watchdog-period`
  bool HasClients() const;      // or its worlds have; replicas and its primary do not count
  void MeasureIdleTime();       // updates idle_ms_ at each tick
  Step Listen();                // opens the ports
  std::optional<std::string> OpenCluster();  // loads cluster_start_ or nodes.conf
  void ApplyReplidIfEmpty();                 // sets replid_if_empty_ as replication ID
  Step LoadData();                           // then starts replication and cluster
  LoadOutcome ReadData();                    // from data_source_, or else from files
  void CloseServerLinks();                   // ends its communication with other servers; may be called twice
  bool IsSentinel() const { return parts_.config.mode() == ServerMode::kSentinel; }
  void HandleRoleChange();  // tells the owner
  void OnStop(int exit_code);
  void WatchSettings();                                            // registers hooks for CONFIG SET
  void WatchProcessSettings();                                     // registers further hooks for CONFIG SET
  std::optional<std::string> Reopen(Listener::Protocol protocol);  // listens on the changed port
  std::optional<std::string> ReopenTls();                          // with the changed TLS settings
  Step Fail(const std::string& reason);

  const Parts parts_;  // arguments of the constructor
  WatchedLoop* loop_ = nullptr;
  int64_t next_state_log_ms_ = 0;  // monotonic time of the next LogState
  SystemFiles system_files_;       // relative paths begin at the working directory
  FolderFiles files_;              // relative paths begin at the folder of this server
  ForkedChildren children_;        // forked for BGSAVE, BGREWRITEAOF …
  StartedPrograms programs_;       // scripts of a Sentinel
  std::unique_ptr<Node> node_;
  std::unique_ptr<NodeHost> host_;
  std::unique_ptr<Listener> listener_;
  std::vector<Descriptor> reserved_;           // keep the port of the cluster bus free
  std::optional<ClusterStart> cluster_start_;  // nullopt: nodes.conf
  std::string replid_if_empty_;                // empty: it creates its own replication ID
  const NodeServer* data_source_ = nullptr;    // the server that it replaces; null: load files
  std::atomic<bool> has_stopped_ = false;      // set once, never reset
  std::atomic<int> exit_code_ = 0;
  std::atomic<bool> is_replica_ = false;
  int64_t last_client_ms_;            // in Pace time; initially the start time
  uint64_t connections_ = 0;          // number of connections accepted, as of the last tick
  std::atomic<int64_t> idle_ms_ = 0;  // time without clients, as of the last tick
};

}  // namespace respite
