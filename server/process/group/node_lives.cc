#include "server/process/group/node_lives.h"

#include <algorithm>
#include <utility>

#include "server/clients/clients.h"
#include "server/node/connection.h"

namespace respite {

NodeLives::NodeLives(Owner& owner, std::vector<Resident>& residents, WatchedLoop& loop)
    : owner_(owner), residents_(residents), loop_(loop) {
  for (Resident& resident : residents_) {
    const Config& config = resident.node->config();
    auto start = config.CopyFor(*config.settings().folder);
    if (start->settings().port == kAutoPort) start->Adjust().port = start->settings().bound_port;
    resident.start = std::move(start);
    resident.node->node().lab().restarts = this;
  }
}

bool NodeLives::Crash(const Session& caller, Remains remains) {
  Connection* const connection = Connection::Movable(caller);
  if (connection == nullptr || HomeOf(connection->host()) == nullptr) return false;
  loop_.loop.Post(nullptr, [this, weak = connection->Self(), remains] {
    const auto staying = weak.lock();
    Resident* const home = staying == nullptr || staying->IsClosing() ? nullptr : HomeOf(staying->host());
    if (home != nullptr) Restart(*home, *staying, remains);
  });
  return true;
}

Resident* NodeLives::HomeOf(const NodeHost& host) {
  const auto is_its = [&](const Resident& resident) { return resident.Lives() && &resident.node->host() == &host; };
  const auto found = std::ranges::find_if(residents_, is_its);
  return found == residents_.end() ? nullptr : &*found;
}

void NodeLives::End(Resident& resident, const Remains& remains, const Session* spared) {
  resident.is_killed = true;
  resident.worlds.reset();
  resident.node->Crash(remains.policy, spared);
  resident.ports = resident.node->HoldPorts();
  owner_.OnKilled(resident);
}

void NodeLives::Kill(Resident& resident) {
  End(resident, {.policy = resident.node->settings().appendfsync}, nullptr);
  resident.node->Discard();
}

NodeServer::Step NodeLives::Begin(Resident& resident, NodeServer& before, const Remains& remains) {
  using enum NodeServer::Step;
  NodeServer& node = *resident.node;
  node.config().BeginAgain(*resident.start);
  resident.is_killed = false;
  owner_.OnReviving(resident);
  if (node.config().mode() == ServerMode::kSentinel) {
    if (const auto error = node.config().ReadSentinelLines()) {
      node.log().Warning(error->text);
      return kFailed;
    }
  }
  if (node.Build(loop_) == kFailed) return kFailed;
  node.node().lab().restarts = this;
  if (before.IsBuilt()) node.Inherit(before);
  if (remains.from == Remains::From::kAll) node.SetDataOf(before);
  if (node.Open() == kFailed) return kFailed;
  const NodeServer::Step outcome = node.Load();
  if (outcome != kDone) return outcome;
  resident.ports.clear();
  node.Reach();
  return kDone;
}

void NodeLives::Restart(Resident& resident, Connection& connection, const Remains& remains) {
  End(resident, remains, &connection.session());
  const auto before = std::exchange(resident.node, owner_.MakeServer(resident));
  const NodeServer::Step outcome = Begin(resident, *before, remains);
  if (outcome == NodeServer::Step::kFailed) return owner_.OnLost(resident);
  if (outcome == NodeServer::Step::kStopped) return;
  connection.Rejoin(resident.node->host(), "+OK\r\n");
  owner_.OnBack(resident);
  resident.node->LogReady();
}

bool NodeLives::Revive(Resident& resident) {
  const auto before = std::exchange(resident.node, owner_.MakeServer(resident));
  const NodeServer::Step outcome = Begin(resident, *before, {});
  if (outcome == NodeServer::Step::kFailed) owner_.OnLost(resident);
  if (outcome != NodeServer::Step::kDone) return false;
  owner_.OnBack(resident);
  resident.node->LogReady();
  return true;
}

}  // namespace respite
