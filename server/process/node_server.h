// NodeServer: one server of this process, with everything that only this server uses: settings, log, data, clients,
// listeners and children. A process has one server, or several (the directive `nodes`), which share an event loop or
// have one loop each.
//
// A server starts in steps, which its Owner takes with all servers: Build, Open, ReadNodesFile, Load. Then its loop
// runs. All steps, and the destructor's work (Discard), happen on the thread of the loop.
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

struct WatchedLoop {  // an event loop, and a watchdog that detects if the loop is blocked
  explicit WatchedLoop(const RealClock& real_clock) : loop(real_clock) {}
  EventLoop loop;
  Watchdog watchdog;  // logs a stack trace if the loop is blocked
};

class NodeServer {  // one Redis server of this process
 public:
  // The functions of Owner are called on the thread of the server's loop.
  class Owner {  // interface: is told of events of a server; implemented by ServerProcess and NodeWorlds
   public:
    virtual ~Owner() = default;
    virtual void PrepareChild(const NodeServer& node, ChildWork work) = 0;  // called first in a new child process
    // Called once when the server has stopped, in the middle of a turn of the loop. The listeners of the server are
    // still open.
    virtual void HandleServerStopped(NodeServer& node) = 0;  // the server has stopped; its listeners are still open
    virtual void OnShutdownCancelled() = 0;  // a shutdown was cancelled by SHUTDOWN ABORT or a failed save
    // Called when a shutdown begins (`status` is empty), and later with texts that say what it does or why it has
    // failed.
    virtual void OnShutdownStatus(const std::string& status) = 0;  // reports a shutdown's status to the supervisor
    virtual void HandleRoleChange(NodeServer& node) = 0;           // the server has become a primary or a replica
    virtual void HandleTitleChange(const NodeServer& node) = 0;    // the ports or proc-title-template have changed
    // Called when oom-score-adj or oom-score-adj-values has changed. Returns an error text if the change cannot take
    // effect.
    virtual std::optional<std::string> HandleOomScoreChange(NodeServer& node) = 0;  // sets oom_score_adj; or an error
    // Called at each tick while the server has had no client for the time that `exit-on-idle` gives.
    virtual void HandleIdleServer() = 0;  // called at each tick after `exit-on-idle` has passed without clients
  };

  struct Parts {     // arguments of the constructor
    Owner& owner;    // is told of the server's events
    Config& config;  // configuration of this server
    Logger& log;
    const Clock& clock;  // clock of the machine: Unix time and monotonic time
    const RealClock& real_clock;
    uint32_t nodes;   // number of servers that share the process's limit of open files
    uint64_t number;  // unique for each server of the process, and equal in each run (0, 1 …; a hash for worlds)
    // The seed makes each server of the process repeat its random choices in each run. nullopt: the choices differ from
    // run to run.
    std::optional<uint64_t> seed;  // seed of random choices
    // kListens: the server listens, and clients connect to it. kWithin: another server of the process hands its clients
    // over to this server, which listens only if it has a port of its own.
    enum class Reach : uint8_t { kListens, kWithin } reach = Reach::kListens;  // kWithin: clients from another server
    Recorder* recorder = nullptr;  // records connections; null: no recording
  };
  explicit NodeServer(const Parts& parts);
  ~NodeServer();
  NodeServer(const NodeServer&) = delete;
  NodeServer& operator=(const NodeServer&) = delete;

  std::optional<uint64_t> seed() const { return parts_.seed; }  // seed of random choices; nullopt: random

  // The result of a step. kFailed: the reason is already logged. kStopped: a request has stopped the server during the
  // step.
  enum class Step : uint8_t { kDone, kFailed, kStopped };  // the result of a step of the start

  // Creates the Node. With `port auto`, also listens, because the log shows the port from its first lines on. The loop
  // must outlive the server.
  Step Build(WatchedLoop& loop);  // first step of the start: creates the Node
  // The second step of the start, after Build: loads the ACL users of the configuration or of the ACL file, and listens
  // unless Build already does.
  Step Open();  // second step of the start: loads the users, and listens

  // --- For the start of a cluster whose nodes are all servers of this process

