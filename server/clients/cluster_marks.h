// ClusterMarks: what a client of a node of a cluster has said of its requests.
#pragma once

#include <cstdint>

namespace respite {

struct ClusterMarks {
  // ASKING: the next request, or the transaction that it begins, may use a slot that is on its way to this node.
  enum class Asking : uint8_t { kNo, kNext, kTransaction };
  Asking asking = Asking::kNo;
  bool reads_from_replica = false;  // READONLY
};

}  // namespace respite
