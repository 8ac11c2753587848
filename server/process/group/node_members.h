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

class NodeMembers final : public NodeGroup {
 public:
  // All must outlive the object.
  NodeMembers(NodeRestarts& lives, std::vector<HostedServer>& hosted_servers, const Pace& pace);

  std::vector<Member> List() const override;
  std::optional<std::string> Begin(const Asker& asker, const Task& task) override;
  std::optional<Outcome> TakeOutcome(const Asker& asker) override;
  void Partition(Sides sides) override;
  void Lag(size_t member, int64_t delay_ms) override;
  const ClockControl* ClockOf(size_t member) const override;

  // Connects a restarted node with this group again, ends its lag, and applies the partition to all nodes again.
  void OnBack(HostedServer& hosted);

 private:
  struct Pending {
    Task task;
    int64_t until_ms;                     // in Pace time
    std::optional<size_t> giver = {};     // the member that gives a slot away
    std::optional<Outcome> outcome = {};  // nullopt: not known yet
  };

  bool Lives(size_t member) const;
  ClockControl* LivingClock(size_t member) const;
  Cluster* ClusterOf(size_t member) const;
  std::optional<size_t> MemberWithId(const NodeId& id) const;
  // Each Begin… returns nullopt, or a text that says why the task cannot start.
  std::optional<std::string> BeginKill(const Asker& asker, size_t member);
  std::optional<std::string> BeginRevive(const Asker& asker, size_t member);
  std::optional<std::string> BeginMove(Pending& pending);
  std::optional<std::string> BeginFailOver(size_t member);
  std::optional<std::string> BeginClock(const Asker& asker, const ClockMove& move);
  void End(const Asker& asker, Outcome outcome);
  // Returns nullopt while the task is still running.
  std::optional<Outcome> Look(const Pending& pending) const;
  bool AllKnow(const Task& task) const;
  int64_t LagOf(size_t member) const;
  // Cuts and delays the links of this node as sides_ and lags_ say.
  void Apply(size_t member);
  bool AreApart(size_t one, size_t other) const;

  NodeRestarts& restarts_;
  std::vector<HostedServer>& hosted_;
  const Pace& pace_;
  std::map<Asker, Pending> pending_;
  Sides sides_;
  std::map<size_t, int64_t> lags_;  // in milliseconds
};

}  // namespace respite
