// Replica: a primary's state for a session that is a replica or is about to become one. Null in the Session before its
// first REPLCONF or PSYNC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace respite {

class File;

struct Replica {
  enum class State : uint8_t {
    kGreets,          // has sent REPLCONF; still an ordinary client
    kAwaitsSnapshot,  // waits for its snapshot to begin
    kAwaitsEnd,       // its snapshot is being written and will be sent afterwards
    kReceives,        // its snapshot is being sent
    kAwaitsAck,       // has received the whole snapshot; the stream begins with its acknowledgement (diskless)
    kOnline,          // receives the replication stream
    kServed,          // requested only a snapshot and has received it (REPLCONF rdb-only)
  };

  State state = State::kGreets;
  bool output_is_stream = false;  // the running command's output is replication stream, not a reply

  // Properties that the replica has announced.
  int listening_port = 0;
  std::string announced_ip;
  bool takes_streams = false;   // capa eof: accepts snapshots of unknown length
  bool knows_psync2 = false;    // capa psync2: accepts a new replication ID with +CONTINUE
  bool speaks_psync = false;    // sent PSYNC, not SYNC, and acknowledges
  bool wants_rdb_only = false;  // disconnects after the snapshot
  bool wants_functions_only = false;
  std::string version;  // of Redis; empty before 7.2, which can read only older snapshot versions

  // Stream offsets that the replica has acknowledged, in memory and in its append-only file, and the time (of the
  // Pace).
  int64_t acked = 0;
  // False while it may still be loading its snapshot, and has acknowledged nothing since. It must not be counted then.
  bool has_data = false;
  int64_t acked_on_disk = 0;
  int64_t acked_at_ms = 0;
  int64_t waits_since_ms = 0;  // since when it waits for a snapshot to begin

  // The stream continues after this offset; the rest waits in the backlog.
  int64_t sent_to = 0;
  size_t waiting_bytes = 0;  // unsent stream of a replica that is not online; counts as its output

  // Bytes that its socket has accepted, bytes that it has sent, and the last time of each (of the Pace).
  uint64_t taken_bytes = 0;
  int64_t taken_at_ms = 0;
  uint64_t said_bytes = 0;
  int64_t said_at_ms = 0;

  // The snapshot file that is being sent.
  std::unique_ptr<File> file;
  uint64_t file_bytes = 0;
  uint64_t file_sent = 0;

  Replica();
  ~Replica();
};

}  // namespace respite
