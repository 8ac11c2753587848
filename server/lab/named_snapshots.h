// NamedSnapshots: TEST SNAPSHOT. A snapshot is the state of a server at one moment: data, functions, scripts, users,
// directives and clock. Connections do not belong to a snapshot. Restoring a snapshot notifies clients of changed keys.
// If the ACL users have changed, disconnects the clients that ACL LOAD would disconnect.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "scripting/function_library.h"
#include "server/config/config.h"
#include "server/lab/clock_control.h"
#include "server/lab/data_snapshots.h"
#include "server/runtime/env.h"

namespace respite {

class Permissions;
class ScriptCache;
struct Session;
class Users;

class NamedSnapshots {  // TEST SNAPSHOT: earlier states of a server (data, scripts, users, directives, clock)
 public:
  static constexpr size_t kMaxSnapshots = 1000;  // maximum number of snapshots of a server

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    Dataset& data;
    LazyFree& lazy_free;           // frees large values in the background
    Users& users;                  // all ACL users
    Permissions& permissions;      // ACL checks
    ScriptCache& scripts;          // scripts of EVAL and SCRIPT LOAD
    FunctionLibraries& functions;  // the libraries of FUNCTION LOAD
    ClockControl& clock;           // stops and moves the clock (TEST CLOCK)
  };
  explicit NamedSnapshots(const Parts& parts);
  ~NamedSnapshots();
  NamedSnapshots(const NamedSnapshots&) = delete;
  NamedSnapshots& operator=(const NamedSnapshots&) = delete;

  struct Summary {  // one line of TEST SNAPSHOT LIST
    std::string name;
    int64_t saved_wall_ms;  // Unix time when the snapshot was saved
    size_t keys;            // number of keys
    size_t kept_key_count;  // number of keys whose old state is stored, because they have changed since
  };
  // Returns all snapshots except lost ones, ordered by name. A snapshot is lost when a full synchronization or a loaded
  // file replaces all data. Cost: O(values that the snapshots store).
  std::vector<Summary> List() const;
  bool Has(Bytes name) const { return all_.contains(name); }
  bool IsFull() const { return all_.size() >= kMaxSnapshots; }  // no further snapshot can be saved

  // Saves the current state as a snapshot of this name. Replaces an existing snapshot of this name. Also deletes lost
  // snapshots: those made before a full synchronization or a loaded file replaced all data. Cost: O(databases + users +
  // directives + scripts).
  void Save(Bytes name);
  bool Delete(Bytes name);        // deletes a snapshot; false: there is none of this name
  void Clear() { all_.clear(); }  // deletes all snapshots
  // Compiles those scripts of a snapshot that are not cached now, so that Restore has nothing to compile. The error is
  // the text for the client, without "ERR". Requires: there is such a snapshot. Cost: O(bytes of the scripts).
  Result<Done> CacheScripts(Bytes name);  // compiles the scripts of a snapshot; others stay cached
  // Restores a snapshot. Throws a Refusal if its directives or its users cannot be restored, or if the snapshot is
  // lost. If a directive is refused, nothing has changed. `running` is the session of the caller. Requires: there is
  // such a snapshot, and its scripts are cached (CacheScripts).
  void Restore(Bytes name, Unit& unit, const Session* running);  // restores a snapshot; throws a Refusal on failure
  // Returns the differences from the snapshot `before` to the snapshot `after`. Throws a Refusal if one of them is
  // lost. Requires: the snapshots exist.
  std::vector<DataSnapshots::Difference> Compare(Bytes before, Bytes after) const;  // `after` empty: the current data

  // Copies the data and the functions of a snapshot to an empty server, but not its scripts, users and directives.
  // Returns nullopt, or why that server cannot load the functions; the data is copied even then. Throws a Refusal if
  // the snapshot is lost. Requires: there is such a snapshot.
  std::optional<std::string> CopyTo(Bytes name, Dataset& data,  // copies data and functions; or returns an error
                                    FunctionLibraries& functions) const;

  // Returns snapshots of the data alone, for callers that need nothing else and no name.
  DataSnapshots& data() { return data_; }   // snapshots of the data only
  struct Programs {                         // all scripts and functions of a server
    std::vector<std::string> scripts;       // texts of the cached scripts, sorted
    FunctionLibraries::Contents functions;  // the libraries, with their compiled code
  };
  Programs CurrentPrograms() const {  // the current scripts and functions
    return {Scripts(), parts_.functions.Copy()};
  }
  // Undoes changes of scripts and functions since `programs`, an earlier result of CurrentPrograms. Compiles nothing:
  // the functions were kept, and scripts that were removed since stay removed.
  void UndoPrograms(const Programs& programs, Unit& unit);  // removes newer scripts; restores functions of `programs`

  void RememberConfigAndUsers();  // stores users and directives for ResetConfig and ResetUsers
  void ResetConfig();             // restores the directives that RememberConfigAndUsers stored
  // Closes sessions, as ACL LOAD does; the session `running`, whose command calls this, only after its reply.
  void ResetUsers(const Session* running);  // restores the users that RememberConfigAndUsers stored
  void ResetScripts(Unit& unit);            // removes all functions and scripts

 private:
  using Texts = std::vector<std::string>;
  struct Setup {                // the state of a server, except the data
    std::string directives;     // names and values of all directives, in the form of PackedDirectives
    std::string users;          // the users as lines of an ACL file
    Programs programs;          // scripts and functions
    ClockControl::State clock;  // state of TEST CLOCK: time, speed …
  };
  struct Snapshot {  // the complete state of a server at one moment
    DataSnapshots::SnapshotPtr data;
    Setup setup;            // all except the data
    int64_t saved_wall_ms;  // Unix time when the snapshot was saved
  };

  Setup CurrentSetup() const;            // the current state of the server, except the data
  std::string UserLines() const;         // the current users as lines of an ACL file
  Texts Scripts() const;                 // cached scripts, sorted
  void RestoreDirectives(Bytes packed);  // sets the directives that differ from those in `packed`
  void RestoreUsers(const std::string& lines, const Session* running);   // replaces the users by those in `lines`
  static Texts CodesOf(const FunctionLibraries::Collection& libraries);  // source code, ordered by library name
  void RestoreFunctions(const FunctionLibraries::Contents& functions, Unit& unit);  // replaces all function libraries
  const Snapshot& At(Bytes name) const;
  void DropLost();  // deletes the lost snapshots: a full sync or a loaded file has replaced all data

  const Parts parts_;                                 // other parts of the server that this class uses
  DataSnapshots data_;                                // stores the data of all snapshots
  std::map<std::string, Snapshot, std::less<>> all_;  // by name
  std::string initial_directives_;                    // what ResetConfig restores, in the form of PackedDirectives
  std::string initial_users_;                         // what ResetUsers restores, as lines of an ACL file
};

}  // namespace respite
