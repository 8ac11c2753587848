// WatchedKeys: WATCH. A change of a watched key makes the transactions that watch it stale.
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
  // Cost: O(log n) for n keys that the session watches.
  void Watch(Session& session, Bytes key, int64_t now_ms);  // nothing if it already watches the key
  // Called for UNWATCH, and at the end of a transaction or session. Detaches the keys; if there are many,
  // FreeDroppedKeys frees them later. Cost: O(databases).
  void Forget(Session& session);                                            // unwatches its keys
  void FreeDroppedKeys(size_t count);                                       // up to `count`
  bool HasDropped() const { return !dropped_.empty(); }                     // FreeDroppedKeys has work
  bool HasExpiredWatchedKey(const Session& session, int64_t now_ms) const;  // expired since WATCH, not yet removed

  // ChangeDispatcher calls the functions from here on; ChangeListener describes the events.
  void OnChange(int db, Bytes key);  // the key has changed
  // Makes stale the transactions that watch a key of the database, if it existed at WATCH. Cost: O(these sessions),
  // regardless of the number of keys.
  void OnFlush(int db);  // FLUSHDB
  // Makes stale the transactions that watch a key which exists in one of the databases. A transaction is not affected
  // if the key was absent or expired for it before the swap, and is so after the swap.
  void OnSwap(int db, int other_db, int64_t now_ms);  // SWAPDB

 private:
  void OnDatabaseReplaced(int db, int moved_to_db, int64_t now_ms);  // SWAPDB moved the content of `db` away
  size_t Drop(WatchList& list, size_t count);                        // up to `count` keys; returns the rest of `count`
  static void NoteWatchedKeyChange(const Watcher& watcher) {         // if it still watches
    if (watcher.list->transaction != nullptr) watcher.list->transaction->NoteWatchedKeyChange();
  }
  bool IsExpired(int db, Bytes key, int64_t now_ms) const {
    const Entry* entry = keyspace_[db].Find(key);
    return entry != nullptr && entry->IsExpired(now_ms);
  }

  Keyspace& keyspace_;
  KeyQueues<Watcher> lines_;                                // the watchers of each key
  std::map<int, std::unordered_set<WatchList*>> existing_;  // by database: lists with keys that existed at WATCH
  std::deque<std::unique_ptr<WatchList>> dropped_;          // lists that FreeDroppedKeys frees
};

inline void EndTransaction(WatchedKeys& watched_keys, Session& session) {  // unwatches all keys
  watched_keys.Forget(session);
  if (session.transaction != nullptr) session.transaction->End();
}

}  // namespace respite
