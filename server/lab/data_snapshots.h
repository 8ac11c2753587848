// DataSnapshots: the data of a server at several moments. Each snapshot is kept as its difference from the present.
//
// A new snapshot is empty. Before the first change of a key, its value is copied once; all snapshots that still agree
// with the present share that copy. A database that is flushed moves into the snapshots as a whole. So a snapshot costs
// nothing for the data when it is made, and its restoration costs only the changes since.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/dataset/dataset.h"

namespace respite {

class LazyFree;
class Unit;

class DataSnapshots final : public ChangeKeeper {
 public:
  class Snapshot;
  struct SnapshotDeleter {
    void operator()(Snapshot* snapshot) const;
  };
  using SnapshotPtr = std::unique_ptr<Snapshot, SnapshotDeleter>;

  DataSnapshots(Dataset& data, LazyFree& lazy_free) : data_(data), lazy_free_(lazy_free) {}
  ~DataSnapshots() override;
  DataSnapshots(const DataSnapshots&) = delete;
  DataSnapshots& operator=(const DataSnapshots&) = delete;

  // Makes a snapshot, which must be destroyed before this object. Cost: O(databases).
  SnapshotPtr Save();
  // Restores the data of the snapshot, which continues to exist. Each changed key is reported and propagated like a
  // change by a command. Cost: O(changes since), and O(keys) for each database that was flushed meanwhile. Requires:
  // !IsLost.
  void Restore(Snapshot& snapshot, Unit& unit);

  // Copies the keys of the snapshot to an empty Dataset. Skips databases that `target` does not have. Cost: O(keys).
  void CopyTo(const Snapshot& snapshot, Dataset& target) const;

  // Returns true if all data was replaced since (by a full resynchronisation or a loaded file). Only the name is left.
  static bool IsLost(const Snapshot& snapshot);
  // Returns the number of values and databases that the snapshot stores itself.
  static size_t CountKept(const Snapshot& snapshot);
  size_t CountKeys(const Snapshot& snapshot) const;

  struct Difference {
    enum class Kind : uint8_t { kAdded, kRemoved, kChanged };
    int db;
    std::string key;
    Kind kind;
  };
  // Returns the differences from `before` to `after`, ordered by database and key. A null `after` is the present. Cost:
  // O(changes since the older one); O(keys) for databases that were flushed or swapped.
  std::vector<Difference> Compare(const Snapshot& before, const Snapshot* after) const;

  // ChangeKeeper.
  void BeforeChange(int db, Bytes key, const Entry* entry) override;
  void OnFlushed(int db, Database& content) override;
  void OnSwap(int one, int other) override;
  void OnReplaced() override;

 private:
  struct Part;

  const Entry* Find(const Snapshot* snapshot, int db, Bytes key) const;
  std::set<std::string> Candidates(const Snapshot& before, const Snapshot* after, int db) const;
  void Forget(Snapshot& snapshot);
  void UndoSwaps(Snapshot& snapshot, Unit& unit);
  void RestoreWhole(Snapshot& snapshot, int db, Unit& unit);
  void RestoreKeys(Snapshot& snapshot, int db, Unit& unit);

  Dataset& data_;
  LazyFree& lazy_free_;
  std::vector<Snapshot*> snapshots_;
  const Snapshot* restored_ = nullptr;  // the snapshot that is being restored, which stores no changes meanwhile
};

}  // namespace respite
