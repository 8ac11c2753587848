// ServerPhase: whether the server runs a late script, loads a data set, or has stopped.
//
// Scripts and loading may take so long that clients are served in the middle of a Turn. Meanwhile timers, waits and
// evictions do not run: only the script or the loader may change data. A snapshot that a replica loads while it arrives
// takes many Turns, which are like others. After a shutdown has saved the data no command may run, because its effects
// would be lost.
#pragma once

#include <cstdint>

namespace respite {

struct Session;

class ServerPhase {
 public:
  enum class Load : uint8_t {
    kNone,
    kInTurn,     // in one Turn, in the middle of which clients are served
    kOverTurns,  // piece by piece
    kAsync,      // the same, and clients have the old data meanwhile
  };

  // `holder` (may be null) is the client whose command it is; the server reads nothing from it until the end.
  void BeginLateScript(const Session* holder) { script_ = {true, holder}; }
  void EndLateScript() { script_ = {}; }
  void BeginLoading(Load how, const Session* holder) {
    load_ = how;
    loader_ = holder;
  }
  void EndLoading() { BeginLoading(Load::kNone, nullptr); }
  void Stop() { has_stopped_ = true; }

  bool IsMidTurn() const { return script_.lasts || load_ == Load::kInTurn; }
  Load load() const { return load_; }
  // The data are not there yet: clients hear LOADING.
  bool IsLoading() const { return load_ == Load::kInTurn || load_ == Load::kOverTurns; }
  bool HasStopped() const { return has_stopped_; }
  bool Holds(const Session& session) const { return script_.holder == &session || loader_ == &session; }

 private:
  struct Script {
    bool lasts = false;
    const Session* holder = nullptr;
  };

  Script script_;
  Load load_ = Load::kNone;
  const Session* loader_ = nullptr;
  bool has_stopped_ = false;
};

}  // namespace respite
