// SlotClaims: decides who owns a slot when nodes disagree. Each primary claims its slots with its config epoch, and the
// claim with the larger epoch wins. A node that claims slots which it has lost gets an UPDATE packet, which names the
// owner.
#pragma once

#include <cstdint>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"
#include "server/cluster/my_role.h"

namespace respite {

class SlotClaims {  // decides who owns a slot when nodes disagree
 public:
  struct Parts {  // the arguments of the constructor
    const ClusterCore& core;
    Bus& bus;
    MyRole& role;
  };
  explicit SlotClaims(const Parts& parts) : parts_(parts) {}

  void ApplyClaims(ClusterNode& sender, const PacketHeader& header);  // assigns the slots that the sender wins
  void ApplyUpdate(const UpdateBody& update);  // assigns the slots that the node in UPDATE wins, if the epoch is new

  bool BumpEpoch();  // takes a new largest epoch without an election; false: this node's epoch is already the largest

 private:
  void AssignClaimedSlots(ClusterNode& claimant,  // assigns the slots that `claimant` wins; this node may follow it
                          uint64_t epoch, const SlotSet& claimed);
  bool OwnerLosesSlot(int slot, const ClusterNode& claimant,  // whether `claimant` wins the slot with this epoch
                      uint64_t epoch) const;
  void UpdateDisclaimedSlots(const ClusterNode& claimant,  // records slots that `claimant` owns, but no longer claims
                             const SlotSet& claimed);
  void SendUpdateIfOutdated(ClusterNode& sender,  // sends UPDATE if the sender claims slots that it has lost
                            const PacketHeader& header);
  // Takes a new epoch if this node has a smaller ID than the sender. Requires: both are primaries with the same epoch.
  void ResolveEpochCollision(const ClusterNode& sender);  // takes a new epoch if this node has the smaller ID

  const Parts parts_;  // the arguments of the constructor
};

}  // namespace respite
