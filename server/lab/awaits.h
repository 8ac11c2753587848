// Awaits: clients that wait until the server is in a given state (TEST AWAIT). The conditions are checked after each
// turn of the event loop. The timeouts are in real time, so a test ends whatever time the server's clock shows.
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

// Omits requests of TEST and the traffic between servers.
class RequestCounter final : public CallObserver {  // the number of requests of all clients since its creation
 public:
  explicit RequestCounter(CallObservers& observers) : observers_(observers) { observers_.Attach(*this); }
  ~RequestCounter() override { observers_.Detach(*this); }
  RequestCounter(const RequestCounter&) = delete;
  RequestCounter& operator=(const RequestCounter&) = delete;

  uint64_t Count() const { return count_; }  // number of requests since the counter was created

  void OnCall(const FinishedCall& call) override;    // a command has run
  void OnRefusal(const RefusedCall& call) override;  // a request was refused without running
  void OnWait(const WaitingCall& call) override { Note(call.session, &call.command); }    // a request was blocked
  void OnQueued(const WaitingCall& call) override { Note(call.session, &call.command); }  // queued after MULTI

 private:
  void Note(const Session& client, const Command* command);

  CallObservers& observers_;
  uint64_t count_ = 0;  // number of requests so far
};

class Awaits {  // the clients that wait in TEST AWAIT for a state of the server
 public:
  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    Clients& clients;
    BlockedClients& blocked_clients;
    CallObservers& observers;
  };
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();  // only an event can meet the condition

  struct ConditionState {             // result of checking a condition
    bool is_met;                      // the condition holds, so the wait can end
    std::string seen = {};            // text about the current state, for the error if the wait times out
    int64_t check_again_us = kNever;  // Pace time at which the condition may be met without any event
  };
  using Condition = std::function<ConditionState()>;

  explicit Awaits(const Parts& parts) : parts_(parts) {}

  bool IsEmpty() const { return awaits_.empty(); }  // no client waits
  // Begins a wait of this session for `condition`. Requires: the condition is not met now.
  void BeginWait(const Session& session, const Command& command, Condition condition, int64_t timeout_ms);
  std::optional<ConditionState> Take(const Session& session);  // how the wait has ended, told once; nullopt: it has not
  // Cost: O(clients that wait), and the cost of their conditions.
  void CheckConditions();  // unblocks the clients whose condition is met or whose timeout has passed
  std::shared_ptr<const RequestCounter> SharedRequestCounter();  // the request counter that all current waits share

 private:
  struct Await {                             // the wait of one client
    const Command* command;                  // the TEST AWAIT command
    Condition condition;                     // checked after each turn
    int64_t deadline_us;                     // Pace time at which the wait times out
    std::optional<ConditionState> end = {};  // result of the wait; nullopt: the client still waits
  };

  void RequestTurn(int64_t pace_us);  // makes the event loop start a turn at this time

  const Parts parts_;                                   // other parts of the server that this class uses
  std::map<uint64_t, Await> awaits_;                    // the waits, by client ID
  int64_t turn_at_us_ = kNever;                         // Pace time of the turn that was requested from the host
  std::weak_ptr<const RequestCounter> shared_counter_;  // exists only while a client waits
};

}  // namespace respite
