// Elements that are drawn by chance and may come again (SRANDMEMBER, HRANDFIELD, ZRANDMEMBER with a negative count).
#pragma once

#include <cstdint>

#include "server/catalogue/refusals.h"
#include "server/clients/client_limits.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

// A client may ask for as many such elements as it likes: a reply beyond these bounds is refused. A client that may not
// have so much waiting is closed as soon as the reply is longer than that.
class DrawLimit {
 public:
  static constexpr uint64_t kMostElements = 10'000'000;

  // Throws when so many are too many. To be asked before anything is written.
  DrawLimit(Call& call, uint64_t count) : call_(call), start_(call.session.out.HeldBytes()), checked_(start_) {
    if (count > kMostElements) throw Refusal{refusals::kReplyTooLong};
  }

  // To be called after each element. Throws when the reply is too long: nothing is left of it, so no writer promises
  // more elements than it writes.
  void Check() {
    const size_t held = call_.session.out.HeldBytes();
    if (held - checked_ < kBetweenChecks) return;
    checked_ = held;
    // The session of a script has no limit of output; it must stay open for the next script. Nor has a client a limit
    // for what is not sent.
    const bool is_limited = !call_.session.IsScript() && !call_.session.IsSilent();
    const bool is_closed = is_limited && call_.services.limits.CheckOutput(call_.session, call_.now_ms);
    if (is_closed || held - start_ > kMostBytes) throw Refusal{refusals::kReplyTooLong};
  }

 private:
  static constexpr size_t kMostBytes = 512 * 1024 * 1024;
  static constexpr size_t kBetweenChecks = 64 * 1024;

  Call& call_;
  size_t start_;
  size_t checked_;
};

}  // namespace respite
