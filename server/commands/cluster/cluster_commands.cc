// CLUSTER and ASKING. The other files here have the subcommands, READONLY and READWRITE. A server without cluster mode
// refuses them all, so that clients that probe for a cluster continue without one.
#include "server/commands/cluster/cluster_words.h"
#include "server/commands/families.h"

namespace respite {

namespace {

struct Asking {
  static constexpr CommandSpec spec = {.syntax = "ASKING",
                                       .summary = "Announces that the next request follows an ASK redirection.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kFast,
                                       .categories = kAclConnection};
  static void Run(Call& call) {
    RequireCluster(call);
    call.session.cluster_marks.asking = ClientClusterState::Asking::kNext;
    call.reply.Ok();
  }
};

struct ClusterContainer {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER",
                                       .summary = "Contains the subcommands about the cluster.",
                                       .since = "3.0.0",
                                       .group = CommandGroup::kCluster,
                                       .arity = -2};
};

constexpr auto kClusterCommands = Family<Asking, ClusterContainer>();

}  // namespace

std::span<const CommandCard> ClusterCommands() { return kClusterCommands; }

}  // namespace respite
