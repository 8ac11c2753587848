// ServerPhase: whether the server runs a slow script, loads a data set, or has stopped.
//
// A slow script, or loading a file (Load::kInTurn), runs within one Turn of the event loop, and clients are served in
// the middle of it. Meanwhile no timers run, no blocked client is served, and nothing is evicted, because only the
// script or the loader may change data. A snapshot that a replica loads while it arrives (kOverTurns, kAsync) is loaded
// piece by piece instead, in many Turns that are otherwise ordinary. After a shutdown has saved the data no command may
// run, because its changes would be lost.
#pragma once

#include <cstdint>

namespace respite {

struct Session;

class ServerPhase {  // whether the server runs a slow script, loads data, or has stopped
 public:
  enum class Load : uint8_t {  // whether and how data is being loaded
    kNone,
    kInTurn,     // in one event loop turn, which is interrupted to serve clients
    kOverTurns,  // piece by piece in many turns, as a primary's snapshot arrives; clients get LOADING errors
    kAsync,      // piece by piece in many turns; clients see the old data until the end
  };

  // The kind of the slow script that is running, if any. A script or function counts as slow when it has run for
  // busy-reply-threshold; from then on, other clients are served while it runs.
  enum class BusyScriptKind : uint8_t { kNone, kScript, kFunction };  // what kind of slow script runs

  // Must be called when a script has become slow. `holder` is the client that runs the script, or null. The server
  // reads no input from this client until the script ends.
  void BeginBusyScript(BusyScriptKind kind, const Session* holder) {  // a script is slow; no input is read from holder
    script_ = {kind, holder};
    ++long_tasks_;
  }
  void EndBusyScript() { script_ = {}; }                // the slow script has ended
  void BeginLoading(Load how, const Session* holder) {  // loading starts; no input is read from `holder` (may be null)
    load_ = how;
    loader_ = holder;
    if (how == Load::kInTurn) ++long_tasks_;
  }
  void EndLoading() { BeginLoading(Load::kNone, nullptr); }  // loading has ended, well or badly
  void Stop() { has_stopped_ = true; }                       // the server has stopped: no command may run

  bool IsInLongTask() const { return HasBusyScript() || load_ == Load::kInTurn; }  // a slow script or kInTurn load now
  uint64_t LongTask() const { return IsInLongTask() ? long_tasks_ : 0; }  // number of the task that runs now; 0: none
  BusyScriptKind busy_script() const { return script_.kind; }  // the kind of the slow script; kNone: none runs
  bool HasBusyScript() const { return script_.kind != BusyScriptKind::kNone; }  // true: a slow script runs now
  Load load() const { return load_; }                                           // whether and how data is being loaded
  bool IsLoading() const { return load_ == Load::kInTurn || load_ == Load::kOverTurns; }  // clients get LOADING errors
  bool HasStopped() const { return has_stopped_; }    // true: no command may run any more
  bool PausesInputOf(const Session& session) const {  // true: input must wait, as the client's own script or load runs
    return script_.holder == &session || loader_ == &session;
  }

 private:
  struct Script {                                 // a slow script that runs now
    BusyScriptKind kind = BusyScriptKind::kNone;  // an EVAL or a function; kNone: none runs
    const Session* holder = nullptr;              // the client that runs the script; may be null
  };

  Script script_;                    // the slow script that runs now, if any
  Load load_ = Load::kNone;          // whether and how data is being loaded
  const Session* loader_ = nullptr;  // the client that requested the loading; may be null
  uint64_t long_tasks_ = 0;          // number of slow scripts and loads in a turn that have begun
  bool has_stopped_ = false;         // true: no command may run any more
};

}  // namespace respite
