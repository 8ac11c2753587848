#include "server/replication/direct_load.h"

#include <utility>

#include "base/log.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/dataset/lazy_free.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/storage/loading.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

LoadTarget TargetOf(const Services& services, DirectLoad::Into into, Keyspace& keyspace, FunctionLibraries& libraries) {
  if (into == DirectLoad::Into::kDataSet)
    return {services.data.dataset.keyspace, services.execution.function_libraries};
  return {keyspace, libraries};
}

}  // namespace

DirectLoad::DirectLoad(const Services& services, Into into, std::optional<uint64_t> total)
    : services_(services),
      into_(into),
      keyspace_(into == Into::kDataSet ? 0 : services.data.dataset.keyspace.Count(),
                services.data.dataset.keyspace[0].hash_key(), services.data.dataset.keyspace.index()),
      libraries_(services.execution.function_libraries.MakeEmpty()),
      sink_(services, TargetOf(services, into, keyspace_, libraries_),
            {.expired = RdbLoadOptions::Expired::kKeep, .origin = RdbLoadOptions::Origin::kPrimary}),
      receiver_(MakeRdbReadOptions(services), sink_, total) {
  services.storage.loading.Begin(total.value_or(0),
                                 into == Into::kAsync ? ServerPhase::Load::kAsync : ServerPhase::Load::kOverTurns);
}

bool DirectLoad::Write(Bytes bytes) { return receiver_.Take(bytes) != RdbReceiver::Status::kFailed || Fail(); }

bool DirectLoad::Finish() {
  if (receiver_.Finish() != RdbReceiver::Status::kDone) return Fail();
  sink_.LogLoaded();
  services_.storage.loading.End();
  is_loading_ = false;
  return true;
}

bool DirectLoad::Fail() {
  const RdbFailure failure = receiver_.TakeFailure();
  failure_ = "the snapshot cannot be loaded: " + failure.text;
  sink_.LogFailure(failure, "the snapshot that the master sends");
  services_.env.log.Warning("Failed trying to load the MASTER synchronization DB from socket, check server logs.");
  services_.storage.loading.End();
  is_loading_ = false;
  return false;
}

void DirectLoad::Abandon() {
  if (is_loading_) Fail();
  if (!UsesSecondKeyspace()) return;
  services_.env.log.Notice("MASTER <-> REPLICA sync: Discarding temporary DB in background");
  for (int db = 0; db < keyspace_.Count(); ++db) services_.data.lazy_free.Free(keyspace_.Detach(db), FreeMode::kLater);
}

void DirectLoad::MoveIntoServer() {
  for (int db = 0; db < keyspace_.Count(); ++db) std::swap(services_.data.dataset.keyspace[db], keyspace_[db]);
  std::swap(services_.data.dataset.keyspace.hidden(), keyspace_.hidden());
  services_.execution.function_libraries.PutBack(libraries_.Take());
}

}  // namespace respite
