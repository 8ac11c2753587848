// InstanceReport: the reply of SENTINEL MASTER, REPLICAS and SENTINELS for one instance: names and values in Redis'
// order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "server/sentinel/sentinel_core.h"

namespace respite {

class InstanceReport {
 public:
  using Fields = std::vector<std::pair<Bytes, std::string>>;

  static Fields Of(const SentinelCore& core, const Primary& primary);
  static Fields Of(const SentinelCore& core, const WatchedReplica& replica);
  static Fields Of(const SentinelCore& core, const PeerSentinel& sentinel);

 private:
  InstanceReport(const SentinelCore& core, const Instance& instance) : core_(core), instance_(instance) {}

  void AddCommon();
  void AddTimes();
  void AddServer(const ServerInstance& server);
  void AddPrimary(const Primary& primary);
  void AddReplica(const WatchedReplica& replica);
  void AddSentinel(const PeerSentinel& sentinel);
  std::string Flags() const;

  void Add(Bytes name, std::string value) { fields_.emplace_back(name, std::move(value)); }
  void Add(Bytes name, int64_t value) { Add(name, std::to_string(value)); }
  // Adds the time that has passed since `at_ms`.
  void AddAge(Bytes name, int64_t at_ms) { Add(name, core_.NowMs() - at_ms); }

  const SentinelCore& core_;
  const Instance& instance_;
  Fields fields_;
};

}  // namespace respite
