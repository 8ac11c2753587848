// Texts that tell replicas and restarted servers which slots are hidden. A hidden slot is being imported: this server
// holds its keys, but does not own it yet, so clients must not see the keys. `name` is the name of the migration, 40
// hexadecimal digits. As an auxiliary field of an RDB file:
//
//   name SP first-last { SP first-last } { ";" … }
//
// As requests in the append-only file and the replication stream:
//
//   CLUSTER SYNCSLOTS ESTABLISH NAME name SLOTSRANGE first last { first last }
//   CLUSTER SYNCSLOTS FINISH STATE SUCCESS|FAILED NAME name
//
// Valkey 9 writes these requests too, with further arguments. Redis 8.4 writes the text of a task instead, as the
// auxiliary field cluster-asm-task and in CLUSTER SYNCSLOTS CONF ASM-TASK:
//
//   name ":" source ":" target ":" import|migrate ":" state ":" first-last { SP first-last }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datatypes/keyspace.h"
#include "persistence/rdb_format.h"

namespace respite {

std::string HiddenSlotsText(const HiddenSlots& hidden);  // slots being imported: "9f3c… 0-2;07ab… 9-9"
void ReadHiddenSlots(Bytes text, HiddenSlots& hidden);   // reads HiddenSlotsText, adds its slots to `hidden`

struct RedisTask {         // the text of a task that Redis writes
  std::string name;        // 40 hexadecimal digits
  bool is_import = false;  // true: the writer gets the slots; false: it gives them
  bool is_over = false;    // true: the task has succeeded or failed, or was cancelled
  SlotSet slots;
};
std::optional<RedisTask> ReadRedisTask(Bytes text);  // reads the text of a task; nullopt: invalid, or empty

std::vector<std::string> HideSlotsRequest(Bytes name,  // CLUSTER SYNCSLOTS ESTABLISH, which hides the slots
                                          const SlotSet& slots);
std::string HideSlotsRequests(const HiddenSlots& hidden);   // the requests ESTABLISH as RESP, one for each name
enum class SlotImportEnd : uint8_t { kSuccess, kFailure };  // kFailure: the keys were deleted
// Returns the request that makes the slots of a migration visible again, after HideSlotsRequest has hidden them. `name`
// is the name of the migration.
std::vector<std::string> FinishImportRequest(Bytes name, SlotImportEnd end);  // CLUSTER SYNCSLOTS FINISH

std::string SlotRangesText(const SlotSet& slots);  // text such as "0-5 7-7"

}  // namespace respite
