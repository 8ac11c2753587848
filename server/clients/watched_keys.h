// WatchedKeys: WATCH. After a change of a watched key, EXEC of the transactions that watch the key runs no commands.
// Such transactions are called stale.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <unordered_set>

#include "datatypes/keyspace.h"
#include "server/clients/session.h"

namespace respite {

class WatchedKeys {  // the keys that sessions WATCH; after a change, their EXEC runs no commands
 public:
  WatchedKeys(Keyspace& keyspace, const HashKey& hash_key) : keyspace_(keyspace), queues_(hash_key) {}

  bool IsEmpty() const { return queues_.IsEmpty(); }  // true: no key is watched
  // Makes the session watch the key (WATCH). Cost: O(log n) for n keys that the session watches.
  void Watch(Session& session, Bytes key, int64_t now_ms);  // no effect if `session` already watches the key
  // Unwatches all keys of the session, for UNWATCH and at the end of a transaction or session. If there are many keys,
  // their memory is freed later, by FreeDroppedKeys. Cost: O(databases).
  void Forget(Session& session);       // unwatches all keys of the session
  void FreeDroppedKeys(size_t count);  // frees memory of at most `count` keys that Forget has unwatched
  bool HasDroppedKeys() const { return !dropped_lists_.empty(); }           // true: FreeDroppedKeys has work
  bool HasExpiredWatchedKey(const Session& session, int64_t now_ms) const;  // true: a watched key expired after WATCH

  // ChangeDispatcher calls OnChange, OnFlush and OnSwap to report changes of the data. ChangeListener describes these
  // events.
  void OnChange(int db, Bytes key);  // the key has changed: EXEC of clients that watch it will run no commands
  // Makes stale each transaction that watches a key of `db`, if the key existed at WATCH. Cost: O(sessions that watch
  // keys of `db`), regardless of the number of keys.
  void OnFlush(int db);  // called before `db` loses all keys: EXEC of clients that watch one will run nothing
  // Makes stale each transaction that watches a key of one of these databases. But a transaction stays valid if its key
  // was absent or expired before the swap and also after it.
  void OnSwap(int db, int other_db, int64_t now_ms);  // called after SWAPDB: EXEC runs nothing if watched keys changed

 private:
  void MarkStaleAfterSwap(int db, int moved_to_db, int64_t now_ms);  // marks transactions whose keys of `db` changed
  size_t Drop(WatchList& list, size_t count);  // frees up to `count` keys; returns what is left of `count`
  static void NoteWatchedKeyChange(const Watcher& watcher) {  // EXEC will run nothing, unless unwatched
    if (watcher.list->transaction != nullptr) watcher.list->transaction->NoteWatchedKeyChange();
  }
  bool IsExpired(int db, Bytes key, int64_t now_ms) const {  // the key exists, but has expired
    const Entry* entry = keyspace_[db].Find(key);
    return entry != nullptr && entry->IsExpired(now_ms);
  }

  Keyspace& keyspace_;         // all databases of the server
  KeyQueues<Watcher> queues_;  // for each key the sessions that watch it
  std::map<int, std::unordered_set<WatchList*>>
      lists_for_flush_;  // for OnFlush, by database: WatchLists (one per session) with a key that existed at WATCH
  std::deque<std::unique_ptr<WatchList>> dropped_lists_;  // lists of unwatched keys, which FreeDroppedKeys will free
};

inline void EndTransaction(WatchedKeys& watched_keys, Session& session) {  // drops queued commands, unwatches all keys
  watched_keys.Forget(session);
  if (session.transaction != nullptr) session.transaction->End();
}

}  // namespace respite
