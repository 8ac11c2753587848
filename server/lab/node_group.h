// NodeGroup: the nodes of a process that was started with `nodes` or `sentinels`, for TEST CLUSTER. Kills and moves the
// nodes and separates them, as machines, operators and networks would.
//
// This is the interface for commands. The process implements it, and is above this room.
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

class NodeGroup {
 public:
  enum class Role : uint8_t { kPrimary, kReplica, kSentinel };
  struct Member {
    std::string name;  // "node-1"
    std::string id;    // cluster node ID; empty if it is in no cluster or is dead
    int port;
    bool lives;
    Role role;
  };
  // An operation that takes some time. It has succeeded when all live nodes know of it.
  struct Task {
    enum class Kind : uint8_t { kKill, kRevive, kMove, kFailOver, kClock } kind;
    size_t member = 0;                                   // for all kinds except kClock
    int slot = 0;                                        // for kMove
    ClockMove clock = {.kind = ClockMove::Kind::kReal};  // for kClock: the change for the clocks of all live nodes
  };
  struct Outcome {
    std::optional<std::string> trouble = {};
    std::optional<ClockControl::Due> met = {};  // for kClock with NEXT: the next due event, if any
  };
  using Sides = std::vector<std::vector<size_t>>;

  virtual ~NodeGroup() = default;

  virtual std::vector<Member> List() const = 0;

  // A client of one of the nodes. Client IDs are unique only within their node.
  struct Asker {
    const Services* node;
    uint64_t client;
    auto operator<=>(const Asker&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };
  // Starts a task. Returns an error if it cannot be done.
  virtual std::optional<std::string> Begin(const Asker& asker, const Task& task) = 0;
  // Returns nullopt while the last task of this client is running.
  virtual std::optional<Outcome> TakeOutcome(const Asker& asker) = 0;

  // Delays all traffic between nodes of different sides, as if the network lost it; connections stay open. Nodes on no
  // side reach all others. Replaces the previous partition. With no sides, ends it and delivers the delayed traffic.
  virtual void Partition(Sides sides) = 0;
  // Delays all output of the node to clients and other nodes by `delay_ms`; 0 ends the delay. Requires: it is alive.
  virtual void Lag(size_t member, int64_t delay_ms) = 0;
  // Returns null if the node is dead or has no movable clock.
  virtual const ClockControl* ClockOf(size_t member) const = 0;
};

}  // namespace respite
