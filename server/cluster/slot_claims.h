// SlotClaims: decides who owns a slot when nodes disagree. Each primary claims its slots with its config epoch, and
// the claim with the larger epoch wins. A node that claims lost slots is told so (UPDATE).
#pragma once

#include <cstdint>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"
#include "server/cluster/my_role.h"

namespace respite {

class SlotClaims {  // decides who owns a slot when nodes disagree
 public:
  struct Parts {  // what the constructor takes
    const ClusterCore& core;
    Bus& bus;
    MyRole& role;
  };
  explicit SlotClaims(const Parts& parts) : parts_(parts) {}

  // Applies a packet's header: the claims of the sender, or of its primary.
  void ApplyClaims(ClusterNode& sender, const PacketHeader& header);
  void ApplyUpdate(const UpdateBody& update);  // another node owns slots that this node claims

  bool BumpEpoch();  // takes the largest epoch without an election; false: this node has it already

 private:
  void Take(ClusterNode& claimant, uint64_t epoch, const SlotSet& claimed);
  // Returns whether the owner of the slot loses it to a claim with this epoch.
  bool OwnerLosesSlot(int slot, const ClusterNode& claimant, uint64_t epoch) const;
  void UpdateDisclaimedSlots(const ClusterNode& claimant, const SlotSet& claimed);  // owned, but not claimed
  void SendUpdateIfOutdated(ClusterNode& sender, const PacketHeader& header);       // if it claims slots of others
  void ResolveEpochCollision(const ClusterNode& sender);  // two primaries have the same config epoch

  const Parts parts_;  // from the constructor
};

}  // namespace respite
