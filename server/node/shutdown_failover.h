// SHUTDOWN FAILOVER: a primary of a cluster that stops asks its best replica to take over.
#pragma once

namespace respite {

struct Services;

// Appends `CLUSTER FAILOVER FORCE REPLICAID id` to the replication stream, as Valkey 9 does. Chooses the replica that
// has acknowledged most. Only logs a line if this node is a primary with slots, but no replica qualifies.
void RequestFailoverOnShutdown(const Services& services);  // asks a replica to take over; does nothing for a replica

}  // namespace respite
