// NodeMembers: the nodes of this process as a NodeGroup. All run on one loop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/pace.h"
#include "server/cluster/cluster.h"
#include "server/lab/node_group.h"
#include "server/process/group/hosted_server.h"
#include "server/process/group/node_restarts.h"

namespace respite {

class NodeMembers final : public NodeGroup {  // the nodes of this process, for TEST CLUSTER
 public:
  // All must outlive the object.
  NodeMembers(NodeRestarts& restarts, std::vector<HostedServer>& hosted_servers, const Pace& pace);

  std::vector<Member> List() const override;
  std::optional<std::string> Begin(const TaskClient& asker,
                                   const Task& task) override;           // starts a task; returns the error
  std::optional<Outcome> TakeOutcome(const TaskClient& asker) override;  // nullopt: the task is still running
  void Partition(Sides sides) override;                                  // cuts the network between these sides
  void Lag(size_t member, int64_t delay_ms) override;
  const ClockControl* ClockOf(size_t member) const override;  // null: dead, or no movable clock

  // Connects a restarted node with this group again, ends its lag, and applies the partition to all nodes again.
  void HandleServerRestarted(HostedServer& hosted);

 private:
  struct Pending {  // a task that has not ended
    Task task;
    int64_t until_ms;                     // Pace time at which the task fails
    std::optional<size_t> giver = {};     // the member that gives a slot away
    std::optional<Outcome> outcome = {};  // nullopt: still running
  };

  bool Lives(size_t member) const;                             // false: killed or stopped
  ClockControl* FindLiveClock(size_t member) const;            // null: dead, or no movable clock
  Cluster* ClusterOf(size_t member) const;                     // null: dead, or in no cluster
  std::optional<size_t> MemberWithId(const NodeId& id) const;  // nullopt: no live node has this ID
  // Each Begin… returns nullopt, or a text that says why the task cannot start.
  std::optional<std::string> BeginKill(const TaskClient& asker, size_t member);
  std::optional<std::string> BeginRevive(const TaskClient& asker, size_t member);  // restarts a killed node
  std::optional<std::string> BeginMove(Pending& pending);                          // moves a slot
  std::optional<std::string> BeginFailOver(size_t member);                         // makes the replica a primary
  std::optional<std::string> BeginClock(const TaskClient& asker,
                                        const ClockMove& move);  // moves the clocks of all nodes
  void End(const TaskClient& asker, Outcome outcome);
  // Returns nullopt while the task is still running.
  std::optional<Outcome> Look(const Pending& pending) const;
  bool AllKnow(const Task& task) const;           // all live nodes know the result
  int64_t LagOf(size_t member) const;             // delay of its output in milliseconds
  void Apply(size_t member);                      // cuts and delays its links, by sides_ and lags_
  bool AreApart(size_t one, size_t other) const;  // on different sides of the partition

  NodeRestarts& restarts_;             // kills and restarts the nodes
  std::vector<HostedServer>& hosted_;  // all servers of the process; a member is an index
  const Pace& pace_;
  std::map<TaskClient, Pending> pending_;  // by the client that asked
  Sides sides_;                            // of the network partition; empty: none
  std::map<size_t, int64_t> lags_;         // in milliseconds
};

}  // namespace respite
