// Replica: a primary's state for a session that is a replica or is about to become one. Session::replica is null before
// the first REPLCONF or PSYNC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace respite {

class File;

struct Replica {  // a primary's state of a replica
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
  bool output_is_stream = false;  // the running command's output is replication stream, not a reply

  // Properties that the replica has announced (REPLCONF, PSYNC).
  int listening_port = 0;             // its port in INFO; 0: not announced
  std::string announced_ip;           // its address in INFO; empty: not announced
  bool takes_streams = false;         // capa eof: accepts snapshots of unknown length
  bool knows_psync2 = false;          // capa psync2: accepts a new replication ID with +CONTINUE
  bool speaks_psync = false;          // sent PSYNC, not SYNC, and acknowledges
  bool wants_rdb_only = false;        // disconnects after the snapshot
  bool wants_functions_only = false;  // REPLCONF rdb-filter-only: a snapshot without keys
  std::string version;  // its Redis version; empty before 7.2, which can read only older snapshot versions

  int64_t acked = 0;           // stream offset up to which it has acknowledged
  bool has_data = false;       // it has acknowledged something since its snapshot; before, it is not counted (WAIT)
  int64_t acked_on_disk = 0;   // stream offset up to which its append-only file is on disk
  int64_t acked_at_ms = 0;     // real elapsed time (Pace) of its last acknowledgement
  int64_t waits_since_ms = 0;  // real elapsed time (Pace) since when it waits for its snapshot to begin

  int64_t sent_to = 0;       // stream offset up to which was sent; the rest waits in the backlog
  size_t waiting_bytes = 0;  // stream that waits until it has its snapshot; counts as its output

  uint64_t sent_bytes = 0;      // bytes that its socket has accepted
  int64_t sent_at_ms = 0;       // real elapsed time (Pace) when the timer last saw it accept bytes, or no output wait
  uint64_t received_bytes = 0;  // bytes received from it
  int64_t received_at_ms = 0;   // real elapsed time (Pace) when bytes were last received from it

  std::unique_ptr<File> file;  // the snapshot that is being sent
  uint64_t file_bytes = 0;     // length of `file`
  uint64_t file_sent = 0;      // how many bytes of `file` were sent

  Replica();
  ~Replica();
};

}  // namespace respite
