// Awaits: clients that wait until the server is in a certain state (TEST AWAIT), looked at behind each Turn. The limits
// of these waits are real time: a test must end, whatever its clock says.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/late_bound.h"

namespace respite {

class CallObservers;
class Clients;
struct Command;
class Host;
class Pace;
class RequestCounter;
struct Session;
class BlockedClients;

class Awaits {
 public:
  struct Parts {
    const Pace& pace;
    Clients& clients;
    BlockedClients& blocked_clients;
    const LateBound<Host>& host;
    CallObservers& observers;
  };
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // What there is to see.
  struct Sight {
    bool is_met;
    std::string seen = {};           // instead
    int64_t look_again_us = kNever;  // of the Pace: it may be met then although nothing happens
  };
  using Condition = std::function<Sight()>;

  explicit Awaits(const Parts& parts) : parts_(parts) {}

  bool Empty() const { return awaits_.empty(); }
  // The session is going to wait for this, with this command. Requires: it is not met now.
  void Begin(const Session& session, const Command& command, Condition condition, int64_t timeout_ms);
  // How its wait has ended; nothing: it has not, or there was none. Forgets it.
  std::optional<Sight> Take(const Session& session);
  // Lets those go on whose condition is met, or whose time is over. Cost: O(awaits), and that of their conditions.
  void Look();
  // One for all that want it at a time.
  std::shared_ptr<const RequestCounter> Requests();

 private:
  struct Await {
    const Command* command;
    Condition condition;
    int64_t deadline_us;
    std::optional<Sight> end = {};
  };

  void AskForTurn(int64_t pace_us);

  const Parts parts_;
  std::map<uint64_t, Await> awaits_;  // by client
  int64_t turn_at_us_ = kNever;       // that the host was asked for
  std::weak_ptr<const RequestCounter> requests_;
};

}  // namespace respite
