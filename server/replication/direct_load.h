// DirectLoad: a snapshot of the primary that is loaded while it arrives (repl-diskless-load), either into the data set
// of the server or into one beside it, while clients have the old.
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
    kDataSet,  // which is empty
    kBeside,   // clients hear LOADING
    kAsync,    // the same, but clients have the old data
  };
  // Begins the loading. `total` are the bytes of the snapshot, if they are known.
  DirectLoad(const Services& services, Into into, std::optional<uint64_t> total);
  DirectLoad(const DirectLoad&) = delete;
  DirectLoad& operator=(const DirectLoad&) = delete;

  // After a failure, and after Finish, the loading has ended.
  bool Write(Bytes bytes) override;
  bool Finish() override;
  const std::string& failure() const override { return failure_; }
  // Nothing follows: what has come is not whole. Frees what is beside the data set.
  void Abandon();
  // Puts what was loaded beside the data set into it. Requires: Finish returned true; the data set is empty.
  void MoveIn();

  bool IsBeside() const { return into_ != Into::kDataSet; }

 private:
  bool Fail();

  const Services& services_;
  const Into into_;
  Keyspace keyspace_;  // beside the data set
  FunctionLibraries libraries_;
  KeyspaceSink sink_;
  RdbReceiver receiver_;
  bool is_loading_ = true;
  std::string failure_;
};

}  // namespace respite
