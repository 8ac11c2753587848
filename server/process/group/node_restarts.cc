#include "server/process/group/node_restarts.h"

#include <algorithm>
#include <utility>

#include "server/clients/clients.h"
#include "server/node/connection.h"

namespace respite {

NodeRestarts::NodeRestarts(Owner& owner, std::vector<HostedServer>& hosted_servers, WatchedLoop& loop)
    : owner_(owner), hosted_servers_(hosted_servers), loop_(loop) {
  for (HostedServer& hosted : hosted_servers_) {
    const Config& config = hosted.node->config();
    auto start = config.CopyForServerIn(*config.settings().folder);
    if (start->settings().port == kAutoPort) start->MutableSettings().port = start->settings().bound_port;
    hosted.restart_config = std::move(start);
    hosted.node->services().lab.restarts = this;
  }
}

bool NodeRestarts::Crash(const Session& caller, DataAfterCrash remains) {
  Connection* const connection = Connection::FindMovable(caller);
  if (connection == nullptr || FindServerRunBy(connection->host()) == nullptr) return false;
  loop_.loop.Post(nullptr, [this, weak = connection->Self(), remains] {
    const auto staying = weak.lock();
    HostedServer* const home = staying == nullptr || staying->IsClosing() ? nullptr : FindServerRunBy(staying->host());
    if (home != nullptr) Restart(*home, *staying, remains);
  });
  return true;
}

HostedServer* NodeRestarts::FindServerRunBy(const NodeHost& host) {
  const auto is_its = [&](const HostedServer& hosted) { return hosted.Lives() && &hosted.node->host() == &host; };
  const auto found = std::ranges::find_if(hosted_servers_, is_its);
  return found == hosted_servers_.end() ? nullptr : &*found;
}

void NodeRestarts::End(HostedServer& hosted, const DataAfterCrash& remains, const Session* spared) {
  hosted.is_killed = true;
  hosted.worlds.reset();
  hosted.node->Crash(remains.policy, spared);
  hosted.reserved_ports = hosted.node->ReservePorts();
  owner_.HandleServerKilled(hosted);
}

void NodeRestarts::Kill(HostedServer& hosted) {
  End(hosted, {.policy = hosted.node->settings().appendfsync}, nullptr);
  hosted.node->Discard();
}

NodeServer::Step NodeRestarts::StartReplacement(HostedServer& hosted, NodeServer& before,
                                                const DataAfterCrash& remains) {
  using enum NodeServer::Step;
  NodeServer& node = *hosted.node;
  node.config().ResetTo(*hosted.restart_config);
  hosted.is_killed = false;
  owner_.HandleServerReviving(hosted);
  if (node.config().mode() == ServerMode::kSentinel) {
    if (const auto error = node.config().RereadSentinelLines()) {
      node.log().Warning(error->text);
      return kFailed;
    }
  }
  if (node.Build(loop_) == kFailed) return kFailed;
  node.services().lab.restarts = this;
  if (before.IsBuilt()) node.InheritTestState(before);
  if (remains.from == DataAfterCrash::From::kAll) node.SetDataSource(before);
  if (node.Open() == kFailed) return kFailed;
  const NodeServer::Step outcome = node.Load();
  if (outcome != kDone) return outcome;
  hosted.reserved_ports.clear();
  node.ConnectToPeers();
  return kDone;
}

void NodeRestarts::Restart(HostedServer& hosted, Connection& connection, const DataAfterCrash& remains) {
  End(hosted, remains, &connection.session());
  const auto before = std::exchange(hosted.node, owner_.MakeServer(hosted));
  const NodeServer::Step outcome = StartReplacement(hosted, *before, remains);
  if (outcome == NodeServer::Step::kFailed) return owner_.HandleRestartFailure(hosted);
  if (outcome == NodeServer::Step::kStopped) return;
  connection.MoveToRestarted(hosted.node->host(), "+OK\r\n");
  owner_.HandleServerRestarted(hosted);
  hosted.node->LogReady();
}

bool NodeRestarts::Revive(HostedServer& hosted) {
  const auto before = std::exchange(hosted.node, owner_.MakeServer(hosted));
  const NodeServer::Step outcome = StartReplacement(hosted, *before, {});
  if (outcome == NodeServer::Step::kFailed) owner_.HandleRestartFailure(hosted);
  if (outcome != NodeServer::Step::kDone) return false;
  owner_.HandleServerRestarted(hosted);
  hosted.node->LogReady();
  return true;
}

}  // namespace respite
