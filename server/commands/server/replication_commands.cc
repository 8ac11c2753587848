// The replication commands. Operators use REPLICAOF, SLAVEOF, ROLE and FAILOVER. Replicas and primaries send each other
// PSYNC, SYNC and REPLCONF.
#include "base/log.h"
#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/commands/families.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/replication/replication.h"
#include "server/sentinel/sentinel.h"
#include "server/sentinel/sentinel_mode.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kInvalidMasterPort[] = "ERR Invalid master port";
constexpr char kReplicaofDuringFailover[] = "ERR REPLICAOF not allowed while failing over.";
constexpr char kReplicaofInCluster[] = "ERR REPLICAOF not allowed in cluster mode.";
constexpr char kFailoverInCluster[] = "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.";
constexpr char kPromotionWithoutData[] =
    "ERR This replica doesn't have the whole data of its master (see replica_data in INFO replication), and a Sentinel "
    "can't promote it.";
constexpr char kReplicaofByReplica[] = "ERR Command is not valid when client is a replica.";
constexpr char kNoFailover[] = "ERR No failover in progress.";
constexpr char kFailoverTimeout[] = "ERR FAILOVER timeout must be greater than 0";
Refusal ReplconfOption(Bytes option) { return {"ERR Unrecognized REPLCONF option: " + std::string(option)}; }
Refusal ReplconfFilter(Bytes filter) { return {"ERR Unsupported rdb-filter-only option: " + std::string(filter)}; }
Refusal ReplconfAddress(Bytes address) {
  return {StrCat("ERR REPLCONF ip-address provided by replica instance is too long: ", address.size(), " bytes")};
}

}  // namespace
}  // namespace refusals

namespace {

// --- The role.

int TakePort(Args& args) {
  const auto number = ParseInteger(args.Next());
  if (!number || *number < 0 || *number > 65535) throw Refusal{refusals::kInvalidMasterPort};
  return static_cast<int>(*number);
}

// Returns whether the client is a Sentinel of any version. Recognizes a Sentinel by the name that Sentinels give their
// connections.
bool IsSentinel(const Session& session) {
  return session.identity.name.starts_with("sentinel-") && session.identity.name.ends_with("-cmd");
}

void ChangeRole(Call& call) {
  Replication& replication = call.services.replication;
  Logger& log = call.services.env.log;
  const std::string who = ClientText(call.session, call.services.env.clock.MonotonicMs());
  if (call.services.env.settings.cluster_enabled) throw Refusal{refusals::kReplicaofInCluster};
  if (replication.IsFailingOver()) throw Refusal{refusals::kReplicaofDuringFailover};
  if (EqualsIgnoreCase(call.args[1], "no") && EqualsIgnoreCase(call.args[2], "one")) {
    if (replication.role().is_replica) {
      // Refuses a REPLICAOF NO ONE of a Sentinel for a replica with incomplete data. A Sentinel may choose such a
      // replica, because it decides by an INFO that may be some seconds old.
      if (!call.services.data.dataset.history.IsWhole() && IsSentinel(call.session))
        throw Refusal{refusals::kPromotionWithoutData};
      replication.Promote();
      log.Notice("MASTER MODE enabled (user request from '" + who + "')");
    }
    return call.reply.Ok();
  }
  if (call.session.kind == SessionKind::kReplica) throw Refusal{refusals::kReplicaofByReplica};
  const std::string host(call.args.Next());
  const int port = TakePort(call.args);
  const auto& now = call.services.env.settings.replicaof;
  if (replication.role().is_replica && now && EqualsIgnoreCase(now->host, host) && now->port == port) {
    if (replication.primary_link().IsWaitingToRetry()) {
      log.Notice(StrCat("REPLICAOF ", host, ":", port, " tries again (user request from '", who, "')"));
      replication.primary_link().Retry();
      return call.reply.Ok();
    }
    log.Notice(
        "REPLICAOF would result into synchronization with the master we are already connected with. No operation "
        "performed.");
    return call.reply.Simple("OK Already connected to specified master");
  }
  // Passes 0 to Follow if the new primary has the same history as this replica, up to an unknown byte. This is so if a
  // Sentinel moves a replica that has lost its primary: after a failover, the replicas follow the new primary. In all
  // other cases passes nullopt, because the histories may differ: the replica may be moved to other data, or an old
  // primary may return with other changes.
  const Role& role = replication.role();
  const bool is_sibling = role.is_replica && !role.is_linked && IsSentinel(call.session);
  replication.Follow(host, port, is_sibling ? std::optional<int64_t>(0) : std::nullopt);
  log.Notice(StrCat("REPLICAOF ", host, ":", port, " enabled (user request from '", who, "')"));
  call.reply.Ok();
}

struct ReplicaOf {
  static constexpr CommandSpec spec = {.syntax = "REPLICAOF args(host-port{host port:integer}|no-one{NO ONE})",
                                       .summary = "Makes this server a replica of another server, or a master.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kStale | kNoAsyncLoading};
  static void Run(Call& call) { ChangeRole(call); }
};

struct SlaveOf {
  static constexpr CommandSpec spec = {.syntax = "SLAVEOF args(host-port{host port:integer}|no-one{NO ONE})",
                                       .summary = "The old name of REPLICAOF.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kStale | kNoAsyncLoading,
                                       .deprecated_since = "5.0.0",
                                       .replaced_by = "`REPLICAOF`"};
  static void Run(Call& call) { ChangeRole(call); }
};

struct RoleCommand {
  static constexpr CommandSpec spec = {.syntax = "ROLE",
                                       .where = Where::kEverywhere,
                                       .summary = "Tells the server's part in replication.",
                                       .since = "2.8.12",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kNoScript | kLoading | kStale | kFast,
                                       .categories = kAclAdmin | kAclDangerous};
  static void Run(Call& call) {
    if (Sentinel* sentinel = call.services.sentinel.sentinel()) return ReplyAsSentinel(call, *sentinel);
    if (call.services.replication.role().is_replica) return ReplyAsReplica(call);
    ReplyAsPrimary(call);
  }

