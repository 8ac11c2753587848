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

class Node {  // one server without its sockets: owns all its parts
 public:
  struct Parts {                  // what Node gets from outside; must outlive the Node
    Config& config;               // the values of all directives
    const Clock& clock;           // clock of the machine; TEST CLOCK moves movable_clock_ instead
    const RealClock& real_clock;  // real time, which TEST CLOCK cannot move
    Logger& log;                  // the server's log
    HashKey hash_key;             // secret seed of the hash functions in all tables
    uint64_t random_seed;         // seed of random choices that clients can see
    FileSystem& files;            // access to the disk
    Forker& forker;               // makes child processes for background saves and rewrites
    IdSource ids = {};            // source of random IDs and passwords
  };
  explicit Node(const Parts& outside);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const Services& services() const { return services_; }  // references to all parts of the server
  Runtime& runtime() { return runtime_; }                 // clock, log, timers …; a NodeHost or a test attaches to it
  Housekeeping& housekeeping() { return housekeeping_; }  // work at timer ticks and the ends of turns

 private:
  void RegisterHooks();  // connects the parts that call each other

  const std::unique_ptr<MovableClock> movable_clock_;  // clock that TEST CLOCK can move; null: TEST is not allowed
  DiskFaults disk_faults_;                             // the disk errors that TEST FAULT has requested
  FaultyDisk faulty_disk_;                             // access to the disk, with the errors of disk_faults_
  CommandTable commands_;                              // all commands of the server, with their statistics
  Runtime runtime_;                                    // what all parts may use: settings, clock, log, timers …
  DataSubsystem data_;                                 // keyspace, expiry, eviction
  ClientSubsystem clients_;                            // sessions, users, limits, Pub/Sub
  Services services_;                                  // references to all parts, for commands
  ServerIdentity identity_;                            // run ID and start time of the server
  Tls tls_;                                            // TLS certificates and keys
  ExecutionSubsystem execution_;                       // runs commands, transactions and scripts
  StorageSubsystem storage_;                           // RDB and AOF files
  Housekeeping housekeeping_;                          // work at timer ticks and the ends of turns
  Lab lab_;                                            // the command TEST: faults, journal, clock …
  Replication replication_;                            // links to the primary and to replicas
  Migrations migrations_;                              // MIGRATE: keys that are being sent to other servers
  ClusterMode cluster_;                                // the cluster bus and failover; unused unless `cluster-enabled`
  SlotMigrations slot_migrations_;                     // CLUSTER MIGRATESLOTS: slots that move to or from this node
  SentinelMode sentinel_;                              // unused unless this server is a Sentinel
};

}  // namespace respite
