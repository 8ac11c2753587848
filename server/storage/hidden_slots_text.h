// Texts that tell replicas and restarted servers which slots are hidden. A hidden slot is being imported: this server
// holds its keys, but does not own it yet, so clients must not see the keys. `name` is the name of the migration, 40
// hexadecimal digits. As an auxiliary field of an RDB file:
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

inline constexpr Bytes kHiddenSlotsAux = "respite-hidden-slots";  // name of the RDB field

std::string HiddenSlotsText(const HiddenSlots& hidden);  // slots being imported: "9f3c… 0-2;07ab… 9-9"
void ReadHiddenSlots(Bytes text, HiddenSlots& hidden);   // reads HiddenSlotsText, adds its slots to `hidden`

std::vector<std::string> HideSlotsRequest(Bytes name,  // the request CLUSTER SYNCSLOTS HIDE, which hides the slots
                                          const SlotSet& slots);
std::string HideSlotsRequests(const HiddenSlots& hidden);  // the requests HIDE as RESP, one for each name
// Returns the request that makes the slots of a migration visible again, after HideSlotsRequest has hidden them. `name`
// is the name of the migration.
std::vector<std::string> RevealSlotsRequest(Bytes name);  // CLUSTER SYNCSLOTS REVEAL, for the AOF and replicas

std::string SlotRangesText(const SlotSet& slots);  // text such as "0-5 7-7"

}  // namespace respite
