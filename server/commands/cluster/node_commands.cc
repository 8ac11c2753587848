// CLUSTER MEET, FORGET, REPLICATE, FAILOVER, RESET, BUMPEPOCH, SET-CONFIG-EPOCH and SAVECONFIG: change this node's role
// or state in its cluster. READONLY and READWRITE: whether a replica serves the reads of a connection.
#include <string>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/catalogue/dialect.h"
#include "server/commands/cluster/cluster_commands.h"
#include "server/commands/families.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/execution/services.h"

namespace respite {

namespace {

constexpr char kForgetMyself[] = "ERR I tried hard but I can't forget myself...";
constexpr char kForgetPrimary[] = "ERR Can't forget my master!";
constexpr char kReplicateMyself[] = "ERR Can't replicate myself";
constexpr char kReplicateReplica[] = "ERR I can only replicate a master, not a replica.";
constexpr char kReplicateNotEmpty[] = "ERR To set a master the node must be empty and without assigned slots.";
constexpr char kFailoverOfPrimary[] = "ERR You should send CLUSTER FAILOVER to a replica";
constexpr char kFailoverWithoutPrimary[] = "ERR I'm a replica but my master is unknown to me";
constexpr char kFailoverWithoutData[] =
    "ERR I don't have the whole data of my master (see replica_data in INFO replication), only CLUSTER FAILOVER "
    "TAKEOVER is possible";
constexpr char kFailoverNeedsForce[] = "ERR Master is down or failed, please use CLUSTER FAILOVER FORCE";
constexpr char kFailoverInStream[] = "ERR Only a master that stops may send CLUSTER FAILOVER in its stream";
constexpr char kEpochInCompany[] =
    "ERR The user can assign a config epoch only when the node does not know any other node.";
constexpr char kEpochIsSet[] = "ERR Node config epoch is already non-zero";
constexpr char kResetWithKeys[] = "ERR CLUSTER RESET can't be called with master nodes containing keys";

// Refuses more than one optional argument of CLUSTER FAILOVER or CLUSTER RESET. As in Redis, a second argument gives
// the usage error of the subcommand, whereas one wrong argument is a syntax error.
void ExpectEnd(Call& call) {
  if (call.args.Words().size() > 3)
    throw refusals::SubcommandSyntax(call.services.env.dialect, "cluster", call.args.Words()[1]);
  call.args.ExpectEnd();
}

struct ReadOnly {
  static constexpr CommandSpec spec = {.syntax = "READONLY",
                                       .summary = "Lets this connection read from a replica.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale | kFast,
                                       .categories = kAclConnection};
  // As in Valkey, READONLY also works outside of a cluster, if the client has announced CLIENT CAPA redirect (or the
  // emulated version allows it). A replica then serves this client's reads, instead of redirecting them to its primary.
  static void Run(Call& call) {
    const bool needs_cluster = call.services.env.dialect.traits.readonly_needs_cluster;
    if (needs_cluster && !call.session.identity.follows_redirects) RequireCluster(call);
    call.session.cluster_options.reads_from_replica = true;
    call.reply.Ok();
  }
};

struct ReadWrite {
  static constexpr CommandSpec spec = {.syntax = "READWRITE",
                                       .summary = "Lets this connection read from masters only, as by default.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale | kFast,
                                       .categories = kAclConnection};
  static void Run(Call& call) {
    const bool needs_cluster = call.services.env.dialect.traits.readwrite_needs_cluster;
    if (needs_cluster && !call.session.identity.follows_redirects) RequireCluster(call);
    call.session.cluster_options.reads_from_replica = false;
    call.reply.Ok();
  }
};

struct ClusterMeet {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|MEET ip port:integer [cluster-bus-port:integer@4.0.0]",
                                       .summary = "Connects this node to another one.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    const Bytes ip = call.args.Next();
    const Bytes port_word = call.args.Next();
    const auto port = ParseInteger(port_word);
    if (!port) throw Refusal{"ERR Invalid base port specified: " + std::string(refusals::ShownPart(port_word))};
    int64_t bus_port = *port + kBusPortDistance;
    if (!call.args.AtEnd()) {
      const Bytes word = call.args.Next();
      const auto given = ParseInteger(word);
      if (!given) throw Refusal{"ERR Invalid bus port specified: " + std::string(refusals::ShownPart(word))};
      bus_port = *given;
    }
    const auto is_port = [](int64_t number) { return number > 0 && number <= kHighestPort; };
    NodeAddress address{.ip = std::string(ip)};
    address.bus_port = static_cast<uint16_t>(bus_port);
    const bool is_tls = call.services.env.settings.tls_cluster;
    (is_tls ? address.tls_port : address.tcp_port) = static_cast<uint16_t>(*port);
    if (!is_port(*port) || !is_port(bus_port) || !cluster.Meet(address)) {
      throw Refusal{"ERR Invalid node address specified: " + std::string(refusals::ShownPart(ip)) + ":" +
                    std::string(refusals::ShownPart(port_word))};
    }
    call.reply.Ok();
  }
};

struct ClusterForget {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|FORGET node-id",
                                       .summary = "Removes a node from the table of known nodes.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    const Bytes word = call.args.Next();
    const auto id = NodeId::Parse(word);
    if (id && cluster.view().Find(*id) == nullptr && cluster.HasForgotten(*id)) return call.reply.Ok();
    ClusterNode& node = GetNodeById(cluster, word);
    if (node.IsMyself()) throw Refusal{kForgetMyself};
    if (cluster.view().me().primary == &node) throw Refusal{kForgetPrimary};
    cluster.Forget(node);
    call.reply.Ok();
  }
};

