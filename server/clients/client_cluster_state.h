// ClientClusterState: cluster options of a client's requests.
#pragma once

#include <cstdint>

namespace respite {

class SlotSet;

struct ClientClusterState {
  // ASKING: the next request, or the transaction that it begins, may use a slot that is being imported to this node.
  enum class Asking : uint8_t { kNo, kNext, kTransaction };
  Asking asking = Asking::kNo;
  bool reads_from_replica = false;  // READONLY
  // The slots that the node at the other end sends; it may write to no other slots. Null for ordinary clients.
  const SlotSet* imports = nullptr;
};

}  // namespace respite
