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

class NodeWorlds final : public Worlds, public Restarts, public NodeServer::Owner {  // isolated servers for tests
 public:
  struct Parts {               // arguments of the constructor
    NodeServer::Owner& owner;  // receives the events of `server`
    NodeServer& server;        // the server that has the worlds
    WatchedLoop& loop;
    const Config& config;  // configuration of `server`, copied by the constructor, so later changes have no effect
    const Clock& clock;
    const Pace& pace;
  };
  explicit NodeWorlds(const Parts& parts);
  ~NodeWorlds() override;

  // The functions of Worlds.
  bool Has(Bytes name) const override { return worlds_.contains(name); }       // a world has this name
  std::optional<std::string> Create(Bytes name, const Order& order) override;  // returns the error; nullopt: created
  void Drop(Bytes name) override;                                              // ends the world
  std::vector<Summary> List() const override;
  size_t Count() const override { return worlds_.size(); }   // number of worlds
  bool HaveClients() const override;                         // true if any world has a client
  int PortOf(Bytes name) const override;                     // port on which the world listens; 0: none
  bool MayMove(const Session& session) const override;       // true if this client can enter a world
  bool Enter(const Session& session, Entry entry) override;  // moves the client to a world; false: impossible

  // The function of Restarts, for the worlds.
  bool Crash(const Session& caller, DataAfterCrash remains) override;  // simulates a crash of the client's world

  // The functions of NodeServer::Owner, for the worlds.
  void PrepareChild(const NodeServer& node, ChildWork work) override { parts_.owner.PrepareChild(node, work); }
  void HandleServerStopped(NodeServer& node) override;
  void OnShutdownCancelled() override {}
  void OnShutdownStatus(const std::string&) override {}
  void HandleRoleChange(NodeServer&) override {}
  void HandleTitleChange(const NodeServer&) override {}
  void HandleIdleServer() override {}
  std::optional<std::string> HandleOomScoreChange(NodeServer&) override;

 private:
  struct World {                        // an isolated server
    std::unique_ptr<OwnFolder> folder;  // a folder that does not exist, since a world has no files
    std::unique_ptr<Config> config;
    std::unique_ptr<Logger> log;
    std::unique_ptr<NodeServer> node;  // destroyed before the other members
    int64_t last_used_ms = 0;          // Pace time when the world last had a client
  };

  void RunLater(std::function<void()> task);  // runs it when the loop is free, if the worlds still exist
  std::function<void()> SkipIfDestroyed(std::function<void()> task) const;      // a task that first checks life_
  std::unique_ptr<Config> ConfigFor(const Order& order, Folder& folder) const;  // base_, changed as ordered
  NodeServer& ServerOf(Bytes world) const;             // an empty name: the server to which the worlds belong
  World PrepareWorld(Bytes name, const Order& order);  // creates a world, without starting it
  struct ReplacedServer {                              // the server that a new world replaces
    const NodeServer* server = nullptr;                // null: the world replaces none
    bool has_data = false;                             // the world continues with the data of `server`
  };
  bool StartWorld(NodeServer& node, const ReplacedServer& before);  // false: it failed, and the reason is logged
  void Add(Bytes name, World world);
  void Restart(const std::string& name, Connection& connection, const DataAfterCrash& remains);  // after a crash
  // Moves the client to a world. Requires: the connection is open, and the world exists.
  void Move(Connection& connection, const Entry& entry);
  std::optional<std::string> NameOf(const NodeHost& host) const;  // "": the server itself; nullopt: a dropped world
  void StartIdleTimer();                                          // starts a timer that calls DropIdleWorlds
  void DropIdleWorlds();                                          // ends worlds that were unused for test-world-idle

  const Parts parts_;                                            // arguments of the constructor
  OwnFolder missing_folder_;                                     // a folder that does not exist: worlds have no files
  const std::unique_ptr<Config> base_;                           // copy of the configuration, from which worlds begin
  std::map<std::string, World, std::less<>> worlds_;             // by name
  std::vector<World> dropped_worlds_;                            // stopped worlds, destroyed in the next turn
  bool has_idle_timer_ = false;                                  // a timer for DropIdleWorlds runs
  const std::shared_ptr<bool> life_ = std::make_shared<bool>();  // tasks hold a weak_ptr, which expires with the worlds
};

}  // namespace respite
