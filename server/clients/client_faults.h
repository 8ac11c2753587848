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

class ClientFaults final : public Timers::Source {  // applies TEST FAULT to clients: delays requests and replies
 public:
  struct Parts {  // the objects that ClientFaults uses; its constructor gets them
    const Env& env;
    Clients& clients;  // the sessions of all clients
  };
  explicit ClientFaults(const Parts& parts) : parts_(parts) {}

  // Delays the request in Session::paused_request, which the caller has set, by `delay_ms`. Release(rule_id) ends the
  // delay earlier.
  void DelayRequest(Session& session, int64_t delay_ms, uint64_t rule_id);  // delays paused_request for a fault rule
  void CloseAfterOutput(Session& session);  // reads no more input; closes the client when all present output is sent

  // Sets what ApplyPendingFault will do to the reply of the running request. Does nothing if this request already has a
  // fault.
  void SetReplyFault(Session& session, ReplyFault fault);  // chooses the fault for the reply of the running request
  // Keeps the incomplete reply of the running request, which begins at `reply_start` in session.out, from being sent
  // before ApplyPendingFault. Does nothing if TEST FAULT does not change this reply. Called when a request pauses with
  // an incomplete reply and continues in a later Turn (iteration of the event loop).
  void HoldPartialReply(Session& session, size_t reply_start);  // holds an incomplete reply until it is complete
  // Applies the fault that SetReplyFault has set, now that the reply is complete. `reply_start` is where the reply
  // begins in session.out. Requires: session.fault_state exists.
  void ApplyPendingFault(Session& session, size_t reply_start);  // holds, slows, cuts or replaces the complete reply

  // Release and ReleaseAll cannot undo a close that CloseAfterOutput has requested, or a reply that was already cut
  // (ReplyFault::Kind::kCut).
  void Release(uint64_t rule_id);  // ends the delays and faults that the rule with this id has caused
  void ReleaseAll();               // ends the delays and faults of all rules. Cost: O(sessions)
  void Forget(Session& session);   // removes the session, which closes, from due_times_

  int64_t NextDueMs() const override {  // monotonic clock time when the next delay ends, or kNever
    return due_times_.empty() ? Timers::kNever : due_times_.begin()->at_ms;
  }
  void RunDue(int64_t now_ms) override;      // runs delayed requests, and sends held output, when their time has come
  std::string NextDueText() const override;  // what happens next: "a delayed request of client 3 goes on"
  // Called before TEST CLOCK moves the clock. Until EndClockJump, output that a fault sends slowly (a trickle) waits
  // until all its bytes may be sent. Otherwise the jump of the clock would stop for each small part.
  void BeginClockJump() override { steps_ = OutputGate::Steps::kNone; }  // slow output waits until EndClockJump
  void EndClockJump(int64_t now_ms) override;  // TEST CLOCK has moved the clock: sends held output that is due

 private:
  struct Due {                                     // when the next delay of one client ends
    int64_t at_ms;                                 // monotonic clock time when the delay ends
    uint64_t client;                               // id of the client
    auto operator<=>(const Due&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };
  static constexpr int kMaxEndedDelaysPerTurn = 1000;  // maximum number of clients whose delays one RunDue ends

  template <class Change>
  void ChangeFaultState(Session& session, Change&& change);  // calls change(ClientFaultState&), then updates due_times_
  // For each session that has faults, calls open_gate(gate) with its OutputGate. Ends the session's delay if
  // is_meant(rule_id) is true for the rule of the delay, and drops the fault of its next reply if is_meant is true for
  // that fault's rule.
  template <class OpenGate, class IsMeant>
  void ReleaseIf(OpenGate&& open_gate, IsMeant&& is_meant);  // ends the faults of the rules that is_meant selects
  int64_t DueTimeAfter(int64_t delay_ms) const;              // clock time at the end of a delay that begins now
  void Apply(Session& session, const ReplyFault& fault, size_t reply_start);  // applies the fault to out[reply_start…]

  const Parts parts_;                                    // the objects that the constructor got
  std::set<Due> due_times_;                              // when each client's next delay ends, the soonest first
  OutputGate::Steps steps_ = OutputGate::Steps::kSmall;  // kNone while TEST CLOCK jumps: slow output takes one step
};

}  // namespace respite
