// ServerSentinelHost: connects a Sentinel to the server: its clients, configuration file and programs.
#pragma once

#include <map>
#include <string>

#include "server/net/name_resolver.h"
#include "server/sentinel/sentinel_host.h"

namespace respite {

struct Services;

// Resolves a name; nothing if that fails, or takes more than a second.
std::optional<std::string> LookUpName(NameResolver& resolver, const std::string& name);

class ServerSentinelHost final : public SentinelHost {
 public:
  ServerSentinelHost(const Services& services, ProgramStarter& programs) : services_(services), programs_(programs) {}

  void Publish(Bytes channel, Bytes message) override;
  std::optional<std::string> Save(const std::vector<SentinelLine>& lines) override;
  std::optional<std::string> LookUp(const std::string& name) override;
  int64_t WallMs() const override;
  int Port() const override;
  bool EncryptsLinks() const override;
  std::string SourceAddress() const override;
  std::string Password() const override;
  bool MayRun(const std::string& path) const override;
  Result<int64_t, int> StartProgram(const std::vector<std::string>& words) override;
  std::optional<ProgramEnd> TakeEndedProgram() override;
  void KillProgram(int64_t process) override;
  [[noreturn]] void Crash() override;

 private:
  const Services& services_;
  ProgramStarter& programs_;
  NameResolver resolver_;
};

}  // namespace respite
