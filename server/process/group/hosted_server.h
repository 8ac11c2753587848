// HostedServer: a server of the process, and the objects that only this server uses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/log.h"
#include "server/config/config.h"
#include "server/config/folder.h"
#include "server/process/group/node_worlds.h"
#include "server/process/group/task_thread.h"
#include "server/process/node_server.h"

namespace respite {

struct HostedServer {                  // a server of the process, and the objects that only this server uses
  std::string name;                    // "node-1", "sentinel-1" …; empty for a single server
  std::unique_ptr<OwnFolder> folder;   // folder of the server's files; null: the folder of the process
  std::unique_ptr<Config> config;      // configuration of the server; null: the configuration of the process
  std::unique_ptr<Logger> log;         // log of the server; null: the log of the process
  std::unique_ptr<WatchedLoop> loop;   // event loop of the server; null: the loop of the main thread
  std::unique_ptr<TaskThread> thread;  // thread of the server's loop; null: the main thread
  std::unique_ptr<NodeServer> node;
  std::unique_ptr<NodeWorlds> worlds;  // isolated servers that tests create with TEST WORLD; null: not allowed
  std::unique_ptr<const Config> restart_config;  // configuration for a restart after a crash; null: no restart
  std::vector<Descriptor> reserved_ports;        // sockets that reserve the server's ports while it is killed
  bool is_shutdown_requested = false;            // true: the server was told to shut down
  bool is_killed = false;  // true: killed by a test, so the process must not end when this server stops

  bool Lives() const { return !is_killed && !node->HasStopped(); }  // true: not killed, and not stopped
};

}  // namespace respite
