// Phase: whether the server runs a late script, loads a data set, or has stopped.
//
// Scripts and loading may take so long that clients are served in the middle of a Turn. Meanwhile timers, waits and
// evictions do not run: only the script or the loader may change data. After a shutdown has saved the data no command
// may run, because its effects would be lost.
#pragma once

#include <cstdint>

namespace respite {

struct Session;

class Phase {
 public:
  // `holder` (may be null) is the client whose command it is; the server reads nothing from it until the end.
  void BeginLateScript(const Session* holder) { script_ = {true, holder}; }
  void EndLateScript() { script_ = {}; }
  void BeginLoading(const Session* holder) { loading_ = {true, holder}; }
  void EndLoading() { loading_ = {}; }
  void Stop() { has_stopped_ = true; }

  bool IsMidTurn() const { return script_.lasts || loading_.lasts; }
  bool IsLoading() const { return loading_.lasts; }
  bool HasStopped() const { return has_stopped_; }
  bool Holds(const Session& session) const { return script_.holder == &session || loading_.holder == &session; }

 private:
  struct Interruption {
    bool lasts = false;
    const Session* holder = nullptr;
  };

  Interruption script_;
  Interruption loading_;
  bool has_stopped_ = false;
};

}  // namespace respite
