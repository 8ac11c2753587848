// Helpers for commands that delete, replace or flush keys.
#pragma once

#include "server/catalogue/dialect.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/lazy_free.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

constexpr FreeMode FreeLaterIf(bool lazily) {  // kLater if true, otherwise kNow
  return lazily ? FreeMode::kLater : FreeMode::kNow;
}

inline KeyEvent PastDeadlineEvent(const Call& call) {  // event of a key that gets a past deadline: "del" or "expired"
  return call.services.env.dialect.traits.past_deadlines_expire ? KeyEvent("expired") : KeyEvent("del");
}

inline void DeleteAsExpired(Call& call, KeyEdit& edit) {  // deletes a key whose new deadline is past (EXPIRE, GETEX)
  const bool lazily = call.services.env.settings.lazyfree_lazy_expire;
  call.services.data.lazy_free.Free(edit.Take(), FreeLaterIf(lazily));
  edit.ReportChange(PastDeadlineEvent(call));
  call.effect.Replace(lazily ? Bytes("UNLINK") : Bytes("DEL"), edit.Key());
}

inline void FreeReplaced(Call& call, EntryPtr replaced) {  // frees the old value of a replaced key (RENAME, COPY)
  call.services.data.lazy_free.Free(std::move(replaced),
                                    FreeLaterIf(call.services.env.settings.lazyfree_lazy_server_del));
}

// Frees `replaced`, the old value of a key that got a new value. Sends the keyspace event "overwritten" and, if the
// type differs, "type_changed".
inline void FreeOverwritten(Call& call, KeyEdit& edit, EntryPtr replaced) {  // frees an old value; event "overwritten"
  edit.ReportOverwrite(replaced->Type(), edit->Type());
  FreeReplaced(call, std::move(replaced));
}

// Stores `built` as the value of `key`, or deletes the key if `built` is null. As in Redis, replacing an existing key
// does not count as deleting and creating it, so there is no keyspace event "new".
inline void StoreOrDelete(Call& call, Bytes key, EntryPtr built,  // stores the value `built`; null: deletes the key
                          const KeyEvent& event, uint64_t changes = 1) {
  KeyEdit edit = call.db.Open(key);
  if (built == nullptr && !edit) return;
  if (built == nullptr) {
    FreeReplaced(call, edit.Take());
    return edit.ReportChange("del");
  }
  EntryPtr replaced = edit.Replace(std::move(built));
  if (replaced != nullptr) FreeOverwritten(call, edit, std::move(replaced));
  edit.ReportChange(event, changes);
}

// Takes the optional last argument of FLUSHALL, FLUSHDB, SCRIPT FLUSH, FUNCTION FLUSH and CLUSTER FLUSHSLOT. If the
// argument is absent, the directive lazyfree-lazy-user-flush decides. Throws `refusal` for any other or further
// argument.
inline FreeMode TakeFlushMode(Call& call, const char* refusal) {  // takes the optional argument ASYNC or SYNC
  if (call.args.AtEnd()) return FreeLaterIf(call.services.env.settings.lazyfree_lazy_user_flush);
  const bool lazily = call.args.TakeToken("ASYNC");
  if ((!lazily && !call.args.TakeToken("SYNC")) || !call.args.AtEnd()) throw Refusal{refusal};
  return FreeLaterIf(lazily);
}

}  // namespace respite
