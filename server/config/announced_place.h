// AnnouncedPlace: the directive `announce`: where clients find the nodes of this process, if that is not where the
// nodes find each other: from outside of a container, say.
//
//   localhost:{port}   each node under this name, and under its own port
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

struct AnnouncedPlace {
  std::string host;
  bool is_address = false;  // else a name

  // "HOST:{port}", where an IPv6 address stands in brackets. Fails with the reason.
  static Result<AnnouncedPlace, std::string> Parse(Bytes text);
};

}  // namespace respite
