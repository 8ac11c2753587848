// Drawing random elements with repetition (SRANDMEMBER, HRANDFIELD, ZRANDMEMBER with a negative count).
#pragma once

#include <cstdint>

#include "base/refusal.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_subsystem.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {

inline constexpr char kReplyTooLong[] = "ERR the reply would have more than 10000000 elements or 512 MB";

}  // namespace refusals

// Limits such replies, since clients may ask for any number of elements. A client with a lower output limit is closed
// as soon as it is exceeded.
class DrawLimit {
 public:
  static constexpr uint64_t kMostElements = 10'000'000;

  // Throws if `count` is too large. Must be constructed before any reply is written.
  DrawLimit(Call& call, uint64_t count) : call_(call), start_(call.session.out.HeldBytes()), checked_(start_) {
    if (count > kMostElements) throw Refusal{refusals::kReplyTooLong};
  }

  // Must be called after each element. Throws if the reply is too long; the error then replaces the whole reply.
  void Check();

 private:
  static constexpr size_t kMostBytes = 512 * 1024 * 1024;
  static constexpr size_t kBetweenChecks = 64 * 1024;

  Call& call_;
  size_t start_;
  size_t checked_;
};

inline void DrawLimit::Check() {
  const size_t held = call_.session.out.HeldBytes();
  if (held - checked_ < kBetweenChecks) return;
  checked_ = held;
  // A script's session has no output limit, and must stay open for the next script. Output that is not sent has no
  // limit either.
  const bool is_limited = !call_.session.IsScript() && !call_.session.replies.IsSilent();
  const bool is_closed = is_limited && call_.services.clients.limits.CheckOutput(call_.session, call_.now_ms);
  if (is_closed || held - start_ > kMostBytes) throw Refusal{refusals::kReplyTooLong};
}

}  // namespace respite
