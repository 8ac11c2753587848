// Writes values as commands that create them, for an append-only file whose base is not an RDB file. RPUSH, SADD, ZADD,
// HMSET, HPEXPIREAT and ARMSET have at most 64 elements, members, fields or pairs per command.
//
//   string      SET key value
//   list        RPUSH key element…
//   set         SADD key member…
//   sorted set  ZADD key (score member)…
//   hash        HMSET key (field value)…
//               HPEXPIREAT key ms FIELDS n field…                  one for consecutive fields with the same deadline
//   stream      XADD key id (field value)…                         or, for an empty one: XADD key MAXLEN 0 0-1 x y
//               XSETID key last-id ENTRIESADDED n MAXDELETEDID id
//               XGROUP CREATE key group last-id ENTRIESREAD n
//               XGROUP CREATECONSUMER key group consumer           for consumers with nothing pending
//               XCLAIM key group consumer 0 id TIME ms RETRYCOUNT n JUSTID FORCE     for each pending entry
//               XNACK key group FAIL IDS 1 id RETRYCOUNT n FORCE   for each entry that XNACK has released
//               XCFGSET key IDMP-DURATION s IDMP-MAXSIZE n         if the stream uses idempotent production
//               XIDMPRECORD key producer idempotent-id id          for each idempotent ID whose entry exists
//   array       ARMSET key (index element)…
//               ARSEEK key index                                   if the array has a cursor
//   vector set  RESTORE key 0 payload
//   JSON        JSON.SET key $ document
//   deadline    PEXPIREAT key ms
//
// For data that Redis 7.2 can have, Redis 7.2 writes the same commands, with one exception: Redis loses pending entries
// that are no longer in the stream, because no client can claim them. Respite writes commands that add such entries to
// the stream, claim them, and delete them before a last XSETID. If the stream's greatest deleted ID is 0-0, this is
// possible only for entries before the first live one; the others are lost (IsRemovable). The time when a consumer was
// last seen is lost, because no command can set it.
#pragma once

#include "datatypes/entry.h"
#include "protocol/request_text.h"

namespace respite {

// The commands also set the deadline. Requires: when the commands are executed, the key does not exist and its database
// is selected. Cost: O(size of the value).
void WriteValueCommands(RequestOutput& out, const Entry& entry);  // writes commands that create this key

}  // namespace respite
