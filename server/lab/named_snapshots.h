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

class NamedSnapshots {  // TEST SNAPSHOT: a server's data, functions, scripts, users, directives and clock
 public:
  static constexpr size_t kMaxSnapshots = 1000;  // snapshots

  struct Parts {  // references to what the class uses
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

  struct Summary {  // one line of TEST SNAPSHOT LIST
    std::string name;
    int64_t saved_wall_ms;  // Unix time
    size_t keys;
    size_t kept;  // values that it stores because they have changed since
  };
  // Returns the snapshots, ordered by name. Cost: O(values that the snapshots store).
  std::vector<Summary> List() const;
  bool Has(Bytes name) const { return all_.contains(name); }
  bool IsFull() const { return all_.size() >= kMaxSnapshots; }  // no further snapshot can be saved

  // Replaces an existing snapshot with this name. Cost: O(databases + users + directives + scripts).
  void Save(Bytes name);
  // Returns false if there is no such snapshot.
  bool Delete(Bytes name);
  void Clear() { all_.clear(); }  // deletes all snapshots
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
  DataSnapshots& data() { return data_; }  // store of the data of all snapshots
  struct Programs {                        // scripts and functions of a server
    std::vector<std::string> scripts;      // sorted
    std::vector<std::string> functions;    // source code of the libraries, ordered by name
  };
  Programs CurrentPrograms() const { return {Scripts(), Functions()}; }  // of the server now
  void RestorePrograms(const Programs& programs, Unit& unit);

  void RememberStart();                     // stores the current users and directives for ResetConfig and ResetUsers
  void ResetConfig();                       // restores the directives of the start
  void ResetUsers(const Session* running);  // restores the users of the start. `running`: the calling session
  void ResetScripts(Unit& unit);            // removes all functions and scripts

 private:
  using Texts = std::vector<std::string>;
  struct Setup {             // all that a snapshot has, except the data
    std::string directives;  // names and values, packed
    std::string users;       // lines of an ACL file
    Programs programs;
    ClockControl::State clock;
  };
  struct Snapshot {  // data and setup at one moment
    DataSnapshots::SnapshotPtr data;
    Setup setup;            // all except the data
    int64_t saved_wall_ms;  // Unix time
  };

  Setup CurrentSetup() const;            // of the server now
  std::string UserLines() const;         // the users as lines of an ACL file
  Texts Scripts() const;                 // cached scripts, sorted
  Texts Functions() const;               // source code of the libraries, ordered by name
  void RestoreDirectives(Bytes packed);  // names and values, as in Setup
  void RestoreUsers(const std::string& lines, const Session* running);
  void RestoreScripts(const Texts& bodies);
  void RestoreFunctions(const Texts& codes, Unit& unit);
  const Snapshot& At(Bytes name) const;
  void DropLost();  // drops the snapshots that are lost because all data was replaced

  const Parts parts_;
  DataSnapshots data_;                                // stores the data of all snapshots
  std::map<std::string, Snapshot, std::less<>> all_;  // by name
  Setup start_;                                       // users and directives of the start
};

}  // namespace respite
