// NamedSnapshots: TEST SNAPSHOT. A server at several moments: data, functions, scripts, users, directives, clock.
//
// Connections are no part of it: who is connected stays, and hears of changed keys as of any change.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/config/config.h"
#include "server/lab/clock_control.h"
#include "server/lab/data_snapshots.h"

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
    Dataset& data;
    LazyFree& lazy_free;
    Config& config;
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
    size_t kept;  // values that were copied or moved into it, since they have changed
  };
  // In order of names. Cost: O(values that they keep).
  std::vector<Summary> List() const;
  bool Has(Bytes name) const { return all_.contains(name); }
  bool IsFull() const { return all_.size() >= kMost; }

  // Replaces one of this name. Cost: O(databases + users + directives + scripts).
  void Save(Bytes name);
  // False: there is none.
  bool Delete(Bytes name);
  // Removes all.
  void Clear() { all_.clear(); }
  // These require that there are such snapshots. All of Restore throw a Refusal where a directive or a user cannot be
  // as it was; directives are set first, so that nothing else has changed then. `running` is the session that asks.
  void Restore(Bytes name, Unit& unit, const Session* running);
  // From `before` to `after`, or to the present if `after` is empty.
  std::vector<DataSnapshots::Difference> Compare(Bytes before, Bytes after) const;

  // Copies its data and functions to an empty server. Returns why not, if the functions cannot be loaded there.
  // Requires: there is such a snapshot.
  std::optional<std::string> CopyTo(Bytes name, Dataset& data, FunctionLibraries& functions) const;

  // For those that need a snapshot without a name: of the data, and of functions and scripts.
  DataSnapshots& data() { return data_; }
  struct Programs {
    std::vector<std::string> scripts;    // sorted
    std::vector<std::string> functions;  // codes of libraries, by name
  };
  Programs CurrentPrograms() const { return {Scripts(), Functions()}; }
  void RestorePrograms(const Programs& programs, Unit& unit);

  // Users and directives as they are now are those that Reset brings back.
  void RememberStart();
  void ResetConfig();
  void ResetUsers(const Session* running);
  // Removes functions and scripts.
  void ResetScripts(Unit& unit);

 private:
  using Texts = std::vector<std::string>;
  // All but the data.
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
  // Those whose data was replaced as a whole are gone.
  void DropLost();

  const Parts parts_;
  DataSnapshots data_;
  std::map<std::string, Snapshot, std::less<>> all_;
  Setup start_;
};

}  // namespace respite
