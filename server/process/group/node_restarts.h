// NodeRestarts: ends servers of the process as if they had been killed, and lets them begin again: with the settings of
// their start, and what their files have.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "server/lab/restarts.h"
#include "server/process/group/hosted_server.h"

namespace respite {

class Connection;

class NodeRestarts final : public Restarts {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // A server that is not built yet, to take the place of the one that was there.
    virtual std::unique_ptr<NodeServer> MakeServer(const HostedServer& hosted) = 0;
    // It was killed.
    virtual void OnKilled(HostedServer& hosted) = 0;
    // It is about to begin again; from here on its end is one as any other.
    virtual void OnReviving(HostedServer& hosted) = 0;
    // It serves again.
    virtual void OnBack(HostedServer& hosted) = 0;
    // It cannot begin again; the reason is logged.
    virtual void OnLost(HostedServer& hosted) = 0;
  };

  // All live on this loop. All must outlive it.
  NodeRestarts(Owner& owner, std::vector<HostedServer>& hosted_servers, WatchedLoop& loop);

  bool Crash(const Session& caller, Remains remains) override;

  // These must not be called within a Turn of the server, but in a task of Later.
  void Later(std::function<void()> task) { loop_.loop.Post(nullptr, std::move(task)); }
  // The machine stops: what its files keep is what `appendfsync` promises.
  void Kill(HostedServer& hosted);
  // False: it cannot; the reason is logged. Requires: it was killed, or has stopped.
  bool Revive(HostedServer& hosted);

 private:
  // Null: a server of others.
  HostedServer* HomeOf(const NodeHost& host);
  // Its clients are gone but for `spared`, its port is free, and its files are as they remain; it still has its data.
  void End(HostedServer& hosted, const Remains& remains, const Session* spared);
  // In the place of `before`, which still has the data if that is what remains.
  NodeServer::Step Begin(HostedServer& hosted, NodeServer& before, const Remains& remains);
  void Restart(HostedServer& hosted, Connection& connection, const Remains& remains);

  Owner& owner_;
  std::vector<HostedServer>& hosted_;
  WatchedLoop& loop_;
};

}  // namespace respite
