#include "server/sentinel/sentinel_core.h"

#include <arpa/inet.h>

#include <algorithm>

#include "server/sentinel/sentinel_lines.h"

namespace respite {

namespace {

constexpr uint64_t kMaxDesyncMs = 1000;

bool IsAddress(const std::string& text) {
  in6_addr unused;
  return inet_pton(AF_INET, text.c_str(), &unused) == 1 || inet_pton(AF_INET6, text.c_str(), &unused) == 1;
}

// Returns whether a host name that other servers have announced can be written to the configuration file. A blank or a
// quote in the name would make the line of the file invalid.
bool IsSoundName(const std::string& name) {
  constexpr size_t kLongest = 255;
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || Bytes("-._:%").find(c) != Bytes::npos;
  });
}

std::optional<std::string> IpOf(const SentinelCore& core, const std::string& name) {
  if (IsAddress(name)) return name;
  if (!core.state.options.resolves_hostnames) return std::nullopt;
  return core.host.LookUp(name);
}

}  // namespace

std::string TextOf(InstanceError trouble, InstanceKind kind) {
  if (trouble == InstanceError::kPort) return "Invalid port number.";
  if (trouble == InstanceError::kName) return "Can't resolve instance hostname.";
  if (trouble == InstanceError::kTooMany) return "Too many instances.";
  if (kind == InstanceKind::kPrimary) return "Duplicate master name.";
  if (kind == InstanceKind::kReplica) return "Duplicate hostname and port for replica.";
  return "Duplicate runid for sentinel.";
}

int64_t SentinelCore::RandomDelayMs() const { return static_cast<int64_t>(random.Below(kMaxDesyncMs)); }

Result<SentinelAddress, InstanceError> SentinelCore::ResolveAddress(const std::string& name, int port,
                                                                    Accept accept) const {
  if (port < 0 || port > kHighestPort) return Failure(InstanceError::kPort);
  if (!IsSoundName(name)) return Failure(InstanceError::kName);
  const bool is_costly = accept == Accept::kReported && !IsAddress(name);
  if (is_costly && --state.look_ups_left < 0) {
    if (state.options.resolves_hostnames) return SentinelAddress{name, {}, port};
    return Failure(InstanceError::kName);
  }
  const auto ip = IpOf(*this, name);
  if (ip) return SentinelAddress{name, *ip, port};
  log.Warning("Failed to resolve hostname '" + name + "'");
  if (!state.options.resolves_hostnames || accept == Accept::kResolved) return Failure(InstanceError::kName);
  return SentinelAddress{name, {}, port};
}

// Returns whether `name` (a host name or IP) means the host of `address`. Looks up the IP of `name` only if it is a
// name, and not the name in `address`.
bool SentinelCore::IsHostOf(const SentinelAddress& address, const std::string& name) const {
  return address.IsAt(name, address.port) || ReportedAddress(name, address.port).Is(address);
}

SentinelAddress SentinelCore::ReportedAddress(const std::string& name, int port) const {
  return {name, IpOf(*this, name).value_or(std::string()), port};
}

void SentinelCore::Say(LogLevel level, const char* event, const std::string& text) const {
  log.Log(level, std::string(event) + " " + text);
  if (level != LogLevel::kDebug) host.Publish(event, text);
}

bool SentinelCore::Save() const {
  state.wants_save = false;
  const auto trouble = host.Save(LinesOf(state));
  if (trouble) {
    log.Warning("WARNING: Sentinel was not able to save the new configuration on disk!!!: " + *trouble);
  } else {
    log.Notice("Sentinel new configuration saved on disk");
  }
  return !trouble;
}

}  // namespace respite
