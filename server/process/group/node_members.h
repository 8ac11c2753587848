// NodeMembers: implements NodeGroup, the interface of TEST CLUSTER, for the nodes of this process. All nodes run on one
// loop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/real_clock.h"
#include "server/cluster/cluster.h"
#include "server/lab/node_group.h"
#include "server/process/group/hosted_server.h"
#include "server/process/group/node_restarts.h"

namespace respite {

class NodeMembers final : public NodeGroup {  // implements TEST CLUSTER for the nodes of this process
 public:
  // All arguments must outlive the object.
  NodeMembers(NodeRestarts& restarts, std::vector<HostedServer>& hosted_servers, const RealClock& real_clock);

  std::vector<Member> List() const override;
  std::optional<std::string> BeginTask(
      const TaskClient& asker,     // starts a task for a client
      const Task& task) override;  // returns why the task cannot start; nullopt: started
  // Returns the outcome of this client's task, but only once. Returns an outcome with an error if there is no task.
  std::optional<Outcome> TakeOutcome(const TaskClient& asker) override;  // the outcome, once; nullopt: still running
  void Partition(Sides sides) override;                       // cuts the network between these sides; no sides: no cut
  void Lag(size_t member, int64_t delay_ms) override;         // delays all output of this node
  const ClockControl* ClockOf(size_t member) const override;  // FindMovableClock of this node

  // Called after a node has restarted. Tells the node about this group, ends the delay that Lag has set for it, and
  // applies the cut of Partition to all nodes again.
  void HandleServerRestarted(HostedServer& hosted);  // reconnects a restarted node; ends the delay set by Lag

 private:
  struct PendingTask {  // a TEST CLUSTER task whose outcome was not fetched yet
    Task task;
    int64_t until_ms;                     // when a move or failover fails if it has not ended (real time)
    std::optional<size_t> exporter = {};  // kMove: the node that exports the slot
    std::optional<Outcome> outcome = {};  // stored by End; nullopt: not ended, or kMove, kFailOver (FindOutcome)
  };

  bool Lives(size_t member) const;                      // true: the node was not killed, and has not stopped
  ClockControl* FindMovableClock(size_t member) const;  // what TEST CLOCK moves; null: not alive, a Sentinel, none
  Cluster* ClusterOf(size_t member) const;  // the node's cluster state; null: killed, stopped, or in no cluster
  std::optional<size_t> MemberWithId(const NodeId& id) const;  // the live node with this ID; nullopt: none
  // Each Begin… returns nullopt, or a text that says why the task cannot start.
  std::optional<std::string> BeginNodeKill(const TaskClient& asker, size_t member);     // kills a node; or an error
  std::optional<std::string> BeginNodeRestart(const TaskClient& asker, size_t member);  // restarts a node; or an error
  std::optional<std::string> BeginMove(PendingTask& pending);         // starts to move a slot to a node; or an error
  std::optional<std::string> BeginFailOver(size_t member);            // starts to promote this replica; or an error
  std::optional<std::string> BeginClockMove(const TaskClient& asker,  // moves all live nodes' clocks; or an error
                                            const ClockMove& move);
  void End(const TaskClient& asker, Outcome outcome);                    // stores the outcome of the task
  std::optional<Outcome> FindOutcome(const PendingTask& pending) const;  // of a move or failover; nullopt: it runs
  bool AllNodesKnowResult(const Task& task) const;  // true: all live nodes know of the move or failover
  int64_t LagOf(size_t member) const;               // how many milliseconds Lag delays the node's output
  void ApplyNetworkConditions(size_t member);  // cuts and delays the node's outgoing links, as partition_ and Lag say
  bool AreApart(size_t one, size_t other) const;  // true: the partition cuts the links between these nodes

  NodeRestarts& restarts_;                      // kills and restarts the nodes
  std::vector<HostedServer>& hosted_servers_;   // all servers of the process; a member is an index in it
  const RealClock& real_clock_;                 // real time, which TEST CLOCK cannot move
  std::map<TaskClient, PendingTask> pending_;   // tasks whose outcome was not fetched yet, by client
  Sides partition_;                             // the nodes on each side of the network partition; empty: none
  std::map<size_t, int64_t> output_delays_ms_;  // how many ms Lag delays the output of a member, by member
};

}  // namespace respite
