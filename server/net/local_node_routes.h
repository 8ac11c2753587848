// LocalNodeRoutes: how the nodes of a process reach each other when they announce the host under which clients outside
// reach them. That host may not be reachable from inside.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/net/link.h"

namespace respite {

class LocalNodeRoutes {  // replaces the announced address of a node in this process by its real one
 public:
  // Resolves the announced host, which may block. RouteFor recognizes a local node by this host, or by an address that
  // it resolves to. If it does not resolve, RouteFor recognizes only the host as announced.
  explicit LocalNodeRoutes(const std::string& announced);

  // Adds the address at which a node listens.
  void Add(int port, const std::string& address) { addresses_[port] = address; }  // a node listens there
  // Returns the target to connect to. If `target` is one of the local nodes, that is the address where the node
  // listens; otherwise it is `target` itself.
  Link::Target RouteFor(Link::Target target) const;  // replaces the address of a local node

 private:
  std::vector<std::string> hosts_;        // the announced host, and the addresses that it resolves to
  std::map<int, std::string> addresses_;  // where each node listens, by port
};

}  // namespace respite
