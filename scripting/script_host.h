// What a running script asks of the server.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/log.h"
#include "protocol/reply.h"

namespace respite {

// Where the effects of a script's commands go (redis.set_repl); bits.
enum ScriptReplication : uint8_t { kReplicateNone = 0, kReplicateAof = 1, kReplicateReplicas = 2, kReplicateAll = 3 };

// No function may throw: the caller's frames belong to Lua.
class ScriptHost {
 public:
  virtual ~ScriptHost() = default;
  // Runs one command. The reply is for a BinaryReplyReader and stays where it is until the next call. Errors in it have
  // been counted.
  virtual Bytes RunCommand(std::span<const Bytes> words) = 0;
  // In which protocol the following commands reply.
  virtual void SetResp(RespVersion version) = 0;
  virtual RespVersion Resp() const = 0;
  virtual void SetReplication(uint8_t targets) = 0;
  // Whether the client may run this command; nullopt: there is no such command.
  virtual std::optional<bool> MayRun(std::span<const Bytes> words) = 0;
  virtual void Log(LogLevel level, Bytes text) = 0;
  // Asked now and then while a script computes. True ends it, whatever it has done.
  virtual bool ShallStop() = 0;
  // For limits of time. May be asked when no script runs.
  virtual int64_t MonotonicMs() const = 0;
  // An error that is an element of a script's reply.
  virtual void CountError(Bytes text) = 0;
};

}  // namespace respite
