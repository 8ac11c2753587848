#include "server/clients/client_faults.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/str_cat.h"
#include "server/catalogue/command_table.h"
#include "server/clients/clients.h"
#include "server/clients/session.h"

namespace respite {

template <class Change>
void ClientFaults::ChangeFaultState(Session& session, Change&& change) {
  if (session.closing) return;
  if (session.fault_state == nullptr) session.fault_state = std::make_unique<ClientFaultState>();
  ClientFaultState& state = *session.fault_state;
  const int64_t before_ms = state.NextDueMs();
  change(state);
  const int64_t after_ms = state.NextDueMs();
  if (before_ms != after_ms && before_ms != OutputGate::kNever) due_times_.erase({before_ms, session.id});
  if (after_ms != OutputGate::kNever) due_times_.insert({after_ms, session.id});
  if (state.IsOver()) session.fault_state.reset();
}

// Returns the monotonic clock time, in ms, when a delay ends that begins now. Rounds up, so that no delay is shorter
// than requested.
int64_t ClientFaults::DueTimeAfter(int64_t delay_ms) const {
  constexpr int64_t kUsPerMs = 1000;
  const int64_t now_ms = (parts_.env.clock.MonotonicUs() + kUsPerMs - 1) / kUsPerMs;
  return delay_ms > OutputGate::kNever - 1 - now_ms ? OutputGate::kNever - 1 : now_ms + delay_ms;
}

void ClientFaults::DelayRequest(Session& session, int64_t delay_ms, uint64_t rule_id) {
  ChangeFaultState(session, [&](ClientFaultState& state) {
    state.is_request_delayed = true;
    state.delay_rule_id = rule_id;
    state.delayed_until_ms = DueTimeAfter(delay_ms);
  });
}

void ClientFaults::CloseAfterOutput(Session& session) {
  session.close_after_reply = true;
  ChangeFaultState(session, [&](ClientFaultState& state) { state.gate.EndOutputAfter(session.out.Size()); });
}

void ClientFaults::SetReplyFault(Session& session, ReplyFault fault) {
  ChangeFaultState(session, [&](ClientFaultState& state) {
    if (!state.pending) state.pending = std::move(fault);
  });
}

void ClientFaults::HoldPartialReply(Session& session, size_t reply_start) {
  ChangeFaultState(session, [&](ClientFaultState& state) {
    if (state.pending && !state.gate.HasPartialReply()) state.gate.BeginPartialReply(reply_start);
  });
}

void ClientFaults::ApplyPendingFault(Session& session, size_t reply_start) {
  if (!session.fault_state->pending && !session.fault_state->gate.HasPartialReply()) return;
  ChangeFaultState(session, [&](ClientFaultState& state) {
    const size_t place = state.gate.HasPartialReply() ? state.gate.EndPartialReply() : reply_start;
    const auto fault = std::exchange(state.pending, std::nullopt);
    if (fault) Apply(session, *fault, place);  // no value: Release has ended the fault
  });
}

void ClientFaults::Apply(Session& session, const ReplyFault& fault, size_t reply_start) {
  using Kind = ReplyFault::Kind;
  OutputGate& gate = session.fault_state->gate;
  const int64_t now_ms = parts_.env.clock.MonotonicMs();
  const size_t bytes = session.out.Size() - std::min(reply_start, session.out.Size());
  switch (fault.kind) {
    case Kind::kCut:
      session.close_after_reply = true;
      return gate.EndOutputAfter(reply_start + std::min(bytes, static_cast<size_t>(fault.amount)));
    case Kind::kReplace:
      if (bytes == 0) return;  // CLIENT REPLY OFF: the request has no reply to replace
      session.out.RollBack(reply_start);
      return session.out.Append(fault.text);
    case Kind::kSilence:
      return gate.AddHold(reply_start, {.rule_id = fault.rule_id}, now_ms);
    case Kind::kHold:
      if (bytes == 0) return;
      return gate.AddHold(reply_start, {.rule_id = fault.rule_id, .until_ms = DueTimeAfter(fault.amount)}, now_ms);
    case Kind::kTrickle:
      if (bytes == 0) return;
      return gate.AddTrickle(reply_start, {.rule_id = fault.rule_id, .bytes = bytes, .bytes_per_second = fault.amount},
                             now_ms);
  }
}

template <class OpenGate, class IsMeant>
void ClientFaults::ReleaseIf(OpenGate&& open_gate, IsMeant&& is_meant) {
  parts_.clients.ForEach([&](Session& session) {
    if (session.closing || session.fault_state == nullptr) return;
    ChangeFaultState(session, [&](ClientFaultState& state) {
      open_gate(state.gate);
      if (state.pending && is_meant(state.pending->rule_id)) state.pending.reset();
      if (!state.is_request_delayed || !is_meant(state.delay_rule_id)) return;
      state.is_request_delayed = false;
      parts_.clients.QueueUnblocked(session);
    });
    parts_.clients.QueueFlush(session);
  });
}

void ClientFaults::Release(uint64_t rule_id) {
  const int64_t now_ms = parts_.env.clock.MonotonicMs();
  ReleaseIf([&](OutputGate& gate) { gate.Open(rule_id, now_ms); }, [&](uint64_t other) { return other == rule_id; });
}

void ClientFaults::ReleaseAll() {
  const int64_t now_ms = parts_.env.clock.MonotonicMs();
  ReleaseIf([&](OutputGate& gate) { gate.OpenAllBarriers(now_ms); }, [](uint64_t) { return true; });
}

void ClientFaults::Forget(Session& session) {
  if (session.fault_state != nullptr) due_times_.erase({session.fault_state->NextDueMs(), session.id});
}

void ClientFaults::RunDue(int64_t now_ms) {
  for (int left = kMaxEndedDelaysPerTurn; left > 0 && !due_times_.empty() && due_times_.begin()->at_ms <= now_ms;
       --left) {
    Session& session = *parts_.clients.Find(due_times_.begin()->client);
    ChangeFaultState(session, [&](ClientFaultState& state) {
      state.gate.Advance(now_ms, steps_);
      if (!state.is_request_delayed || state.delayed_until_ms > now_ms) return;
      state.is_request_delayed = false;
      parts_.clients.QueueUnblocked(session);
    });
    parts_.clients.QueueFlush(session);
  }
}

// Called when TEST CLOCK has moved the clock. Sends held output whose time has come. A reply that a fault slows down (a
// trickle) was held back during the move, and is sent in small steps again.
void ClientFaults::EndClockJump(int64_t now_ms) {
  steps_ = OutputGate::Steps::kSmall;
  std::vector<uint64_t> clients;
  for (const Due& due : due_times_) clients.push_back(due.client);
  for (const uint64_t client : clients) {
    Session& session = *parts_.clients.Find(client);
    ChangeFaultState(session, [&](ClientFaultState& state) { state.gate.Advance(now_ms); });
    parts_.clients.QueueFlush(session);
  }
}

std::string ClientFaults::NextDueText() const {
  const Session& session = *parts_.clients.Find(due_times_.begin()->client);
  const bool is_request =
      session.fault_state->is_request_delayed && session.fault_state->delayed_until_ms == due_times_.begin()->at_ms;
  return StrCat(is_request ? "a delayed request" : "a reply", " of client ", session.id, " goes on");
}

}  // namespace respite
