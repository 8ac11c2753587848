// Replica: what a primary knows about one of its replicas, stored in the replica's session. Session::replica is null
// before the first REPLCONF or PSYNC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"

namespace respite {

class File;

struct Replica {  // what a primary knows about one of its replicas
  enum class State : uint8_t {
    kGreets,          // has sent REPLCONF; still an ordinary client
    kAwaitsSnapshot,  // waits for its snapshot to begin
    kAwaitsEnd,       // its snapshot is being written and will be sent afterwards
    kReceives,        // its snapshot is being sent
    kAwaitsAck,       // diskless: the whole snapshot was sent; the stream begins when the replica acknowledges
    kOnline,          // receives the replication stream
    kServed,          // its snapshot was sent, and the connection ends: it wanted no stream (REPLCONF rdb-only)
  };

  State state = State::kGreets;   // how far the synchronisation with the replica has come
  bool output_is_stream = false;  // true: the running command's output is replication stream, not a reply

  // The ID of a replica follows this prefix in REPLCONF capa. Primaries of Redis and Valkey ignore capabilities that
  // they do not know.
  static constexpr Bytes kIdCapability = "respite-id:";  // in REPLCONF capa: the replica's ID follows it

  // The properties that the replica has announced by REPLCONF and PSYNC, such as its port.
  std::string id;            // the same for all connections of one replica; empty: not announced, as by Redis
  int listening_port = 0;    // port at which the replica accepts clients; 0: not announced
  std::string announced_ip;  // address that the replica has announced; empty: none
  bool accepts_unknown_length = false;  // capa eof: the replica accepts a snapshot of unknown length
  bool knows_psync2 = false;            // capa psync2: +CONTINUE may tell the replica a new replication ID
  bool speaks_psync = false;            // the replica has sent PSYNC, not SYNC, so it acknowledges
  bool wants_rdb_only = false;          // REPLCONF rdb-only: the replica wants a snapshot, but no stream
  bool wants_functions_only = false;    // REPLCONF rdb-filter-only functions: wants a snapshot without keys
  std::string version;  // Redis version that the replica has announced; empty: none, as before Redis 7.2

  int64_t acked_offset = 0;  // replication offset up to which the replica has applied the stream
  bool has_data = false;  // has acknowledged after its snapshot, or resynchronised partially; before, WAIT ignores it
  int64_t acked_disk_offset = 0;  // replication offset up to which the replica's append-only file is on disk
  int64_t acked_at_ms = 0;  // when an acknowledgement last arrived, or the wait for one began (monotonic real time)
  int64_t waiting_since_ms = 0;  // when the replica began to wait for a snapshot (monotonic real time)

  int64_t sent_offset = 0;      // offset up to which the output has the stream; before kOnline: where the stream begins
  size_t backlogged_bytes = 0;  // stream bytes in the backlog that follow the snapshot; count as the replica's output

  uint64_t sent_bytes = 0;      // bytes that the replica's socket had accepted at `sent_at_ms`
  int64_t sent_at_ms = 0;       // when the replica's socket last took bytes, or none were unsent (monotonic real time)
  uint64_t received_bytes = 0;  // bytes received from the replica until `received_at_ms`
  int64_t received_at_ms = 0;   // when the timer last saw that bytes had arrived (monotonic real time)

  std::unique_ptr<File> file;    // the snapshot file that is being sent to the replica; null: none
  uint64_t file_bytes = 0;       // size of `file` in bytes
  uint64_t file_sent_bytes = 0;  // bytes of `file` that were sent so far

  Replica();
  ~Replica();
};

}  // namespace respite
