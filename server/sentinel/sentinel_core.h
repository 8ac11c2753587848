// SentinelCore: references that all parts of this folder share.
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

// Largest accepted epoch; no Sentinel reaches it by counting. A larger one would leave no room for elections.
inline constexpr uint64_t kMaxSentinelEpoch = uint64_t{1} << 62;

// Why an instance cannot be added.
enum class InstanceError : uint8_t { kPort, kName, kDuplicate, kTooMany };

std::string TextOf(InstanceError trouble, InstanceKind kind);  // the error reply, such as "Duplicate master name."

struct SentinelCore {  // references that all parts of this folder share
  const Pace& pace;
  Logger& log;
  Random& random;
  const LateBound<Network>& network;
  SentinelHost& host;
  SentinelState& state;

  int64_t NowMs() const { return pace.NowMs(); }  // Pace time
  const SentinelPeriods& periods() const { return state.periods; }
  int64_t RandomDelayMs() const;  // up to a second, so that Sentinels do not act at the same moment

  // kUnresolved: also accepts a name that does not resolve now, if names are resolved at all. kReported: also accepts
  // a name without a look-up, if others have reported too many names in this tick.
  enum class Accept : uint8_t { kResolved, kUnresolved, kReported };
  Result<SentinelAddress, InstanceError> ResolveAddress(const std::string& name, int port, Accept accept) const;
  // Returns whether the name or address belongs to `address`.
  bool IsHostOf(const SentinelAddress& address, const std::string& name) const;  // belongs to `address`

  // Reports an event in the log, and on the channel with the name of the event. Runs no script; SentinelEvents does.
  void Say(LogLevel level, const char* event, const std::string& text) const;

  bool Save() const;  // writes the state to the configuration file; false: it failed, which is logged
  // Saves the state with the next tick, at most once a second. For changes that this Sentinel would learn again after a
  // crash.
  void SaveSoon() const { state.wants_save = true; }  // with the next tick
};

}  // namespace respite
