// Node: a server without sockets. It owns all parts of the server and connects them; the behaviour is in these parts. A
// NodeHost, or a test, runs the Node.
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

class Node {  // one server without its sockets
 public:
  struct Parts {         // what comes from outside and must outlive the Node
    Config& config;      // the values of all directives
    const Clock& clock;  // the time that clients see
    const Pace& pace;    // real elapsed time, for timeouts; cannot be moved
    Logger& log;
    HashKey hash_key;      // key of the hashes in all tables
    uint64_t random_seed;  // seed of random choices that clients can see
    FileSystem& files;     // where the Node reads and writes its files
    Forker& forker;        // forks children for background saves
    IdSource ids = {};     // source of random IDs and passwords
  };
  explicit Node(const Parts& outside);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const Services& services() const { return services_; }  // all parts of the server
  Runtime& runtime() { return runtime_; }                 // environment; NodeHost or a test attaches to it
  Housekeeping& housekeeping() { return housekeeping_; }  // periodic work

 private:
  void RegisterHooks();  // connects the parts that call each other

  const std::unique_ptr<MovableClock> movable_clock_;  // null: the clock cannot be moved
  DiskFaults disk_faults_;                             // failures of the disk that TEST FAULT adds
  FaultyDisk faulty_disk_;                             // the file system, with the failures that disk_faults_ requests
  CommandTable commands_;                              // all commands of this server, with statistics
  Runtime runtime_;                                    // environment of all parts: settings, clock, log, host
  DataSubsystem data_;                                 // keyspace, expiry, memory
  ClientSubsystem clients_;                            // sessions, users, limits, Pub/Sub
  Services services_;                                  // references to all parts, for commands
  Identity identity_;                                  // run ID and start time of the server
  Tls tls_;                                            // TLS certificates and keys
  ExecutionSubsystem execution_;                       // runs commands, transactions and scripts
  StorageSubsystem storage_;                           // RDB and AOF
  Housekeeping housekeeping_;                          // periodic work, and work at the end of each turn
  Lab lab_;                                            // state of the TEST command
  Replication replication_;                            // links to the primary and to replicas
  Migrations migrations_;                              // keys that MIGRATE is sending to other servers
  ClusterMode cluster_;                                // unused unless `cluster-enabled`
  SlotMigrations slot_migrations_;                     // slots that CLUSTER MIGRATESLOTS moves to or from this node
  SentinelMode sentinel_;                              // unused unless this server is a Sentinel
};

}  // namespace respite
