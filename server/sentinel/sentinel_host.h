// SentinelHost: what a Sentinel asks of the server around it: its clients, its file, its programs. ServerSentinelHost
// implements it; the simulation in tests has an implementation in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "server/config/config_rewrite.h"

namespace respite {

// A program that has ended.
struct ProgramEnd {
  int64_t process = 0;
  int exit_code = 0;
  int signal = 0;  // that ended it; 0: none
};

class SentinelHost {
 public:
  virtual ~SentinelHost() = default;

  // Sends the message to clients of this server that have subscribed to the channel.
  virtual void Publish(Bytes channel, Bytes message) = 0;
  // Brings the configuration file up to date: these lines, and the directives. When it returns, the file is on disk;
  // a crash leaves the former one or the new one. Returns why that failed.
  virtual std::optional<std::string> Save(const std::vector<SentinelLine>& lines) = 0;
  // The address of a name, if it has one. May take as long as a look-up takes, up to a second.
  virtual std::optional<std::string> LookUp(const std::string& name) = 0;
  virtual int64_t WallMs() const = 0;

  // --- How others reach this server, and this server others.

  virtual int Port() const = 0;
  virtual bool EncryptsLinks() const = 0;
  // Own address to connect from; empty: the system chooses.
  virtual std::string SourceAddress() const = 0;
  // Of this server, which other Sentinels are expected to have, too; empty: none.
  virtual std::string Password() const = 0;

  // --- Programs.

  virtual bool MayRun(const std::string& path) const = 0;
  // The number of the new process. Fails with errno.
  virtual Result<int64_t, int> StartProgram(const std::vector<std::string>& words) = 0;
  // A program that has ended since the last call.
  virtual std::optional<ProgramEnd> TakeEndedProgram() = 0;
  virtual void KillProgram(int64_t process) = 0;

  // Ends this process at once, as if it had crashed.
  virtual void Crash() = 0;
};

}  // namespace respite
