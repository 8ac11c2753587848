// Replica: what a primary knows of a session that is, or says it will be, a replica of it. Null in the Session before
// its first REPLCONF or PSYNC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace respite {

class File;

struct Replica {
  enum class State : uint8_t {
    kGreets,          // it has told something of itself; it is a client like any other
    kAwaitsSnapshot,  // no snapshot for it has begun
    kAwaitsEnd,       // its snapshot is being written, to be sent afterwards
    kReceives,        // its snapshot is being sent
    kAwaitsAck,       // it has the whole snapshot; the stream begins when it says so (diskless)
    kOnline,          // it gets the stream
    kServed,          // it wanted a snapshot only (REPLCONF rdb-only)
  };

  State state = State::kGreets;
  bool output_is_stream = false;  // what the running command puts into its output is no reply

  // What it says of itself.
  int listening_port = 0;
  std::string announced_ip;
  bool takes_streams = false;   // capa eof: snapshots of unknown length
  bool knows_psync2 = false;    // capa psync2: a new id with +CONTINUE
  bool speaks_psync = false;    // it came with PSYNC, not SYNC, and acknowledges
  bool wants_rdb_only = false;  // it leaves after the snapshot
  bool wants_functions_only = false;
  std::string version;  // of Redis; empty: before 7.2, which read older snapshots only

  // Bytes of the stream: what it has acknowledged, what its append-only file has, and when it said so (of the Pace).
  int64_t acked = 0;
  int64_t acked_on_disk = 0;
  int64_t acked_at_ms = 0;
  int64_t waits_since_ms = 0;  // for a snapshot to begin

  // The stream goes on behind this byte; what is between it and the end waits in the backlog.
  int64_t sent_to = 0;
  size_t waiting_bytes = 0;  // of the stream, for a replica that is not online: they count as its output

  // Bytes that its socket has taken, and that it has sent, and when it did so last (of the Pace).
  uint64_t taken_bytes = 0;
  int64_t taken_at_ms = 0;
  uint64_t said_bytes = 0;
  int64_t said_at_ms = 0;

  // The snapshot that is being sent from a file.
  std::unique_ptr<File> file;
  uint64_t file_bytes = 0;
  uint64_t file_sent = 0;

  Replica();
  ~Replica();
};

}  // namespace respite
