// Phase: what the server as a whole is in the middle of.
//
// A late script and the loading of a data set take so long that others are served in the middle of the Turn. Timers,
// waits and evictions stand still meanwhile: only the script or the loader may change data. After a shutdown has saved
// the data no command may run at all, since what it does would be lost.
#pragma once

#include <cstdint>

namespace respite {

struct Session;

class Phase {
 public:
  // `holder` (null: nobody) is the client whose command it is: nothing of it is read until the end.
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
