// ServerSentinelHost: connects a Sentinel to the server: its clients, configuration file and programs.
#pragma once

#include <map>
#include <string>

#include "server/net/name_resolver.h"
#include "server/sentinel/sentinel_host.h"

namespace respite {

struct Services;

std::optional<std::string> LookUpName(NameResolver& resolver, const std::string& name);  // IP; nullopt: not found

class ServerSentinelHost final : public SentinelHost {  // gives a Sentinel access to its server
 public:
  ServerSentinelHost(const Services& services, ProgramStarter& programs) : services_(services), programs_(programs) {}

  void Publish(Bytes channel, Bytes message) override;  // sends `message` to clients subscribed to the channel
  std::optional<std::string> Save(const std::vector<SentinelLine>& lines) override;
  std::optional<std::string> LookUp(const std::string& name) override;  // IP address; nullopt: not found
  int64_t WallMs() const override;                                      // Unix time in milliseconds
  int Port() const override;                   // port to announce: tls-port if EncryptsLinks and set, otherwise `port`
  bool EncryptsLinks() const override;         // true: links to instances use TLS
  std::string SourceAddress() const override;  // local address to connect from; empty: the system chooses
  std::string Password() const override;       // `requirepass` of this server; empty: none
  bool MayRun(const std::string& path) const override;  // true: the file exists and may be executed
  Result<int64_t, int> StartProgram(                    // starts a program; returns the process id, or fails with errno
      const std::vector<std::string>& path_and_arguments) override;
  std::optional<ProgramEnd> TakeEndedProgram() override;  // returns each ended program once; nullopt: no more
  void KillProgram(int64_t process_id) override;          // kills a program that StartProgram has started
  [[noreturn]] void Crash() override;                     // ends this process immediately, as if it had crashed

 private:
  const Services& services_;  // the other parts of this server
  ProgramStarter& programs_;  // starts the programs of the operator
  NameResolver resolver_;     // looks up host names
};

}  // namespace respite
