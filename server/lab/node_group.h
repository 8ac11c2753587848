// NodeGroup: the nodes of a process that was started with `nodes` or `sentinels`, for TEST CLUSTER. Simulates what
// machines, networks and operators do: kills, revives and separates nodes, fails over, and moves slots.
//
// This is an interface for commands. Code in server/process implements it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/lab/clock_control.h"

namespace respite {

struct Services;

class NodeGroup {  // interface to the nodes of a process that runs a whole cluster, for TEST CLUSTER
 public:
  enum class Role : uint8_t { kPrimary, kReplica, kSentinel };  // of a node
  struct Member {                                               // one node of the process
    std::string name;                                           // "node-1"
    std::string id;  // ID in the cluster; empty: the node is in no cluster, or was killed
    int port;
    bool is_alive;  // the node runs; false: the node was killed
    Role role;
  };
  // A task has succeeded when all live nodes know the result.
  struct Task {  // an operation of TEST CLUSTER that takes some time
    enum class Kind : uint8_t { kKill, kRevive, kMove, kFailOver, kClock } kind;
    size_t member = 0;  // index of the node in List(); kMove: the node that gets the slot; kClock: unused
    int slot = 0;       // the slot to move, for kMove
    ClockMove clock = {.kind = ClockMove::Kind::kReal};  // for kClock: the change for all live nodes except Sentinels
  };
  struct Outcome {                                        // how an operation (Task) has ended
    std::optional<std::string> error = {};                // error text; nullopt: the Task has succeeded
    std::optional<ClockControl::Due> reached_event = {};  // for kClock with NEXT: the event to which the clocks jumped
  };
  using Sides = std::vector<std::vector<size_t>>;

  virtual ~NodeGroup() = default;

  virtual std::vector<Member> List() const = 0;

  struct TaskClient {  // a client that starts a Task; client IDs are unique only within one node
    const Services* node;
    uint64_t client;                                      // ID of the client on that node
    auto operator<=>(const TaskClient&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };
  // Returns the reason why the task cannot start, or nullopt. TakeOutcome later tells how the task has ended.
  virtual std::optional<std::string> BeginTask(const TaskClient& asker, const Task& task) = 0;  // starts a task
  virtual std::optional<Outcome> TakeOutcome(const TaskClient& asker) = 0;  // takes a task's result; nullopt: not ended

  // Holds back all traffic between nodes of different sides, as if the network had failed; connections stay open. A
  // node that is in no side reaches all others. Replaces the previous partition. If `sides` is empty, only ends the
  // previous partition, and delivers the traffic that was held back.
  virtual void Partition(Sides sides) = 0;  // cuts the network between nodes of different sides
  // Delays the replies of the node to clients, and its output to other nodes, by `delay_ms`. 0 ends the delay.
  // Requires: the node is alive.
  virtual void Lag(size_t member, int64_t delay_ms) = 0;         // delays replies and output to other nodes
  virtual const ClockControl* ClockOf(size_t member) const = 0;  // a node's clock; null: not alive, or not movable
};

}  // namespace respite
