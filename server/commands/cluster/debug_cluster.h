// The subcommands of DEBUG that disturb the cluster bus, for tests.
#pragma once

#include "server/execution/call.h"

namespace respite {

void DropClusterPackets(Call& call);  // DEBUG DROP-CLUSTER-PACKET-FILTER <type>: drops packets of this type; -1: none
void CloseLinkOnDrop(Call& call);     // DEBUG CLOSE-CLUSTER-LINK-ON-PACKET-DROP <0|1>: a dropped packet closes its link
void KillClusterLink(Call& call);     // DEBUG CLUSTERLINK KILL <to|from|all> <node-id>: closes links with this node

}  // namespace respite
