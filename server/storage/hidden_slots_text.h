// Hidden slots in files and streams. They tell replicas and restarted servers which keys this server does not own yet.
// As an auxiliary field of an RDB file:
//
//   name SP first-last { SP first-last } { ";" … }
//
// As requests in journals:
//
//   CLUSTER SYNCSLOTS HIDE NAME name SLOTSRANGE first last { first last }
//   CLUSTER SYNCSLOTS REVEAL NAME name
#pragma once

#include <string>
#include <vector>

#include "datatypes/keyspace.h"

namespace respite {

inline constexpr Bytes kHiddenSlotsAux = "respite-hidden-slots";

std::string HiddenSlotsText(const HiddenSlots& hidden);
// Adds the slots of the text. Skips invalid parts.
void ReadHiddenSlots(Bytes text, HiddenSlots& hidden);

std::vector<std::string> HideRequest(Bytes name, const SlotSet& slots);
// Returns the requests for all hidden slots, in RESP.
std::string HideRequests(const HiddenSlots& hidden);
std::vector<std::string> RevealRequest(Bytes name);

// Returns a text such as "0-5 7-7".
std::string SlotRangesText(const SlotSet& slots);

}  // namespace respite
