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
class RealClock;
struct Session;
class BlockedClients;

// Counts the requests of all clients, except TEST commands and requests from other servers (replication, cluster nodes,
// Sentinels). A request that blocks its client counts twice: when the wait begins and when it ends.
class RequestCounter final : public CallObserver {  // counts the requests of all clients, for TEST AWAIT
 public:
  explicit RequestCounter(CallObservers& observers) : observers_(observers) { observers_.Attach(*this); }
  ~RequestCounter() override { observers_.Detach(*this); }
  RequestCounter(const RequestCounter&) = delete;
  RequestCounter& operator=(const RequestCounter&) = delete;

  uint64_t Count() const { return count_; }  // number of counted requests since this counter was created

  void OnCall(const FinishedCall& call) override;    // counts a request that has run; not commands in EXEC or scripts
  void OnRefusal(const RefusedCall& call) override;  // counts a request that was refused without running
  void OnWait(const WaitingCall& call) override { Note(call.session, &call.command); }    // counts a blocked request
  void OnQueued(const WaitingCall& call) override { Note(call.session, &call.command); }  // counts a queued request

 private:
  void Note(const Session& client, const Command* command);

  CallObservers& observers_;  // calls OnCall, OnRefusal, OnWait or OnQueued for each request
  uint64_t count_ = 0;        // number of requests so far
};

class Awaits {  // TEST AWAIT: clients that are blocked until the server is in a given state
 public:
  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    Clients& clients;                 // all sessions
    BlockedClients& blocked_clients;  // clients that wait in BLPOP, TEST AWAIT …
    CallObservers& observers;         // attached observers, told of commands
  };
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();  // a point in time that never comes

  struct ConditionState {             // result of one check of the condition of a TEST AWAIT
    bool is_met;                      // the condition holds, so the wait can end
    std::string state_text = {};      // text about the current state, for the error if the wait times out
    int64_t check_again_us = kNever;  // when to check again at the latest (real time)
  };
  using Condition = std::function<ConditionState()>;

  explicit Awaits(const Parts& parts) : parts_(parts) {}

  bool IsEmpty() const { return waits_by_client_.empty(); }  // no client waits in TEST AWAIT
  // Registers a wait, which ends when `condition` is met or the timeout (real time) has passed. The caller then blocks
  // the client. Requires: the condition is not met now.
  void RegisterWait(const Session& session, const Command& command,  // registers the wait; the caller blocks the client
                    Condition condition, int64_t timeout_ms);
  std::optional<ConditionState> Take(const Session& session);  // forgets the wait; returns its result, or nullopt
  // Called after each turn of the event loop. Cost: O(clients that wait), and the cost of their conditions.
  void CheckConditions();  // ends the waits whose condition is met or whose timeout has passed
  // Returns the counter of client requests that all clients in TEST AWAIT QUIET share. Makes the counter if no client
  // waits in it yet.
  std::shared_ptr<const RequestCounter> GetOrMakeRequestCounter();  // the counter of requests for TEST AWAIT QUIET

 private:
  struct Await {                             // the wait of one client
    const Command* command;                  // the TEST AWAIT command
    Condition condition;                     // what the client waits for; checked after each turn of the event loop
    int64_t deadline_us;                     // when the wait times out (real time)
    std::optional<ConditionState> end = {};  // result of the wait; nullopt: the client still waits
  };

  void RequestTurn(int64_t real_us);  // makes a turn of the event loop run at this real time (µs)

  const Parts parts_;                          // other parts of the server that this class uses
  std::map<uint64_t, Await> waits_by_client_;  // the waits of the clients that TEST AWAIT has blocked, by client ID
  int64_t requested_turn_us_ = kNever;  // real time of the loop turn that RequestTurn has requested; kNever: none
  std::weak_ptr<const RequestCounter> request_counter_;  // for TEST AWAIT QUIET; expired: no client waits in it
};

}  // namespace respite
