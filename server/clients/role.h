// Role: whether this server is a replica, and the state of replication that commands need.
#pragma once

#include <cstdint>

#include "server/config/settings.h"

namespace respite {

struct Role {                 // whether this server is a primary or a replica, and whether its links are up
  bool is_replica = false;    // true: this server is a replica; false: a primary
  bool is_linked = false;     // true: this replica has its primary's data and receives the stream
  int64_t good_replicas = 0;  // on a primary: number of replicas with a lag of at most min-replicas-max-lag

  bool IsReadOnly(const Settings& settings) const {  // true: a replica that refuses writes (replica-read-only)
    return is_replica && settings.replica_read_only;
  }
  bool IsStale(const Settings& settings) const {  // true: a replica without its primary that must not serve old data
    return is_replica && !is_linked && !settings.replica_serve_stale_data;
  }
};

}  // namespace respite
