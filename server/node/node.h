// Node: a server without sockets. It owns the subsystems and connects them; the behaviour is in their parts. A NodeHost
// on an EventLoop (or a test) drives it.
#pragma once

#include "base/movable_clock.h"
#include "persistence/file_system.h"
#include "server/catalogue/command_table.h"
#include "server/clients/client_subsystem.h"
#include "server/cluster/cluster_mode.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/lab/faults/disk_faults.h"
#include "server/lab/lab.h"
#include "server/migration/migrations.h"
#include "server/net/tls/tls.h"
#include "server/node/housekeeping.h"
#include "server/observe/identity.h"
#include "server/replication/replication.h"
#include "server/runtime/env.h"
#include "server/sentinel/sentinel_mode.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

class Node {
 public:
  // All parts that come from outside. They must outlive the Node.
  struct Parts {
    Config& config;
    const Clock& clock;
    const Pace& pace;
    Logger& log;
    HashKey hash_key;      // of all tables; clients may see it only in the order of tables
    uint64_t random_seed;  // of random choices, which clients see
    FileSystem& files;
    Forker& forker;
    IdSource ids = {};  // of IDs and passwords
  };
  explicit Node(const Parts& outside);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Returns the parts of the server: for commands, the process and tests.
  const Services& services() const { return services_; }
  // Returns the object to which the driver (NodeHost, or a test) attaches itself.
  Runtime& runtime() { return runtime_; }
  Housekeeping& housekeeping() { return housekeeping_; }

 private:
  void RegisterHooks();

  const std::unique_ptr<MovableClock> movable_clock_;  // null: the clock cannot be moved
  DiskFaults disk_faults_;
  FaultyDisk faulty_disk_;
  CommandTable commands_;
  Runtime runtime_;
  DataSubsystem data_;
  ClientSubsystem clients_;
  Services services_;
  Identity identity_;
  Tls tls_;
  ExecutionSubsystem execution_;
  StorageSubsystem storage_;
  Housekeeping housekeeping_;
  Lab lab_;
  Replication replication_;
  Migrations migrations_;
  ClusterMode cluster_;
  SlotMigrations slot_migrations_;
  SentinelMode sentinel_;
};

}  // namespace respite
