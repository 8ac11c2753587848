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

class WatchedKeys {  // the keys that sessions watch (WATCH)
 public:
  WatchedKeys(Keyspace& keyspace, const HashKey& hash_key) : keyspace_(keyspace), lines_(hash_key) {}

  bool IsEmpty() const { return lines_.IsEmpty(); }  // no key is watched
  // Makes the session watch the key, if it does not yet. Cost: O(log n) for n keys that the session watches.
  void Watch(Session& session, Bytes key, int64_t now_ms);  // does nothing if it already watches the key
  // Unwatches all keys of the session, for UNWATCH and at the end of a transaction or session. If there are many keys,
  // their memory is freed later, by FreeDroppedKeys. Cost: O(databases).
  void Forget(Session& session);       // unwatches all keys of the session
  void FreeDroppedKeys(size_t count);  // frees the memory of up to `count` keys that Forget has unwatched
  bool HasDroppedKeys() const { return !dropped_lists_.empty(); }           // FreeDroppedKeys has work
  bool HasExpiredWatchedKey(const Session& session, int64_t now_ms) const;  // a key has expired since WATCH

  // ChangeDispatcher calls OnChange, OnFlush and OnSwap to report changes of the data. ChangeListener describes these
  // events.
  void OnChange(int db, Bytes key);  // the key has changed
  // Makes stale each transaction that watches a key of `db`, if the key existed at WATCH. Cost: O(sessions that watch
  // such keys), regardless of the number of keys.
  void OnFlush(int db);  // the database is about to lose all keys
  // Makes stale each transaction that watches a key of one of the databases, if the key exists in at least one of them.
  // If the key was absent or expired both before and after the swap, the transaction stays valid.
  void OnSwap(int db, int other_db, int64_t now_ms);  // SWAPDB has swapped the databases

 private:
  void OnDatabaseReplaced(int db, int moved_to_db, int64_t now_ms);  // marks the transactions that watch keys of `db`
  size_t Drop(WatchList& list, size_t count);                 // frees up to `count` keys; returns the rest of `count`
  static void NoteWatchedKeyChange(const Watcher& watcher) {  // tells the transaction, if it still watches the key
    if (watcher.list->transaction != nullptr) watcher.list->transaction->NoteWatchedKeyChange();
  }
  bool IsExpired(int db, Bytes key, int64_t now_ms) const {  // the key exists, but has expired
    const Entry* entry = keyspace_[db].Find(key);
    return entry != nullptr && entry->IsExpired(now_ms);
  }

  Keyspace& keyspace_;        // all databases
  KeyQueues<Watcher> lines_;  // the watchers of each key
  std::map<int, std::unordered_set<WatchList*>>
      lists_by_database_;                                 // lists with a key that existed at WATCH, by its database
  std::deque<std::unique_ptr<WatchList>> dropped_lists_;  // lists of unwatched keys, whose memory FreeDroppedKeys frees
};

inline void EndTransaction(WatchedKeys& watched_keys, Session& session) {  // drops its commands and unwatches all keys
  watched_keys.Forget(session);
  if (session.transaction != nullptr) session.transaction->End();
}

}  // namespace respite
