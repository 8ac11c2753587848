// Helpers for the commands that migrate whole slots: their arguments, and errors that several of them give.
#pragma once

#include <string>
#include <vector>

#include "base/slot_set.h"
#include "base/str_cat.h"
#include "server/commands/cluster/cluster_commands.h"

namespace respite {

namespace refusals {
inline constexpr char kMigrationNeedsPrimary[] = "ERR Slot migration can only be used on primary nodes";
inline constexpr char kSlotsNotStable[] = "ERR all slot states must be STABLE to start a slot migration task.";
inline constexpr char kNotServedHere[] = "ERR Slots are not served by this node";
inline constexpr char kTargetIsSelf[] = "ERR Target node can not be this node";
}  // namespace refusals

inline std::string SlotRangeText(const SlotRange& range) {  // text such as "0-5"
  return StrCat(range.first, "-", range.last);
}
inline Refusal AlreadyMigrated(int slot) {  // the error for a slot that an export moves
  return {StrCat("ERR I am already migrating slot ", slot)};
}

// --- Arguments as in Valkey.

// Takes ranges of slots, each given by its first and its last slot, up to the first argument that is not a number.
// Throws a Refusal if there is no range, or if two ranges overlap. Cost: O(slots).
SlotSet NextRanges(Args& args);  // takes ranges of slots, as Valkey's commands have them
// Returns the node that owns all of these slots. Throws if a slot has no owner, or if the slots have several owners.
const ClusterNode& CommonOwner(const ClusterView& view, const SlotSet& slots);  // the owner of all of these slots
const ClusterNode& NextTarget(Args& args, const ClusterView& view);  // takes the ID of a node; throws if it is unknown

// --- Arguments as in Redis.

std::vector<SlotRange> TakeTaskRanges(Args& args);  // takes all arguments, which must be pairs of slots
// Returns the slots of these ranges. Throws a Refusal if a slot occurs twice. Cost: O(slots).
SlotSet SlotsOf(const std::vector<SlotRange>& ranges);  // the slots of these ranges; throws if a slot occurs twice
// Returns the node that owns all of these slots. Throws if a slot has no owner, or if the slots have several owners.
const ClusterNode& OwnerOfTask(const ClusterView& view, const SlotSet& slots);  // the owner of all of these slots

}  // namespace respite
