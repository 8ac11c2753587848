// The subcommands of DEBUG that disturb the bus of a cluster, for tests.
#pragma once

#include "server/execution/call.h"

namespace respite {

// DROP-CLUSTER-PACKET-FILTER <type>: packets of this type are dropped; -1: none.
void DropClusterPackets(Call& call);
// CLOSE-CLUSTER-LINK-ON-PACKET-DROP <0|1>: the link of a packet that is dropped is closed.
void CloseLinkOnDrop(Call& call);
// CLUSTERLINK KILL <to|from|all> <node-id>.
void KillClusterLink(Call& call);

}  // namespace respite
