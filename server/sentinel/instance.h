// Instance: a server or Sentinel that this Sentinel has a link to: a watched primary, a replica of one, or another
// Sentinel that watches one.
//
// Times are in milliseconds, and real times (class RealClock), which TEST CLOCK cannot move. kLongAgo means never.
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

struct SentinelAddress {  // where an instance listens: its host as given, and its IP address
  std::string host;       // a name, or an address
  std::string ip;         // empty: the name is not resolved
  int port = 0;

  bool IsAt(Bytes other_host, int other_port) const {  // this address has this host or IP, and this port
    return port == other_port && (EqualsIgnoreCase(host, other_host) || ip == other_host);
  }
  // Returns whether the two addresses have the same port, and the same host or IP address.
  bool Is(const SentinelAddress& other) const {
    return IsAt(other.host, other.port) || (port == other.port && !ip.empty() && ip == other.ip);
  }
};

inline std::string HostAndPort(const std::string& host, int port) {  // for example "[::1]:6379"
  const bool has_colon = host.find(':') != std::string::npos;
  return StrCat(has_colon ? "[" + host + "]" : host, ":", port);
}

enum class InstanceKind : uint8_t { kPrimary, kReplica, kSentinel };

struct Instance {  // a server or Sentinel to which this Sentinel has a link
  Instance(InstanceKind its_kind, std::string its_name, SentinelAddress its_address, Primary& its_primary,
           int64_t now_ms);
  ~Instance() { link->Forget(*this); }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  bool IsServer() const { return kind != InstanceKind::kSentinel; }  // a primary or replica, not a Sentinel

  const InstanceKind kind;
  const std::string name;
  SentinelAddress address;             // where the instance listens
  Primary& primary;                    // the primary that this instance belongs to; a primary refers to itself
  std::string run_id;                  // run_id in INFO of a server, or the id of a Sentinel; empty: not known yet
  std::shared_ptr<InstanceLink> link;  // the connections to this instance
  int64_t last_publish_ms;         // when a hello message was last published at it (real time); set back to publish now
  bool is_down = false;            // true: this Sentinel considers the instance down (sdown, "subjectively")
  int64_t down_since_ms = 0;       // when the instance last became down (real time); 0: never
  bool has_killed_script = false;  // true: SCRIPT KILL was sent since the instance became down
};

enum class ReportedRole : uint8_t { kNone, kPrimary, kReplica };

struct ServerInstance : Instance {  // an instance that answers INFO: a primary or replica
  ServerInstance(InstanceKind its_kind, std::string its_name, SentinelAddress its_address, Primary& its_primary,
                 int64_t now_ms);

  std::optional<std::string> info;    // the last reply to INFO; nullopt: none yet
  int64_t info_ms = kLongAgo;         // when the reply in `info` arrived (real time)
  bool info_is_awaited = false;       // true: INFO was sent, and is not answered yet
  bool info_is_urgent = false;        // true: a decision needs a new reply to INFO, so INFO is sent soon
  int64_t info_sent_ms = kLongAgo;    // when INFO was last sent (real time)
  ReportedRole reported_role;         // the role in the last reply to INFO; before the first reply, the role of `kind`
  int64_t role_since_ms;              // when reported_role last changed (real time)
  std::string reported_primary_host;  // master_host in INFO: the primary that a replica follows
  int reported_primary_port = 0;      // master_port in INFO; 0: none reported yet
  int64_t reported_primary_since_ms;  // since when the server has reported this primary (real time)
  bool primary_link_is_up = false;    // true: master_link_status in INFO is "up"
  int64_t primary_link_down_ms = 0;   // master_link_down_since_seconds in INFO, in ms; 0: not in INFO
};

// How far a replica has switched to the new primary in a failover. kSent: REPLICAOF was sent. kInProgress: the replica
// reports the new primary in INFO. kDone: the replica's link to the new primary is up, or the replica took too long.
enum class Reconfiguration : uint8_t { kNone, kSent, kInProgress, kDone };

struct WatchedReplica final : ServerInstance {  // a replica of a watched primary
  WatchedReplica(std::string its_name, SentinelAddress its_address, Primary& its_primary, int64_t now_ms)
      : ServerInstance(InstanceKind::kReplica, std::move(its_name), std::move(its_address), its_primary, now_ms) {}

