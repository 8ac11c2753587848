// Values as the commands that make them: what the base of an append-only file holds when it is no RDB file.
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
// These are the commands of Redis 7.2, but for fields with deadlines, which it does not have, and for one loss of its:
// what is pending and no longer in the stream cannot be claimed. So such entries are added, claimed, and taken out
// again before XSETID. What no command can say is lost: when consumers were last seen.
#pragma once

#include "datatypes/entry.h"
#include "protocol/request_text.h"

namespace respite {

// The commands that make this key with its value and deadline. Requires: the key is not there, its database is
// selected. Cost: O(size of the value).
void WriteValueCommands(RequestOutput& out, const Entry& entry);

}  // namespace respite
