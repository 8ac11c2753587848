// NamedSnapshots: TEST SNAPSHOT. A server at several moments: data, functions, scripts, users, directives, clock.
//
// Connections do not belong to a snapshot. A restore does not disconnect clients, and notifies them of changed keys.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/config/config.h"
#include "server/lab/clock_control.h"
#include "server/lab/data_snapshots.h"
#include "server/runtime/env.h"

namespace respite {

class FunctionLibraries;
class Permissions;
class ScriptCache;
struct Session;
class Users;

class NamedSnapshots {
 public:
  static constexpr size_t kMost = 1000;

  struct Parts {
    const Env& env;
    Dataset& data;
    LazyFree& lazy_free;
    Users& users;
    Permissions& permissions;
    ScriptCache& scripts;
    FunctionLibraries& functions;
    ClockControl& clock;
  };
  explicit NamedSnapshots(const Parts& parts);
  ~NamedSnapshots();
  NamedSnapshots(const NamedSnapshots&) = delete;
  NamedSnapshots& operator=(const NamedSnapshots&) = delete;

  struct Summary {
    std::string name;
    int64_t saved_wall_ms;
    size_t keys;
    size_t kept;  // values that it stores because they have changed since
  };
  // Returns the snapshots, ordered by name. Cost: O(values that the snapshots store).
  std::vector<Summary> List() const;
  bool Has(Bytes name) const { return all_.contains(name); }
  bool IsFull() const { return all_.size() >= kMost; }

  // Replaces an existing snapshot with this name. Cost: O(databases + users + directives + scripts).
  void Save(Bytes name);
  // Returns false if there is no such snapshot.
  bool Delete(Bytes name);
  void Clear() { all_.clear(); }
  // Restore and Compare require that the snapshots exist. Restore and Reset… throw a Refusal if a directive or a user
  // cannot be restored. Directives are set first, so that nothing else has changed then. `running` is the calling
  // session.
  void Restore(Bytes name, Unit& unit, const Session* running);
  // Compares `before` with `after`, or with the present if `after` is empty.
  std::vector<DataSnapshots::Difference> Compare(Bytes before, Bytes after) const;

  // Copies the snapshot's data and functions to an empty server. Returns an error if the functions cannot be loaded
  // there. Requires: there is such a snapshot.
  std::optional<std::string> CopyTo(Bytes name, Dataset& data, FunctionLibraries& functions) const;

  // Returns the store of data, for callers that need an unnamed snapshot of the data, or of the functions and scripts.
  DataSnapshots& data() { return data_; }
  struct Programs {
    std::vector<std::string> scripts;    // sorted
    std::vector<std::string> functions;  // source code of the libraries, ordered by name
  };
  Programs CurrentPrograms() const { return {Scripts(), Functions()}; }
  void RestorePrograms(const Programs& programs, Unit& unit);

  // Remembers the current users and directives as those that the Reset functions restore.
  void RememberStart();
  void ResetConfig();
  void ResetUsers(const Session* running);
  // Removes all functions and scripts.
  void ResetScripts(Unit& unit);

 private:
  using Texts = std::vector<std::string>;
  // Everything except the data.
  struct Setup {
    std::string directives;  // names and values, packed
    std::string users;       // lines of an ACL file
    Programs programs;
    ClockControl::State clock;
  };
  struct Snapshot {
    DataSnapshots::SnapshotPtr data;
    Setup setup;
    int64_t saved_wall_ms;
  };

  Setup CurrentSetup() const;
  std::string UserLines() const;
  Texts Scripts() const;
  Texts Functions() const;
  void RestoreDirectives(Bytes packed);
  void RestoreUsers(const std::string& lines, const Session* running);
  void RestoreScripts(const Texts& bodies);
  void RestoreFunctions(const Texts& codes, Unit& unit);
  const Snapshot& At(Bytes name) const;
  // Drops the snapshots that are lost because all data was replaced.
  void DropLost();

  const Parts parts_;
  DataSnapshots data_;
  std::map<std::string, Snapshot, std::less<>> all_;
  Setup start_;
};

}  // namespace respite
