// NodeGroup: the nodes of a process that was started with `nodes` or `sentinels`, as TEST CLUSTER acts on them: killed,
// moved and cut off from each other as real machines, operators and networks would do it.
//
// This is what commands ask of them. Whoever makes servers (the process) has them, and is above this room.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/lab/clock_control.h"
#include "server/lab/clock_move.h"

namespace respite {

struct Services;

class NodeGroup {
 public:
  enum class Role : uint8_t { kPrimary, kReplica, kSentinel };
  struct Member {
    std::string name;  // "node-1"
    std::string id;    // in the cluster; empty: it is in none, or is dead
    int port;
    bool lives;
    Role role;
  };
  // What takes some time. It has succeeded when all nodes that live know of it.
  struct Task {
    enum class Kind : uint8_t { kKill, kRevive, kMove, kFailOver, kClock } kind;
    size_t member = 0;                                   // of all but kClock
    int slot = 0;                                        // of kMove
    ClockMove clock = {.kind = ClockMove::Kind::kReal};  // of kClock: the clocks of all nodes that live
  };
  struct Outcome {
    std::optional<std::string> trouble = {};
    std::optional<ClockControl::Due> met = {};  // of kClock with NEXT: what falls due, if anything does
  };
  using Sides = std::vector<std::vector<size_t>>;

  virtual ~NodeGroup() = default;

  virtual std::vector<Member> List() const = 0;

  // Of one of the nodes; ids of clients are those of their node.
  struct Asker {
    const Services* node;
    uint64_t client;
    auto operator<=>(const Asker&) const = default;  // NOLINT(modernize-use-nullptr): generated
  };
  // Returns why it cannot be done.
  virtual std::optional<std::string> Begin(const Asker& asker, const Task& task) = 0;
  // Nothing: the last task of this client goes on.
  virtual std::optional<Outcome> TakeOutcome(const Asker& asker) = 0;

  // What nodes of different sides send each other is held back while connections stay open, as if the network lost it.
  // Nodes on no side reach all others. Replaces what was before; without sides, what was held back goes on.
  virtual void Partition(Sides sides) = 0;
  // Whatever the node sends to clients and other nodes leaves so much later; 0: at once again. Requires: it lives.
  virtual void Lag(size_t member, int64_t delay_ms) = 0;
  // Null: it is dead, or has none.
  virtual const ClockControl* ClockOf(size_t member) const = 0;
};

}  // namespace respite
