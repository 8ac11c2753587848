// Hidden slots in files and replication streams. A hidden slot is being imported: this server holds its keys, but does
// not own the slot yet. The text tells replicas and restarted servers that they must hide these keys from clients. As
// an auxiliary field of an RDB file:
//
//   name SP first-last { SP first-last } { ";" … }
//
// As requests in the append-only file and the replication stream:
//
//   CLUSTER SYNCSLOTS HIDE NAME name SLOTSRANGE first last { first last }
//   CLUSTER SYNCSLOTS REVEAL NAME name
#pragma once

#include <string>
#include <vector>

#include "datatypes/keyspace.h"

namespace respite {

inline constexpr Bytes kHiddenSlotsAux = "respite-hidden-slots";

std::string HiddenSlotsText(const HiddenSlots& hidden);  // "one 0-2 7-7;two 9-9", for the RDB field kHiddenSlotsAux
void ReadHiddenSlots(Bytes text, HiddenSlots& hidden);   // parses that text, and adds the slots to `hidden`

std::vector<std::string> HideSlotsRequest(Bytes name,  // CLUSTER SYNCSLOTS HIDE: hides these slots
                                          const SlotSet& slots);
std::string HideSlotsRequests(const HiddenSlots& hidden);  // in RESP: a request HIDE for each name
std::vector<std::string> RevealSlotsRequest(Bytes name);   // CLUSTER SYNCSLOTS REVEAL: shows slots that HIDE hid

std::string SlotRangesText(const SlotSet& slots);  // the ranges of the slots, such as "0-5 7-7"

}  // namespace respite
