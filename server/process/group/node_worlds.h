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

class NodeWorlds final : public Worlds, public Restarts, public NodeServer::Owner {
 public:
  struct Parts {
    NodeServer::Owner& owner;  // of the server that has the worlds
    NodeServer& server;
    WatchedLoop& loop;
    const Config& config;  // of that server; copied in the constructor, so later CONFIG SET has no effect
    const Clock& clock;
    const Pace& pace;
  };
  explicit NodeWorlds(const Parts& parts);
  ~NodeWorlds() override;

  // Worlds
  bool Has(Bytes name) const override { return worlds_.contains(name); }
  std::optional<std::string> Create(Bytes name, const Order& order) override;
  void Drop(Bytes name) override;
  std::vector<Summary> List() const override;
  size_t Count() const override { return worlds_.size(); }
  bool HaveClients() const override;
  int PortOf(Bytes name) const override;
  bool MayMove(const Session& session) const override;
  bool Enter(const Session& session, Entry entry) override;

  // Restarts, for the worlds
  bool Crash(const Session& caller, Remains remains) override;

  // NodeServer::Owner
  void PrepareChild(const NodeServer& node, ChildWork work) override { parts_.owner.PrepareChild(node, work); }
  void OnStop(NodeServer& node) override;
  void OnShutdownCancelled() override {}
  void OnShutdownStatus(const std::string&) override {}
  void OnRole(NodeServer&) override {}
  void OnTitle(const NodeServer&) override {}
  void OnIdle() override {}
  std::optional<std::string> OnOomScore(NodeServer&) override;

 private:
  struct World {
    std::unique_ptr<OwnFolder> folder;
    std::unique_ptr<Config> config;
    std::unique_ptr<Logger> log;
    std::unique_ptr<NodeServer> node;  // destroyed before the other members
    int64_t used_ms = 0;               // in Pace time
  };

  // Runs the task when the loop is free. Skips it if the worlds have been destroyed by then, since their server may
  // crash.
  void Later(std::function<void()> task);
  std::function<void()> IfThere(std::function<void()> task) const;
  std::unique_ptr<Config> ConfigFor(const Order& order, Folder& folder) const;
  NodeServer& ServerOf(Bytes world) const;
  // Returns a world that has not started.
  World Prepared(Bytes name, const Order& order);
  // The server that a new world replaces
  struct Before {
    const NodeServer* server = nullptr;  // null: it replaces none
    bool has_data = false;               // the world continues with the data of `server`
  };
  // Returns false if the world cannot start; the reason is logged.
  bool Begin(NodeServer& node, const Before& before);
  void Add(Bytes name, World world);
  void Restart(const std::string& name, Connection& connection, const Remains& remains);
  // Requires: the connection is open, and the world exists.
  void Move(Connection& connection, const Entry& entry);
  // Returns the empty name for the server that has the worlds, and nullopt for a world that was dropped.
  std::optional<std::string> NameOf(const NodeHost& host) const;
  void AwaitIdle();
  void DropIdle();

  const Parts parts_;
  OwnFolder nowhere_;
  const std::unique_ptr<Config> base_;
  std::map<std::string, World, std::less<>> worlds_;
  std::vector<World> dropped_;  // destroyed in the next turn
  bool awaits_idle_ = false;
  const std::shared_ptr<bool> life_ = std::make_shared<bool>();  // expires with the worlds
};

}  // namespace respite
