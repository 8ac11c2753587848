// Instance: a server or Sentinel that this Sentinel has a link to: a watched primary, a replica of one, or another
// Sentinel that watches one.
//
// Times are milliseconds of the Pace; kLongAgo means never.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/str_cat.h"
#include "server/sentinel/instance_link.h"

namespace respite {

struct Primary;
inline constexpr int64_t kLongAgo = -(int64_t{1} << 60);

// The host of an instance as it was given, and the IP address to which it resolves.
struct SentinelAddress {
  std::string host;  // a name, or an address
  std::string ip;    // empty: the name does not resolve now
  int port = 0;

  bool IsAt(Bytes other_host, int other_port) const {
    return port == other_port && (EqualsIgnoreCase(host, other_host) || ip == other_host);
  }
  // Returns whether both have the same port, and the same host or IP address.
  bool Is(const SentinelAddress& other) const {
    return IsAt(other.host, other.port) || (port == other.port && !ip.empty() && ip == other.ip);
  }
};

// Returns for example "10.0.0.1:6379" or "[::1]:6379".
inline std::string HostAndPort(const std::string& host, int port) {
  const bool has_colon = host.find(':') != std::string::npos;
  return StrCat(has_colon ? "[" + host + "]" : host, ":", port);
}

enum class InstanceKind : uint8_t { kPrimary, kReplica, kSentinel };

struct Instance {
  Instance(InstanceKind its_kind, std::string its_name, SentinelAddress its_address, Primary& its_primary,
           int64_t now_ms);
  ~Instance() { link->Forget(*this); }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  bool IsServer() const { return kind != InstanceKind::kSentinel; }

  const InstanceKind kind;
  const std::string name;
  SentinelAddress address;
  Primary& primary;  // the primary to which it belongs; a primary refers to itself
  std::string run_id;
  std::shared_ptr<InstanceLink> link;
  int64_t last_publish_ms;
  bool is_down = false;  // for this Sentinel: "subjectively"
  int64_t down_since_ms = 0;
  bool has_killed_script = false;
};

enum class ReportedRole : uint8_t { kNone, kPrimary, kReplica };

// An instance that answers INFO.
struct ServerInstance : Instance {
  ServerInstance(InstanceKind its_kind, std::string its_name, SentinelAddress its_address, Primary& its_primary,
                 int64_t now_ms);

  std::optional<std::string> info;  // the last reply
  int64_t info_ms = kLongAgo;       // when it was read
  bool info_is_awaited = false;
  bool info_is_urgent = false;  // a decision waits for it
  int64_t info_asked_ms = kLongAgo;
  ReportedRole reported_role;
  int64_t role_since_ms;
  // Reported by a replica about its primary.
  std::string reported_host;
  int reported_port = 0;
  int64_t reported_since_ms;
  bool primary_link_is_up = false;
  int64_t primary_link_down_ms = 0;
};

// Progress of a replica towards the new primary.
enum class Reconfiguration : uint8_t { kNone, kSent, kInProgress, kDone };

struct WatchedReplica final : ServerInstance {
  WatchedReplica(std::string its_name, SentinelAddress its_address, Primary& its_primary, int64_t now_ms)
      : ServerInstance(InstanceKind::kReplica, std::move(its_name), std::move(its_address), its_primary, now_ms) {}

  int priority = 100;
  bool is_announced = true;
  uint64_t offset = 0;
  bool is_promoted = false;
  Reconfiguration reconfiguration = Reconfiguration::kNone;
  int64_t reconfiguration_sent_ms = 0;
};

struct PeerSentinel final : Instance {
  PeerSentinel(std::string id, SentinelAddress its_address, Primary& its_primary, int64_t now_ms)
      : Instance(InstanceKind::kSentinel, std::move(id), std::move(its_address), its_primary, now_ms),
        last_hello_ms(now_ms),
        last_opinion_ms(now_ms) {
    run_id = name;
  }

  int64_t last_hello_ms;
  bool says_primary_is_down = false;
  int64_t last_opinion_ms;  // when it last answered
  std::string voted_for;    // empty: no vote
  uint64_t voted_in_epoch = 0;
};

enum class FailoverState : uint8_t {
  kNone,
  kWaitStart,
  kSelectReplica,
  kSendReplicaofNoOne,
  kWaitPromotion,
  kReconfigureReplicas,
  kUpdateConfig,
};

struct CaseInsensitiveLess {
  bool operator()(const std::string& one, const std::string& other) const { return ToLower(one) < ToLower(other); }
};

struct Primary final : ServerInstance {
  Primary(std::string its_name, SentinelAddress its_address, int its_quorum, int64_t now_ms)
      : ServerInstance(InstanceKind::kPrimary, std::move(its_name), std::move(its_address), *this, now_ms),
        quorum(its_quorum) {}

  // --- Settings.

  int quorum;
  int64_t down_after_ms = 0;
  int64_t failover_timeout_ms = 0;
  int64_t parallel_syncs = 1;
  int64_t reboot_down_after_ms = 0;
  std::string notification_script;
  std::string reconfiguration_script;
  std::string password;
  std::string user;
  std::map<std::string, std::string, CaseInsensitiveLess> renamed_commands;

  // --- Members.

  std::map<std::string, std::unique_ptr<WatchedReplica>> replicas;
  std::map<std::string, std::unique_ptr<PeerSentinel>> sentinels;

  // --- State.

  bool is_agreed_down = false;  // enough Sentinels agree: "objectively"
  int64_t agreed_down_since_ms = 0;
  bool has_rebooted = false;
  int64_t rebooted_ms = 0;
  uint64_t config_epoch = 0;
  std::string leader;         // the candidate for which this Sentinel has voted
  uint64_t leader_epoch = 0;  // epoch of that vote
  bool is_failing_over = false;
  bool is_failover_forced = false;
  uint64_t failover_epoch = 0;
  FailoverState failover_state = FailoverState::kNone;
  int64_t failover_state_ms = 0;
  int64_t failover_start_ms = kLongAgo;
  int64_t failover_delay_logged = kLongAgo;  // the failover_start_ms for which the delay was logged
  WatchedReplica* promoted = nullptr;
};

// Returns the command's name at this instance, which may have been changed by rename-command.
Bytes CommandOf(const Instance& instance, const char* command);

}  // namespace respite
