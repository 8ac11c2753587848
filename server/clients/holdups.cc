#include "server/clients/holdups.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/catalogue/command_table.h"
#include "server/clients/clients.h"
#include "server/clients/session.h"

namespace respite {

template <class Change>
void Holdups::Alter(Session& session, Change&& change) {
  if (session.closing) return;
  if (session.holdup == nullptr) session.holdup = std::make_unique<Holdup>();
  Holdup& holdup = *session.holdup;
  const int64_t before_ms = holdup.NextDueMs();
  change(holdup);
  const int64_t after_ms = holdup.NextDueMs();
  if (before_ms != after_ms && before_ms != OutputGate::kNever) dues_.erase({before_ms, session.id});
  if (after_ms != OutputGate::kNever) dues_.insert({after_ms, session.id});
  if (holdup.IsOver()) session.holdup.reset();
}

// Rounds up, so that no delay is shorter than requested.
int64_t Holdups::DueAfter(int64_t delay_ms) const {
  constexpr int64_t kUsPerMs = 1000;
  const int64_t now_ms = (parts_.clock.MonotonicUs() + kUsPerMs - 1) / kUsPerMs;
  return delay_ms > OutputGate::kNever - 1 - now_ms ? OutputGate::kNever - 1 : now_ms + delay_ms;
}

void Holdups::DelayRequest(Session& session, int64_t delay_ms, uint64_t owner) {
  Alter(session, [&](Holdup& holdup) {
    holdup.has_delayed = true;
    holdup.delay_owner = owner;
    holdup.delayed_until_ms = DueAfter(delay_ms);
  });
}

void Holdups::EndConnection(Session& session) {
  session.close_after_reply = true;
  Alter(session, [&](Holdup& holdup) { holdup.gate.AddEnd(session.out.Size()); });
}

void Holdups::ExpectReply(Session& session, ReplyFault fault) {
  Alter(session, [&](Holdup& holdup) {
    if (!holdup.pending) holdup.pending = std::move(fault);
  });
}

void Holdups::SuspendReply(Session& session, size_t reply_start) {
  Alter(session, [&](Holdup& holdup) {
    if (holdup.pending && !holdup.gate.HasBegun()) holdup.gate.Begin(reply_start);
  });
}

void Holdups::EndReply(Session& session, size_t reply_start) {
  if (!session.holdup->pending && !session.holdup->gate.HasBegun()) return;
  Alter(session, [&](Holdup& holdup) {
    const size_t place = holdup.gate.HasBegun() ? holdup.gate.TakeBegun() : reply_start;
    const auto fault = std::exchange(holdup.pending, std::nullopt);
    if (fault) Apply(session, *fault, place);  // else it was released
  });
}

void Holdups::Apply(Session& session, const ReplyFault& fault, size_t reply_start) {
  using Kind = ReplyFault::Kind;
  OutputGate& gate = session.holdup->gate;
  const int64_t now_ms = parts_.clock.MonotonicMs();
  const size_t octets = session.out.Size() - std::min(reply_start, session.out.Size());
  switch (fault.kind) {
    case Kind::kCut:
      session.close_after_reply = true;
      return gate.AddEnd(reply_start + std::min(octets, static_cast<size_t>(fault.amount)));
    case Kind::kReplace:
      if (octets == 0) return;  // CLIENT REPLY OFF; requests that meet this have a reply
      session.out.RollBack(reply_start);
      return session.out.Append(fault.text);
    case Kind::kSilence:
      return gate.AddHold(reply_start, {.owner = fault.owner}, now_ms);
    case Kind::kHold:
      if (octets == 0) return;
      return gate.AddHold(reply_start, {.owner = fault.owner, .until_ms = DueAfter(fault.amount)}, now_ms);
    case Kind::kTrickle:
      if (octets == 0) return;
      return gate.AddTrickle(reply_start, {.owner = fault.owner, .octets = octets, .per_second = fault.amount}, now_ms);
  }
}

template <class OpenGate, class IsMeant>
void Holdups::ReleaseSome(OpenGate&& open_gate, IsMeant&& is_meant) {
  parts_.clients.ForEach([&](Session& session) {
    if (session.closing || session.holdup == nullptr) return;
    Alter(session, [&](Holdup& holdup) {
      open_gate(holdup.gate);
      if (holdup.pending && is_meant(holdup.pending->owner)) holdup.pending.reset();
      if (!holdup.has_delayed || !is_meant(holdup.delay_owner)) return;
      holdup.has_delayed = false;
      parts_.clients.Continue(session);
    });
    parts_.clients.QueueFlush(session);
  });
}

void Holdups::Release(uint64_t owner) {
  const int64_t now_ms = parts_.clock.MonotonicMs();
  ReleaseSome([&](OutputGate& gate) { gate.Open(owner, now_ms); }, [&](uint64_t other) { return other == owner; });
}

void Holdups::ReleaseAll() {
  const int64_t now_ms = parts_.clock.MonotonicMs();
  ReleaseSome([&](OutputGate& gate) { gate.OpenAll(now_ms); }, [](uint64_t) { return true; });
}

void Holdups::Forget(Session& session) {
  if (session.holdup != nullptr) dues_.erase({session.holdup->NextDueMs(), session.id});
}

void Holdups::RunDue(int64_t now_ms) {
  for (int left = kPerTurn; left > 0 && !dues_.empty() && dues_.begin()->at_ms <= now_ms; --left) {
    Session& session = *parts_.clients.Find(dues_.begin()->client);
    Alter(session, [&](Holdup& holdup) {
      holdup.gate.Advance(now_ms, steps_);
      if (!holdup.has_delayed || holdup.delayed_until_ms > now_ms) return;
      holdup.has_delayed = false;
      parts_.clients.Continue(session);
    });
    parts_.clients.QueueFlush(session);
  }
}

// Trickles go on octet by octet from here.
void Holdups::EndJump(int64_t now_ms) {
  steps_ = OutputGate::Steps::kSmall;
  std::vector<uint64_t> clients;
  for (const Due& due : dues_) clients.push_back(due.client);
  for (const uint64_t client : clients) {
    Session& session = *parts_.clients.Find(client);
    Alter(session, [&](Holdup& holdup) { holdup.gate.Advance(now_ms); });
    parts_.clients.QueueFlush(session);
  }
}

std::string Holdups::WhatIsDue() const {
  const Session& session = *parts_.clients.Find(dues_.begin()->client);
  const bool is_request = session.holdup->has_delayed && session.holdup->delayed_until_ms == dues_.begin()->at_ms;
  return std::string(is_request ? "a delayed request" : "a reply") + " of client " + std::to_string(session.id) +
         " goes on";
}

}  // namespace respite
