// NodeWorlds: the worlds of a server. A world is a NodeServer on the loop of that server. It has no files, and ends
// with the server, or when it was not used for some time (test-world-idle).
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
    NodeServer::Owner& owner;  // of the server that has the worlds
    NodeServer& server;        // the server that has the worlds
    WatchedLoop& loop;
    const Config& config;  // of that server; copied in the constructor, so later CONFIG SET has no effect
    const Clock& clock;
    const Pace& pace;
  };
  explicit NodeWorlds(const Parts& parts);
  ~NodeWorlds() override;

  // Worlds
  bool Has(Bytes name) const override { return worlds_.contains(name); }
  std::optional<std::string> Create(Bytes name, const Order& order) override;  // returns an error
  void Drop(Bytes name) override;
  std::vector<Summary> List() const override;
  size_t Count() const override { return worlds_.size(); }
  bool HaveClients() const override;                         // whether any world has clients
  int PortOf(Bytes name) const override;                     // 0: the world has no port of its own
  bool MayMove(const Session& session) const override;       // whether this client can enter a world
  bool Enter(const Session& session, Entry entry) override;  // moves the client to a world

  // Restarts, for the worlds
  bool Crash(const Session& caller, DataAfterCrash remains) override;  // kills and restarts the caller's world

  // NodeServer::Owner
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
    std::unique_ptr<OwnFolder> folder;  // a path that does not exist
    std::unique_ptr<Config> config;
    std::unique_ptr<Logger> log;
    std::unique_ptr<NodeServer> node;  // destroyed before the other members
    int64_t used_ms = 0;               // Pace time when it last had a client
  };

  void RunLater(std::function<void()> task);  // when the loop is free, if the worlds still exist
  std::function<void()> SkipIfDestroyed(std::function<void()> task) const;      // does nothing once the worlds are gone
  std::unique_ptr<Config> ConfigFor(const Order& order, Folder& folder) const;  // base_, changed as ordered
  NodeServer& ServerOf(Bytes world) const;             // an empty name: the server that has the worlds
  World PrepareWorld(Bytes name, const Order& order);  // not started yet
  struct ReplacedServer {                              // the server that a new world replaces
    const NodeServer* server = nullptr;                // null: it replaces none
    bool has_data = false;                             // the world continues with the data of `server`
  };
  bool StartWorld(NodeServer& node, const ReplacedServer& before);  // false: logged
  void Add(Bytes name, World world);
  void Restart(const std::string& name, Connection& connection, const DataAfterCrash& remains);  // after a crash
  // Requires: the connection is open, and the world exists.
  void Move(Connection& connection, const Entry& entry);
  std::optional<std::string> NameOf(const NodeHost& host) const;  // empty: the server itself; nullopt: dropped
  void StartIdleTimer();                                          // starts a timer for DropIdleWorlds
  void DropIdleWorlds();                                          // worlds unused for test-world-idle

  const Parts parts_;  // arguments of the constructor
  OwnFolder nowhere_;  // a folder that does not exist: worlds have no files
  const std::unique_ptr<Config> base_;
  std::map<std::string, World, std::less<>> worlds_;             // by name
  std::vector<World> dropped_;                                   // destroyed in the next turn
  bool awaits_idle_ = false;                                     // the timer for DropIdleWorlds runs
  const std::shared_ptr<bool> life_ = std::make_shared<bool>();  // expires with the worlds
};

}  // namespace respite
