// SlotClaims: decides who owns a slot when nodes disagree. Each primary claims its slots with its config epoch, and
// the claim with the larger epoch wins. A node that claims lost slots is told so (UPDATE).
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

  // Applies a packet's header: the claims of the sender, or of its primary.
  void ApplyHeader(ClusterNode& sender, const PacketHeader& header);
  // Applies an UPDATE, which a node sends when this node claims slots that others own.
  void ApplyUpdate(const UpdateBody& update);

  // Takes an epoch larger than all others, without an election. Returns false if this node has the largest already.
  bool BumpEpoch();

 private:
  void Take(ClusterNode& claimant, uint64_t epoch, const SlotSet& claimed);
  // Returns whether the owner of the slot loses it to a claim with this epoch.
  bool Loses(int slot, const ClusterNode& claimant, uint64_t epoch) const;
  void NoteDisclaimed(const ClusterNode& claimant, const SlotSet& claimed);
  void Correct(ClusterNode& sender, const PacketHeader& header);
  void ResolveCollision(const ClusterNode& sender);

  const Parts parts_;
};

}  // namespace respite
