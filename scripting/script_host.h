// ScriptHost: the interface through which a running script uses the server. ScriptDialect: what scripts see of the
// emulated version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/log.h"
#include "protocol/redis_version.h"
#include "protocol/reply.h"

namespace respite {

// Where the commands that a script runs are propagated to (redis.set_repl), as bits.
enum ScriptReplication : uint8_t { kReplicateNone = 0, kReplicateAof = 1, kReplicateReplicas = 2, kReplicateAll = 3 };

struct ScriptDialect {                             // how scripts see the emulated version: names, numbers, behaviour
  std::string_view redis_version = kRedisVersion;  // redis.REDIS_VERSION
  int redis_version_number = kRedisVersionNumber;  // redis.REDIS_VERSION_NUM: one byte per part, 0x070204
  bool knows_redis_version = true;                 // true: the table `redis` has REDIS_VERSION and acl_check_cmd
  bool has_server_table = true;                    // true: the global `server` is another name of `redis`
  std::string_view valkey_version = {};            // server.VALKEY_VERSION, if valkey_version_number is not 0
  int valkey_version_number = 0;             // server.VALKEY_VERSION_NUM, one byte per part; 0: no VALKEY_… fields
  std::string_view call = "redis lib call";  // words in "at least one argument for this redis lib call"
  std::string_view command = "Lua redis lib command";  // words in "Lua redis lib command arguments must be …"
  std::string_view table = "redis";                    // word in "redis.log() requires two arguments or more."
  std::string_view log_level = "debug level";          // words in the error "Invalid debug level."
  bool has_headers = true;                             // true: scripts may begin with `#!lua flags=…`
  bool knows_engines = false;                          // true: errors say "Could not find scripting engine 'js'"
  bool has_clock = true;                               // true: scripts have os.clock
  bool has_json_arrays = false;                        // true: scripts have cjson.decode_array_with_array_mt
  bool has_environments = true;                        // true: scripts have getfenv, setfenv and newproxy
  bool names_script_in_errors = true;   // true: errors end "script: <name>, on @user_script:1.", not "script: on …"
  bool errors_begin_with_call = false;  // true (Redis 6.2): "Error running script (call to f_…): @user_script:1: …"
};

// No function of ScriptHost may throw. Lua is on the call stack, and would treat a C++ exception as an error of the
// script, which could then continue. So an exception, such as std::bad_alloc, ends the process.
class ScriptHost {  // an interface: the server, as its scripts use it
 public:
  virtual ~ScriptHost() = default;
  // Runs one command. The reply is in the format of BinaryReplyReader and stays valid until the next call. If the reply
  // is an error, the host has already counted the error in the statistics.
  virtual Bytes RunCommand(std::span<const Bytes> arguments) noexcept = 0;  // redis.call and pcall; returns the reply
  virtual void SetResp(RespVersion version) noexcept = 0;  // redis.setresp: RESP version of later replies of RunCommand
  virtual RespVersion Resp() const noexcept = 0;           // the protocol that redis.setresp has chosen; at first RESP2
  virtual void SetReplication(uint8_t targets) noexcept = 0;  // redis.set_repl: who gets commands (ScriptReplication)
  // For redis.acl_check_cmd: returns whether the ACL rules let the client run this command.
  virtual std::optional<bool> MayRun(std::span<const Bytes> arguments) noexcept = 0;  // by ACL; nullopt: unknown
  virtual void Log(LogLevel level, Bytes text) noexcept = 0;                          // redis.log: logs a text
  // Called periodically while a script runs or is compiled; may serve other clients meanwhile. Returns true to end the
  // script, even if it has written data.
  virtual bool PollStopRequest() noexcept = 0;  // called periodically; true: the script must end
  // Called periodically while the reply of a script is written. Returns true if the client was closed and must get no
  // more of the reply. Closes the client if its output exceeds client-output-buffer-limit.
  virtual bool EnforceReplyLimit() noexcept { return false; }  // closes a client above its output limit; true: closed
  // The processor time of this thread limits how long libraries are loaded. Real time would also count while the
  // machine sleeps, swaps or has stopped this process, and a replica could not follow its primary any more.
  virtual int64_t CpuMs() const noexcept = 0;                    // processor time of this thread, in ms
  virtual ScriptDialect Dialect() const noexcept { return {}; }  // how scripts see the emulated version
  // Returns the directive script-memory-limit, the memory in bytes that a script or function may use (ScriptEngine has
  // the details). Also limits the size of a script's reply.
  virtual size_t MemoryLimit() const noexcept { return size_t{256} << 20; }  // bytes; more is an error of the script
  virtual void CountError(Bytes text) noexcept = 0;  // INFO errorstats: counts an error that the script's reply has
};

}  // namespace respite
