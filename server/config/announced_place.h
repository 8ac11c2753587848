// AnnouncedPlace: the directive `announce`: where clients find the nodes of this process, if this differs from where
// the nodes find each other (for example from outside a container).
//
//   localhost:{port}   all nodes have this host name; each has its own port
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

struct AnnouncedPlace {
  std::string host;
  bool is_address = false;  // else a name

  // Parses "HOST:{port}"; an IPv6 address is in brackets. Fails with the reason.
  static Result<AnnouncedPlace, std::string> Parse(Bytes text);
};

}  // namespace respite
