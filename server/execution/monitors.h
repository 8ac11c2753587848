// Monitors: the sessions that receive every command (MONITOR). Attached as an observer while there are any.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "server/execution/call_observer.h"
#include "server/runtime/env.h"

namespace respite {

class ClientLimits;
class Clients;
struct CurrentExecution;

class Monitors final : public CallObserver {  // clients in MONITOR mode, which get every command
 public:
  struct Parts {  // the objects that it uses
    const Env& env;
    const CurrentExecution& current_execution;
    Clients& clients;
    ClientLimits& limits;
    CallObservers& observers;
  };
  explicit Monitors(const Parts& parts) : parts_(parts) {}

  bool IsEmpty() const { return sessions_.empty(); }  // no client is a monitor
  void Add(Session& session);                         // starts MONITOR
  // Also called for a session that closes. Does nothing if the session is not a monitor.
  void Remove(Session& session);  // ends MONITOR

  // Shows a script before it runs, so that it appears before the commands that it calls. Requires: its card has
  // kSkipMonitor.
  void ShowRunningScript(const Session& session, std::span<const Bytes> arguments) {  // before its effects
    if (!IsEmpty()) Show(session, arguments);
  }

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;
  void OnWait(const WaitingCall& call) override;

 private:
  void ShowUnlessHidden(const Session& session, const Command& command, std::span<const Bytes> arguments);
  void Show(const Session& session, std::span<const Bytes> arguments);               // to all monitors
  std::string Line(const Session& session, std::span<const Bytes> arguments) const;  // the text of MONITOR
  std::string PeerOf(const Session& session) const;                                  // address, as MONITOR shows it

  const Parts parts_;               // the objects that it uses
  std::vector<Session*> sessions_;  // the monitors
};

}  // namespace respite
