// OffsetFile: the file <cluster-config-file>.offset of a cluster node, with one number. No byte of the node's
// replication stream has a larger offset than this number, not even one that no dump or append-only file contains.
//
// After a crash, the files with the data end before the offset that replicas have reached. If the next history began
// there, a replica that has only the old data could have a larger offset than replicas with the data since the restart,
// and would win elections. So the history of a primary that starts again begins at this number.
//
// While the server runs, the number is up to 4 GB (kStep) larger than the offset, so it is rarely written. A server
// that stops in the normal way writes its exact offset. Nodes that keep nothing on disk do not have this file. Servers
// outside of a cluster do not have it either: if another server was promoted while a primary was down, the cluster
// knows from its epochs which history is newer, but a Sentinel would only compare the offsets, and prefer replicas of
// the old primary.
//
// Servers that share a directory have different cluster-config-files, which are locked, so they do not share this file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "persistence/file_system.h"
#include "server/runtime/env.h"

namespace respite {

struct History;
class Snapshots;

class OffsetFile {  // <cluster-config-file>.offset: a number that no replication offset of this node exceeds
 public:
  struct Parts {  // the arguments of the constructor
    const Env& env;
    FileSystem& files;           // access to the disk
    const History& history;      // has the offset that the file must cover
    const Snapshots& snapshots;  // tells whether this server has a dump, and may write it
  };
  explicit OffsetFile(const Parts& parts) : parts_(parts) {}

  static constexpr int64_t kStep = int64_t{1} << 32;  // a number that is written exceeds the offset by this many bytes
  static constexpr int64_t kMargin = int64_t{1} << 20;  // the next number is written this many bytes before the last

  // Returns the number in the file. Returns 0 outside of a cluster, and if there is no file; also, with a warning in
  // the log, if the file cannot be read or has no valid number. Called at startup.
  int64_t Read();  // returns the number in the file; 0: there is none
  // Makes the file cover the offset of History. Does nothing outside of a cluster, and on a node without dump, save
  // points and append-only file, because a restart would not find any data. Must be called before replicas get bytes up
  // to this offset. If the write fails, logs a warning, and tries again after a second. Cost: a comparison; every 4 GB
  // a synced file.
  void Cover();            // writes the file if the replication offset comes near the number in it
  void HandleNewFolder();  // after a change of `dir`, lets Cover write the file there
  // Writes the exact offset, because nothing is added to the stream from now on. Does nothing if there is no file.
  void WriteFinal();  // before the server stops: writes the exact offset

 private:
  static constexpr int64_t kRetryMs = 1000;  // time between two attempts after a failed write

  std::string Name() const;    // the name of the file
  std::string Path() const;    // its path with the server's directory
  bool Write(int64_t offset);  // replaces the file; false: failed, which is logged
  void Extend();               // the part of Cover that is rarely needed

  const Parts parts_;        // the arguments of the constructor
  std::string path_;         // path of the file that was read or written last; empty: none
  int64_t covered_ = 0;      // the number in that file; 0: there is no file
  bool is_final_ = false;    // true: WriteFinal was called
  int64_t retry_at_ms_ = 0;  // after a failed write: no attempt before this time (real time)
};

}  // namespace respite
