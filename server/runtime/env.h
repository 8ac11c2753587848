// Env: what every component of the server may use. One Env serves all parts of a Node; Runtime owns the objects that
// are made for the Node itself.
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

struct Env {                 // what every component of the server may use
  Config& config;            // the directives, and the functions of CONFIG SET
  const Settings& settings;  // the values of the directives in `config`
  const Dialect& dialect;    // the Redis or Valkey version that `emulate` names
  CommandTable& commands;    // all commands of the server, with their statistics
  const Clock& clock;        // time that TEST CLOCK can change
  const Pace& pace;          // real elapsed time, which TEST CLOCK cannot change
  Logger& log;
  FileSystem& files;                  // all access to files
  const LateBound<Host>& host;        // the event loop
  const LateBound<Network>& network;  // sockets and name resolution
  Timers& timers;                     // components that have work at certain times of `clock`
  ServerPhase& phase;                 // whether the server is loading, runs a slow script, or has stopped
  ServerStats& stats;                 // counters for INFO
  LatencyMonitor& latency;            // spikes of slow events, for LATENCY
  DebugSwitches& debug;               // what DEBUG switches on or off
};

struct Runtime {             // owns the objects of an Env that are made for the server itself
  struct Parts {             // the objects that Runtime uses; its constructor gets them
    Config& config;          // the directives and CONFIG SET
    CommandTable& commands;  // all commands of the server
    const Clock& clock;      // time that TEST CLOCK can change
    const Pace& pace;
    Logger& log;
    FileSystem& files;  // all access to files
  };
  explicit Runtime(const Parts& parts);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  LateBound<Host> host;        // the event loop
  LateBound<Network> network;  // sockets and name resolution
  Timers timers;               // work that is due at certain times
  ServerPhase phase;           // whether the server is loading, runs a slow script, or has stopped
  ServerStats stats;           // counters for INFO
  LatencyMonitor latency;      // spikes for LATENCY
  DebugSwitches debug;         // what DEBUG switches on or off
  const Env env;               // references to the members above
};

}  // namespace respite
