// ClientFaults: delays requests and holds back replies of single clients, while other clients are served (TEST FAULT).
// Delays are measured by the server's Clock, so they also end when a test moves the clock forward.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "server/clients/client_state.h"
#include "server/runtime/env.h"
#include "server/runtime/timers.h"

namespace respite {

class Clients;
class Clock;
struct Session;

class ClientFaults final : public Timers::Source {  // delays requests and replies of clients (TEST FAULT)
 public:
  struct Parts {  // the objects that ClientFaults uses; its constructor gets them
    const Env& env;
    Clients& clients;  // all sessions
  };
  explicit ClientFaults(const Parts& parts) : parts_(parts) {}

  // Delays the request in Session::paused_request. `owner` is the id of the fault rule; Release with this id ends the
  // delay.
  void DelayRequest(Session& session, int64_t delay_ms, uint64_t owner);  // delays Session::paused_request
  void CloseAfterOutput(Session& session);  // closes the client after its present output; reads no further input

  // Sets what ApplyPendingFault will do to the reply of the running request. Does nothing if this request already has a
  // fault.
  void SetReplyFault(Session& session, ReplyFault fault);  // sets what happens to the running request's reply
  // If the running request has a fault, holds back the part of its reply that is written so far. Called for a request
  // that is not finished and continues in a later Turn.
  void HoldPartialReply(Session& session, size_t reply_start);  // holds back the output from `reply_start` on
  // Applies the fault that SetReplyFault has set, now that the reply is complete. Requires: session.fault_state exists.
  void ApplyPendingFault(Session& session, size_t reply_start);  // applies the fault to the complete reply

  void Release(uint64_t owner);   // ends the delays and faults of one fault rule
  void ReleaseAll();              // ends the delays and faults of all rules. Cost: O(sessions)
  void Forget(Session& session);  // the session closes: drops its faults

  int64_t NextDueMs() const override { return dues_.empty() ? Timers::kNever : dues_.begin()->at_ms; }  // monotonic
  void RunDue(int64_t now_ms) override;      // runs delayed requests, and sends held output whose time has come
  std::string NextDueText() const override;  // for example "a delayed request of client 3 goes on"
  void BeginClockJump() override { steps_ = OutputGate::Steps::kNone; }  // TEST CLOCK is about to advance
  void EndClockJump(int64_t now_ms) override;  // TEST CLOCK has advanced: sends held output whose time has come

 private:
  struct Due {                                     // when a delay or hold of a client ends
    int64_t at_ms;                                 // monotonic
    uint64_t client;                               // client id
    auto operator<=>(const Due&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };
  static constexpr int kMaxEndedDelaysPerTurn = 1000;  // how many clients' delays RunDue ends in one Turn at most

  template <class Change>
  void ChangeFaultState(Session& session, Change&& change);  // calls change(state), then updates dues_
  template <class OpenGate, class IsMeant>
  void ReleaseIf(OpenGate&& open_gate, IsMeant&& is_meant);  // ends the faults of the owners that is_meant selects
  int64_t DueTimeAfter(int64_t delay_ms) const;              // monotonic time in ms after this delay
  void Apply(Session& session, const ReplyFault& fault, size_t reply_start);  // changes output from `reply_start` on

  const Parts parts_;                                    // the objects that the constructor got
  std::set<Due> dues_;                                   // at most one for each client, the soonest first
  OutputGate::Steps steps_ = OutputGate::Steps::kSmall;  // kNone while TEST CLOCK moves the clock
};

}  // namespace respite
