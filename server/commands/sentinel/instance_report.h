// InstanceReport: what SENTINEL MASTER, REPLICAS and SENTINELS reply for one server: names and values, in Redis' order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "server/sentinel/sentinel_core.h"

namespace respite {

class InstanceReport {  // the reply of SENTINEL MASTER, REPLICAS and SENTINELS for one instance
 public:
  using Fields = std::vector<std::pair<Bytes, std::string>>;

  static Fields Of(const SentinelCore& core, const Primary& primary);
  static Fields Of(const SentinelCore& core, const WatchedReplica& replica);
  static Fields Of(const SentinelCore& core, const PeerSentinel& sentinel);

 private:
  InstanceReport(const SentinelCore& core, const Instance& instance) : core_(core), instance_(instance) {}

  void AddCommon();                                // adds the fields that every instance has
  void AddAgeFields();                             // adds fields with the time since the latest pings and replies
  void AddServer(const ServerInstance& server);    // adds fields that only primaries and replicas have
  void AddPrimary(const Primary& primary);         // adds fields that only primaries have
  void AddReplica(const WatchedReplica& replica);  // adds fields that only replicas have
  void AddSentinel(const PeerSentinel& sentinel);  // adds fields that only Sentinels have
  std::string Flags() const;                       // state of the instance as text, such as "master,s_down"

  void Add(Bytes name, std::string value) { fields_.emplace_back(name, std::move(value)); }
  void Add(Bytes name, int64_t value) { Add(name, std::to_string(value)); }
  void AddMsSince(Bytes name, int64_t at_ms) { Add(name, core_.NowMs() - at_ms); }  // adds a field: ms since `at_ms`

  const SentinelCore& core_;
  const Instance& instance_;  // the primary, replica or Sentinel that is reported
  Fields fields_;             // names and values of the reply, in Redis' order
};

}  // namespace respite
