// Monitors: the sessions in MONITOR mode, which receive the commands of all clients, except administrative commands.
// This observer is attached while there is at least one such session.
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

class Monitors final : public CallObserver {  // clients in MONITOR mode, which are shown the commands of all clients
 public:
  struct Parts {  // the objects that Monitors uses; its constructor gets them
    const Env& env;
    const CurrentExecution& current_execution;  // the command that runs now
    Clients& clients;                           // all sessions
    ClientLimits& limits;                       // closes clients that exceed client-output-buffer-limit
    CallObservers& observers;                   // attached observers, told of commands
  };
  explicit Monitors(const Parts& parts) : parts_(parts) {}

  bool IsEmpty() const { return sessions_.empty(); }  // no client is in MONITOR mode
  void Add(Session& session);                         // puts the session into MONITOR mode
  // Ends MONITOR for a session. Does nothing if the session is not in MONITOR mode: Remove is called for each session
  // that closes.
  void Remove(Session& session);  // ends MONITOR for this session, if it is in MONITOR mode

  // Shows the request that runs a script (EVAL, FCALL) before the script runs, so that the request appears before the
  // commands of the script. Requires: the request's command has the flag kSkipMonitor, so that OnCall does not show the
  // request again.
  void ShowRunningScript(const Session& session,  // shows an EVAL or FCALL before the commands of the script
                         std::span<const Bytes> arguments) {
    if (!IsEmpty()) Show(session, arguments);
  }

  void OnCall(const FinishedCall& call) override;    // shows the command to monitors, unless OnWait has done so
  void OnRefusal(const RefusedCall& call) override;  // shows a refused EXEC; ignores other refused commands
  void OnWait(const WaitingCall& call) override;     // shows a command when it begins to block its client

 private:
  void ShowUnlessHidden(const Session& session, const Command& command,  // shows no command with kAdmin or kSkipMonitor
                        std::span<const Bytes> arguments);
  void Show(const Session& session, std::span<const Bytes> arguments);  // tells monitors whose replies are on
  std::string Line(const Session& session, std::span<const Bytes> arguments) const;  // the text that MONITOR shows
  std::string PeerOf(const Session& session) const;  // a client's address, as MONITOR shows it

  const Parts parts_;               // the objects that the constructor got
  std::vector<Session*> sessions_;  // the clients in MONITOR mode
};

}  // namespace respite
