// WatchedKeys: WATCH. A change of a watched key makes the transactions that watch it stale: their EXEC runs no
// commands.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <unordered_set>

#include "datatypes/keyspace.h"
#include "server/clients/session.h"

namespace respite {

class WatchedKeys {  // the keys that transactions watch (WATCH)
 public:
  WatchedKeys(Keyspace& keyspace, const HashKey& hash_key) : keyspace_(keyspace), lines_(hash_key) {}

  bool IsEmpty() const { return lines_.IsEmpty(); }  // no key is watched
  // Makes the session watch the key. Cost: O(log n) for n keys that the session watches.
  void Watch(Session& session, Bytes key, int64_t now_ms);  // does nothing if it already watches the key
  // Unwatches all keys of the session, for UNWATCH and at the end of a transaction or session. If there are many keys,
  // FreeDroppedKeys frees them later. Cost: O(databases).
  void Forget(Session& session);                                   // unwatches all keys of the session
  void FreeDroppedKeys(size_t count);                              // frees up to `count` keys that were unwatched
  bool HasDroppedKeys() const { return !dropped_lists_.empty(); }  // FreeDroppedKeys has work
  bool HasExpiredWatchedKey(const Session& session, int64_t now_ms) const;  // expired since WATCH, not yet removed

  // ChangeDispatcher calls OnChange, OnFlush and OnSwap to report changes of the data. ChangeListener describes these
  // events.
  void OnChange(int db, Bytes key);  // the key has changed
  // Makes each transaction stale that watches a key of `db` which existed at WATCH. Cost: O(sessions that watch such
  // keys), regardless of the number of keys.
  void OnFlush(int db);  // the database is about to lose all keys
  // Makes each transaction stale that watches a key of one of the databases, if the key exists in at least one of them.
  // A transaction is not affected if its key was absent or expired both before and after the swap.
  void OnSwap(int db, int other_db, int64_t now_ms);  // SWAPDB has swapped the databases

 private:
  void OnDatabaseReplaced(int db, int moved_to_db, int64_t now_ms);  // marks stale transactions after SWAPDB
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
      lists_by_database_;                                 // lists with keys that existed at WATCH, by database
  std::deque<std::unique_ptr<WatchList>> dropped_lists_;  // unwatched lists that FreeDroppedKeys frees
};

inline void EndTransaction(WatchedKeys& watched_keys, Session& session) {  // drops its commands and unwatches all keys
  watched_keys.Forget(session);
  if (session.transaction != nullptr) session.transaction->End();
}

}  // namespace respite
