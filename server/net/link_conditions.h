// LinkConditions: the network conditions that a link simulates.
#pragma once

#include <cstdint>

namespace respite {

struct LinkConditions {
  bool is_cut = false;           // transfers nothing in both directions and stays open, as if packets were lost
  int64_t send_delay_ms = 0;     // delay of sent bytes, in real time
  int64_t receive_delay_ms = 0;  // delay of received bytes, in real time
};

}  // namespace respite
