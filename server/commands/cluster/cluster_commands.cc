// The commands CLUSTER and ASKING. The other files of this folder have the subcommands of CLUSTER, and READONLY,
// READWRITE and CLUSTERSCAN. A server without cluster mode refuses nearly all of these commands, so a client that
// probes for a cluster sees that there is none. Exceptions: READONLY and READWRITE for clients that follow the error
// REDIRECT, and what the emulated version allows (traits …_needs_cluster).
#include "server/commands/cluster/cluster_commands.h"

#include "base/key_slot.h"
#include "base/number_text.h"
#include "server/commands/families.h"

namespace respite {

namespace {

constexpr char kBadSlot[] = "ERR Invalid or out of range slot";

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
    call.session.cluster_options.asking = ClientClusterState::Asking::kNext;
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

int ParseSlotNumber(Bytes word) {
  const auto slot = ParseInteger(word);
  if (!slot || *slot < 0 || *slot >= kSlotCount) throw Refusal{kBadSlot};
  return static_cast<int>(*slot);
}

}  // namespace respite
