// LocalNodeRoutes: how the nodes of one process connect to each other. The nodes announce a host name or address for
// outside clients, which may not be reachable from inside.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/net/link.h"

namespace respite {

class LocalNodeRoutes {  // finds where a node of this process really listens, by its announced address
 public:
  // Resolves the announced host, which may block. RouteFor recognizes a local node by its port together with the
  // announced host, or with an address to which this host resolves. If the host does not resolve, RouteFor recognizes
  // only the announced text.
  explicit LocalNodeRoutes(const std::string& announced);

  void Add(int port, const std::string& address) { addresses_[port] = address; }  // where a node listens
  // Returns the target to connect to. If `target` is a node of this process, replaces the host by the address at which
  // the node listens, and leaves the local address (source) to the system. Otherwise returns `target` unchanged.
  Link::Target RouteFor(Link::Target target) const;  // where to connect: a local node's real address, or `target`

 private:
  std::vector<std::string> hosts_;        // the announced host as text, and the addresses to which it resolves
  std::map<int, std::string> addresses_;  // the address at which each local node listens, by port
};

}  // namespace respite
