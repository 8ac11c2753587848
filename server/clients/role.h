// Role: whether this server is a replica, and the state of replication that commands need.
#pragma once

#include <cstdint>

#include "server/config/settings.h"

namespace respite {

struct Role {                 // whether this server is a primary or a replica, and its link to others
  bool is_replica = false;    // this server is a replica; false: a primary
  bool is_linked = false;     // replica: it has its primary's data and receives the stream
  int64_t good_replicas = 0;  // primary: online replicas that acknowledged within min-replicas-max-lag

  // Returns whether this server is a replica that refuses writes of clients (replica-read-only).
  bool IsReadOnly(const Settings& settings) const {  // this server refuses writes of clients
    return is_replica && settings.replica_read_only;
  }
  bool IsStale(const Settings& settings) const {  // an unlinked replica that must not serve its old data
    return is_replica && !is_linked && !settings.replica_serve_stale_data;
  }
};

}  // namespace respite
