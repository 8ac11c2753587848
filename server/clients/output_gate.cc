#include "server/clients/output_gate.h"

#include <algorithm>

namespace respite {

namespace {

constexpr uint64_t kMsPerSecond = 1000;

// Returns the time in ms, rounded up, in which `bytes` bytes are sent at `bytes_per_second` bytes per second. Requires:
// bytes < 2^53.
int64_t TimeFor(uint64_t bytes, int64_t bytes_per_second) {
  const uint64_t rate = static_cast<uint64_t>(bytes_per_second);
  return static_cast<int64_t>((bytes * kMsPerSecond + rate - 1) / rate);
}

}  // namespace

void OutputGate::Add(Barrier barrier, int64_t now_ms) {
  barriers_.push_back(barrier);
  Advance(now_ms);
}

void OutputGate::AddHold(size_t place, Hold hold, int64_t now_ms) {
  Add({.kind = Kind::kHold, .rule_id = hold.rule_id, .offset = sent_bytes_ + place, .due_ms = hold.until_ms}, now_ms);
}

void OutputGate::AddTrickle(size_t place, Trickle trickle, int64_t now_ms) {
  Add({.kind = Kind::kTrickle,
       .rule_id = trickle.rule_id,
       .offset = sent_bytes_ + place,
       .bytes = trickle.bytes,
       .bytes_per_second = trickle.bytes_per_second},
      now_ms);
}

void OutputGate::EndOutputAfter(size_t place) {
  barriers_.push_back({.kind = Kind::kEnd, .offset = sent_bytes_ + place});
}

void OutputGate::BeginPartialReply(size_t place) {
  barriers_.push_back({.kind = Kind::kHold, .offset = sent_bytes_ + place});
  has_partial_reply_ = true;
}

size_t OutputGate::EndPartialReply() {
  const size_t place = barriers_.back().offset - sent_bytes_;
  barriers_.pop_back();
  has_partial_reply_ = false;
  return place;
}

size_t OutputGate::SendableBytes(size_t size) const {
  if (barriers_.empty()) return size;
  const Barrier& front = barriers_.front();
  return std::min<uint64_t>(
      size, front.offset + front.passed_bytes - std::min(sent_bytes_, front.offset + front.passed_bytes));
}

// Removes barriers that no longer hold back output, from the front of the queue up to the first barrier that still
// does. A trickle (a barrier that lets output pass at a limited speed) begins only when it is at the front.
void OutputGate::Advance(int64_t now_ms, Steps steps) {
  while (!barriers_.empty() && Pass(barriers_.front(), now_ms, steps)) barriers_.pop_front();
}

bool OutputGate::Pass(Barrier& barrier, int64_t now_ms, Steps steps) {
  if (barrier.kind == Kind::kEnd) return false;
  if (barrier.kind == Kind::kHold) return barrier.due_ms <= now_ms;
  if (barrier.since_ms == kNotYet) barrier.since_ms = now_ms;
  const int64_t elapsed_ms = now_ms - barrier.since_ms;
  if (elapsed_ms >= TimeFor(barrier.bytes, barrier.bytes_per_second)) return true;
  barrier.passed_bytes =
      static_cast<uint64_t>(elapsed_ms) * static_cast<uint64_t>(barrier.bytes_per_second) / kMsPerSecond;
  const int64_t next_ms = barrier.since_ms + TimeFor(barrier.passed_bytes + 1, barrier.bytes_per_second);
  const int64_t all_ms = barrier.since_ms + TimeFor(barrier.bytes, barrier.bytes_per_second);
  barrier.due_ms = steps == Steps::kNone ? all_ms : std::min(std::max(next_ms, now_ms + kTrickleStepMs), all_ms);
  return false;
}

int64_t OutputGate::NextDueMs() const { return barriers_.empty() ? kNever : barriers_.front().due_ms; }

template <class IsMeant>
void OutputGate::OpenBarriersIf(IsMeant&& is_meant, int64_t now_ms) {
  std::erase_if(barriers_, is_meant);
  Advance(now_ms);
}

void OutputGate::Open(uint64_t rule_id, int64_t now_ms) {
  OpenBarriersIf([rule_id](const Barrier& barrier) { return barrier.kind != Kind::kEnd && barrier.rule_id == rule_id; },
                 now_ms);
}

void OutputGate::OpenAllBarriers(int64_t now_ms) {
  // Opens all barriers except two: the end of the output (kEnd), and the barrier before a reply that is still being
  // written (rule id 0).
  OpenBarriersIf([](const Barrier& barrier) { return barrier.kind != Kind::kEnd && barrier.rule_id != 0; }, now_ms);
}

bool OutputGate::HasReachedEnd() const {
  return !barriers_.empty() && barriers_.front().kind == Kind::kEnd && barriers_.front().offset <= sent_bytes_;
}

}  // namespace respite
