// DataSnapshots: the data of a server at several moments. Each snapshot is stored as its difference from the current
// data.
//
// A new snapshot is empty. Before a key changes for the first time after a snapshot, its old value is copied once. All
// snapshots that need this value share the copy. A flushed database moves into the snapshots as a whole. So making a
// snapshot copies no data, and restoring a snapshot costs only O(changes since the snapshot), unless a database was
// flushed.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/dataset/dataset.h"

namespace respite {

class LazyFree;
class Unit;

class DataSnapshots final : public OldValueKeeper {  // earlier states of the data, stored as differences
 public:
  class Snapshot;           // the data at one moment
  struct SnapshotDeleter {  // deletes a snapshot, and removes it from DataSnapshots
    void operator()(Snapshot* snapshot) const;
  };
  using SnapshotPtr = std::unique_ptr<Snapshot, SnapshotDeleter>;

  DataSnapshots(Dataset& data, LazyFree& lazy_free) : data_(data), lazy_free_(lazy_free) {}
  ~DataSnapshots() override;
  DataSnapshots(const DataSnapshots&) = delete;
  DataSnapshots& operator=(const DataSnapshots&) = delete;

  SnapshotPtr Save();  // the current data; must be destroyed before this object. Cost: O(databases)
  // Gives the data the state that it had when the snapshot was made. The snapshot continues to exist. Each changed key
  // is reported and propagated like a change by a command. Cost: O(changes since the snapshot), and O(keys) for each
  // database that was flushed since. Requires: !IsLost.
  void Restore(Snapshot& snapshot, Unit& unit);  // gives the data its former state; reports each change

  // Copies the keys of the snapshot to `target`. Skips databases that `target` does not have. Cost: O(keys of the
  // snapshot). Requires: !IsLost.
  void CopyTo(const Snapshot& snapshot, Dataset& target) const;  // copies the keys of the snapshot to an empty Dataset

  static bool IsLost(const Snapshot& snapshot);  // true: a full sync or a loaded file has replaced all data since
  static size_t StoredValueCount(const Snapshot& snapshot);  // number of keys whose old state the snapshot stores
  size_t KeyCount(const Snapshot& snapshot) const;  // number of keys at the time of the snapshot. Requires: !IsLost

  struct Difference {  // a key that differs between two snapshots
    enum class Kind : uint8_t { kAdded, kRemoved, kChanged };
    int db;
    std::string key;
    Kind kind;
  };
  // Returns the differences from `before` to `after`, ordered by database and key. Cost: O(changes since the older
  // snapshot), and O(keys) for each database that was flushed or swapped since.
  std::vector<Difference> Compare(const Snapshot& before,  // the keys that differ; `after` null: the current data
                                  const Snapshot* after) const;

  // The interface OldValueKeeper.
  void BeforeChange(int db, Bytes key, const Entry* entry) override;  // keeps the old value for the snapshots
  void OnFlushed(int db, Database& content) override;                 // moves the flushed database into the snapshots
  void OnSwap(int one, int other) override;  // notes in the snapshots that SWAPDB swapped databases
  void OnReplaced() override;                // marks the snapshots as lost: data was replaced without commands

 private:
  struct Part;  // the data that a snapshot stores of one database

  const Entry* Find(const Snapshot* snapshot, int db, Bytes key) const;
  std::set<std::string> KeysThatMayDiffer(const Snapshot& before,  // the keys of a database that Compare must compare
                                          const Snapshot* after, int db) const;
  void Forget(Snapshot& snapshot);                            // removes a deleted snapshot from snapshots_
  void UndoSwaps(Snapshot& snapshot, Unit& unit);             // undoes each SWAPDB since the snapshot
  void RestoreWhole(Snapshot& snapshot, int db, Unit& unit);  // restores a database that was flushed after the snapshot
  void RestoreKeys(Snapshot& snapshot, int db, Unit& unit);   // restores the keys that changed after the snapshot

  Dataset& data_;
  LazyFree& lazy_free_;                 // frees large values in the background
  std::vector<Snapshot*> snapshots_;    // all existing snapshots, from the oldest to the newest
  const Snapshot* restored_ = nullptr;  // the snapshot that is being restored, which stores no old values meanwhile
};

}  // namespace respite