struct ClusterReplicate {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|REPLICATE args(node-id|no-one{NO ONE}@valkey:9.0.0)",
                                       .summary = "Makes this node a replica of another.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading,
                                       .arity = -3,
                                       .former_arity = {"valkey:9.0.0", 3}};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    if (call.args.Left() > 1) return LeavePrimary(call, cluster);
    ClusterNode& node = GetNodeById(cluster, call.args.Next());
    const ClusterNode& me = cluster.view().me();
    if (node.IsMyself()) throw Refusal{kReplicateMyself};
    if (node.IsReplica()) throw Refusal{kReplicateReplica};
    if (me.IsPrimary() && (me.slot_count != 0 || !call.services.data.dataset.keyspace.IsEmpty())) {
      throw Refusal{kReplicateNotEmpty};
    }
    cluster.Replicate(node);
    call.reply.Ok();
  }

 private:
  // Implements CLUSTER REPLICATE NO ONE of Valkey 9: a replica becomes an empty primary in a shard of its own; a
  // primary stays as it is.
  static void LeavePrimary(Call& call, Cluster& cluster) {
    const bool is_no_one = call.args.TakeToken("NO") && call.args.TakeToken("ONE") && call.args.AtEnd();
    if (!is_no_one || !call.services.env.dialect.Has("valkey:9.0.0"))
      throw refusals::SubcommandSyntax(call.services.env.dialect, "cluster", call.args.Words()[1]);
    cluster.LeavePrimary();
    call.reply.Ok();
  }
};

