#include "server/sentinel/instance_list.h"

#include <utility>
#include <vector>

#include "base/str_cat.h"

namespace respite {

namespace {

template <class Instances>
auto* FindAt(const Instances& instances, const std::string& host, int port) {
  for (const auto& [name, instance] : instances) {
    if (instance->address.IsAt(host, port)) return instance.get();
  }
  return static_cast<typename Instances::mapped_type::pointer>(nullptr);
}

}  // namespace

InstanceList::Added<Primary> InstanceList::AddPrimary(const std::string& name, const std::string& host, int port,
                                                      int quorum) {
  auto address = core_.ResolveAddress(host, port, SentinelCore::Accept::kUnresolved);
  if (!address.ok()) return Failure(InstanceError(address.error()));
  if (core_.state.Find(name) != nullptr) return Failure(InstanceError::kDuplicate);
  auto primary = std::make_unique<Primary>(name, std::move(address).value(), quorum, core_.NowMs());
  primary->down_after_ms = core_.periods().default_down_after_ms;
  primary->failover_timeout_ms = core_.periods().default_failover_timeout_ms;
  return core_.state.primaries.emplace(name, std::move(primary)).first->second.get();
}

InstanceList::Added<WatchedReplica> InstanceList::AddReplica(Primary& primary, const std::string& host, int port) {
  auto address = core_.ResolveAddress(host, port, SentinelCore::Accept::kUnresolved);
  if (!address.ok()) return Failure(InstanceError(address.error()));
  return AddReplicaAt(primary, std::move(address).value());
}

InstanceList::Added<WatchedReplica> InstanceList::AddReplicaAt(Primary& primary, SentinelAddress address) {
  const std::string name = HostAndPort(core_.state.HostToAnnounce(address), address.port);
  if (primary.replicas.contains(name)) return Failure(InstanceError::kDuplicate);
  auto replica = std::make_unique<WatchedReplica>(name, std::move(address), primary, core_.NowMs());
  return primary.replicas.emplace(name, std::move(replica)).first->second.get();
}

InstanceList::Added<WatchedReplica> InstanceList::AddReportedReplica(Primary& primary, const std::string& host,
                                                                     int port) {
  auto address = core_.ResolveAddress(host, port, SentinelCore::Accept::kReported);
  if (!address.ok()) return Failure(InstanceError(address.error()));
  // Makes room for a new replica, but not during a failover, because each replica takes part in it.
  const bool has_room = primary.replicas.size() < kMaxReplicas ||
                        (!primary.is_failing_over && MakeRoomForInstance(primary.replicas, kMaxReplicas));
  if (!has_room) return Failure(InstanceError::kTooMany);
  return AddReplicaAt(primary, std::move(address).value());
}

InstanceList::Added<PeerSentinel> InstanceList::AddSentinel(Primary& primary, const std::string& id,
                                                            const std::string& host, int port,
                                                            SentinelCore::Accept accept) {
  auto address = core_.ResolveAddress(host, port, accept);
  if (!address.ok()) return Failure(InstanceError(address.error()));
  if (primary.sentinels.contains(id)) return Failure(InstanceError::kDuplicate);
  auto sentinel = std::make_unique<PeerSentinel>(id, std::move(address).value(), primary, core_.NowMs());
  PeerSentinel* const added = primary.sentinels.emplace(id, std::move(sentinel)).first->second.get();
  ShareLink(*added);
  return added;
}

template <class Instances>
bool InstanceList::MakeRoomForInstance(Instances& instances, size_t max_count) const {
  if (instances.size() < max_count) return true;
  auto longest_down = instances.end();
  for (auto at = instances.begin(); at != instances.end(); ++at) {
    const bool is_longer =
        longest_down == instances.end() || at->second->down_since_ms < longest_down->second->down_since_ms;
    if (at->second->is_down && is_longer) longest_down = at;
  }
  if (longest_down == instances.end()) return false;
  core_.log.Notice("Forgets " + longest_down->first + ", which is down, because too many instances are known");
  instances.erase(longest_down);
  return true;
}

bool InstanceList::MakeRoomForSentinel(Primary& primary) {
  return MakeRoomForInstance(primary.sentinels, kMaxPeerSentinels);
}

// Lets `sentinel` use the link that this Sentinel already has to the same Sentinel for another primary. Two Sentinels
// that watch several primaries together thus share one link.
void InstanceList::ShareLink(PeerSentinel& sentinel) {
  for (const auto& [name, primary] : core_.state.primaries) {
    if (primary.get() == &sentinel.primary) continue;
    const auto found = primary->sentinels.find(sentinel.name);
    if (found == primary->sentinels.end()) continue;
    sentinel.link = found->second->link;
    return;
  }
}

Primary* InstanceList::FindPrimaryAt(const std::string& host, int port) const {
  return FindAt(core_.state.primaries, host, port);
}

WatchedReplica* InstanceList::FindReplicaAt(const Primary& primary, const std::string& host, int port) {
  const auto known = primary.replicas.find(HostAndPort(host, port));
  return known != primary.replicas.end() ? known->second.get() : FindAt(primary.replicas, host, port);
}

PeerSentinel* InstanceList::FindSentinelAt(const Primary& primary, const std::string& host, int port) {
  return FindAt(primary.sentinels, host, port);
}

void InstanceList::UpdateSentinelAddress(const PeerSentinel& moved) {
  int others = 0;
  for (const auto& [name, primary] : core_.state.primaries) {
    const auto found = primary->sentinels.find(moved.name);
    if (found == primary->sentinels.end()) continue;
    found->second->link->Close();
    if (found->second.get() == &moved) continue;
    found->second->address = moved.address;
    ++others;
  }
  if (others == 0) return;
  events_.Tell(LogLevel::kNotice, "+sentinel-address-update", moved,
               StrCat(" ", others, " additional matching instances"));
}

void InstanceList::ForgetSentinel(const std::string& id) {
  for (const auto& [name, primary] : core_.state.primaries) primary->sentinels.erase(id);
}

void InstanceList::Reset(Primary& primary, Sentinels sentinels) {
  const int64_t now_ms = core_.NowMs();
  primary.promoted = nullptr;
  primary.replicas.clear();
  if (sentinels == Sentinels::kForget) primary.sentinels.clear();
  primary.link->Restart(now_ms);
  primary.is_down = primary.is_objectively_down = primary.has_rebooted = primary.has_killed_script = false;
  primary.down_since_ms = primary.objectively_down_since_ms = 0;
  primary.is_failing_over = primary.is_failover_forced = false;
  primary.failover_state = FailoverState::kNone;
  primary.failover_state_ms = 0;
  primary.failover_start_ms = kLongAgo;
  primary.leader.clear();
  primary.run_id.clear();
  primary.reported_primary_host.clear();
  primary.reported_role = ReportedRole::kPrimary;
  primary.role_since_ms = now_ms;
  primary.info_is_awaited = false;
}

// Gives a primary another address. The server at the old address becomes one of its replicas in the list, because it
// may return. The other replicas stay in the list, but what was known of them and of a failover is forgotten. Saves the
// configuration file immediately. Returns false if `host` does not resolve.
bool InstanceList::ChangeAddress(Primary& primary, const std::string& host, int port) {
  auto address = core_.ResolveAddress(host, port, SentinelCore::Accept::kResolved);
  if (!address.ok()) return false;
  std::vector<SentinelAddress> replicas;
  for (const auto& [name, replica] : primary.replicas) {
    if (!replica->address.Is(address.value())) replicas.push_back(replica->address);
  }
  if (!address.value().Is(primary.address)) replicas.push_back(primary.address);
  Reset(primary, Sentinels::kKeep);
  primary.address = std::move(address).value();
  for (const SentinelAddress& one : replicas) {
    const auto added = AddReplica(primary, one.host, one.port);
    if (added.ok()) events_.Tell(LogLevel::kNotice, "+slave", *added.value());
  }
  core_.Save();
  return true;
}

void InstanceList::DropServerLinks(Primary& primary) {
  primary.link->Close();
  for (const auto& [name, replica] : primary.replicas) replica->link->Close();
}

void InstanceList::DropSentinelLinks() {
  for (const auto& [name, primary] : core_.state.primaries) {
    for (const auto& [id, sentinel] : primary->sentinels) sentinel->link->Close();
  }
}

}  // namespace respite
