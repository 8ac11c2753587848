// NodeWorlds: the worlds of a server, each a NodeServer on its loop. They have no files, and end when nobody has used
// them for some time (test-world-idle), or with the server.
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
    const Config& config;  // of that server; worlds begin with what it is now, whatever CONFIG SET changes later
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
    std::unique_ptr<NodeServer> node;  // before the others it goes
    int64_t used_ms = 0;               // of the Pace
  };

  // Runs it when the loop is free, unless the worlds are gone by then: the server that has them may crash.
  void Later(std::function<void()> task);
  std::function<void()> IfThere(std::function<void()> task) const;
  std::unique_ptr<Config> ConfigFor(const Order& order, Folder& folder) const;
  NodeServer& ServerOf(Bytes world) const;
  // A world that has not begun.
  World Prepared(Bytes name, const Order& order);
  // Whose place a world takes.
  struct Before {
    const NodeServer* server = nullptr;  // null: it is a new one
    bool has_data = false;               // which goes on
  };
  // False: it cannot; the reason is logged.
  bool Begin(NodeServer& node, const Before& before);
  void Add(Bytes name, World world);
  void Restart(const std::string& name, Connection& connection, const Remains& remains);
  // Requires: the connection is open, and there is such a world.
  void Move(Connection& connection, const Entry& entry);
  // Empty: the server that has the worlds. Nothing: a world that was dropped.
  std::optional<std::string> NameOf(const NodeHost& host) const;
  void AwaitIdle();
  void DropIdle();

  const Parts parts_;
  OwnFolder nowhere_;
  const std::unique_ptr<Config> base_;
  std::map<std::string, World, std::less<>> worlds_;
  std::vector<World> dropped_;  // freed in the next Turn
  bool awaits_idle_ = false;
  const std::shared_ptr<bool> life_ = std::make_shared<bool>();  // ends with the worlds
};

}  // namespace respite
