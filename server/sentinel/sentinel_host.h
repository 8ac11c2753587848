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

struct ProgramEnd {        // how a program of the operator has ended
  int64_t process_id = 0;  // id of the process that ran the program
  int exit_code = 0;       // exit code of the program
  int signal = 0;          // the signal that ended the program; 0: none
};

class SentinelHost {  // interface to the server around a Sentinel: clients, file and programs
 public:
  virtual ~SentinelHost() = default;

  virtual void Publish(Bytes channel, Bytes message) = 0;  // sends `message` to clients subscribed to the channel
  // Writes the configuration file: `lines`, which replace its old Sentinel lines, and the directives of the server.
  // When Save returns, the new file is on disk. A crash leaves either the old or the new file. Returns nullopt, or the
  // reason why Save failed.
  virtual std::optional<std::string> Save(const std::vector<SentinelLine>& lines) = 0;
  virtual std::optional<std::string> LookUp(const std::string& name) = 0;  // IP; nullopt: not found. May block a second
  virtual int64_t WallMs() const = 0;                                      // Unix time in milliseconds

  // --- Connections to and from this server.

  virtual int Port() const = 0;            // port to announce: tls-port if EncryptsLinks and set, otherwise `port`
  virtual bool EncryptsLinks() const = 0;  // true: links to instances use TLS
  virtual std::string SourceAddress() const = 0;  // local address to connect from; empty: the system chooses
  virtual std::string Password() const = 0;       // requirepass of this server; empty: none

  // --- Programs.

  virtual bool MayRun(const std::string& path) const = 0;  // whether the file exists and may be executed
  virtual Result<int64_t, int> StartProgram(  // starts a program; returns the process id, or fails with errno
      const std::vector<std::string>& path_and_arguments) = 0;
  virtual std::optional<ProgramEnd> TakeEndedProgram() = 0;  // returns each ended program once; nullopt: no more
  virtual void KillProgram(int64_t process_id) = 0;          // kills a program that StartProgram has started

  virtual void Crash() = 0;  // ends this process immediately, as if it had crashed
};

class ProgramStarter {  // interface that runs programs of the operator as child processes
 public:
  virtual ~ProgramStarter() = default;
  virtual Result<int64_t, int> Start(  // starts a program; returns the process id, or fails with errno
      const std::vector<std::string>& path_and_arguments) = 0;
  virtual std::optional<ProgramEnd> TakeEndedProgram() = 0;  // an ended program, each once; nullopt: no more
  virtual void Kill(int64_t process_id) = 0;
};

}  // namespace respite