struct ClusterFailover {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|FAILOVER [options(FORCE|TAKEOVER)]",
                                       .summary = "Makes this replica take over from its master.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading,
                                       .in_streams = InStreams::kYes};  // Run refuses all but a request of the primary
  static void Run(Call& call) {
    using Mode = Cluster::FailoverMode;
    Mode mode = Mode::kAsk;
    if (call.args.TakeToken("FORCE")) mode = Mode::kForce;
    const bool is_request = mode == Mode::kForce && call.session.kind == SessionKind::kPrimary && !call.args.AtEnd();
    if (is_request) return TakeRequest(call);
    if (call.unit.IsReplaying() || call.session.runs_fixture) throw Refusal{kFailoverInStream};
    Cluster& cluster = RequireCluster(call);
    if (call.args.TakeToken("TAKEOVER")) mode = Mode::kTakeOver;
    ExpectEnd(call);
    const ClusterNode& me = cluster.view().me();
    if (me.IsPrimary()) throw Refusal{kFailoverOfPrimary};
    if (me.primary == nullptr) throw Refusal{kFailoverWithoutPrimary};
    const bool is_down = me.primary->Is(kNodeFail) || me.primary->outbound_link == nullptr;
    if (mode == Mode::kAsk && is_down) throw Refusal{kFailoverNeedsForce};
    if (mode != Mode::kTakeOver && !call.services.data.dataset.history.IsWhole()) throw Refusal{kFailoverWithoutData};
    cluster.FailOver(mode);
    call.reply.Ok();
  }

 private:
  // Takes REPLICAID and an ID. A primary that shuts down sends this request in its replication stream to all replicas
  // (SHUTDOWN FAILOVER). The replica with this ID takes over once the primary is gone. Other replicas, and one that
  // cannot take over, ignore the request; it is no error.
  static void TakeRequest(Call& call) {
    if (!call.args.TakeToken("REPLICAID")) throw Refusal{refusals::kSyntax};
    const Bytes id = call.args.Next();
    call.args.ExpectEnd();
    Cluster* const cluster = call.services.cluster.cluster();
    const bool can_take_over = cluster != nullptr && id == cluster->view().me().id.Text() &&
                               cluster->view().me().primary != nullptr && call.services.data.dataset.history.IsWhole();
    if (can_take_over) cluster->FailOver(Cluster::FailoverMode::kIfPrimaryIsGone);
    call.reply.Ok();
  }
};

struct ClusterReset {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|RESET [reset-type(HARD|SOFT)]",
                                       .summary = "Removes this node from its cluster.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N known nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kNoScript | kStale};
  static void Run(Call& call) {
    using Mode = Cluster::ResetMode;
    Cluster& cluster = RequireCluster(call);
    const Mode mode = call.args.TakeToken("HARD") ? Mode::kHard : Mode::kSoft;
    if (mode == Mode::kSoft) call.args.TakeToken("SOFT");
    ExpectEnd(call);
    if (cluster.view().me().IsPrimary() && !call.services.data.dataset.keyspace.IsEmpty())
      throw Refusal{kResetWithKeys};
    cluster.Reset(mode);
    call.reply.Ok();
  }
};

struct ClusterBumpEpoch {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|BUMPEPOCH",
                                       .summary = "Raises the configuration epoch of this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    const bool is_new = cluster.BumpEpoch();
    call.reply.Simple(StrCat(is_new ? "BUMPED " : "STILL ", cluster.view().me().config_epoch));
  }
};

struct ClusterSetConfigEpoch {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SET-CONFIG-EPOCH config-epoch:integer",
                                       .summary = "Sets the configuration epoch of a new node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    const int64_t epoch = call.args.NextInteger();
    if (epoch < 0) throw Refusal{StrCat("ERR Invalid config epoch specified: ", epoch)};
    if (cluster.view().All().size() > 1) throw Refusal{kEpochInCompany};
    if (cluster.view().me().config_epoch != 0) throw Refusal{kEpochIsSet};
    cluster.SetEpoch(static_cast<uint64_t>(epoch));
    call.reply.Ok();
  }
};

struct ClusterSaveConfig {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SAVECONFIG",
                                       .summary = "Writes the configuration of the cluster to disk.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale | kNoAsyncLoading};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    cluster.view().RequestSave(ClusterView::Save::kNow);
    cluster.SaveNow();
    call.reply.Ok();
  }
};

constexpr auto kClusterNodeCommands =
    Family<ClusterBumpEpoch, ClusterFailover, ClusterForget, ClusterMeet, ClusterReplicate, ClusterReset,
           ClusterSaveConfig, ClusterSetConfigEpoch, ReadOnly, ReadWrite>();

}  // namespace

std::span<const CommandCard> ClusterNodeCommands() { return kClusterNodeCommands; }

}  // namespace respite
