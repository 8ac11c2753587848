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

struct SentinelOptions {              // options of the whole Sentinel, set by directives and SENTINEL CONFIG SET
  std::string announce_ip;            // announced in hello messages; empty: the local address of the connection
  int announce_port = 0;              // announced in hello messages; 0: the port of this server
  bool denies_script_changes = true;  // true: SENTINEL SET must not change scripts (deny-scripts-reconfig)
  bool resolves_hostnames = false;    // true: host names are accepted, and looked up (resolve-hostnames)
  bool announces_hostnames = false;   // true: clients and Sentinels get host names instead of IP addresses
  std::string user;                   // user name to log in at other Sentinels, with `password`; empty: default
  std::string password;               // to log in at other Sentinels; empty: the password of this server
};

struct SentinelPeriods {                   // intervals and timeouts in milliseconds; SENTINEL DEBUG changes them
  int64_t info_period_ms = 10'000;         // milliseconds between two INFO to a server; less to replicas in a failover
  int64_t ping_period_ms = 1000;           // milliseconds between two PING to an instance
  int64_t ask_period_ms = 1000;            // a Sentinel is asked about a down primary if its last answer is this old
  int64_t publish_period_ms = 2000;        // milliseconds between two hello messages to an instance
  int64_t default_down_after_ms = 30'000;  // down-after-milliseconds of a new primary
  int64_t default_failover_timeout_ms = 180'000;  // failover-timeout of a new primary
  int64_t tilt_trigger_ms = 2000;                 // after more milliseconds than this without a tick, tilt mode starts
  int64_t tilt_period_ms = 30'000;                // how many milliseconds tilt mode lasts
  int64_t reconfiguration_timeout_ms = 10'000;    // in how many milliseconds a replica must report the new primary
  int64_t min_link_age_ms = 15'000;  // a hanging connection is closed only if it is older (MIN-LINK-RECONNECT-PERIOD)
  int64_t election_timeout_ms = 10'000;    // in how many milliseconds the votes of other Sentinels must arrive
  int64_t script_max_runtime_ms = 60'000;  // for how many milliseconds a program may run before it is killed
  int64_t script_retry_delay_ms = 30'000;  // milliseconds between two tries of a program; doubled with each try
};

struct SimulatedFailures {             // crashes that SENTINEL SIMULATE-FAILURE has requested
  bool crash_after_election = false;   // the process crashes as soon as this Sentinel is the elected leader
  bool crash_after_promotion = false;  // the process crashes as soon as the replica reports its promotion
};

inline constexpr size_t kSentinelIdLength = 40;  // hexadecimal digits

// Maximum numbers of replicas, and of other Sentinels, of one primary that a Sentinel learns from INFO and hello
// messages. The configuration file may name more.
inline constexpr size_t kMaxReplicas = 1000;
inline constexpr size_t kMaxPeerSentinels = 128;  // other Sentinels

struct SentinelState {                       // everything that a Sentinel knows
  static constexpr int kLookUpsPerTick = 4;  // how many reported host names are looked up in one tick, at most

  std::string id;                                             // id of this Sentinel; empty: not chosen yet
  uint64_t current_epoch = 0;                                 // the largest epoch that this Sentinel knows
  SentinelOptions options;                                    // options of the whole Sentinel
  SentinelPeriods periods;                                    // intervals and timeouts, in milliseconds
  SimulatedFailures simulated_failures;                       // crashes that SENTINEL SIMULATE-FAILURE has requested
  std::map<std::string, std::unique_ptr<Primary>> primaries;  // the watched primaries, by name
  uint64_t tilt_count = 0;                                    // how often tilt mode has started
  bool is_in_tilt = false;              // true: ticks were late (tilt mode): no instance is judged down
  int64_t tilt_since_ms = 0;            // when the current or last tilt mode started (real time)
  bool wants_save = false;              // true: a tick within a second saves the state (SaveSoon)
  int64_t saved_soon_ms = kLongAgo;     // when the last save that SaveSoon requested was made (real time)
  int look_ups_left = kLookUpsPerTick;  // how many reported names may still be looked up in this tick

  // Returns the primary with this name, or null.
  Primary* Find(Bytes name) const {
    const auto found = primaries.find(std::string(name));
    return found == primaries.end() ? nullptr : found->second.get();
  }

  const std::string& HostToAnnounce(const SentinelAddress& address) const {  // host name or IP that others are told
    return options.announces_hostnames || address.ip.empty() ? address.host : address.ip;
  }
  std::string HostAndPortToAnnounce(const SentinelAddress& address) const {  // for example "127.0.0.1 6379"
    return StrCat(HostToAnnounce(address), " ", address.port);
  }
};

// Returns the address that clients are told. Once a failover has promoted a replica, this is the address of this
// replica.
inline const SentinelAddress& CurrentAddress(const Primary& primary) {  // where clients find the primary now
  const bool has_moved = primary.is_failing_over && primary.promoted != nullptr &&
                         primary.failover_state >= FailoverState::kReconfigureReplicas;
  return has_moved ? primary.promoted->address : primary.address;
}

}  // namespace respite
