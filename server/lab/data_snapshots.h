// DataSnapshots: the data of a server at several moments, each kept as its difference from now.
//
// A snapshot that was just made is empty. Before a key changes for the first time, its value is copied once and shared
// by all snapshots that still agree with the present; a database that is emptied moves into them as a whole. So making
// a snapshot costs nothing for the data, and restoring one costs what has changed since.
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

  // Must be gone before this object. Cost: O(databases).
  SnapshotPtr Save();
  // Brings its data back; the snapshot stays. Each key that changes is reported and recorded as by a command. Cost:
  // O(changes since, and in databases that were emptied meanwhile: journals write all their keys). Requires: not lost.
  void Restore(Snapshot& snapshot, Unit& unit);

  // Adds copies of its keys to the databases of an empty Dataset, as far as that has as many. Cost: O(keys).
  void CopyTo(const Snapshot& snapshot, Dataset& target) const;

  // All data was replaced (a replica was synchronised, a file was loaded): only the name is left.
  static bool IsLost(const Snapshot& snapshot);
  // Values and databases that it holds.
  static size_t CountKept(const Snapshot& snapshot);
  size_t CountKeys(const Snapshot& snapshot) const;

  struct Difference {
    enum class Kind : uint8_t { kAdded, kRemoved, kChanged };
    int db;
    std::string key;
    Kind kind;
  };
  // From `before` to `after`; null: the present. In order of databases and keys. Cost: O(changes since the older one);
  // O(keys) for databases that were emptied or swapped.
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
  const Snapshot* restored_ = nullptr;  // the one that is being restored keeps nothing
};

}  // namespace respite
