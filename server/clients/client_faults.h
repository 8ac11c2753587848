// ClientFaults: delays requests and holds back replies of single clients while other clients are served (TEST FAULT).
// Delays are measured by the Clock, so a test that moves the clock also moves them.
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

class ClientFaults final : public Timers::Source {
 public:
  struct Parts {
    const Env& env;
    Clients& clients;
  };
  explicit ClientFaults(const Parts& parts) : parts_(parts) {}

  // Delays the request in Session::paused_request by this time. `owner` is for Release.
  void DelayRequest(Session& session, int64_t delay_ms, uint64_t owner);
  // Closes the connection after the output so far. No further input is read.
  void EndConnection(Session& session);

  // Applies this fault to the reply of the running request, even if the request blocks first. Has no effect if the
  // request already has a fault.
  void ExpectReply(Session& session, ReplyFault fault);
  // Holds back a partly written reply, which begins at `reply_start` in the output. The request continues in a later
  // Turn.
  void PauseReply(Session& session, size_t reply_start);
  // Applies the pending fault to the complete reply. Requires: session.fault_state exists.
  void EndReply(Session& session, size_t reply_start);

  // Release removes the delays and holds of one owner. ReleaseAll removes those of all owners. Cost: O(sessions).
  void Release(uint64_t owner);
  void ReleaseAll();
  // Drops the pending faults of a session that is closing.
  void Forget(Session& session);

  int64_t NextDueMs() const override { return dues_.empty() ? Timers::kNever : dues_.begin()->at_ms; }
  void RunDue(int64_t now_ms) override;
  std::string WhatIsDue() const override;
  void BeginJump() override { steps_ = OutputGate::Steps::kNone; }
  void EndJump(int64_t now_ms) override;

 private:
  struct Due {
    int64_t at_ms;
    uint64_t client;
    auto operator<=>(const Due&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };
  static constexpr int kPerTurn = 1000;

  // Changes a session's ClientFaultState and updates its entry in dues_.
  template <class Change>
  void Alter(Session& session, Change&& change);
  template <class OpenGate, class IsMeant>
  void ReleaseSome(OpenGate&& open_gate, IsMeant&& is_meant);
  int64_t DueAfter(int64_t delay_ms) const;
  void Apply(Session& session, const ReplyFault& fault, size_t reply_start);

  const Parts parts_;
  std::set<Due> dues_;
  OutputGate::Steps steps_ = OutputGate::Steps::kSmall;
};

}  // namespace respite
