// Replica: what a primary knows about one of its replicas, stored in the replica's session. Session::replica is null
// before the first REPLCONF or PSYNC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace respite {

class File;

struct Replica {  // what a primary knows about one of its replicas
  enum class State : uint8_t {
    kGreets,          // has sent REPLCONF; still an ordinary client
    kAwaitsSnapshot,  // waits for its snapshot to begin
    kAwaitsEnd,       // its snapshot is being written and will be sent afterwards
    kReceives,        // its snapshot is being sent
    kAwaitsAck,       // has received the whole snapshot; the stream begins with its acknowledgement (diskless)
    kOnline,          // receives the replication stream
    kServed,          // requested only a snapshot and has received it (REPLCONF rdb-only)
  };

  State state = State::kGreets;   // state of the synchronisation
  bool output_is_stream = false;  // output of the running command belongs to the replication stream, not to its reply

  // Properties that the replica has announced (REPLCONF, PSYNC).
  int listening_port = 0;               // port of the replica for INFO; 0: not announced
  std::string announced_ip;             // address of the replica for INFO; empty: not announced
  bool accepts_unknown_length = false;  // capa eof: accepts snapshots of unknown length
  bool knows_psync2 = false;            // capa psync2: accepts a new replication ID with +CONTINUE
  bool speaks_psync = false;            // has sent PSYNC, not SYNC, so it sends acknowledgements
  bool wants_rdb_only = false;          // REPLCONF rdb-only: wants only a snapshot, not the stream
  bool wants_functions_only = false;    // REPLCONF rdb-filter-only: a snapshot without keys
  std::string version;  // its Redis version; empty before 7.2, which can read only older snapshot versions

  int64_t acked_offset = 0;       // replication offset that the replica has acknowledged
  bool has_data = false;          // has loaded its snapshot or resynchronised partially; before, WAIT does not count it
  int64_t acked_disk_offset = 0;  // replication offset up to which the replica's append-only file is on disk
  int64_t acked_at_ms = 0;        // real elapsed time (Pace) of the last acknowledgement
  int64_t waiting_since_ms = 0;   // real elapsed time (Pace) when it began to wait for the start of a snapshot

  int64_t sent_offset = 0;   // replication offset up to which the stream was sent; the rest waits in the backlog
  size_t waiting_bytes = 0;  // bytes of the stream that wait until the replica has its snapshot; count as output

  uint64_t sent_bytes = 0;      // bytes that the replica's socket has accepted
  int64_t sent_at_ms = 0;       // real elapsed time (Pace) when the timer last saw that the output was not stuck
  uint64_t received_bytes = 0;  // bytes received from the replica
  int64_t received_at_ms = 0;   // real elapsed time (Pace) when bytes were last received

  std::unique_ptr<File> file;    // the snapshot that is being sent
  uint64_t file_bytes = 0;       // size of `file` in bytes
  uint64_t file_sent_bytes = 0;  // bytes of `file` that were sent so far

  Replica();
  ~Replica();
};

}  // namespace respite
