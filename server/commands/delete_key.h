// Deletions and replacements of keys that several commands share.
#pragma once

#include "server/config/settings.h"
#include "server/dataset/disposer.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

constexpr FreeMode FreeLaterIf(bool lazily) { return lazily ? FreeMode::kLater : FreeMode::kNow; }

// For commands that set a deadline in the past (EXPIRE, GETEX): deletes the key instead.
inline void DeleteAsExpired(Call& call, Entry* entry, Bytes key) {
  const bool lazily = call.services.settings.lazyfree_lazy_expire;
  call.services.disposer.Free(call.db.Take(entry), FreeLaterIf(lazily));
  call.db.Touched(key, "del");
  call.effect.Replace(lazily ? Bytes("UNLINK") : Bytes("DEL"), key);
}

// Deletes a key before another value replaces it (RENAME, COPY).
inline void DeleteReplaced(Call& call, DbView& db, Entry* entry) {
  call.services.disposer.Free(db.Take(entry), FreeLaterIf(call.services.settings.lazyfree_lazy_server_del));
}

// Replaces the value of `key`; null deletes the key (SUNIONSTORE, SORT with STORE). Redis: an existing key is not
// deleted in between, so there is no event "new".
inline void StoreOrDelete(Call& call, Bytes key, EntryPtr built, KeyEvent event, uint64_t changes = 1) {
  Entry* old = call.db.Find(key);
  if (built == nullptr && old == nullptr) return;
  const bool stores = built != nullptr;
  EntryPtr replaced = stores ? call.db.Replace(old, std::move(built)) : call.db.Take(old);
  if (replaced != nullptr)
    call.services.disposer.Free(std::move(replaced), FreeLaterIf(call.services.settings.lazyfree_lazy_server_del));
  stores ? call.db.Touched(key, event, changes) : call.db.Touched(key, "del");
}

}  // namespace respite
