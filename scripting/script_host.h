// The server as a running script sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/log.h"
#include "protocol/redis_version.h"
#include "protocol/reply.h"

namespace respite {

// Where the effects of a script's commands are sent (redis.set_repl); bits.
enum ScriptReplication : uint8_t { kReplicateNone = 0, kReplicateAof = 1, kReplicateReplicas = 2, kReplicateAll = 3 };

// No function may throw: the caller's frames belong to Lua, which would treat a foreign exception as an error of the
// script and continue. An exception (std::bad_alloc, which these frames could not handle) ends the process.
// What scripts see of the server's name and version.
struct ScriptDialect {
  std::string_view redis_version = kRedisVersion;
  int redis_version_number = kRedisVersionNumber;  // one byte for each part
  bool knows_redis_version = true;                 // and has acl_check_cmd
  bool has_server_table = true;                    // `server`, a second name of `redis`
  std::string_view valkey_version = {};
  int valkey_version_number = 0;             // 0: it is not Valkey
  std::string_view call = "redis lib call";  // in errors
  std::string_view command = "Lua redis lib command";
  std::string_view table = "redis";
  std::string_view log_level = "debug level";
  bool has_headers = true;       // #!lua flags=no-writes
  bool knows_engines = false;    // "Could not find scripting engine 'js'"
  bool has_clock = true;         // os.clock()
  bool has_environments = true;  // getfenv, setfenv, newproxy
  bool nests_errors = false;     // "Error running script (call to f_…): @user_script:1: …"
};

class ScriptHost {
 public:
  virtual ~ScriptHost() = default;
  // Runs one command. The reply is for a BinaryReplyReader and stays valid until the next call. Its errors are already
  // counted.
  virtual Bytes RunCommand(std::span<const Bytes> words) noexcept = 0;
  // Sets the protocol version for the replies of the following commands.
  virtual void SetResp(RespVersion version) noexcept = 0;
  virtual RespVersion Resp() const noexcept = 0;
  virtual void SetReplication(uint8_t targets) noexcept = 0;
  // Returns true if the client may run this command; nullopt if there is no such command.
  virtual std::optional<bool> MayRun(std::span<const Bytes> words) noexcept = 0;
  virtual void Log(LogLevel level, Bytes text) noexcept = 0;
  // Called periodically while a script runs. True ends the script, even if it has written data.
  virtual bool ShallStop() noexcept = 0;
  // Called periodically while the reply of a script is written. True if the client must get no more of it, because it
  // has been closed.
  virtual bool IsReplyUnwanted() noexcept { return false; }
  // For time limits. May be called when no script runs.
  virtual int64_t MonotonicMs() const noexcept = 0;
  virtual ScriptDialect Dialect() const noexcept { return {}; }
  // Counts an error that is an element of a script's reply.
  virtual void CountError(Bytes text) noexcept = 0;
};

}  // namespace respite