  // Reserves the port of the cluster bus: any free port with `port auto`, otherwise the port that the directives name.
  // Requires: Open was called.
  Step ReserveBusPort();             // reserves the port of the cluster bus, until Load opens the port
  std::string BoundAddress() const;  // first address of `bind` that is no wildcard, or 127.0.0.1
  NodeAddress Address() const;       // host and ports at which other nodes reach this one; requires ReserveBusPort
  // Returns the content of nodes.conf, or an empty text if there is no such file. Returns nullopt after a failure,
  // whose reason is logged.
  std::optional<std::string> ReadNodesFile();  // content of nodes.conf, maybe empty; nullopt: failed
  struct InitialCluster {  // the nodes of the cluster at its start, used instead of the file nodes.conf
    std::string text;      // initial nodes, in the format of nodes.conf
    ClusterMode::NodesFileTrust trust = ClusterMode::NodesFileTrust::kOwn;  // kAgreed: the texts of all nodes agree
  };
  void SetInitialCluster(InitialCluster start) { initial_cluster_ = std::move(start); }  // used instead of nodes.conf

  // --- For a primary and its replicas in the same process

  // Sets the replication ID that this server gets if it has no data. If a primary and its replicas get the same ID, the
  // replicas need no snapshot.
  void SetReplidIfEmpty(std::string replid) {  // `replid`: replication ID of this server if Load finds no data
    replid_if_empty_ = std::move(replid);
  }

  // --- For a server that replaces another one. These functions require that Build was done, and that `before` still
  // exists.

  void InheritTestState(const NodeServer& before);  // copies the state of TEST: clock, journal, findings …
  void SetDataSource(const NodeServer& before) {    // Load will copy the data of `before`, instead of reading files
    data_source_ = &before;
  }

  // --- All servers

  // Last step of starting a server: loads the data while clients are served, and then begins the server's role as
  // primary, replica or Sentinel.
  Step Load();
  // Connects immediately to the known nodes: the other nodes of the cluster, or all servers that a Sentinel watches.
  // Requires: all these nodes have loaded their data.
  void ConnectToPeers();  // connects immediately to the other cluster nodes, or to the servers that a Sentinel watches
  // Returns true if this server has stopped, or if these connections are open: the link of a replica to its primary,
  // and this node's links to all other cluster nodes. A Sentinel must be connected to all primaries, replicas and
  // Sentinels, with no PING unanswered and with INFO of all data servers.
  bool IsConnectedOrStopped() const;  // true: has stopped, or all links that its role needs are open
  void LogReady();  // logs "Ready to accept connections …" and where data is saved; nothing for a Sentinel

  // Stops the server immediately, without saving. Kills a running script, and no further command runs. Does nothing if
  // the server has stopped. Requires: Build was done.
  void Stop();
  // Stops the server as if it had been killed. The append-only file keeps the part that `policy` guarantees. All
  // clients except `spared` are disconnected, and the locks of files are released. The data stays in memory.
  void Crash(AppendFsync policy, const Session* spared);  // stops as if killed; disconnects all clients but `spared`
  // Reserves the ports of the server until the returned descriptors are closed, also against use as the local port of a
  // connection. Requires: the server no longer listens.
  std::vector<Descriptor> ReservePorts() const;     // keeps the ports taken until the descriptors are closed
  void HandleSignal(int signal);                    // shuts the server down as SIGTERM or SIGINT asks
  bool HasStopped() const { return has_stopped_; }  // true: no longer serves clients, but may still have data
  int exit_code() const { return exit_code_; }      // valid after the server has stopped
  bool IsReplica() const { return is_replica_; }    // true: replica; false: primary or Sentinel
  // Returns how long the server has had no clients, in ms. It is measured only if `exit-on-idle` is set. Replicas and
  // the primary of this server do not count as clients.
  int64_t IdleMs() const { return idle_ms_; }  // for how many ms without clients; 0 unless `exit-on-idle`
  void CloseListeners();                       // closes all listening sockets; removes the file of the unix socket
  void Discard();  // destroys everything except settings and log; a second call does nothing

