// HostedServer: a server of the process, and what it has of its own.
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

struct HostedServer {
  std::string name;                    // among several: "node-1"
  std::unique_ptr<OwnFolder> folder;   // null: that of the process
  std::unique_ptr<Config> config;      // null: that of the process
  std::unique_ptr<Logger> log;         // null: that of the process
  std::unique_ptr<WatchedLoop> loop;   // null: that of the main thread
  std::unique_ptr<TaskThread> thread;  // null: the main thread; the loop is made there
  std::unique_ptr<NodeServer> node;
  std::unique_ptr<NodeWorlds> worlds;   // null: it may have none
  std::unique_ptr<const Config> start;  // what it begins again with; null: it cannot
  std::vector<Descriptor> ports;        // of a server that was killed
  bool is_signalled = false;
  bool is_killed = false;  // its end is not that of the service

  bool Lives() const { return !is_killed && !node->HasStopped(); }
};

}  // namespace respite
