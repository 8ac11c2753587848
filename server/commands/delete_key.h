// Deletions, replacements and flushes of keys that several commands share.
#pragma once

#include "server/catalogue/dialect.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/lazy_free.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

constexpr FreeMode FreeLaterIf(bool lazily) { return lazily ? FreeMode::kLater : FreeMode::kNow; }

// Returns the event of a key that is deleted because it gets a deadline in the past.
inline KeyEvent PastDeadlineEvent(const Call& call) {
  return call.services.env.dialect.traits.past_deadlines_expire ? KeyEvent("expired") : KeyEvent("del");
}

// Deletes a key that gets a deadline in the past (EXPIRE, GETEX).
inline void DeleteAsExpired(Call& call, KeyEdit& edit) {
  const bool lazily = call.services.env.settings.lazyfree_lazy_expire;
  call.services.data.lazy_free.Free(edit.Take(), FreeLaterIf(lazily));
  edit.Touched(PastDeadlineEvent(call));
  call.effect.Replace(lazily ? Bytes("UNLINK") : Bytes("DEL"), edit.Key());
}

// Frees a value that was replaced by another one (RENAME, COPY).
inline void FreeReplaced(Call& call, EntryPtr replaced) {
  call.services.data.lazy_free.Free(std::move(replaced),
                                    FreeLaterIf(call.services.env.settings.lazyfree_lazy_server_del));
}

// Replaces the value of `key`; null deletes the key (SUNIONSTORE, SORT with STORE). Redis: an existing key is not
// deleted first, so there is no event "new".
inline void StoreOrDelete(Call& call, Bytes key, EntryPtr built, const KeyEvent& event, uint64_t changes = 1) {
  KeyEdit edit = call.db.Open(key);
  if (built == nullptr && !edit) return;
  const bool stores = built != nullptr;
  EntryPtr replaced = stores ? edit.Replace(std::move(built)) : edit.Take();
  if (replaced != nullptr) FreeReplaced(call, std::move(replaced));
  stores ? edit.Touched(event, changes) : edit.Touched("del");
}

// Takes the optional last argument of FLUSHALL, FLUSHDB, SCRIPT FLUSH and FUNCTION FLUSH: ASYNC or SYNC. Without it,
// lazyfree-lazy-user-flush decides. `refusal` is the error for other or additional arguments.
inline FreeMode TakeFlushMode(Call& call, const char* refusal) {
  if (call.args.AtEnd()) return FreeLaterIf(call.services.env.settings.lazyfree_lazy_user_flush);
  const bool lazily = call.args.TakeToken("ASYNC");
  if ((!lazily && !call.args.TakeToken("SYNC")) || !call.args.AtEnd()) throw Refusal{refusal};
  return FreeLaterIf(lazily);
}

}  // namespace respite
