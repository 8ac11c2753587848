// Hidden slots in files and streams: slots whose keys this server holds but does not own yet. So replicas and restarted
// servers know that they must hide these keys. As an auxiliary field of an RDB file:
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

std::string HiddenSlotsText(const HiddenSlots& hidden);  // "one 0-2 7-7;two 9-9": the value of kHiddenSlotsAux
void ReadHiddenSlots(Bytes text, HiddenSlots& hidden);   // the reverse; adds the slots to `hidden`

std::vector<std::string> HideRequest(Bytes name, const SlotSet& slots);  // the arguments of CLUSTER SYNCSLOTS HIDE
std::string HideRequests(const HiddenSlots& hidden);                     // one request HIDE for each name, in RESP
std::vector<std::string> RevealRequest(Bytes name);                      // the arguments of CLUSTER SYNCSLOTS REVEAL

std::string SlotRangesText(const SlotSet& slots);  // the ranges of the slots, such as "0-5 7-7"

}  // namespace respite
