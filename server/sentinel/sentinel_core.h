// SentinelCore: references that the classes of a Sentinel share: real time, log, network, host and state.
#pragma once

#include <cstdint>
#include <string>

#include "base/late_bound.h"
#include "base/log.h"
#include "base/random.h"
#include "base/real_clock.h"
#include "base/result.h"
#include "server/net/link.h"
#include "server/sentinel/sentinel_host.h"
#include "server/sentinel/sentinel_state.h"

namespace respite {

// Messages with a larger epoch are refused. Each failover takes the next epoch, so an epoch near the end of the range
// would leave no room for elections. No Sentinel reaches this value by counting.
inline constexpr uint64_t kMaxSentinelEpoch = uint64_t{1} << 62;

// Why an instance cannot be added. kPort: the port is invalid. kName: the host name is invalid, or does not resolve.
// kDuplicate: the instance is known already. kTooMany: the limit is reached.
enum class InstanceError : uint8_t { kPort, kName, kDuplicate, kTooMany };

std::string TextOf(InstanceError trouble, InstanceKind kind);  // the error reply, such as "Duplicate master name."

struct SentinelCore {           // what all parts of a Sentinel share
  const RealClock& real_clock;  // monotonic; TEST CLOCK cannot move it
  Logger& log;
  Random& random;                     // for random ids and delays
  const LateBound<Network>& network;  // makes connections
  SentinelHost& host;
  SentinelState& state;  // all that this Sentinel knows

  int64_t NowMs() const { return real_clock.NowMs(); }              // real time in milliseconds
  const SentinelPeriods& periods() const { return state.periods; }  // intervals and timeouts
  int64_t RandomDelayMs() const;  // a random delay below one second, so that Sentinels do not act together

  // Which hosts ResolveAddress accepts. All values accept IP addresses. If `resolve-hostnames` is on, they also accept
  // host names: kResolved only those that resolve now, kUnresolved also others. kReported is like kUnresolved, for
  // hosts that other servers report; at most SentinelState::kLookUpsPerTick of their names are looked up in one tick.
  enum class Accept : uint8_t { kResolved, kUnresolved, kReported };
  Result<SentinelAddress, InstanceError> ResolveAddress(const std::string& name,  // checks host and port, finds the IP
                                                        int port, Accept accept) const;
  // Returns whether `name` (a host name or IP) means the host of `address`. May look up `name`, which can block for a
  // second.
  bool IsHostOf(const SentinelAddress& address,  // true: `name` (host name or IP) means the host of `address`
                const std::string& name) const;
  // Returns the address that another server reports as host `name` and `port`. Its `ip` is empty if `name` is a host
  // name that does not resolve, or while resolve-hostnames is off. May look up `name`, which can block for a second.
  SentinelAddress ReportedAddress(const std::string& name, int port) const;  // with the IP of `name`, if it resolves

  // Reports an event in the log and, unless the level is kDebug, on the channel with the name of the event. Runs no
  // notification script; SentinelEvents does that.
  void Say(LogLevel level, const char* event, const std::string& text) const;

  bool Save() const;  // writes the state to the configuration file; false: failed, and the reason is logged
  // Makes a tick save the state, at most once per second. Only for changes that this Sentinel would learn again if it
  // crashed before that save.
  void SaveSoon() const { state.wants_save = true; }  // makes a tick within a second save the state
};

}  // namespace respite
