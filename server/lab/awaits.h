// Awaits: clients that wait until the server is in a given state (TEST AWAIT). The conditions are checked after each
// turn. The timeouts are real time, so that a test ends whatever the server's clock shows.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/late_bound.h"
#include "server/execution/call_observer.h"
#include "server/runtime/env.h"

namespace respite {

class Clients;
struct Command;
class Pace;
struct Session;
class BlockedClients;

// Counts the requests of clients while it exists, except TEST and the traffic between servers.
class RequestCounter final : public CallObserver {
 public:
  explicit RequestCounter(CallObservers& observers) : observers_(observers) { observers_.Attach(*this); }
  ~RequestCounter() override { observers_.Detach(*this); }
  RequestCounter(const RequestCounter&) = delete;
  RequestCounter& operator=(const RequestCounter&) = delete;

  uint64_t Count() const { return count_; }

  void OnCall(const FinishedCall& call) override;
  void OnRefusal(const RefusedCall& call) override;
  void OnWait(const WaitingCall& call) override { Note(call.session, &call.command); }
  void OnQueued(const WaitingCall& call) override { Note(call.session, &call.command); }

 private:
  void Note(const Session& client, const Command* command);

  CallObservers& observers_;
  uint64_t count_ = 0;
};

class Awaits {
 public:
  struct Parts {
    const Env& env;
    Clients& clients;
    BlockedClients& blocked_clients;
    CallObservers& observers;
  };
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // The result of checking a condition.
  struct Sight {
    bool is_met;
    std::string seen = {};           // the current state, shown if the condition is not met
    int64_t look_again_us = kNever;  // Pace time at which the condition may be met without any event
  };
  using Condition = std::function<Sight()>;

  explicit Awaits(const Parts& parts) : parts_(parts) {}

  bool Empty() const { return awaits_.empty(); }
  // Registers the wait of this session for `condition`. Requires: the condition is not met now.
  void Begin(const Session& session, const Command& command, Condition condition, int64_t timeout_ms);
  // Returns how the session's wait has ended, and forgets it. Returns nullopt if it has not ended or does not exist.
  std::optional<Sight> Take(const Session& session);
  // Unblocks the clients with a condition that is met or a timeout that has passed. Cost: O(awaits) and the cost of
  // their conditions.
  void Look();
  // Returns the request counter that all current waits share.
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
  std::map<uint64_t, Await> awaits_;  // by client ID
  int64_t turn_at_us_ = kNever;       // time of the turn that was requested from the host
  std::weak_ptr<const RequestCounter> requests_;
};

}  // namespace respite
