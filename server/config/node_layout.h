// NodeLayout: the directive `nodes`: how many primaries a process runs, and how many replicas each of them has. Nodes
// are counted from 0: first the primaries, then the replicas, which take turns with the primaries.
//
//   3x1    nodes 0, 1, 2 are primaries; 3 follows 0, 4 follows 1, 5 follows 2
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/key_slot.h"
#include "base/result.h"

namespace respite {

struct NodeLayout {
  static constexpr int kMostNodes = 256;

  int primaries = 1;
  int replicas = 0;  // of each primary

  // "3x1", or "3" for "3x0". Fails with the reason.
  static Result<NodeLayout, std::string> Parse(Bytes text);

  int Count() const { return primaries * (1 + replicas); }
  // Whom the node follows; nobody, if it is a primary.
  std::optional<int> PrimaryOf(int node) const {
    return node < primaries ? std::nullopt : std::optional(node % primaries);
  }
  // The slots of a primary: equal shares, rounded as redis-cli does.
  int FirstSlot(int primary) const { return End(primary); }
  int LastSlot(int primary) const { return End(primary + 1) - 1; }

  bool operator==(const NodeLayout&) const = default;

 private:
  // Where the shares of so many primaries end.
  int End(int count) const { return (2 * count * kSlotCount + primaries) / (2 * primaries); }
};

}  // namespace respite
