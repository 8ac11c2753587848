// Role: whether this server follows another, and how that goes: what commands need to know of it.
#pragma once

#include <cstdint>

#include "server/config/settings.h"

namespace respite {

struct Role {
  bool is_replica = false;
  bool is_linked = false;     // a replica has the data of its primary, and hears the stream
  int64_t good_replicas = 0;  // of a primary: online, and heard of within min-replicas-max-lag

  // A client may not write.
  bool IsReadOnly(const Settings& settings) const { return is_replica && settings.replica_read_only; }
  // What is here may be old, and is not to be shown.
  bool IsStale(const Settings& settings) const {
    return is_replica && !is_linked && !settings.replica_serve_stale_data;
  }
};

}  // namespace respite
