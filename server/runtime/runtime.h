// Runtime: owns the objects of a Node's Env that are made for the Node itself.
#pragma once

#include "server/catalogue/dialect.h"
#include "server/config/config.h"
#include "server/runtime/env.h"

namespace respite {

struct Runtime {
  // The objects of the Env that exist before the Node. They must outlive the Runtime.
  struct Parts {
    Config& config;
    CommandTable& commands;
    const Clock& clock;
    const Pace& pace;
    Logger& log;
    FileSystem& files;
  };
  explicit Runtime(const Parts& parts)
      : latency(parts.config.settings(), parts.clock, parts.pace),
        env{.config = parts.config,
            .settings = parts.config.settings(),
            .dialect = DialectOf(parts.config.settings().emulate),
            .commands = parts.commands,
            .clock = parts.clock,
            .pace = parts.pace,
            .log = parts.log,
            .files = parts.files,
            .host = host,
            .network = network,
            .timers = timers,
            .phase = phase,
            .stats = stats,
            .latency = latency,
            .debug = debug} {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  LateBound<Host> host;
  LateBound<Network> network;
  Timers timers;
  ServerPhase phase;
  ServerStats stats;
  LatencyMonitor latency;
  DebugSwitches debug;
  const Env env;
};

}  // namespace respite
