// Services: all parts of a Node that commands, INFO, the hooks of CONFIG SET and parts such as replication and the
// cluster may use. The subsystems are only declared here; users include their headers.
#pragma once

#include "server/runtime/env.h"

namespace respite {

struct ClientSubsystem;
class ClusterMode;
struct DataSubsystem;
struct ExecutionSubsystem;
struct ServerIdentity;
struct Lab;
class Migrations;
class Replication;
struct RewriteExtras;
class SentinelMode;
class SlotMigrations;
struct StorageSubsystem;
class Tls;

struct Services {  // all parts of a server that commands, INFO and CONFIG SET may use
  Env env;
  DataSubsystem& data;
  ClientSubsystem& clients;         // sessions, ACL users, pub/sub messages and blocked clients
  ExecutionSubsystem& execution;    // runs requests and scripts
  StorageSubsystem& storage;        // snapshots and the append-only file
  Replication& replication;         // replication, as a primary or as a replica
  Migrations& migrations;           // sends keys to other servers (MIGRATE)
  ClusterMode& cluster;             // the cluster, if enabled
  SlotMigrations& slot_migrations;  // moves slots between cluster nodes
  SentinelMode& sentinel;           // Sentinel mode, if enabled
  Tls& tls;
  ServerIdentity& identity;  // ID and start time of the server
  Lab& lab;
};

RewriteExtras RewriteExtrasOf(const Services& services);  // lines for ACL users that CONFIG REWRITE writes

}  // namespace respite
