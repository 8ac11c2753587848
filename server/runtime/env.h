// Env: what every room of the server may use. One Env serves all parts of a Node; Runtime owns the objects that are
// made for the Node itself.
#pragma once

#include "base/late_bound.h"
#include "server/config/debug_switches.h"
#include "server/config/settings.h"
#include "server/runtime/host.h"
#include "server/runtime/latency.h"
#include "server/runtime/server_phase.h"
#include "server/runtime/stats.h"
#include "server/runtime/timers.h"

namespace respite {

class Clock;
class CommandTable;
class Config;
struct Dialect;
class FileSystem;
class Logger;
class Network;
class Pace;

struct Env {  // what every component of the server may use
  Config& config;
  const Settings& settings;  // those of `config`
  const Dialect& dialect;    // of the version that `emulate` names
  CommandTable& commands;
  const Clock& clock;
  const Pace& pace;
  Logger& log;
  FileSystem& files;
  const LateBound<Host>& host;  // the event loop
  const LateBound<Network>& network;
  Timers& timers;
  ServerPhase& phase;  // loading, slow script, stopped
  ServerStats& stats;
  LatencyMonitor& latency;
  DebugSwitches& debug;  // switches of DEBUG
};

struct Runtime {  // owns the objects of an Env that are made for the server itself
  struct Parts {  // the objects that exist before the Runtime, and must outlive it
    Config& config;
    CommandTable& commands;
    const Clock& clock;
    const Pace& pace;
    Logger& log;
    FileSystem& files;
  };
  explicit Runtime(const Parts& parts);
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
