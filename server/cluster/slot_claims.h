// SlotClaims: who owns which slot when nodes disagree. Each primary claims its slots with its config epoch, and the
// claim with the larger epoch wins. A node that claims what it has lost is told so (UPDATE).
#pragma once

#include <cstdint>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"
#include "server/cluster/my_role.h"

namespace respite {

class SlotClaims {
 public:
  struct Parts {
    const ClusterCore& core;
    Bus& bus;
    MyRole& role;
  };
  explicit SlotClaims(const Parts& parts) : parts_(parts) {}

  // A PING of a node: what it, or its primary, claims.
  void ApplyHeader(ClusterNode& sender, const PacketHeader& header);
  // Somebody says that we claim what others have.
  void ApplyUpdate(const UpdateBody& update);

  // A primary takes an epoch larger than all others, without asking anybody. False: it has the largest already.
  bool BumpEpoch();

 private:
  void Take(ClusterNode& claimant, uint64_t epoch, const SlotSet& claimed);
  // Whether the owner of the slot loses it to a claim with this epoch.
  bool Loses(int slot, const ClusterNode& claimant, uint64_t epoch) const;
  void NoteDisclaimed(const ClusterNode& claimant, const SlotSet& claimed);
  void Correct(ClusterNode& sender, const PacketHeader& header);
  void ResolveCollision(const ClusterNode& sender);

  const Parts parts_;
};

}  // namespace respite
