// ScriptRunner: runs one script or function at a time: what it calls goes through the Executor like any command, in the
// Unit of the command that runs it and in the name of its client.
//
// No other client is served meanwhile. After busy-reply-threshold others are served again, but only with commands that
// have the flag kAllowBusy: SCRIPT KILL, SHUTDOWN NOSAVE, and those needed to log in and get there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/refusal.h"
#include "scripting/engine.h"
#include "scripting/script_header.h"
#include "scripting/script_host.h"
#include "server/execution/call.h"

namespace respite {

class Clients;
class Pace;
struct DebugSwitches;
class Eviction;
class Executor;
class Gates;
class Phase;
struct Running;
class Permissions;
class HostPort;
class Logger;
struct ServerStats;
struct Settings;
class SlotRouterPort;
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
    const Settings& settings;
    const Pace& pace;
    const Running& running;
    Logger& log;
    const HostPort& host;
    Eviction& eviction;
    Clients& clients;
    Tracking& tracking;
    Executor& executor;
    const Gates& gates;
    const SlotRouterPort& router;
    Permissions& permissions;
    Phase& phase;
    ServerStats& stats;
    DebugSwitches& debug;
  };
  explicit ScriptRunner(const Parts& parts);
  ~ScriptRunner() override;

  // Runs it and replies, or throws a Refusal.
  void Run(Call& call, const Request& request);
  bool IsRunning() const { return current_.has_value(); }
  // Kind and name of what is running, and for how long. Requires: IsRunning().
  Kind RunningKind() const { return current_->request->kind; }
  std::string RunningName() const { return std::string(current_->request->invocation.name); }
  std::span<const Bytes> RunningWords() const;
  int64_t RunningMs() const;

  // The script is late, so other clients are served.
  bool Busy() const { return current_ && current_->is_late; }
  // The client that runs the script; its input is not read until the script ends.
  bool Holds(const Session& session) const { return Busy() && &current_->call->session == &session; }
  // The refusal for other clients.
  Refusal BusyRefusal() const;
  // SCRIPT KILL and FUNCTION KILL. Throws when there is nothing to kill, or it cannot be.
  void Kill(Kind kind);

  // For the engine.
  Bytes RunCommand(std::span<const Bytes> words) noexcept override;
  void SetResp(RespVersion version) noexcept override { session_->resp = version; }
  RespVersion Resp() const noexcept override { return session_->resp; }
  void SetReplication(uint8_t targets) noexcept override;
  std::optional<bool> MayRun(std::span<const Bytes> words) noexcept override;
  void Log(LogLevel level, Bytes text) noexcept override;
  bool ShallStop() noexcept override;
  int64_t MonotonicMs() const noexcept override;
  ScriptDialect Dialect() const noexcept override;
  void CountError(Bytes text) noexcept override;

 private:
  struct Current {
    Call* call;
    const Request* request;
    int64_t started_ms;  // monotonic
    bool is_over_memory;
    bool has_written = false;
    bool is_late = false;
    bool is_killed = false;
    uint8_t replication = kReplicateAll;
    std::optional<int> slot{};  // of the keys so far, in a cluster
  };

  void CheckDeclared(const Request& request) const;
  void CheckCommand(const Command* command, std::span<const Bytes> words);
  void CheckAcl(const Command& command, std::span<const Bytes> words) const;
  void CheckWrite(const Command& command) const;
  void CheckNode(const Command& command, std::span<const Bytes> words);
  void NoteReads(const Command& command, std::span<const Bytes> words);
  void ServeOthers();
  Bytes ReplyBytes();

  const Parts parts_;
  std::unique_ptr<Session> session_;  // in which commands of scripts run
  std::optional<Current> current_;
  std::string whole_reply_;  // of a reply in several pieces
};

}  // namespace respite
