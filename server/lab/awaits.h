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
class RequestCounter final : public CallObserver {  // the number of requests of all clients since its creation
 public:
  explicit RequestCounter(CallObservers& observers) : observers_(observers) { observers_.Attach(*this); }
  ~RequestCounter() override { observers_.Detach(*this); }
  RequestCounter(const RequestCounter&) = delete;
  RequestCounter& operator=(const RequestCounter&) = delete;

  uint64_t Count() const { return count_; }  // requests so far

  void OnCall(const FinishedCall& call) override;    // a command has run
  void OnRefusal(const RefusedCall& call) override;  // a request was refused without running
  void OnWait(const WaitingCall& call) override { Note(call.session, &call.command); }    // a request was blocked
  void OnQueued(const WaitingCall& call) override { Note(call.session, &call.command); }  // queued after MULTI

 private:
  void Note(const Session& client, const Command* command);

  CallObservers& observers_;
  uint64_t count_ = 0;
};

class Awaits {  // the clients that wait in TEST AWAIT for a state of the server
 public:
  struct Parts {  // references to what the class uses
    const Env& env;
    Clients& clients;
    BlockedClients& blocked_clients;
    CallObservers& observers;
  };
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  struct ConditionState {             // result of checking a condition
    bool is_met;                      // the wait can end
    std::string seen = {};            // the current state, shown if the condition is not met
    int64_t check_again_us = kNever;  // Pace time at which the condition may be met without any event
  };
  using Condition = std::function<ConditionState()>;

  explicit Awaits(const Parts& parts) : parts_(parts) {}

  bool IsEmpty() const { return awaits_.empty(); }  // no client waits
  // Registers the wait of this session for `condition`. Requires: the condition is not met now.
  void Begin(const Session& session, const Command& command, Condition condition, int64_t timeout_ms);
  std::optional<ConditionState> Take(const Session& session);  // how its wait has ended, once; nullopt: it has not
  // Unblocks the clients with a condition that is met or a timeout that has passed. Cost: O(awaits) and the cost of
  // their conditions.
  void CheckConditions();
  std::shared_ptr<const RequestCounter> Requests();  // counter that all current waits share

 private:
  struct Await {                             // the wait of one client
    const Command* command;                  // the TEST AWAIT command
    Condition condition;                     // checked after each turn
    int64_t deadline_us;                     // Pace time at which the wait times out
    std::optional<ConditionState> end = {};  // set when the wait has ended
  };

  void RequestTurn(int64_t pace_us);  // makes the event loop start a turn at this time

  const Parts parts_;
  std::map<uint64_t, Await> awaits_;              // by client ID
  int64_t turn_at_us_ = kNever;                   // time of the turn that was requested from the host
  std::weak_ptr<const RequestCounter> requests_;  // exists only while a client waits
};

}  // namespace respite
