// SentinelState: everything that a Sentinel knows, shared by its parts (SentinelCore). The state that must survive a
// restart is written to the configuration file (sentinel_lines.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/str_cat.h"
#include "server/sentinel/instance.h"

namespace respite {

// Options of SENTINEL CONFIG SET, and of directives without the name of a primary.
struct SentinelOptions {
  std::string announce_ip;  // empty: the local address of the connection
  int announce_port = 0;    // 0: the port of this server
  bool denies_script_changes = true;
  bool resolves_hostnames = false;
  bool announces_hostnames = false;
  std::string user;      // to log in at other Sentinels
  std::string password;  // empty: the password of this server
};

// In milliseconds; SENTINEL DEBUG changes them.
struct SentinelPeriods {
  int64_t info = 10'000;
  int64_t ping = 1000;
  int64_t ask = 1000;
  int64_t publish = 2000;
  int64_t default_down_after = 30'000;
  int64_t default_failover_timeout = 180'000;
  int64_t tilt_trigger = 2000;
  int64_t tilt = 30'000;
  int64_t reconfiguration_timeout = 10'000;
  int64_t min_link_reconnect = 15'000;
  int64_t election_timeout = 10'000;
  int64_t script_max_runtime = 60'000;
  int64_t script_retry_delay = 30'000;
};

// Crashes that SENTINEL SIMULATE-FAILURE has requested.
struct SimulatedFailures {
  bool after_election = false;
  bool after_promotion = false;
};

inline constexpr size_t kSentinelIdLength = 40;  // hexadecimal digits

// Maximum numbers per primary that this Sentinel learns from others. The configuration file may name more.
inline constexpr size_t kMostReplicas = 1000;
inline constexpr size_t kMostPeers = 128;  // other Sentinels

struct SentinelState {
  static constexpr int kLookUpsPerTick = 4;

  std::string id;  // empty: not chosen yet
  uint64_t current_epoch = 0;
  SentinelOptions options;
  SentinelPeriods periods;
  SimulatedFailures simulated;
  std::map<std::string, std::unique_ptr<Primary>> primaries;
  bool is_in_tilt = false;
  int64_t tilt_since_ms = 0;
  bool wants_save = false;           // see SentinelCore::SaveSoon
  int64_t saved_soon_ms = kLongAgo;  // time of the last save by SaveSoon
  int look_ups_left = kLookUpsPerTick;

  // Returns null if there is none.
  Primary* Find(Bytes name) const {
    const auto found = primaries.find(std::string(name));
    return found == primaries.end() ? nullptr : found->second.get();
  }

  // Returns the host that clients and other Sentinels are told.
  const std::string& Announced(const SentinelAddress& address) const {
    return options.announces_hostnames || address.ip.empty() ? address.host : address.ip;
  }
  // Returns for example "127.0.0.1 6379".
  std::string AnnouncedWords(const SentinelAddress& address) const {
    return StrCat(Announced(address), " ", address.port);
  }
};

// Returns the address that clients are told: after the promotion in a failover, the address of the new primary.
inline const SentinelAddress& CurrentAddress(const Primary& primary) {
  const bool has_moved = primary.is_failing_over && primary.promoted != nullptr &&
                         primary.failover_state >= FailoverState::kReconfigureReplicas;
  return has_moved ? primary.promoted->address : primary.address;
}

}  // namespace respite
