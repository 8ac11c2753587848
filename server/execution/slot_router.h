// SlotRouter: decides which cluster node serves a request. Servers outside a cluster have no router.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "server/execution/request.h"

namespace respite {

class SlotRouter {
 public:
  virtual ~SlotRouter() = default;

  // Throws the redirection to another node, or the error if no node serves the request.
  virtual void Check(const Request& request) const = 0;
  // Checks a command that a script runs for the session. Returns the slot of its keys, if it has keys.
  virtual std::optional<int> CheckInScript(const Request& request) const = 0;
  // Returns the slot of the keys of a request, if it has keys.
  virtual std::optional<int> SlotOf(const Command& command, std::span<const Bytes> words) const = 0;
};

}  // namespace respite
