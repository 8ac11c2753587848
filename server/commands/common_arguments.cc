#include "server/commands/common_arguments.h"

#include <cmath>

#include "base/number_text.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/execution/services.h"

namespace respite {

int64_t ParseSecondsAsMs(const Call& call, Bytes word) {
  const auto seconds = ParseLongDouble(word);
  if (!seconds) throw Refusal{refusals::kTimeoutNotFloat};
  const long double timeout_ms = std::ceil(*seconds * 1000);
  if (timeout_ms > static_cast<long double>(std::numeric_limits<int64_t>::max())) {
    const bool wraps = call.services.env.dialect.traits.huge_timeouts_are_negative;
    throw Refusal{wraps ? refusals::kTimeoutNegative : refusals::kTimeoutOutOfRange};
  }
  if (timeout_ms < 0) throw Refusal{refusals::kTimeoutNegative};
  return CheckedTimeoutMs(call, static_cast<int64_t>(timeout_ms));
}

}  // namespace respite