  int priority = 100;                    // replica-priority; 0: must not be promoted
  bool is_announced = true;              // replica-announced in INFO; false: SENTINEL REPLICAS omits the replica
  uint64_t offset = 0;                   // replication offset in the last reply to INFO
  bool is_chosen_for_promotion = false;  // true: the failover under way has chosen this replica to be the new primary
  Reconfiguration reconfiguration = Reconfiguration::kNone;  // in a failover: progress towards the new primary
  int64_t reconfiguration_sent_ms = 0;                       // in a failover: when REPLICAOF was sent (real time)
};

struct PeerSentinel final : Instance {  // another Sentinel that watches the same primary
  PeerSentinel(std::string id, SentinelAddress its_address, Primary& its_primary, int64_t now_ms)
      : Instance(InstanceKind::kSentinel, std::move(id), std::move(its_address), its_primary, now_ms),
        last_hello_ms(now_ms),
        last_opinion_ms(now_ms) {
    run_id = name;
  }

  int64_t last_hello_ms;              // when the last hello message of this peer arrived (real time)
  bool says_primary_is_down = false;  // true: the peer's last answer, if not too old, says that the primary is down
  int64_t last_opinion_ms;            // when the peer last answered whether the primary is down (real time)
  std::string voted_for;              // id of the Sentinel that the peer has voted for; empty: no vote, or expired
  uint64_t voted_in_epoch = 0;        // epoch of the peer's vote in voted_for
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

struct CaseInsensitiveLess {  // orders strings without regard to case, for command names as keys
  bool operator()(const std::string& one, const std::string& other) const { return ToLower(one) < ToLower(other); }
};

struct Primary final : ServerInstance {  // a watched primary
  Primary(std::string its_name, SentinelAddress its_address, int its_quorum, int64_t now_ms)
      : ServerInstance(InstanceKind::kPrimary, std::move(its_name), std::move(its_address), *this, now_ms),
        quorum(its_quorum) {}

  // --- Settings.

  int quorum;                          // how many Sentinels (with this one) must agree that the primary is down
  int64_t down_after_ms = 0;           // down-after-milliseconds: how long an instance is silent before it is down
  int64_t failover_timeout_ms = 0;     // failover-timeout, in milliseconds
  int64_t parallel_syncs = 1;          // how many replicas switch to the new primary at the same time in a failover
  int64_t reboot_down_after_ms = 0;    // master-reboot-down-after-period in milliseconds; 0: off
  std::string notification_script;     // path of the program that is told of warnings; empty: none
  std::string reconfiguration_script;  // client-reconfig-script: run with the new address; empty: none
  std::string password;                // for AUTH at the servers; empty: no AUTH
  std::string user;                    // for AUTH at the servers; empty: the default user
  std::map<std::string, std::string, CaseInsensitiveLess> renamed_commands;  // rename-command: new names, by usual name

  // --- Members.

  std::map<std::string, std::unique_ptr<WatchedReplica>> replicas;  // by address, such as "127.0.0.1:6380"
  std::map<std::string, std::unique_ptr<PeerSentinel>> sentinels;   // the other Sentinels, by id

  // --- State.

  bool is_objectively_down = false;       // true: enough Sentinels consider this primary down (odown, "objectively")
  int64_t objectively_down_since_ms = 0;  // when is_objectively_down was last set (real time); 0: never
  bool has_rebooted = false;        // true: the run id has changed, and no PONG came since (if reboot_down_after_ms)
  int64_t rebooted_ms = 0;          // when has_rebooted was last set (real time)
  uint64_t config_epoch = 0;        // epoch of the failover that has set this primary's address
  std::string leader;               // Sentinel (id) for which this Sentinel last voted, about this primary
  uint64_t leader_epoch = 0;        // epoch of the vote in `leader`
  bool is_failing_over = false;     // true: this Sentinel runs a failover, or waits to be elected for it
  bool is_failover_forced = false;  // true: an operator has started the failover, so no votes are needed
  uint64_t failover_epoch = 0;      // epoch of this failover: only votes of this epoch are counted for it
  FailoverState failover_state = FailoverState::kNone;  // the current step of the failover
  int64_t failover_state_ms = 0;                        // when failover_state was entered (real time)
  int64_t failover_start_ms = kLongAgo;  // when a failover began here, or this Sentinel voted for another, plus < 1 s
  int64_t logged_failover_start_ms = kLongAgo;  // value of failover_start_ms for which LogFailoverDelay has logged
  WatchedReplica* promoted = nullptr;           // the replica that the failover promotes, or has promoted; null: none
};

Bytes CommandOf(const Instance& instance, const char* command);  // the command's name at this instance (rename-command)

}  // namespace respite
