#include "server/sentinel/sentinel_group_plan.h"

#include "base/bytes.h"
#include "base/str_cat.h"

namespace respite {

namespace {

// How long a server may be silent before it counts as down. A second is enough, because all members are on one machine.
constexpr char kDownAfterMs[] = "1000";
constexpr char kFailoverTimeoutMs[] = "10000";

std::string Words(const SentinelGroupPlan::Place& place) { return StrCat(place.host, " ", place.port); }

}  // namespace

std::string SentinelGroupPlan::LinesOf(size_t member) const {
  const std::string quorum = std::to_string(members.size() / 2 + 1);
  std::string text = "sentinel myid " + members[member].id + "\n";
  if (!announced_host.empty()) {
    text += "sentinel resolve-hostnames yes\nsentinel announce-hostnames yes\nsentinel announce-ip " + announced_host +
            "\n";
  }
  for (const Service& service : services) {
    const auto add = [&](const std::string& keyword, const std::string& rest) {
      text.append("sentinel ").append(keyword).append(" ").append(service.name).append(" ").append(rest).append("\n");
    };
    add("monitor", Words(service.primary) + " " + quorum);
    add("down-after-milliseconds", kDownAfterMs);
    add("failover-timeout", kFailoverTimeoutMs);
    if (!user.empty()) add("auth-user", Quoted(user));
    if (!password.empty()) add("auth-pass", Quoted(password));
    for (const Place& replica : service.replicas) add("known-replica", Words(replica));
    for (size_t i = 0; i < members.size(); ++i) {
      if (i != member) add("known-sentinel", Words(members[i].place) + " " + members[i].id);
    }
  }
  return text;
}

}  // namespace respite
