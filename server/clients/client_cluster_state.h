// ClientClusterState: what a client of a node of a cluster has said of its requests.
#pragma once

#include <cstdint>

namespace respite {

class SlotSet;

struct ClientClusterState {
  // ASKING: the next request, or the transaction that it begins, may use a slot that is on its way to this node.
  enum class Asking : uint8_t { kNo, kNext, kTransaction };
  Asking asking = Asking::kNo;
  bool reads_from_replica = false;  // READONLY
  // The node behind this session sends these slots, and may write to no others. Null: it is a client.
  const SlotSet* imports = nullptr;
};

}  // namespace respite
