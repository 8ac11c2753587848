// Role: whether this server is a replica, and the state of replication that commands need.
#pragma once

#include <cstdint>

#include "server/config/settings.h"

namespace respite {

struct Role {                 // whether this server is a primary or a replica, and its link to others
  bool is_replica = false;    // this server is a replica
  bool is_linked = false;     // a replica has its primary's data and receives the stream
  int64_t good_replicas = 0;  // if primary: online replicas with an acknowledgement within min-replicas-max-lag

  // Returns whether this server is a replica that accepts no writes of clients.
  bool IsReadOnly(const Settings& settings) const {  // this server refuses writes of clients
    return is_replica && settings.replica_read_only;
  }
  bool IsStale(const Settings& settings) const {  // the data may be outdated and must not be read
    return is_replica && !is_linked && !settings.replica_serve_stale_data;
  }
};

}  // namespace respite
