// SentinelCore: what the parts of this room share.
#pragma once

#include <cstdint>
#include <string>

#include "base/late_bound.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/random.h"
#include "base/result.h"
#include "server/net/link.h"
#include "server/sentinel/sentinel_host.h"
#include "server/sentinel/sentinel_state.h"

namespace respite {

// Larger epochs leave no room for further elections: nobody has counted so far.
inline constexpr uint64_t kMostSentinelEpoch = uint64_t{1} << 62;

// Why there can be no such instance.
enum class InstanceTrouble : uint8_t { kPort, kName, kDuplicate, kTooMany };

struct SentinelCore {
  const Pace& pace;
  Logger& log;
  Random& random;
  const LateBound<Network>& network;
  SentinelHost& host;
  SentinelState& state;

  int64_t NowMs() const { return pace.NowMs(); }
  const SentinelPeriods& periods() const { return state.periods; }
  // So that not all Sentinels do the same at the same moment: up to a second.
  int64_t RandomDelayMs() const;

  // The address as clients and other Sentinels hear it.
  const std::string& Announced(const SentinelAddress& address) const;
  // "127.0.0.1 6379"
  std::string AnnouncedWords(const SentinelAddress& address) const;
  // kUnresolved: a name that has no address now is accepted, if names are looked up at all. kReported: so is one for
  // whose look-up there is no time in this tick, because others have named too many.
  enum class Accept : uint8_t { kResolved, kUnresolved, kReported };
  Result<SentinelAddress, InstanceTrouble> AddressOf(const std::string& name, int port, Accept accept) const;
  // Whether this name or address is that of `address`.
  bool IsHostOf(const SentinelAddress& address, const std::string& name) const;

  // Writes the state to the configuration file; a failure is logged.
  bool Save() const;
  // The same with the next tick, but once a second at most, for what this Sentinel would hear again after a crash.
  void SaveSoon() const { state.wants_save = true; }
};

}  // namespace respite
