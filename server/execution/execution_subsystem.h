// ExecutionSubsystem: the objects that run the requests and scripts of a server (Node), and the observers of commands.
#pragma once

#include "base/late_bound.h"
#include "scripting/function_library.h"
#include "scripting/script_cache.h"
#include "server/clients/client_subsystem.h"
#include "server/execution/call_observer.h"
#include "server/execution/command_log.h"
#include "server/execution/durability.h"
#include "server/execution/executor.h"
#include "server/execution/function_library_store.h"
#include "server/execution/gates.h"
#include "server/execution/hot_keys.h"
#include "server/execution/http_guard.h"
#include "server/execution/monitors.h"
#include "server/execution/reply_editor.h"
#include "server/execution/request_faults.h"
#include "server/execution/script_runner.h"
#include "server/execution/services.h"
#include "server/execution/slot_router.h"
#include "server/execution/stats_recorder.h"

namespace respite {

struct ExecutionSubsystem {  // what runs requests and scripts, and what observes commands (SLOWLOG, MONITOR …)
  // `services` is passed to command handlers. Its members may still be under construction until the first request.
  ExecutionSubsystem(const Services& services, const HashKey& hash_key);
  ExecutionSubsystem(const ExecutionSubsystem&) = delete;
  ExecutionSubsystem& operator=(const ExecutionSubsystem&) = delete;

  LateBound<const SlotRouter> router;      // decides which cluster node serves a request; unset outside a cluster
  LateBound<const Durability> durability;  // tells whether writes can be persisted; StorageSubsystem attaches it
  LateBound<ReplyEditor> reply_editor;     // changes replies on purpose while TEST SHUFFLE is on
  RequestFaultSources faults;              // sources of injected faults: TEST FAULT and TEST LINT
  CallObservers observers;                 // objects that are told of each command (SLOWLOG, MONITOR …)
  StatsRecorder stats_recorder;            // counts commands and errors for INFO
  Monitors monitors;                       // clients in MONITOR mode
  CommandLogs command_logs;                // SLOWLOG and COMMANDLOG
  CommandLatency command_latency;          // reports slow commands to LATENCY
  HotKeys hot_keys;                        // the current or latest session of HOTKEYS
  HttpGuard http_guard;                    // closes connections on which a browser sends HTTP
  Gates gates;                             // checks that may refuse commands before they run: ACL, maxmemory …
  Executor executor;                       // runs requests, from the arguments to the reply
  ScriptRunner scripts;                    // runs scripts and functions
  ScriptCache script_cache;                // scripts of EVAL and SCRIPT LOAD, found by text or by SHA-1
  FunctionLibraries function_libraries;    // the libraries of FUNCTION LOAD
  FunctionLibraryStore function_store;     // lets the Dataset exchange function_libraries
};

}  // namespace respite
