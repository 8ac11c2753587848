// SentinelHost: the interface from a Sentinel to the server around it: clients, file and programs. ServerSentinelHost
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

struct ProgramEnd {
  int64_t process = 0;
  int exit_code = 0;
  int signal = 0;  // the signal that ended it; 0: none
};

class SentinelHost {
 public:
  virtual ~SentinelHost() = default;

  // Sends the message to clients of this server that have subscribed to the channel.
  virtual void Publish(Bytes channel, Bytes message) = 0;
  // Writes the configuration file: these lines, and the directives. On return the file is on disk; a crash leaves the
  // former or the new file. Returns the reason if that failed.
  virtual std::optional<std::string> Save(const std::vector<SentinelLine>& lines) = 0;
  // Resolves a name; nothing if it has no address. Blocks for up to a second.
  virtual std::optional<std::string> LookUp(const std::string& name) = 0;
  virtual int64_t WallMs() const = 0;

  // --- Connections to and from this server.

  virtual int Port() const = 0;
  virtual bool EncryptsLinks() const = 0;
  // Returns the local address to connect from, or an empty text if the system chooses.
  virtual std::string SourceAddress() const = 0;
  // Returns the password of this server, which other Sentinels should also have, or an empty text if there is none.
  virtual std::string Password() const = 0;

  // --- Programs.

  virtual bool MayRun(const std::string& path) const = 0;
  // Returns the process id. Fails with errno.
  virtual Result<int64_t, int> StartProgram(const std::vector<std::string>& words) = 0;
  // Returns a program that has ended since the last call.
  virtual std::optional<ProgramEnd> TakeEndedProgram() = 0;
  virtual void KillProgram(int64_t process) = 0;

  // Ends this process immediately, as if it had crashed.
  virtual void Crash() = 0;
};

// Starts programs of the operator next to the server. The process implements it.
class ProgramStarter {
 public:
  virtual ~ProgramStarter() = default;
  // Starts a program. `words` begins with its path. Returns the process id; fails with errno.
  virtual Result<int64_t, int> Start(const std::vector<std::string>& words) = 0;
  // Returns a program that has ended since the last call.
  virtual std::optional<ProgramEnd> TakeEnded() = 0;
  virtual void Kill(int64_t process) = 0;
};

}  // namespace respite
