// NodeRestarts: ends servers of the process as if they had been killed, and restarts them with their original settings
// and with what their files contain (or with all their data, if TEST CRASH asks for that).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "server/lab/restarts.h"
#include "server/process/group/hosted_server.h"

namespace respite {

class Connection;

class NodeRestarts final : public Restarts {  // kills and restarts servers of the process (TEST CRASH, TEST CLUSTER)
 public:
  class Owner {  // interface: is told of kills and restarts; implemented by ServerProcess
   public:
    virtual ~Owner() = default;
    // Creates a server that will replace the one of `hosted`. The caller must call Build of the new server.
    virtual std::unique_ptr<NodeServer> MakeServer(const HostedServer& hosted) = 0;  // creates a replacement server
    // Called after a server was killed. The owner must not end the process because of this, even if no server is left.
    virtual void HandleServerKilled(HostedServer& hosted) = 0;  // called after a server was killed
    // Called before a killed or stopped server starts again. From now on, the process counts the server as running, so
    // its next stop may end the process.
    virtual void HandleServerReviving(HostedServer& hosted) = 0;   // a dead server starts again: it counts as running
    virtual void HandleServerRestarted(HostedServer& hosted) = 0;  // the server has restarted, and serves clients
    virtual void HandleRestartFailure(HostedServer& hosted) = 0;   // the server cannot restart; the reason is logged
  };

  // All servers run on `loop`. All arguments must outlive the object.
  NodeRestarts(Owner& owner, std::vector<HostedServer>& hosted_servers, WatchedLoop& loop);

  // Ends the server of `caller` in the next turn, and starts a replacement, to which the caller's connection moves.
  // Returns false if the server cannot be crashed.
  bool Crash(const Session& caller, DataAfterCrash remains) override;  // crashes the caller's server; false: impossible

  // Runs `task` in the next turn of the loop. Kill and Revive must be called only within RunLater.
  void RunLater(std::function<void()> task) {  // runs `task` in the next iteration of the event loop
    loop_.loop.Post(nullptr, std::move(task));
  }
  // Ends the server as a crash of the machine would. Its files keep only the data that `appendfsync` guarantees.
  void Kill(HostedServer& hosted);  // ends the server as a crash of the machine would
  // Restarts the server. Requires: the server was killed, or has stopped.
  bool Revive(HostedServer& hosted);  // restarts a dead server; false: failed (logged), or stopped meanwhile

 private:
  HostedServer* FindServerRunBy(const NodeHost& host);  // the live server whose Node `host` runs; null: none
  // Ends the server: closes all clients except `spared`, and leaves its files as `remains` says. It no longer listens,
  // but its ports stay reserved, so that no other program takes them. The server object keeps its data in memory.
  void End(HostedServer& hosted, const DataAfterCrash& remains, const Session* spared);
  // Starts hosted.node in place of `before`, which was killed. If `remains.from` is kAll, loads the data that `before`
  // still has in memory; otherwise loads the files.
  NodeServer::Step StartReplacement(HostedServer& hosted, NodeServer& before,  // starts hosted.node after a kill
                                    const DataAfterCrash& remains);
  // Ends the server and starts its replacement. Then moves the client of `connection` to the replacement, and replies.
  void Restart(HostedServer& hosted, Connection& connection,  // restarts the server, then replies to the client
               const DataAfterCrash& remains);

  Owner& owner_;                               // is told of kills and restarts
  std::vector<HostedServer>& hosted_servers_;  // all servers of the process
  WatchedLoop& loop_;
};

}  // namespace respite
