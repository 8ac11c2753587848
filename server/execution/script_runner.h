// ScriptRunner: runs one script or function at a time. The Executor runs the commands that the script calls, in the
// same Unit (atomic execution) as the EVAL or FCALL, and with the permissions of its client.
//
// No other client is served until busy-reply-threshold has passed. After that, other clients may send commands with the
// flag kAllowBusy, such as SCRIPT KILL, SHUTDOWN NOSAVE, and commands that a client needs to log in.
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
  enum class Access : uint8_t { kReadWrite, kReadOnly };  // kReadOnly: EVAL_RO, FCALL_RO …

  struct Request {         // a script or function to run
    ScriptEngine& engine;  // the engine of the script's language
    Kind kind;
    uint32_t flags;                       // ScriptFlag bits
    Access access;                        // whether the script may write; kReadOnly: EVAL_RO, EVALSHA_RO, FCALL_RO
    ScriptEngine::Invocation invocation;  // the script and its arguments
  };

  struct Parts {  // the objects that ScriptRunner uses; its constructor gets them
    const Env& env;
    const CurrentExecution& current_execution;  // the command that runs now
    Eviction& eviction;                         // frees memory above maxmemory
    Clients& clients;                           // all sessions
    ClientLimits& limits;                       // closes clients that exceed client-output-buffer-limit
    Tracking& tracking;                         // client-side caching
    Executor& executor;                         // runs requests
    const Gates& gates;                         // checks that may refuse commands before they run
    const LateBound<const SlotRouter>& router;  // decides which cluster node serves a request; unset: no cluster
    Permissions& permissions;                   // ACL checks
  };
  explicit ScriptRunner(const Parts& parts);
  ~ScriptRunner() override;

  // Runs a script, and writes its reply. Throws a Refusal if the script may not run now or fails. Scripts do not nest:
  // a script that a script calls is refused.
  void Run(Call& call, const Request& request);  // runs a script and writes its reply, or throws
  // Calls compile(), which compiles a script, and returns its result. Like a running script, the compiler lets other
  // clients be served after busy-reply-threshold, and can be killed.
  template <class Compile>
  auto RunCompiler(Call& call, Compile compile);           // runs compile(), which can be killed like a script
  bool IsRunning() const { return current_.has_value(); }  // a script is running, or being compiled
  // Throws a Refusal while a script runs or is being compiled. Called before another one begins, because they do not
  // nest, and by DEBUG RELOAD and DEBUG LOADAOF, which would free data that the script needs.
  void ThrowIfScriptRuns() const;                      // throws if a script runs now
  Kind RunningKind() const { return current_->kind; }  // kind of the running script. Requires: IsRunning
  std::string RunningName() const { return std::string(current_->name); }  // name of the running script
  std::span<const Bytes> RunningArguments() const;                         // arguments of the EVAL, FCALL … that runs
  int64_t RunningMs() const;                                               // how long the script has run (real time)

  bool Busy() const { return parts_.env.phase.HasBusyScript(); }  // the script is slow, so others are served
  Refusal BusyRefusal() const;  // the error BUSY for other clients while the script is slow
  // Asks the running script to end, which it does soon. Throws a Refusal if no script runs, if the script is not of
  // this kind, or if it cannot be killed.
  void Kill(Kind kind);  // SCRIPT KILL, FUNCTION KILL: asks the script to end

  Bytes RunCommand(std::span<const Bytes> arguments) noexcept override;  // does redis.call; returns the reply
  void SetResp(RespVersion version) noexcept override { session_->resp = version; }  // implements redis.setresp
  RespVersion Resp() const noexcept override { return session_->resp; }              // RESP version of redis.call
  void SetReplication(uint8_t targets) noexcept override;                            // does redis.set_repl
  std::optional<bool> MayRun(std::span<const Bytes> arguments) noexcept override;  // redis.acl_check_cmd; null: unknown
  void Log(LogLevel level, Bytes text) noexcept override;                          // does redis.log
  bool PollStopRequest() noexcept override;         // if slow, serves other clients; true: the script must stop
  bool EnforceReplyLimit() noexcept override;       // true: the client has gone, or was closed for too much output
  int64_t CpuMs() const noexcept override;          // processor time of this thread in ms
  ScriptDialect Dialect() const noexcept override;  // what scripts see of the emulated version
  size_t MemoryLimit() const noexcept override { return parts_.env.settings.script_memory_limit; }  // in bytes
  void CountError(Bytes text) noexcept override;  // counts an error in the script's own reply; the call has failed

 private:
  struct Current {  // the script that runs, or is compiled, now
    Call* call;
    const Request* request;  // the request that runs the script; null during compilation
    Kind kind;
    Bytes name;
    RequestPath path;                     // the path of the commands that the script calls
    int64_t started_ms;                   // when the script began (real time)
    bool is_over_memory;                  // maxmemory was exceeded when the script began; false for a replayed script
    bool has_written = false;             // the script has written, so it cannot be killed
    bool is_killed = false;               // SCRIPT KILL, FUNCTION KILL or a shutdown has asked the script to end
    uint8_t replication = kReplicateAll;  // who gets later commands (redis.set_repl): kReplicate… bits
    int64_t serves_again_us = 0;          // a slow script serves other clients from then on (real time)
    std::optional<int> slot{};            // in a cluster: slot of the script's first key; nullopt: no key so far
  };

  void Begin(Call& call, const Request* request, Kind kind, Bytes name);  // sets current_, the running script
  void End();
  void ReplaceScriptSession();  // makes a new session_, because a script may have changed the old one
  bool Applies(Gate gate) const { return respite::Applies(gate, current_->path); }  // true: `gate` is checked
  void CheckDeclaredFlags(const Request& request) const;  // throws if the script's flags (#!lua) forbid running it now
  void CheckCommand(const Command* command, std::span<const Bytes> arguments);  // throws if not allowed in this script
  void CheckMayBeCalled(const Command& command) const;  // throws if scripts may not call `command`
  void CheckAcl(const Command& command, std::span<const Bytes> arguments) const;  // throws if ACL forbids `command`
  void CheckWrite(const Command& command) const;  // throws if the script may not write now; ignores maxmemory
  void CheckNode(const Command& command, std::span<const Bytes> arguments);   // throws if other nodes have the keys
  void TrackReads(const Command& command, std::span<const Bytes> arguments);  // CLIENT TRACKING: notes read keys
  // Serves other clients while a script is slow. A shutdown ends the script. Then the script runs for as long as that
  // took (at most 50 ms) before they are served again: so it gets about half of the time, however much they send.
  void ServeOthers();  // serves other clients, if it is time
  Bytes ReplyBytes();  // reply of the last command, from the output of session_

  const Parts parts_;                 // the objects that the constructor got
  std::unique_ptr<Session> session_;  // the session in which the commands of scripts run
  std::optional<Current> current_;    // the running script or compilation; nullopt: none
  std::string whole_reply_;           // copy of a reply that session_->out has in several pieces
};

template <class Compile>
auto ScriptRunner::RunCompiler(Call& call, Compile compile) {  // runs compile(), which can be killed
  ThrowIfScriptRuns();
  Begin(call, nullptr, Kind::kScript, "(being compiled)");
  struct Ending {
    ~Ending() { runner.End(); }  // also if compile() throws
    ScriptRunner& runner;
  };
  const Ending ending{*this};
  return compile();
}

}  // namespace respite
