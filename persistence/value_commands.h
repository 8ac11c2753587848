// Values as commands that create them: the base of an append-only file that is not an RDB file.
//
//   string      SET key value
//   list        RPUSH key element…                                 up to 64 elements, members or pairs each
//   set         SADD key member…
//   sorted set  ZADD key (score member)…
//   hash        HMSET key (field value)…
//               HPEXPIREAT key ms FIELDS n field…                  for fields with deadlines, equal ones together
//   stream      XADD key id (field value)…                         or, for an empty one: XADD key MAXLEN 0 0-1 x y
//               XSETID key last-id ENTRIESADDED n MAXDELETEDID id
//               XGROUP CREATE key group last-id ENTRIESREAD n
//               XGROUP CREATECONSUMER key group consumer           for those with nothing pending
//               XCLAIM key group consumer 0 id TIME ms RETRYCOUNT n JUSTID FORCE
//   deadline    PEXPIREAT key ms
//
// These are the commands of Redis 7.2, with two exceptions. Redis 7.2 has no fields with deadlines. And Redis loses
// pending entries that are no longer in the stream, because they cannot be claimed; so we add such entries, claim them,
// and delete them again before XSETID. One thing is lost because no command can set it: when consumers were last seen.
#pragma once

#include "datatypes/entry.h"
#include "protocol/request_text.h"

namespace respite {

// Writes the commands that create this key with its value and deadline. Requires: when they are executed, the key does
// not exist and its database is selected. Cost: O(size of the value).
void WriteValueCommands(RequestOutput& out, const Entry& entry);

}  // namespace respite
