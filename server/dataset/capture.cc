#include "server/dataset/capture.h"

#include <numeric>
#include <utility>

namespace respite {

namespace {

void TellOfReplacement(Dataset& data) {
  if (data.keeper != nullptr) data.keeper->OnReplaced();
  if (data.listener == nullptr) return;
  std::vector<int> all(static_cast<size_t>(data.keyspace.Count()));
  std::iota(all.begin(), all.end(), 0);
  data.listener->OnFlush(all);
}

std::unique_ptr<FunctionStore::Content> Exchange(Dataset& data, std::unique_ptr<FunctionStore::Content> functions) {
  return data.functions == nullptr ? nullptr : data.functions->Exchange(std::move(functions));
}

}  // namespace

EntryPtr CopyOf(const Entry& original) {
  return EntryPtr(Entry::Clone(original, original.Key(), original.Deadline(), original.Access()));
}

Database CopyOf(const Database& original) {
  Database copy(original.hash_key());
  if (original.by_slot() != nullptr) copy.EnableSlotIndex();
  copy.Reserve(original.Size(), original.CountKeysWithDeadline());
  original.ForEach([&](const Entry* entry) { copy.Add(CopyOf(*entry)); });
  return copy;
}

Capture Capture::Take(Dataset& data) {
  TellOfReplacement(data);
  std::vector<Database> databases;
  databases.reserve(static_cast<size_t>(data.keyspace.Count()));
  for (int db = 0; db < data.keyspace.Count(); ++db) databases.push_back(data.keyspace.Detach(db));
  return {std::move(databases), Exchange(data, nullptr)};
}

Capture Capture::Restore(Dataset& data) && {
  TellOfReplacement(data);
  for (size_t db = 0; db < databases_.size(); ++db) std::swap(data.keyspace[static_cast<int>(db)], databases_[db]);
  return {TakeDatabases(), Exchange(data, TakeFunctions())};
}

size_t Capture::Keys() const {
  return std::accumulate(databases_.begin(), databases_.end(), size_t{0},
                         [](size_t sum, const Database& database) { return sum + database.Size(); });
}

}  // namespace respite
