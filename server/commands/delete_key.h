// Deletions that several commands have in common.
#pragma once

#include "server/call.h"
#include "server/server.h"

namespace respite {

constexpr Server::FreeMode FreeLaterIf(bool lazily) {
  return lazily ? Server::FreeMode::kLater : Server::FreeMode::kNow;
}

// Takes the place of setting a deadline that has passed already (EXPIRE, GETEX).
inline void DeleteAsExpired(Call& call, Entry* entry, Bytes key) {
  const bool lazily = call.server.settings().lazyfree_lazy_expire;
  call.server.FreeEntry(call.db.Take(entry), FreeLaterIf(lazily));
  call.db.Touched(key, "del");
  call.effect.Replace(lazily ? Bytes("UNLINK") : Bytes("DEL"), key);
}

// Makes way for another value (RENAME, COPY).
inline void DeleteReplaced(Call& call, DbView& db, Entry* entry) {
  call.server.FreeEntry(db.Take(entry), FreeLaterIf(call.server.settings().lazyfree_lazy_server_del));
}

}  // namespace respite
