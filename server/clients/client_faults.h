// ClientFaults: delays requests and holds back replies of single clients, while others are served (TEST FAULT). Delays
// are times of the Clock, so they follow it when a test moves it.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "server/clients/client_fault_state.h"
#include "server/runtime/timers.h"

namespace respite {

class Clients;
class Clock;
struct Session;

class ClientFaults final : public Timers::Source {
 public:
  struct Parts {
    const Clock& clock;
    Clients& clients;
  };
  explicit ClientFaults(const Parts& parts) : parts_(parts) {}

  // The request that the session holds (Session::held) runs after this time. `owner` is for Release.
  void DelayRequest(Session& session, int64_t delay_ms, uint64_t owner);
  // The connection ends behind the output so far; nothing more is read from it.
  void EndConnection(Session& session);

  // The request that runs now gets its reply with this fault, also if it blocks meanwhile. The first one counts, if
  // there are several.
  void ExpectReply(Session& session, ReplyFault fault);
  // The request has written a part of its reply, from this place of the output on, and goes on in a later Turn.
  void PauseReply(Session& session, size_t reply_start);
  // The reply is complete; the fault comes into force. Requires: session.fault_state exists.
  void EndReply(Session& session, size_t reply_start);

  // Lets go what this owner delays or holds back, or what anybody does. Cost: O(sessions).
  void Release(uint64_t owner);
  void ReleaseAll();
  // A session closes.
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

  // Changes a session's ClientFaultState, and keeps its place in dues_ up to date.
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
