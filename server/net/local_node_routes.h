// LocalNodeRoutes: how the nodes of a process reach each other when they announce themselves at a host of outside,
// which nobody in here may be able to reach.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/net/link.h"

namespace respite {

class LocalNodeRoutes {
 public:
  // Looks the host up, which takes the time that it takes; a name that is not known here has no addresses.
  explicit LocalNodeRoutes(const std::string& announced);

  // A node listens at this address.
  void Add(int port, const std::string& address) { addresses_[port] = address; }
  // Where to dial for this target: elsewhere only if it is one of the nodes.
  Link::Target Follow(Link::Target target) const;

 private:
  std::vector<std::string> hosts_;        // the announced one, and its addresses
  std::map<int, std::string> addresses_;  // by port
};

}  // namespace respite