  Config& config() const { return parts_.config; }                       // directives of this server, and CONFIG SET
  const Settings& settings() const { return parts_.config.settings(); }  // the current directives of this server
  Logger& log() const { return parts_.log; }
  EventLoop& loop() const { return loop_->loop; }
  bool IsBuilt() const { return node_ != nullptr; }  // true between Build and Discard
  // services() and host() require IsBuilt().
  const Services& services() const { return node_->services(); }  // all parts of the server; requires IsBuilt
  NodeHost& host() { return *host_; }

 private:
  Node::Parts MakeNodeParts();  // arguments for the Node's constructor
  void AttachHandlers();        // registers handlers for ticks, stops and new threads
  void LogStatistics();         // logs key counts and memory every few seconds, if the log level shows them
  void StartWatchdog();         // (re)starts the watchdog with `watchdog-period`, or turns it off
  bool HasClients() const;      // whether there are clients, also in isolated test servers; replicas do not count
  void MeasureIdleTime();       // called at each tick: updates idle_ms_, if `exit-on-idle` is set
  Step Listen();                // opens the ports and the unix socket that the settings name
  std::optional<std::string> OpenCluster();  // loads initial_cluster_ or nodes.conf; returns the error
  void ApplyReplidIfEmpty();  // gives a server without data the replication ID replid_if_empty_, if that is set
  Step LoadData();            // loads the data, then starts replication and cluster
  LoadOutcome ReadData();     // copies the data of data_source_, or else reads files
  void CloseServerLinks();    // closes links to other servers; crash reports no longer show this server
  bool IsSentinel() const { return parts_.config.mode() == ServerMode::kSentinel; }  // true: this is a Sentinel
  void HandleRoleChange();      // tells the Owner that the role has changed
  void OnStop(int exit_code);   // called when the Node stops: sets has_stopped_, tells the Owner, closes the listeners
  void WatchSettings();         // makes CONFIG SET of ports, bind and maxclients take effect
  void WatchProcessSettings();  // makes CONFIG SET of title, OOM score, watchdog, crash-log-enabled take effect
  std::optional<std::string> Reopen(Listener::Protocol protocol);  // listens on the changed port; returns the error
  std::optional<std::string> ReopenTls();  // listens with the changed TLS settings; returns the error
  Step Fail(const std::string& reason);    // logs the reason; returns kFailed

  const Parts parts_;                   // arguments of the constructor
  WatchedLoop* loop_ = nullptr;         // the event loop; null before Build
  int64_t next_statistics_log_ms_ = 0;  // when LogStatistics may log next (monotonic time of the machine)
  SystemFiles system_files_;            // the real file system; relative paths begin at the working directory
  FolderFiles files_;                   // file system whose relative paths begin at the folder of this server
  ForkedChildren children_;             // child processes of this server, for BGSAVE, BGREWRITEAOF …
  StartedPrograms programs_;            // scripts that a Sentinel has started
  std::unique_ptr<Node> node_;
  std::unique_ptr<NodeHost> host_;
  std::unique_ptr<Listener> listener_;        // accepts clients; null before Build and after Discard
  std::vector<Descriptor> bus_port_sockets_;  // bound sockets that reserve the cluster bus port until Load opens it
  std::optional<InitialCluster> initial_cluster_;  // the initial cluster nodes; nullopt: nodes.conf has them
  std::string replid_if_empty_;                    // replication ID for a server without data; empty: a new one
  const NodeServer* data_source_ = nullptr;        // the server whose data Load copies; null: Load reads files
  std::atomic<bool> has_stopped_ = false;          // true: the server has stopped; never reset
  std::atomic<int> exit_code_ = 0;                 // exit code of this server; valid after it has stopped
  std::atomic<bool> is_replica_ = false;           // true: replica; false: primary or Sentinel
  int64_t last_client_ms_;  // when there last was a client (real time); at first, when the server was created
  uint64_t accepted_connection_count_ = 0;  // number of connections accepted, as of the last tick
  std::atomic<int64_t> idle_ms_ = 0;        // how many ms there was no client, as of the last tick
};

}  // namespace respite