 private:
  static void ReplyAsSentinel(Call& call, Sentinel& sentinel) {
    call.reply.Array(2);
    call.reply.Bulk("sentinel");
    call.reply.Array(sentinel.state().primaries.size());
    for (const auto& [name, primary] : sentinel.state().primaries) call.reply.Bulk(name);
  }
  static void ReplyAsPrimary(Call& call) {
    const Replicas& replicas = call.services.replication.replicas();
    call.reply.Array(3);
    call.reply.Bulk("master");
    call.reply.Integer(call.services.data.dataset.history.offset);
    std::vector<const Session*> online;
    for (const Session* session : replicas.All())
      if (session->replica->state == Replica::State::kOnline) online.push_back(session);
    call.reply.Array(online.size());
    for (const Session* session : online) {
      call.reply.Array(3);
      call.reply.Bulk(Replicas::HostOf(*session));
      call.reply.Bulk(std::to_string(session->replica->listening_port));
      call.reply.Bulk(std::to_string(session->replica->acked_offset));
    }
  }
  static void ReplyAsReplica(Call& call) {
    const PrimaryLink& link = call.services.replication.primary_link();
    const auto& primary = *call.services.env.settings.replicaof;
    call.reply.Array(5);
    call.reply.Bulk("slave");
    call.reply.Bulk(primary.host);
    call.reply.Integer(primary.port);
    call.reply.Bulk(NameOf(link.state()));
    call.reply.Integer(link.state() == PrimaryLink::State::kLinked ? call.services.data.dataset.history.offset : -1);
  }
  static Bytes NameOf(PrimaryLink::State state) {
    switch (state) {
      case PrimaryLink::State::kNone:
      case PrimaryLink::State::kFailed:
        return "none";
      case PrimaryLink::State::kConnect:
        return "connect";
      case PrimaryLink::State::kConnecting:
        return "connecting";
      case PrimaryLink::State::kHandshake:
        return "handshake";
      case PrimaryLink::State::kTransfer:
      case PrimaryLink::State::kLoading:
        return "sync";
      case PrimaryLink::State::kLinked:
        break;
    }
    return "connected";
  }
};

struct FailoverCommand {
  static constexpr CommandSpec spec = {
      .syntax = "FAILOVER [TO target{host port:integer [FORCE]}] [ABORT] [TIMEOUT milliseconds:integer]",
      .summary = "Makes a replica take over from this master.",
      .since = "6.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .flags = kAdmin | kNoScript | kStale};
  static void Run(Call& call) {
    if (call.services.env.settings.cluster_enabled) throw Refusal{refusals::kFailoverInCluster};
    Replication& replication = call.services.replication;
    if (call.args.Count() == 2 && call.args.TakeToken("ABORT")) {
      if (!replication.IsFailingOver()) throw Refusal{refusals::kNoFailover};
      replication.AbortFailover("Failover manually aborted");
      return call.reply.Ok();
    }
    FailoverRequest request;
    while (!call.args.AtEnd()) TakeOption(call.args, request);
    replication.StartFailover(request);
    call.reply.Ok();
  }

 private:
  static void TakeOption(Args& args, FailoverRequest& request) {
    if (request.timeout_ms == 0 && args.TakeTokenWith("TIMEOUT", 1)) {
      request.timeout_ms = args.NextInteger();
      if (request.timeout_ms <= 0) throw Refusal{refusals::kFailoverTimeout};
    } else if (!request.target && args.TakeTokenWith("TO", 2)) {
      const std::string host(args.Next());
      request.target = PrimaryAddress{host, static_cast<int>(args.NextInteger())};
    } else if (args.TakeToken("FORCE")) {
      request.is_forced = true;
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
};

// --- The link.

struct Psync {
  static constexpr CommandSpec spec = {.syntax = "PSYNC replicationid offset:integer",
                                       .summary = "Requests the part of the replication stream that a replica lacks.",
                                       .since = "2.8.0",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti,
                                       .arity = -3};
  static void Run(Call& call) {
    Replication::SyncRequest request{.speaks_psync = true, .id = std::string(call.args.Next())};
    if (!ParseInteger(call.args[2])) {
      call.services.env.log.Warning("Replica " + Replicas::NameOf(call.session) +
                                    " asks for synchronization but with a wrong offset");
    }
    request.from = call.args.NextInteger();
    const bool is_failover = call.args.TakeToken("FAILOVER");
    if (is_failover && call.session.kind != SessionKind::kPrimary)
      call.services.replication.TakeOver(request.id, request.from);
    call.services.replication.Sync(call.session, request);
  }
};

struct Sync {
  static constexpr CommandSpec spec = {.syntax = "SYNC",
                                       .summary = "Requests a full synchronization for a replica.",
                                       .since = "1.0.0",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti};
  static void Run(Call& call) { call.services.replication.Sync(call.session, {}); }
};

struct ReplConf {
  static constexpr CommandSpec spec = {
      .syntax = "REPLCONF",
      .summary = "Exchanges settings and acknowledgements between a primary and a replica.",
      .since = "3.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .flags = kAdmin | kNoScript | kLoading | kStale | kAllowBusy,
      .arity = -1,
      .syscmd = true,
      .in_streams = InStreams::kYes};
  static void Run(Call& call) {
    if (call.args.Left() % 2 != 0) throw Refusal{refusals::kSyntax};
    bool replies = true;
    while (!call.args.AtEnd()) replies = TakePair(call) && replies;
    if (replies) call.reply.Ok();
  }

 private:
  static Replica& Of(Session& session) {
    if (session.replica == nullptr) session.replica = std::make_unique<Replica>();
    return *session.replica;
  }
  // Takes one option of REPLCONF and its value. Returns false if REPLCONF must not reply, as after ACK and GETACK.
  static bool TakePair(Call& call) {
    const Bytes option = call.args.Next();
    Session& session = call.session;
    if (EqualsIgnoreCase(option, "listening-port")) {
      Of(session).listening_port = static_cast<int>(call.args.NextInteger());
    } else if (EqualsIgnoreCase(option, "ip-address")) {
      const Bytes address = call.args.Next();
      if (address.size() > kLongestAddress) throw refusals::ReplconfAddress(address);
      Of(session).announced_ip = address;
    } else if (EqualsIgnoreCase(option, "capa")) {
      const Bytes capability = call.args.Next();
      if (EqualsIgnoreCase(capability, "eof")) Of(session).accepts_unknown_length = true;
      if (EqualsIgnoreCase(capability, "psync2")) Of(session).knows_psync2 = true;
      if (capability.starts_with(Replica::kIdCapability) && capability.size() <= kLongestAddress) {
        Of(session).id = capability.substr(Replica::kIdCapability.size());
      }
    } else if (EqualsIgnoreCase(option, "version")) {
      Of(session).version = call.args.Next().substr(0, kLongestAddress);
    } else if (EqualsIgnoreCase(option, "rdb-only")) {
      const int64_t wanted = call.args.NextInteger();
      if (wanted < 0 || wanted > 1) throw Refusal{refusals::kNotZeroOrOne};
      Of(session).wants_rdb_only = wanted != 0;
    } else if (EqualsIgnoreCase(option, "rdb-filter-only")) {
      TakeFilter(call.args.Next(), Of(session));
    } else if (EqualsIgnoreCase(option, "ack")) {
      TakeAck(call);
      return false;
    } else if (EqualsIgnoreCase(option, "getack")) {
      call.args.Next();
      if (session.kind == SessionKind::kPrimary) call.services.replication.primary_link().ScheduleAck();
      return false;
    } else {
      throw refusals::ReplconfOption(option);
    }
    return true;
  }

  // Takes the value of REPLCONF rdb-filter-only, a list of names. As in Redis, `functions` is the only allowed name. An
  // empty list has the same effect: the RDB file contains only functions.
  static void TakeFilter(Bytes filters, Replica& replica) {
    const auto names = SplitQuoted(filters);
    if (!names) throw Refusal{"ERR Missing rdb-filter-only values"};
    replica.wants_functions_only = true;
    for (const std::string& name : *names) {
      if (!EqualsIgnoreCase(name, "functions")) throw refusals::ReplconfFilter(name);
    }
  }

  // Takes the offset that a replica acknowledges (REPLCONF ACK), and with FACK the offset that is on its disk. Ignores
  // both if the client is not a replica, or if the acknowledged offset is no integer.
  static void TakeAck(Call& call) {
    const auto offset = ParseInteger(call.args.Next());
    const auto on_disk = call.args.TakeToken("FACK") ? ParseInteger(call.args.Next()) : std::nullopt;
    if (call.session.kind != SessionKind::kReplica || !offset) return;
    call.services.replication.replicas().Acknowledge(call.session, *offset, on_disk.value_or(0));
  }

  static constexpr size_t kLongestAddress = 255;  // also limits the ID and the version
};

constexpr auto kReplicationCommands = Family<FailoverCommand, Psync, ReplConf, ReplicaOf, RoleCommand, SlaveOf, Sync>();

}  // namespace

std::span<const CommandCard> ReplicationCommands() { return kReplicationCommands; }

}  // namespace respite
