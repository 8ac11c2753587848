// Hidden slots as an auxiliary field of an RDB file, so that replicas and restarted servers know which keys are not
// theirs yet:
//
//   name SP first-last { SP first-last } { ";" … }
#pragma once

#include <string>

#include "datatypes/hidden_slots.h"

namespace respite {

inline constexpr Bytes kHiddenSlotsAux = "respite-hidden-slots";

std::string HiddenSlotsText(const HiddenSlots& hidden);
// Adds the slots of the text. Passes what it cannot read.
void ReadHiddenSlots(Bytes text, HiddenSlots& hidden);

// "0-5 7-7".
std::string SlotRangesText(const SlotSet& slots);

}  // namespace respite
