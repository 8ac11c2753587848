// Memory usage of the server: the figures of MEMORY STATS, MEMORY DOCTOR and INFO memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/memory.h"

namespace respite {

struct Services;

struct MemoryReport {      // memory usage of the server, in bytes
  struct Database {        // tables of one database
    int index;             // number of the database
    size_t table_bytes;    // index of keys and headers of their entries
    size_t expires_bytes;  // the index of keys with a deadline
  };

  size_t peak_bytes = 0;             // maximum of used_bytes since the start
  size_t used_bytes = 0;             // memory allocated now
  size_t startup_bytes = 0;          // used_bytes when the server had started
  size_t clients_bytes = 0;          // buffers of clients other than replicas
  size_t replicas_bytes = 0;         // buffers of replicas; shared memory counts once
  size_t backlog_bytes = 0;          // the replication backlog
  size_t aof_buffer_bytes = 0;       // commands that wait to be written to the append-only file
  size_t script_engine_bytes = 0;    // the Lua state of EVAL
  size_t script_bytes = 0;           // texts of the scripts that EVAL has cached, and their index
  size_t function_engine_bytes = 0;  // the Lua state of FCALL
  size_t function_bytes = 0;         // texts of the libraries of FUNCTION LOAD, and their index
  size_t overhead_bytes = 0;         // startup_bytes, clients, buffers, scripts and key tables: all but keys and values
  size_t keys = 0;                   // number of keys in all databases
  size_t clients = 0;                // number of clients other than replicas
  size_t resident_bytes = 0;         // RSS of the process
  AllocatorStats allocator;          // figures of the memory allocator
  std::vector<Database> databases;   // databases that have keys

  size_t DatasetBytes() const { return used_bytes > overhead_bytes ? used_bytes - overhead_bytes : 0; }  // keys, values
  size_t EngineBytes() const { return script_engine_bytes + function_engine_bytes; }  // memory of both Lua states
  size_t AllScriptBytes() const { return script_bytes + function_bytes; }             // texts of scripts and libraries
  // Returns the memory that was allocated since the start. Returns at least 1, because it is used as a divisor.
  size_t BytesSinceStartup() const { return used_bytes > startup_bytes ? used_bytes - startup_bytes : 1; }  // never 0
  double DatasetPercent() const { return 100 * Ratio(DatasetBytes(), BytesSinceStartup()); }  // share of DatasetBytes
  size_t BytesPerKey() const { return keys == 0 ? 0 : BytesSinceStartup() / keys; }  // mean with overhead; 0: no keys

  // Returns `part` / `whole`, or 0 if `whole` is 0.
  static double Ratio(size_t part, size_t whole) {  // `part` / `whole`; 0 if `whole` is 0
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
  // The four ratios that INFO shows as mem_fragmentation_ratio, allocator_frag_ratio, allocator_rss_ratio and
  // rss_overhead_ratio.
  double FragmentationRatio() const { return Ratio(resident_bytes, used_bytes); }  // mem_fragmentation_ratio
  double AllocatorFragmentationRatio() const { return Ratio(allocator.active, allocator.allocated); }  // of INFO
  double AllocatorResidentRatio() const { return Ratio(allocator.resident, allocator.active); }  // allocator_rss_ratio
  double ProcessResidentRatio() const { return Ratio(resident_bytes, allocator.resident); }  // INFO rss_overhead_ratio
};

// Measures the memory usage now. Cost: O(clients + databases), and some µs for the allocator and /proc.
MemoryReport MeasureMemory(const Services& services);  // measures now; O(clients + databases)

// The limits above which MemoryDoctor warns are those of Redis.
std::string MemoryDoctor(const MemoryReport& report);  // advice in plain text

}  // namespace respite
