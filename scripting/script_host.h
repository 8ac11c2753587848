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

// No function throws: the caller's frames belong to Lua, which would take a foreign exception for an error of the
// script and go on. What throws all the same (std::bad_alloc, which nothing in these frames could answer) ends the
// process.
class ScriptHost {
 public:
  virtual ~ScriptHost() = default;
  // Runs one command. The reply is for a BinaryReplyReader and stays where it is until the next call. Errors in it have
  // been counted.
  virtual Bytes RunCommand(std::span<const Bytes> words) noexcept = 0;
  // In which protocol the following commands reply.
  virtual void SetResp(RespVersion version) noexcept = 0;
  virtual RespVersion Resp() const noexcept = 0;
  virtual void SetReplication(uint8_t targets) noexcept = 0;
  // Whether the client may run this command; nullopt: there is no such command.
  virtual std::optional<bool> MayRun(std::span<const Bytes> words) noexcept = 0;
  virtual void Log(LogLevel level, Bytes text) noexcept = 0;
  // Asked now and then while a script computes. True ends it, whatever it has done.
  virtual bool ShallStop() noexcept = 0;
  // For limits of time. May be asked when no script runs.
  virtual int64_t MonotonicMs() const noexcept = 0;
  // An error that is an element of a script's reply.
  virtual void CountError(Bytes text) noexcept = 0;
};

}  // namespace respite
