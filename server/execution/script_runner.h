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

class ScriptRunner final : public ScriptHost {
 public:
  enum class Kind : uint8_t { kScript, kFunction };
  enum class Access : uint8_t { kReadWrite, kReadOnly };

  struct Request {
    ScriptEngine& engine;
    Kind kind;
    uint32_t flags;  // ScriptFlag bits
    Access access;   // kReadOnly: EVAL_RO, EVALSHA_RO, FCALL_RO
    ScriptEngine::Invocation invocation;
  };

  struct Parts {
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

  // Runs a script and writes its reply, or throws a Refusal. Scripts do not nest: a script called by a script is
  // refused.
  void Run(Call& call, const Request& request);
  // Runs `compile`, which compiles a script for this call, with the time limit of scripts and the possibility to kill
  // it.
  template <class Compile>
  auto RunCompiler(Call& call, Compile compile);
  bool IsRunning() const { return current_.has_value(); }
  // Throws a Refusal in a script. For commands that would free the running code or data that it needs.
  void RefuseInScript() const;
  // RunningKind … RunningMs return kind, name, arguments and duration of the running script. Requires: IsRunning().
  Kind RunningKind() const { return current_->kind; }
  std::string RunningName() const { return std::string(current_->name); }
  std::span<const Bytes> RunningWords() const;
  int64_t RunningMs() const;

  // Returns whether the script has exceeded its time, so that other clients are served.
  bool Busy() const { return parts_.env.phase.HasLateScript(); }
  // Returns whether this client runs the script; its input is not read until the script ends.
  bool Holds(const Session& session) const { return Busy() && &current_->call->session == &session; }
  // Returns the error for other clients.
  Refusal BusyRefusal() const;
  // SCRIPT KILL and FUNCTION KILL. Throws if no script runs or the script cannot be killed.
  void Kill(Kind kind);

  // For the script engine.
  Bytes RunCommand(std::span<const Bytes> words) noexcept override;
  void SetResp(RespVersion version) noexcept override { session_->resp = version; }
  RespVersion Resp() const noexcept override { return session_->resp; }
  void SetReplication(uint8_t targets) noexcept override;
  std::optional<bool> MayRun(std::span<const Bytes> words) noexcept override;
  void Log(LogLevel level, Bytes text) noexcept override;
  bool ShallStop() noexcept override;
  bool IsReplyUnwanted() noexcept override;
  int64_t MonotonicMs() const noexcept override;
  ScriptDialect Dialect() const noexcept override;
  void CountError(Bytes text) noexcept override;

 private:
  struct Current {
    Call* call;
    const Request* request;  // null during compilation
    Kind kind;
    Bytes name;
    RequestPath path;    // of its commands
    int64_t started_ms;  // monotonic
    bool is_over_memory;
    bool has_written = false;
    bool is_killed = false;
    uint8_t replication = kReplicateAll;
    std::optional<int> slot{};  // of the keys used so far, in a cluster
  };

  void Begin(Call& call, const Request* request, Kind kind, Bytes name);
  void End();
  void RenewSession();
  bool Applies(Gate gate) const { return respite::Applies(gate, current_->path); }
  void CheckDeclared(const Request& request) const;
  void CheckCommand(const Command* command, std::span<const Bytes> words);
  void CheckMayBeCalled(const Command& command) const;
  void CheckAcl(const Command& command, std::span<const Bytes> words) const;
  void CheckWrite(const Command& command) const;
  void CheckNode(const Command& command, std::span<const Bytes> words);
  void NoteReads(const Command& command, std::span<const Bytes> words);
  void ServeOthers();
  Bytes ReplyBytes();

  const Parts parts_;
  std::unique_ptr<Session> session_;  // runs the commands of scripts
  std::optional<Current> current_;
  std::string whole_reply_;  // holds a reply that has several pieces
};

template <class Compile>
auto ScriptRunner::RunCompiler(Call& call, Compile compile) {
  RefuseInScript();
  Begin(call, nullptr, Kind::kScript, "(being compiled)");
  auto compiled = compile();
  End();
  return compiled;
}

}  // namespace respite
