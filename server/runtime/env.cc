#include "server/runtime/env.h"

#include "server/catalogue/dialect.h"
#include "server/config/config.h"

namespace respite {

Runtime::Runtime(const Parts& parts)
    : latency(parts.config.settings(), parts.clock, parts.real_clock),
      env{.config = parts.config,
          .settings = parts.config.settings(),
          .dialect = DialectOf(parts.config.settings().emulate),
          .commands = parts.commands,
          .clock = parts.clock,
          .real_clock = parts.real_clock,
          .log = parts.log,
          .files = parts.files,
          .host = host,
          .network = network,
          .timers = timers,
          .phase = phase,
          .stats = stats,
          .latency = latency,
          .debug = debug} {}

}  // namespace respite
