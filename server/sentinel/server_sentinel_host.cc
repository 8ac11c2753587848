#include "server/sentinel/server_sentinel_host.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "base/clock.h"
#include "base/refusal.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/pubsub.h"
#include "server/config/config.h"
#include "server/execution/services.h"

namespace respite {

namespace {

constexpr int kCrashCode = 99;
constexpr std::chrono::seconds kLookUpTime{1};

}  // namespace

std::optional<std::string> LookUpName(NameResolver& resolver, const std::string& name) {
  const auto found = resolver.Resolve(name, "0", std::chrono::steady_clock::now() + kLookUpTime);
  if (!found.ok()) return std::nullopt;
  const HostAddress& first = found.value()[0];
  std::array<char, NI_MAXHOST> text{};
  const auto* address = reinterpret_cast<const sockaddr*>(&first.address);
  if (getnameinfo(address, first.size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return std::nullopt;
  return std::string(text.data());
}

void ServerSentinelHost::Publish(Bytes channel, Bytes message) { services_.clients.pubsub.Publish(channel, message); }

std::optional<std::string> ServerSentinelHost::Save(const std::vector<SentinelLine>& lines) {
  RewriteExtras extras = RewriteExtrasOf(services_);
  extras.sentinel_lines = lines;
  try {
    services_.env.config.Rewrite(services_.env.files, extras);
  } catch (const Refusal& refusal) {
    const std::string& text = refusal.text;
    const size_t colon = text.find(": ");
    return colon == std::string::npos ? text : text.substr(colon + 2);
  }
  return std::nullopt;
}

std::optional<std::string> ServerSentinelHost::LookUp(const std::string& name) { return LookUpName(resolver_, name); }

int64_t ServerSentinelHost::WallMs() const { return services_.env.clock.WallMs(); }

int ServerSentinelHost::Port() const {
  const Settings& settings = services_.env.settings;
  return EncryptsLinks() && settings.tls_port != 0 ? settings.tls_port : settings.bound_port;
}

bool ServerSentinelHost::EncryptsLinks() const { return services_.env.settings.tls_replication; }

std::string ServerSentinelHost::SourceAddress() const { return services_.env.settings.bind_source_addr; }

std::string ServerSentinelHost::Password() const { return services_.env.settings.requirepass; }

bool ServerSentinelHost::MayRun(const std::string& path) const { return access(path.c_str(), X_OK) == 0; }

Result<int64_t, int> ServerSentinelHost::StartProgram(const std::vector<std::string>& path_and_arguments) {
  return programs_.Start(path_and_arguments);
}

std::optional<ProgramEnd> ServerSentinelHost::TakeEndedProgram() { return programs_.TakeEndedProgram(); }

void ServerSentinelHost::KillProgram(int64_t process_id) { programs_.Kill(process_id); }

void ServerSentinelHost::Crash() {
  services_.env.log.Warning("Sentinel CRASH because of SENTINEL simulate-failure");
  _exit(kCrashCode);
}

}  // namespace respite
