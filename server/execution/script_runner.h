// ScriptRunner: runs one script or function at a time. The commands that it calls run through the Executor like any
// command. They belong to the Unit of the command that runs the script, and have the permissions of its client.
//
// No other client is served until busy-reply-threshold has passed. Then others are served, but only with commands that
// have the flag kAllowBusy: SCRIPT KILL, SHUTDOWN NOSAVE, and commands needed to log in and send these.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/late_bound.h"
#include "base/refusal.h"
#include "scripting/engine.h"
#include "scripting/script_header.h"
#include "scripting/script_host.h"
#include "server/execution/call.h"
#include "server/execution/gates.h"
#include "server/runtime/env.h"

namespace respite {

class ClientLimits;
class Clients;
class Eviction;
class Executor;
struct CurrentExecution;
class Permissions;
class SlotRouter;
class Tracking;

class ScriptRunner final : public ScriptHost {  // runs one script or function at a time
 public:
  enum class Kind : uint8_t { kScript, kFunction };
  enum class Access : uint8_t { kReadWrite, kReadOnly };

  struct Request {         // a script to run
    ScriptEngine& engine;  // of its language
    Kind kind;
    uint32_t flags;                       // ScriptFlag bits
    Access access;                        // kReadOnly: EVAL_RO, EVALSHA_RO, FCALL_RO
    ScriptEngine::Invocation invocation;  // the script and its arguments
  };

  struct Parts {  // the objects that it uses
    const Env& env;
    const CurrentExecution& current_execution;
    Eviction& eviction;
    Clients& clients;
    ClientLimits& limits;
    Tracking& tracking;
    Executor& executor;
    const Gates& gates;
    const LateBound<const SlotRouter>& router;
    Permissions& permissions;
  };
  explicit ScriptRunner(const Parts& parts);
  ~ScriptRunner() override;

  // Scripts do not nest: a script called by a script is refused.
  void Run(Call& call, const Request& request);  // runs a script and writes its reply
  // Runs compile(), which compiles a script. The compiler has the time limit of scripts, and can be killed like a
  // script.
  template <class Compile>
  auto RunCompiler(Call& call, Compile compile);           // returns the result of compile()
  bool IsRunning() const { return current_.has_value(); }  // a script
  // Throws a refusal while a script runs. Commands call this if they would free the running code or data that it needs.
  void ThrowIfScriptRuns() const;
  Kind RunningKind() const { return current_->kind; }                      // of the running script
  std::string RunningName() const { return std::string(current_->name); }  // of the running script
  std::span<const Bytes> RunningArguments() const;                         // of the running EVAL or FCALL
  int64_t RunningMs() const;                                               // since the script began

  bool Busy() const { return parts_.env.phase.HasBusyScript(); }  // it is too slow, so others are served
  Refusal BusyRefusal() const;                                    // the error for other clients
  // Throws if no script runs or the script cannot be killed.
  void Kill(Kind kind);  // SCRIPT KILL, FUNCTION KILL

  Bytes RunCommand(std::span<const Bytes> arguments) noexcept override;              // redis.call
  void SetResp(RespVersion version) noexcept override { session_->resp = version; }  // redis.setresp
  RespVersion Resp() const noexcept override { return session_->resp; }              // of redis.call
  void SetReplication(uint8_t targets) noexcept override;                            // redis.set_repl
  std::optional<bool> MayRun(std::span<const Bytes> arguments) noexcept override;    // redis.acl_check_cmd
  void Log(LogLevel level, Bytes text) noexcept override;                            // redis.log
  bool PollStopRequest() noexcept override;                                          // also serves other clients
  bool IsReplyUnwanted() noexcept override;                                          // true if the client has gone
  int64_t MonotonicMs() const noexcept override;
  ScriptDialect Dialect() const noexcept override;  // what scripts see of the emulated version
  void CountError(Bytes text) noexcept override;    // of the script's commands

 private:
  struct Current {  // the running script
    Call* call;
    const Request* request;  // null during compilation
    Kind kind;
    Bytes name;
    RequestPath path;                     // of its commands
    int64_t started_ms;                   // monotonic
    bool is_over_memory;                  // maxmemory was exceeded when it began
    bool has_written = false;             // so it cannot be killed
    bool is_killed = false;               // by SCRIPT KILL or a shutdown
    uint8_t replication = kReplicateAll;  // redis.set_repl: kReplicate… bits
    std::optional<int> slot{};            // of the keys used so far, in a cluster
  };

  void Begin(Call& call, const Request* request, Kind kind, Bytes name);
  void End();
  void ReplaceScriptSession();  // after commands that may have changed it
  bool Applies(Gate gate) const { return respite::Applies(gate, current_->path); }
  void CheckDeclaredFlags(const Request& request) const;                          // of the script, before it runs
  void CheckCommand(const Command* command, std::span<const Bytes> arguments);    // throws if the script may not run it
  void CheckMayBeCalled(const Command& command) const;                            // refuses commands with kNoScript
  void CheckAcl(const Command& command, std::span<const Bytes> arguments) const;  // throws if the user may not run it
  void CheckWrite(const Command& command) const;  // throws in read-only scripts, on replicas …
  void CheckNode(const Command& command, std::span<const Bytes> arguments);   // throws if other nodes have its keys
  void TrackReads(const Command& command, std::span<const Bytes> arguments);  // for client-side caching
  void ServeOthers();                                                         // other clients, in a slow script
  Bytes ReplyBytes();                                                         // the reply of the command

  const Parts parts_;                 // the objects that it uses
  std::unique_ptr<Session> session_;  // runs the commands of scripts
  std::optional<Current> current_;    // null: no script runs
  std::string whole_reply_;           // holds a reply that has several pieces
};

template <class Compile>
auto ScriptRunner::RunCompiler(Call& call, Compile compile) {
  ThrowIfScriptRuns();
  Begin(call, nullptr, Kind::kScript, "(being compiled)");
  auto compiled = compile();
  End();
  return compiled;
}

}  // namespace respite
