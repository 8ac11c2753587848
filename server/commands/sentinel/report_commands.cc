// SENTINEL MASTERS, REPLICAS, SENTINELS, CKQUORUM, INFO-CACHE and similar subcommands: report this Sentinel's state.
// SENTINEL IS-MASTER-DOWN-BY-ADDR, which Sentinels send to each other, also votes for a leader.
#include <algorithm>
#include <vector>

#include "base/str_cat.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/commands/sentinel/instance_report.h"
#include "server/commands/sentinel/sentinel_commands.h"
#include "server/execution/call.h"

namespace respite {

namespace {

template <class Type>
void ReplyInstance(Call& call, const Type& instance) {
  const auto fields = InstanceReport::Of(SentinelOf(call).core(), instance);
  call.reply.Map(fields.size());
  for (const auto& [name, value] : fields) {
    call.reply.Bulk(name);
    call.reply.Bulk(value);
  }
}

template <class Instances>
void ReplyInstances(Call& call, const Instances& instances) {
  call.reply.Array(instances.size());
  for (const auto& [name, instance] : instances) ReplyInstance(call, *instance);
}

// Replies with the replicas of a primary, except those with the directive `replica-announced no`.
void ReplyReplicas(Call& call) {
  const Primary& primary = PrimaryNamed(call, call.args.Next());
  std::vector<const WatchedReplica*> shown;
  for (const auto& [name, replica] : primary.replicas) {
    if (replica->is_announced) shown.push_back(replica.get());
  }
  call.reply.Array(shown.size());
  for (const WatchedReplica* replica : shown) ReplyInstance(call, *replica);
}

// --- SENTINEL INFO-CACHE.

void ReplyCached(Call& call, const ServerInstance& server) {
  call.reply.Array(2);
  call.reply.Integer(server.info_ms == kLongAgo ? 0 : SentinelOf(call).core().NowMs() - server.info_ms);
  if (server.info) {
    call.reply.Bulk(*server.info);
  } else {
    call.reply.Null();
  }
}

void ReplyCacheOf(Call& call, const Primary& primary) {
  call.reply.Bulk(primary.name);
  call.reply.Array(primary.replicas.size() + 1);
  ReplyCached(call, primary);
  for (const auto& [name, replica] : primary.replicas) ReplyCached(call, *replica);
}

// --- SENTINEL CKQUORUM.

struct Reachable {
  int usable;
  bool has_quorum;
  bool has_majority;
};

Reachable CountReachable(const Primary& primary) {
  const auto is_up = [](const auto& entry) { return !entry.second->is_down; };
  const int usable = 1 + static_cast<int>(std::ranges::count_if(primary.sentinels, is_up));
  const int voters = 1 + static_cast<int>(primary.sentinels.size());
  return {usable, usable >= primary.quorum, usable >= voters / 2 + 1};
}

Refusal NoQuorum(const Reachable& reachable) {
  std::string text = StrCat("NOQUORUM ", reachable.usable, " usable Sentinels. ");
  if (!reachable.has_quorum) {
    text += "Not enough available Sentinels to reach the specified quorum for this master";
  }
  if (!reachable.has_quorum && !reachable.has_majority) text += ". ";
  if (!reachable.has_majority) {
    text += "Not enough available Sentinels to reach the majority and authorize a failover";
  }
  return {text};
}

struct SentinelCkQuorum {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|CKQUORUM master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Tells whether enough Sentinels can be reached for a failover.",
                                       .since = "2.8.4",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) {
    const Reachable reachable = CountReachable(PrimaryNamed(call, call.args.Next()));
    if (!reachable.has_quorum || !reachable.has_majority) throw NoQuorum(reachable);
    call.reply.Simple(
        StrCat("OK ", reachable.usable, " usable Sentinels. Quorum and failover authorization can be reached"));
  }
};

struct SentinelGetMasterAddrByName {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|GET-MASTER-ADDR-BY-NAME master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the address of a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) {
    const Sentinel& sentinel = SentinelOf(call);
    const Primary* const primary = SentinelOf(call).state().Find(call.args.Next());
    if (primary == nullptr) return call.reply.NullArray();
    const SentinelAddress& address = CurrentAddress(*primary);
    call.reply.Array(2);
    call.reply.Bulk(sentinel.core().state.HostToAnnounce(address));
    call.reply.BulkInteger(address.port);
  }
};

