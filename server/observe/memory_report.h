// Memory usage of the server: the figures of MEMORY STATS, MEMORY DOCTOR and INFO memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/memory.h"

namespace respite {

struct Services;

struct MemoryReport {      // what the server uses memory for, in bytes
  struct Database {        // memory of one database's tables, without values
    int index;             // number of the database
    size_t table_bytes;    // hash table of all keys, and headers of their entries
    size_t expires_bytes;  // hash table of the keys that have a deadline
  };

  size_t peak_bytes = 0;        // the largest used_bytes that was measured since the start
  size_t used_bytes = 0;        // memory that is allocated now
  size_t startup_bytes = 0;     // used_bytes just after the start, before data is loaded
  size_t clients_bytes = 0;     // all memory of clients other than replicas, not only buffers
  size_t replicas_bytes = 0;    // memory of replicas, and the shared replication buffers that exceed repl-backlog-size
  size_t backlog_bytes = 0;     // replication buffers: up to repl-backlog-size, or all if there are no replicas
  size_t aof_buffer_bytes = 0;  // commands that wait to be written to the append-only file
  size_t script_engine_bytes = 0;    // memory of the Lua interpreter of EVAL
  size_t script_bytes = 0;           // memory of the scripts that EVAL has cached
  size_t function_engine_bytes = 0;  // memory of the Lua interpreter of FCALL
  size_t function_bytes = 0;         // memory of the libraries of FUNCTION LOAD
  size_t overhead_bytes = 0;         // startup_bytes, buffers, scripts and key tables: all except keys and values
  size_t keys = 0;                   // number of keys in all databases
  size_t clients = 0;                // number of clients other than replicas
  size_t resident_bytes = 0;         // physical memory of the process (RSS)
  AllocatorStats allocator;          // figures of the memory allocator
  std::vector<Database> databases;   // one element for each database that has keys

  size_t DatasetBytes() const {  // estimated memory of keys and values: used_bytes without overhead_bytes
    return used_bytes > overhead_bytes ? used_bytes - overhead_bytes : 0;
  }
  size_t EngineBytes() const { return script_engine_bytes + function_engine_bytes; }  // memory of both Lua interpreters
  size_t AllScriptBytes() const { return script_bytes + function_bytes; }             // memory of scripts and libraries
  size_t BytesSinceStartup() const {  // growth of used_bytes since the start; at least 1, because it is a divisor
    return used_bytes > startup_bytes ? used_bytes - startup_bytes : 1;
  }
  double DatasetPercent() const { return 100 * Ratio(DatasetBytes(), BytesSinceStartup()); }  // % of BytesSinceStartup
  size_t BytesPerKey() const {  // mean memory for a key, with overhead; 0: no keys
    return keys == 0 ? 0 : BytesSinceStartup() / keys;
  }

  static double Ratio(size_t part, size_t whole) {  // `part` / `whole`, or 0 if `whole` is 0
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
  // The four ratios that INFO shows as mem_fragmentation_ratio, allocator_frag_ratio, allocator_rss_ratio and
  // rss_overhead_ratio.
  double FragmentationRatio() const { return Ratio(resident_bytes, used_bytes); }  // field mem_fragmentation_ratio
  double AllocatorFragmentationRatio() const {                                     // field allocator_frag_ratio of INFO
    return Ratio(allocator.active, allocator.allocated);
  }
  double AllocatorResidentRatio() const { return Ratio(allocator.resident, allocator.active); }  // allocator_rss_ratio
  double ProcessResidentRatio() const { return Ratio(resident_bytes, allocator.resident); }  // INFO: rss_overhead_ratio
};

// Measures the memory usage now. Cost: O(clients + databases), and some µs for the allocator and /proc.
MemoryReport MeasureMemory(const Services& services);  // measures the memory now

// Gives advice on the memory usage, as MEMORY DOCTOR does. It warns from the same limits on as Redis.
std::string MemoryDoctor(const MemoryReport& report);  // MEMORY DOCTOR: advice in plain text

}  // namespace respite
