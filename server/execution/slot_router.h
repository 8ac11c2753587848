// SlotRouter: decides which cluster node serves a request. Servers outside a cluster have no router.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "server/execution/request.h"

namespace respite {

class SlotRouter {  // interface: decides which cluster node serves a request
 public:
  virtual ~SlotRouter() = default;

  // Throws a redirection (MOVED, ASK) if another node serves the request, or an error if no node does.
  virtual void Check(const Request& request) const = 0;  // throws MOVED, ASK or an error
  // Returns the slot of the keys of a command that a script calls, or nullopt if the command has no keys. If this node
  // does not serve the slot, throws an error, but never MOVED or ASK.
  virtual std::optional<int> CheckInScript(const Request& request) const = 0;  // the slot; throws if not served
  virtual std::optional<int> SlotOf(const Command& command,  // the slot of the command's first key; nullopt: no keys
                                    std::span<const Bytes> arguments) const = 0;
};

}  // namespace respite
