// DirectLoad: loads a snapshot of the primary while it arrives (repl-diskless-load). It loads either into the server's
// keyspace or into a second one. With a second one, clients may still be served the old data.
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

class DirectLoad final : public SnapshotTarget {
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

  // The loading has ended after a failure and after Finish.
  bool Write(Bytes bytes) override;
  bool Finish() override;
  const std::string& failure() const override { return failure_; }
  // Ends an incomplete load, because no more data will arrive. Frees the second keyspace.
  void Abandon();
  // Moves the second keyspace into the server's. Requires: Finish returned true, and the server's keyspace is empty.
  void MoveIn();

  bool IsBeside() const { return into_ != Into::kDataSet; }

 private:
  bool Fail();

  const Services& services_;
  const Into into_;
  Keyspace keyspace_;  // the second keyspace
  FunctionLibraries libraries_;
  KeyspaceSink sink_;
  RdbReceiver receiver_;
  bool is_loading_ = true;
  std::string failure_;
};

}  // namespace respite
