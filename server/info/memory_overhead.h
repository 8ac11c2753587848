// How much of used_memory is not data: INFO memory and MEMORY STATS show it.
#pragma once

#include <cstddef>
#include <vector>

namespace respite {

class Server;

struct MemoryOverhead {
  struct OfDatabase {
    int index = 0;
    size_t keys_bytes = 0;       // the table of keys and the header of each entry
    size_t deadlines_bytes = 0;  // the index of keys with a deadline
  };

  size_t used_bytes = 0;
  size_t startup_bytes = 0;
  size_t clients_bytes = 0;
  size_t keys = 0;
  std::vector<OfDatabase> databases;  // those with keys
  size_t overhead_bytes = 0;          // startup, clients and databases together

  size_t DatasetBytes() const { return used_bytes > overhead_bytes ? used_bytes - overhead_bytes : 0; }
  // What was added since the start; at least 1, so that it can be divided by.
  size_t NetBytes() const { return used_bytes > startup_bytes ? used_bytes - startup_bytes : 1; }
  double DatasetPercent() const {
    return 100.0 * static_cast<double>(DatasetBytes()) / static_cast<double>(NetBytes());
  }
};

// Cost: O(clients + databases).
MemoryOverhead MeasureOverhead(Server& server);

}  // namespace respite
