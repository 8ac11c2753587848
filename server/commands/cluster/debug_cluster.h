// The subcommands of DEBUG that disturb the cluster bus, for tests.
#pragma once

#include "server/execution/call.h"

namespace respite {

// DROP-CLUSTER-PACKET-FILTER <type>: drops packets of this type; -1: none.
void DropClusterPackets(Call& call);
// CLOSE-CLUSTER-LINK-ON-PACKET-DROP <0|1>: also closes the link of a dropped packet.
void CloseLinkOnDrop(Call& call);
// CLUSTERLINK KILL <to|from|all> <node-id>.
void KillClusterLink(Call& call);

}  // namespace respite
