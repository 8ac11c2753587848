// NodeLayout: value of the directive `nodes`, which says how many primaries a process runs, and how many replicas each
// primary has. Nodes are numbered from 0: first all primaries, then the replicas, assigned to the primaries round
// robin.
//
//   3x1    nodes 0, 1, 2 are primaries; 3 replicates 0, 4 replicates 1, 5 replicates 2
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/key_slot.h"
#include "base/result.h"

namespace respite {

struct NodeLayout {                      // value of `nodes`: how many primaries and replicas, such as "3x1"
  static constexpr int kMaxNodes = 256;  // largest number of nodes of a process

  int primaries = 1;  // number of primaries: the nodes from 0 to primaries - 1
  int replicas = 0;   // number of replicas of each primary

  // Parses a value of the directive `nodes`: "3x1", or "3", which means "3x0".
  static Result<NodeLayout, std::string> Parse(Bytes text);  // parses "3x1"; returns the layout, or the error

  int Count() const { return primaries * (1 + replicas); }  // number of all nodes: primaries and replicas
  std::optional<int> PrimaryOf(int node) const {            // primary of the replica `node`; nullopt: a primary
    return node < primaries ? std::nullopt : std::optional(node % primaries);
  }
  // FirstSlot and LastSlot return the range of hash slots that a primary owns. All primaries have equal shares, rounded
  // as redis-cli does.
  int FirstSlot(int primary) const { return End(primary); }         // first hash slot of this primary
  int LastSlot(int primary) const { return End(primary + 1) - 1; }  // last hash slot of this primary

  bool operator==(const NodeLayout&) const = default;

 private:
  int End(int count) const {  // number of hash slots of the first `count` primaries together
    return (2 * count * kSlotCount + primaries) / (2 * primaries);
  }
};

}  // namespace respite
