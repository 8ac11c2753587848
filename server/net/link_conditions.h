// LinkConditions: how the network treats a link on purpose.
#pragma once

#include <cstdint>

namespace respite {

struct LinkConditions {
  bool is_cut = false;           // it carries nothing, in both directions, and stays open, as if packets were lost
  int64_t send_delay_ms = 0;     // what we send leaves so much later, in real time
  int64_t receive_delay_ms = 0;  // so does what the other side sends
};

}  // namespace respite