struct SentinelHelp {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|HELP",
                                       .where = Where::kSentinels,
                                       .summary = "Lists the subcommands of SENTINEL.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call,
              {"CKQUORUM <master-name>",
               "    Tell whether enough Sentinels are reachable for a failover.",
               "CONFIG SET param value [param value ...]",
               "    Change settings of this Sentinel.",
               "CONFIG GET <param> [param param param ...]",
               "    Return settings of this Sentinel.",
               "DEBUG [<param> <value> ...]",
               "    Return the periods of this Sentinel in milliseconds, or change them.",
               "GET-MASTER-ADDR-BY-NAME <master-name>",
               "    Return the address of a master. Also GET-PRIMARY-ADDR-BY-NAME.",
               "FAILOVER <master-name>",
               "    Replace a master by one of its replicas, whatever other Sentinels think.",
               "FLUSHCONFIG",
               "    Write the configuration file, with the state of this Sentinel.",
               "INFO-CACHE <master-name>",
               "    Return the last INFO of a master and of its replicas.",
               "IS-MASTER-DOWN-BY-ADDR <ip> <port> <current-epoch> <runid>",
               "    Tell another Sentinel whether the master there is down, and vote. Also IS-PRIMARY-DOWN-BY-ADDR.",
               "MASTER <master-name>",
               "    Return the state of a master. Also PRIMARY.",
               "MASTERS",
               "    Return the state of all masters. Also PRIMARIES.",
               "MONITOR <name> <ip> <port> <quorum>",
               "    Watch a master from now on.",
               "MYID",
               "    Return the id of this Sentinel.",
               "PENDING-SCRIPTS",
               "    Return the scripts that run or wait.",
               "REMOVE <master-name>",
               "    Stop watching a master.",
               "REPLICAS <master-name>",
               "    Return the state of the replicas of a master.",
               "RESET <pattern>",
               "    Forget what was learned about the masters whose names match.",
               "SENTINELS <master-name>",
               "    Return the state of the other Sentinels of a master.",
               "SET <master-name> <option> <value> [<option> <value> ...]",
               "    Change settings of a master.",
               "SIMULATE-FAILURE [CRASH-AFTER-ELECTION] [CRASH-AFTER-PROMOTION] [HELP]",
               "    Make this Sentinel crash in the middle of a failover."});
  }
};

struct SentinelInfoCache {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|INFO-CACHE nodename...",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the last INFO replies of a primary and its replicas.",
                                       .since = "3.2.0",
                                       .complexity = "O(N) for N instances",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) {
    std::vector<const Primary*> found;
    for (const Bytes name : call.args.Rest()) {
      const Primary* const primary = SentinelOf(call).state().Find(name);
      if (primary != nullptr && std::ranges::find(found, primary) == found.end()) found.push_back(primary);
    }
    call.reply.Array(found.size() * 2);
    for (const Primary* primary : found) ReplyCacheOf(call, *primary);
  }
};

struct SentinelIsMasterDownByAddr {
  static constexpr CommandSpec spec = {
      .syntax = "SENTINEL|IS-MASTER-DOWN-BY-ADDR ip port:integer current-epoch:integer runid",
      .where = Where::kSentinels,
      .summary = "Tells another Sentinel whether a primary is down here, and votes for it.",
      .since = "2.8.4",
      .complexity = "O(1)",
      .group = CommandGroup::kSentinel,
      .flags = kAdmin};
  // If the request names a candidate, and a primary that this Sentinel watches, this Sentinel votes, and saves its vote
  // to disk before the reply is sent. If saving fails, the reply contains no vote.
  static void Run(Call& call) {
    auto [ip, port, epoch, candidate] = call.args.Take<Bytes, int64_t, int64_t, Bytes>();
    Sentinel& sentinel = SentinelOf(call);
    Primary* const primary = sentinel.list().FindPrimaryAt(std::string(ip), static_cast<int>(port));
    const bool is_down = primary != nullptr && primary->is_down && !sentinel.state().is_in_tilt;
    LeaderElection::Vote vote = {.leader = {}, .epoch = 0};
    const bool is_sound =
        candidate.size() <= kSentinelIdLength && epoch >= 0 && static_cast<uint64_t>(epoch) <= kMaxSentinelEpoch;
    if (primary != nullptr && candidate != "*" && is_sound) {
      vote = sentinel.election().VoteForLeader(*primary, static_cast<uint64_t>(epoch), std::string(candidate));
    }
    call.reply.Array(3);
    call.reply.Integer(is_down ? 1 : 0);
    call.reply.Bulk(vote.leader.empty() ? Bytes("*") : Bytes(vote.leader));
    call.reply.Integer(static_cast<int64_t>(vote.epoch));
  }
};

