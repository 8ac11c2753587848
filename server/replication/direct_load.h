// DirectLoad: loads a snapshot of the primary while the snapshot arrives (repl-diskless-load), either into the server's
// keyspace or into a second keyspace. Meanwhile clients get the error LOADING or, with Into::kAsync, still see the old
// data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "datatypes/keyspace.h"
#include "persistence/rdb_receiver.h"
#include "scripting/function_library.h"
#include "server/replication/snapshot_receiver.h"
#include "server/storage/keyspace_sink.h"

namespace respite {

struct Services;

class DirectLoad final : public SnapshotTarget {  // loads the primary's snapshot while it arrives, without a file
 public:
  enum class Into : uint8_t {
    kDataSet,  // the keyspace of the server, which is empty
    kBeside,   // a second keyspace; clients get LOADING
    kAsync,    // a second keyspace; clients are served the old data
  };
  // Begins the loading. `total` is the size of the snapshot in bytes, if it is known.
  DirectLoad(const Services& services, Into into, std::optional<uint64_t> total);
  DirectLoad(const DirectLoad&) = delete;
  DirectLoad& operator=(const DirectLoad&) = delete;

  // Loads the next bytes of the snapshot; returns false if that failed. The server counts as loading (INFO, LOADING
  // errors) until the first failure of Write, or until Finish or Abandon is called.
  bool Write(Bytes bytes) override;  // loads the next bytes of the snapshot; false if that failed
  bool Finish() override;            // called after all bytes; false: the snapshot is incomplete or damaged
  const std::string& failure() const override { return failure_; }  // why Write or Finish returned false
  void Abandon();  // ends the load, if it runs, and frees the second keyspace
  // Moves the keys and functions of the snapshot into the server. Requires: they are in a second keyspace, Finish has
  // succeeded, and the server's own keyspace is empty.
  void MoveIntoServer();  // moves keys and functions of the snapshot into the server

  bool UsesSecondKeyspace() const { return into_ != Into::kDataSet; }  // true: keeps the server's data for now

 private:
  bool Fail();  // ends the loading, logs why, and returns false

  const Services& services_;  // the other parts of this server
  const Into into_;
  Keyspace keyspace_;            // keyspace into which the snapshot is loaded; unused with Into::kDataSet
  FunctionLibraries libraries_;  // functions of the snapshot; unused with Into::kDataSet
  KeyspaceSink sink_;
  RdbReceiver receiver_;    // parses the snapshot
  bool is_loading_ = true;  // false after Finish, Abandon or a failure
  std::string failure_;     // why Write or Finish returned false; empty: no failure
};

}  // namespace respite
