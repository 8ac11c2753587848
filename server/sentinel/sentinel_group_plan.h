// SentinelGroupPlan: the configuration of Sentinels that start together with the servers that they watch. The
// configuration lists the replicas and the other Sentinels, which each Sentinel would otherwise find within seconds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace respite {

struct SentinelGroupPlan {  // the configuration of Sentinels that start together
  struct Place {            // host and port of a server
    std::string host;
    int port;
  };
  struct Service {  // a watched primary with its replicas
    std::string name;
    Place primary;                // address of the primary
    std::vector<Place> replicas;  // addresses of its replicas
  };
  struct Member {  // one of the Sentinels of the group
    Place place;   // where this Sentinel listens
    std::string id;
  };

  std::vector<Service> services;  // what the Sentinels watch
  std::vector<Member> members;    // the Sentinels
  std::string user;               // to log in at the servers; empty: the default user
  std::string password;           // to log in at the servers; empty: none
  std::string announced_host;     // announce-ip of all members, for example a host name; empty: none

  // `member` is an index in `members`. The quorum in the directives is the majority of the members.
  std::string LinesOf(size_t member) const;  // the sentinel.conf directives of this member
};

}  // namespace respite