struct SentinelMaster {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|MASTER master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { ReplyInstance(call, PrimaryNamed(call, call.args.Next())); }
};

struct SentinelMasters {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|MASTERS",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of all primaries that are watched.",
                                       .since = "2.8.4",
                                       .complexity = "O(N) for N primaries",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { ReplyInstances(call, SentinelOf(call).state().primaries); }
};

struct SentinelMyId {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|MYID",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the id of this Sentinel.",
                                       .since = "6.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { call.reply.Bulk(SentinelOf(call).state().id); }
};

struct SentinelPendingScripts {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|PENDING-SCRIPTS",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the scripts that run or wait.",
                                       .since = "2.8.4",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) {
    const Sentinel& sentinel = SentinelOf(call);
    const int64_t now_ms = sentinel.core().NowMs();
    call.reply.Array(sentinel.scripts().jobs().size());
    for (const ScriptQueue::Job& job : sentinel.scripts().jobs()) {
      call.reply.Map(5);
      call.reply.Bulk("argv");
      call.reply.BulkArray(job.words);
      call.reply.Bulk("flags");
      call.reply.Bulk(job.is_running ? "running" : "scheduled");
      call.reply.Bulk("pid");
      call.reply.BulkInteger(job.process_id);
      call.reply.Bulk(job.is_running ? "run-time" : "run-delay");
      call.reply.BulkInteger(job.is_running ? now_ms - job.at_ms : std::max<int64_t>(job.at_ms - now_ms, 0));
      call.reply.Bulk("retry-num");
      call.reply.BulkInteger(job.tries);
    }
  }
};

struct SentinelReplicas {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|REPLICAS master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of the replicas of a primary.",
                                       .since = "5.0.0",
                                       .complexity = "O(N) for N replicas",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { ReplyReplicas(call); }
};

struct SentinelSentinels {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|SENTINELS master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of the other Sentinels of a primary.",
                                       .since = "2.8.4",
                                       .complexity = "O(N) for N Sentinels",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { ReplyInstances(call, PrimaryNamed(call, call.args.Next()).sentinels); }
};

struct SentinelSlaves {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|SLAVES master-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of the replicas of a primary.",
                                       .since = "2.8.0",
                                       .complexity = "O(N) for N replicas",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin,
                                       .deprecated_since = "5.0.0",
                                       .replaced_by = "`SENTINEL REPLICAS`"};
  static void Run(Call& call) { ReplyReplicas(call); }
};

// The following commands are second names that Valkey has added for the commands above, with "primary" instead of
// "master".
struct SentinelGetPrimaryAddrByName {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|GET-PRIMARY-ADDR-BY-NAME primary-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the address of a primary.",
                                       .since = "valkey:8.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { SentinelGetMasterAddrByName::Run(call); }
};

struct SentinelIsPrimaryDownByAddr {
  static constexpr CommandSpec spec = {
      .syntax = "SENTINEL|IS-PRIMARY-DOWN-BY-ADDR ip port:integer current-epoch:integer runid",
      .where = Where::kSentinels,
      .summary = "Tells another Sentinel whether a primary is down here, and votes for it.",
      .since = "valkey:8.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kSentinel,
      .flags = kAdmin};
  static void Run(Call& call) { SentinelIsMasterDownByAddr::Run(call); }
};

struct SentinelPrimaries {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|PRIMARIES",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of all primaries that are watched.",
                                       .since = "valkey:8.0.0",
                                       .complexity = "O(N) for N primaries",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { SentinelMasters::Run(call); }
};

struct SentinelPrimary {
  static constexpr CommandSpec spec = {.syntax = "SENTINEL|PRIMARY primary-name",
                                       .where = Where::kSentinels,
                                       .summary = "Returns the state of a primary.",
                                       .since = "valkey:8.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSentinel,
                                       .flags = kAdmin};
  static void Run(Call& call) { SentinelMaster::Run(call); }
};

constexpr auto kSentinelReportCommands =
    Family<SentinelCkQuorum, SentinelGetMasterAddrByName, SentinelGetPrimaryAddrByName, SentinelHelp, SentinelInfoCache,
           SentinelIsMasterDownByAddr, SentinelIsPrimaryDownByAddr, SentinelMaster, SentinelMasters, SentinelMyId,
           SentinelPendingScripts, SentinelPrimaries, SentinelPrimary, SentinelReplicas, SentinelSentinels,
           SentinelSlaves>();

}  // namespace

std::span<const CommandCard> SentinelReportCommands() { return kSentinelReportCommands; }

}  // namespace respite
