// NodeWorlds: the worlds of a server. A world is an isolated server for one test: a NodeServer on the loop of the
// server to which it belongs. A world has no files. A world ends with that server, or when it was not used for some
// time (test-world-idle).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "server/config/config.h"
#include "server/config/folder.h"
#include "server/lab/restarts.h"
#include "server/lab/worlds.h"
#include "server/process/node_server.h"

namespace respite {

class Connection;

class NodeWorlds final : public Worlds, public Restarts, public NodeServer::Owner {  // isolated servers (worlds)
 public:
  struct Parts {               // arguments of the constructor
    NodeServer::Owner& owner;  // owner of `server`; its PrepareChild is also called in children of isolated servers
    NodeServer& server;        // the main server, to which the isolated servers belong
    WatchedLoop& loop;
    const Config& config;  // configuration of `server`, copied by the constructor, so later changes have no effect
    const Clock& clock;    // clock of the machine: Unix time and monotonic time
    const RealClock& real_clock;
  };
  explicit NodeWorlds(const Parts& parts);
  ~NodeWorlds() override;

  // The functions of Worlds.
  bool Has(Bytes name) const override { return worlds_.contains(name); }  // true: an isolated server has this name
  std::optional<std::string> Create(Bytes name,  // creates an isolated server; nullopt: done; or the error
                                    const WorldOptions& options) override;
  void Drop(Bytes name) override;  // ends the isolated server with this name
  std::vector<Summary> List() const override;
  size_t Count() const override { return worlds_.size(); }  // number of isolated servers
  bool HaveClients() const override;                        // whether any isolated server has a client
  int PortOf(Bytes name) const override;  // port on which this server listens (empty: the main server); 0: none
  bool MayMove(const Session& session) const override;       // whether this client can move to another of these servers
  bool Enter(const Session& session, Entry entry) override;  // moves the client in the next turn; false: impossible

  // Crashes and restarts the isolated server (world) of `caller`, as Restarts::Crash says. Returns false if the client
  // cannot move (Connection::FindMovable). Clients of the main server call NodeRestarts::Crash instead.
  bool Crash(const Session& caller, DataAfterCrash remains) override;  // restarts the caller's world; false: impossible

  // These functions implement NodeServer::Owner: they handle the events of the isolated servers (worlds).
  void PrepareChild(const NodeServer& node, ChildWork work) override {  // called first in a new child process
    parts_.owner.PrepareChild(node, work);
  }
  void HandleServerStopped(NodeServer& node) override;   // removes the stopped server
  void OnShutdownCancelled() override {}                 // does nothing: only for the main server
  void OnShutdownStatus(const std::string&) override {}  // does nothing: only for the main server
  void HandleRoleChange(NodeServer&) override {}         // does nothing: only for the main server
  void HandleTitleChange(const NodeServer&) override {}  // does nothing: the title is the main server's
  void HandleIdleServer() override {}                    // nothing: DropIdleWorlds ends unused servers
  std::optional<std::string> HandleOomScoreChange(NodeServer&) override;  // always an error: no own process

 private:
  struct World {                        // an isolated server in this process, for one test
    std::unique_ptr<OwnFolder> folder;  // its current folder, which does not exist on the disk: it has no files
    std::unique_ptr<Config> config;     // configuration of the isolated server
    std::unique_ptr<Logger> log;
    std::unique_ptr<NodeServer> node;  // destroyed before the other members
    int64_t last_used_ms = 0;  // when a check last found a client, at first when the server was created (real time)
  };

  void RunLater(std::function<void()> task);  // runs `task` in a later loop iteration, but not after the destructor
  std::function<void()> SkipIfDestroyed(std::function<void()> task) const;  // `task`, but a no-op once this is gone
  // Returns a copy of base_ with the version and the port of `options`, but without files, Unix socket and TLS port.
  std::unique_ptr<Config> ConfigOfWorld(const WorldOptions& options,  // the configuration of an isolated server
                                        Folder& folder) const;
  NodeServer& ServerOf(Bytes world) const;  // the isolated server of this name; empty: the main server
  World PrepareWorld(Bytes name, const WorldOptions& options);  // makes an isolated server, without starting it
  struct ReplacedServer {                // the server (if any) that a new isolated server replaces
    const NodeServer* server = nullptr;  // the replaced server; null: none
    bool has_data = false;               // true: the new server continues with the data of `server`
  };
  bool StartWorld(NodeServer& node, const ReplacedServer& before);  // starts an isolated server; false: failed (logged)
  void Add(Bytes name, World world);
  void Restart(const std::string& name, Connection& connection,  // restarts an isolated server (TEST CRASH)
               const DataAfterCrash& remains);
  // Moves the client to the server that entry.world names, an isolated server (world) or the main server. Requires: the
  // connection is open, and that server exists.
  void Move(Connection& connection, const Entry& entry);
  std::optional<std::string> NameOf(const NodeHost& host) const;  // name of a server; "": main server; nullopt: dropped
  void StartIdleTimer();                                          // starts a timer that calls DropIdleWorlds
  void DropIdleWorlds();  // ends isolated servers that had no client for test-world-idle

  const Parts parts_;                                 // arguments of the constructor
  OwnFolder nonexistent_folder_;                      // a folder that does not exist, for servers without files
  const std::unique_ptr<Config> base_;                // copy of the configuration, with which isolated servers start
  std::map<std::string, World, std::less<>> worlds_;  // the isolated test servers (TEST WORLD), by world name
  std::vector<World> dropped_worlds_;  // stopped servers of TEST WORLD, destroyed by the next loop iteration
  bool has_idle_timer_ = false;        // true: a timer that will call DropIdleWorlds is set
  const std::shared_ptr<bool> life_ = std::make_shared<bool>();  // expires with this object
};

}  // namespace respite
