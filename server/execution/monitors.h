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

class Monitors final : public CallObserver {
 public:
  struct Parts {
    const Env& env;
    const CurrentExecution& current_execution;
    Clients& clients;
    ClientLimits& limits;
    CallObservers& observers;
  };
  explicit Monitors(const Parts& parts) : parts_(parts) {}

  bool Empty() const { return sessions_.empty(); }
  void Add(Session& session);
  // Ends MONITOR for a session. Also called for a session that closes. Does nothing if the session is not a monitor.
  void Remove(Session& session);

  // Shows the running command before it has any effect. Used by scripts, so that they appear before the commands that
  // they call. Requires: its card has kSkipMonitor.
  void ShowBegun(const Session& session, std::span<const Bytes> words) {
    if (!Empty()) Show(session, words);
  }

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;
  void OnWait(const WaitingCall& call) override;

 private:
  void ShowIfPublic(const Session& session, const Command& command, std::span<const Bytes> words);
  void Show(const Session& session, std::span<const Bytes> words);
  std::string Line(const Session& session, std::span<const Bytes> words) const;
  std::string PeerOf(const Session& session) const;

  const Parts parts_;
  std::vector<Session*> sessions_;
};

}  // namespace respite
