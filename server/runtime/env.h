// Env: references to the objects that every part of a server (Node) may use. The objects of Env that belong to one
// server are owned by its Runtime.
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
class RealClock;

struct Env {                          // what every part of a server may use: settings, clock, log, timers …
  Config& config;                     // the directives, and what CONFIG SET calls after a change
  const Settings& settings;           // the values of all directives
  const Dialect& dialect;             // the Redis or Valkey version that `emulate` names
  CommandTable& commands;             // all commands of the server, with their statistics
  const Clock& clock;                 // time that clients see, and TEST CLOCK can move
  const RealClock& real_clock;        // real time, which TEST CLOCK cannot move
  Logger& log;                        // the server's log
  FileSystem& files;                  // all access to the disk
  const LateBound<Host>& host;        // the event loop
  const LateBound<Network>& network;  // connections to other servers, and name resolution
  Timers& timers;                     // the parts of the server that have work at certain times of `clock`
  ServerPhase& phase;                 // whether the server loads data, runs a slow script, or has stopped
  ServerStats& stats;                 // counters for INFO
  LatencyMonitor& latency;            // LATENCY: how long slow events took
  DebugSwitches& debug;               // switches that the command DEBUG changes
};

struct Runtime {                  // owns the parts of an Env that are made for one server
  struct Parts {                  // the objects that Runtime uses; its constructor gets them
    Config& config;               // the directives, and what CONFIG SET calls after a change
    CommandTable& commands;       // all commands of the server, with their statistics
    const Clock& clock;           // time that clients see, and TEST CLOCK can move
    const RealClock& real_clock;  // real time, which TEST CLOCK cannot move
    Logger& log;                  // the server's log
    FileSystem& files;            // all access to the disk
  };
  explicit Runtime(const Parts& parts);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  LateBound<Host> host;        // the event loop
  LateBound<Network> network;  // connections to other servers, and name resolution
  Timers timers;               // the parts of the server that have work at certain times of the clock
  ServerPhase phase;           // whether the server loads data, runs a slow script, or has stopped
  ServerStats stats;           // counters for INFO
  LatencyMonitor latency;      // LATENCY: how long slow events took
  DebugSwitches debug;         // switches that the command DEBUG changes
  const Env env;               // references to all of these, for every part of the server
};

}  // namespace respite
