// SentinelGroupPlan: Sentinels that start at the same time as the servers that they watch. What each of them would find
// out within seconds, the replicas and the other Sentinels, is in its configuration file from the start.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace respite {

struct SentinelGroupPlan {
  struct Place {
    std::string host;
    int port;
  };
  // A primary under the name that clients ask for.
  struct Service {
    std::string name;
    Place primary;
    std::vector<Place> replicas;
  };
  struct Member {
    Place place;
    std::string id;
  };

  std::vector<Service> services;
  std::vector<Member> members;
  std::string user;       // for the servers; empty: the default one
  std::string password;   // for the servers; empty: none is needed
  std::string announced;  // where all of them are, as clients see it; empty: at their places

  // The `sentinel` lines of this one of the members. A majority of them has to agree that a primary is down.
  std::string LinesOf(size_t member) const;
};

}  // namespace respite
