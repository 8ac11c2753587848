// NodeRestarts: ends servers of the process as if they had been killed, and restarts them with their original settings
// and the content of their files.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "server/lab/restarts.h"
#include "server/process/group/hosted_server.h"

namespace respite {

class Connection;

class NodeRestarts final : public Restarts {  // kills and restarts servers of the process
 public:
  class Owner {  // receives the events of restarts: the process
   public:
    virtual ~Owner() = default;
    // Creates an unbuilt server that replaces the one of `hosted`.
    virtual std::unique_ptr<NodeServer> MakeServer(const HostedServer& hosted) = 0;
    virtual void HandleServerKilled(HostedServer& hosted) = 0;  // a server was killed
    // Called before the server restarts. From now on a stop of this server counts as a normal stop.
    virtual void HandleServerRestarting(HostedServer& hosted) = 0;
    virtual void HandleServerRestarted(HostedServer& hosted) = 0;  // the server has restarted, and serves
    virtual void HandleRestartFailure(HostedServer& hosted) = 0;   // the server cannot restart; logged
  };

  // All servers run on `loop`. All arguments must outlive the object.
  NodeRestarts(Owner& owner, std::vector<HostedServer>& hosted_servers, WatchedLoop& loop);

  bool Crash(const Session& caller, DataAfterCrash remains) override;  // kills and restarts the caller's server

  // Kill and Revive must not be called within a turn of the server, but in a task of RunLater.
  void RunLater(std::function<void()> task) { loop_.loop.Post(nullptr, std::move(task)); }
  // Ends the server as a crash of the machine would: its files keep the data that `appendfsync` guarantees.
  void Kill(HostedServer& hosted);
  // Restarts the server. Returns false if it cannot; the reason is logged. Requires: it was killed, or has stopped.
  bool Revive(HostedServer& hosted);

 private:
  HostedServer* FindHostedServer(const NodeHost& host);  // null: none of these
  // Ends the server: closes all clients except `spared`, and leaves its files as `remains` says. Stops listening, but
  // keeps the ports reserved so that no other program takes them. The server object still has its data.
  void End(HostedServer& hosted, const DataAfterCrash& remains, const Session* spared);
  // Starts hosted.node in place of `before`. If all data remains, it is copied from `before`.
  NodeServer::Step StartReplacement(HostedServer& hosted, NodeServer& before, const DataAfterCrash& remains);
  void Restart(HostedServer& hosted, Connection& connection, const DataAfterCrash& remains);  // after Kill

  Owner& owner_;
  std::vector<HostedServer>& hosted_;  // all servers of the process
  WatchedLoop& loop_;
};

}  // namespace respite
