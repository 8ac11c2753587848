// ReplicaofSender: sends REPLICAOF to a server, which makes the server a replica of another one, or a primary.
#pragma once

#include <string>

#include "server/sentinel/sentinel_core.h"

namespace respite {

class ReplicaofSender {  // tells servers which primary to follow
 public:
  explicit ReplicaofSender(const SentinelCore& core) : core_(core) {}

  void Follow(ServerInstance& server, const SentinelAddress& primary) const;  // sends REPLICAOF, if connected
  void FollowNoOne(ServerInstance& server) const;                             // sends REPLICAOF NO ONE, if connected

 private:
  static void SendReplicaof(ServerInstance& server,  // sends MULTI, REPLICAOF, CONFIG REWRITE, CLIENT KILL, EXEC
                            const std::string& host, const std::string& port);

  const SentinelCore core_;
};

}  // namespace respite
