// Elements that are drawn by chance and may come again (SRANDMEMBER, HRANDFIELD, ZRANDMEMBER with a negative count).
#pragma once

#include <cstdint>

#include "server/call.h"
#include "server/server.h"

namespace respite {

// Ends a reply that nobody will get: a client may ask for as many elements as it likes, and is closed once there is
// more of them than it may have waiting, or than any reply has that is meant seriously.
class DrawLimit {
 public:
  explicit DrawLimit(Call& call) : call_(call) {}

  // To be asked after each element. False: enough, the client is closed.
  bool AllowsMore() {
    constexpr uint64_t kBetweenChecks = 1024;
    if (++drawn_ % kBetweenChecks != 0) return true;
    if (call_.server.limits().CheckOutput(call_.session, call_.now_ms)) return false;
    if (call_.session.out.HeldBytes() < kMostBytes) return true;
    call_.server.clients().Close(call_.session);
    return false;
  }

 private:
  static constexpr size_t kMostBytes = 64 * 1024 * 1024;

  Call& call_;
  uint64_t drawn_ = 0;
};

}  // namespace respite
