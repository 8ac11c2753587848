// rdb-key-save-delay and key-load-delay: saving and loading made slow, for tests.
#pragma once

#include <unistd.h>

namespace respite {

// Sleeps for so many µs; a negative number means the shortest sleep once in so many calls.
inline void DebugDelay(int delay_us, unsigned& calls) {
  if (delay_us > 0) usleep(static_cast<useconds_t>(delay_us));
  if (delay_us < 0 && ++calls % (0u - static_cast<unsigned>(delay_us)) == 0) usleep(1);
}

}  // namespace respite
