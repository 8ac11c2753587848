// Hidden slots in files and streams, so that replicas and restarted servers know which keys are not theirs yet. As an
// auxiliary field of an RDB file:
//
//   name SP first-last { SP first-last } { ";" … }
//
// As requests of journals:
//
//   CLUSTER SYNCSLOTS HIDE NAME name SLOTSRANGE first last { first last }
//   CLUSTER SYNCSLOTS REVEAL NAME name
#pragma once

#include <string>
#include <vector>

#include "datatypes/hidden_slots.h"

namespace respite {

inline constexpr Bytes kHiddenSlotsAux = "respite-hidden-slots";

std::string HiddenSlotsText(const HiddenSlots& hidden);
// Adds the slots of the text. Passes what it cannot read.
void ReadHiddenSlots(Bytes text, HiddenSlots& hidden);

std::vector<std::string> HideRequest(Bytes name, const SlotSet& slots);
// For all of them, in RESP.
std::string HideRequests(const HiddenSlots& hidden);
std::vector<std::string> RevealRequest(Bytes name);

// "0-5 7-7".
std::string SlotRangesText(const SlotSet& slots);

}  // namespace respite
