// WatchedKeys: WATCH. A change of a watched key makes the transactions that watch it stale.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <unordered_set>

#include "datatypes/keyspace.h"
#include "server/clients/session.h"

namespace respite {

class WatchedKeys {
 public:
  WatchedKeys(Keyspace& keyspace, const HashKey& hash_key) : keyspace_(keyspace), lines_(hash_key) {}

  bool Empty() const { return lines_.Empty(); }
  // Does nothing if the session already watches the key. Cost: O(log n) for n keys that the session watches.
  void Watch(Session& session, Bytes key, int64_t now_ms);
  // UNWATCH, and the end of a transaction or session. Detaches the keys; if there are many, DropSome frees them later.
  // Cost: O(databases).
  void Forget(Session& session);
  // Frees up to `count` dropped keys.
  void DropSome(size_t count);
  bool HasDropped() const { return !dropped_.empty(); }
  // Returns whether a watched key has expired since WATCH and was not removed yet.
  bool SawExpiry(const Session& session, int64_t now_ms) const;

  // See ChangeListener.
  void OnChange(int db, Bytes key);
  // FLUSHDB: makes stale the transactions that watch a key of the database, if it existed at WATCH. Cost: O(these
  // sessions), regardless of the number of keys.
  void OnFlush(int db);
  // SWAPDB: makes stale the transactions that watch a key that exists in one of the databases, except if it was and is
  // absent or expired for them.
  void OnSwap(int one, int other, int64_t now_ms);

 private:
  void OnSwapOf(int db, int replaced, int64_t now_ms);
  // Frees up to `count` keys; returns the unused rest of `count`.
  size_t Drop(WatchList& list, size_t count);
  static void MakeStale(const Watcher& watcher) {
    if (watcher.list->transaction != nullptr) watcher.list->transaction->MakeStale();
  }
  bool IsExpired(int db, Bytes key, int64_t now_ms) const {
    const Entry* entry = keyspace_[db].Find(key);
    return entry != nullptr && entry->IsExpired(now_ms);
  }

  Keyspace& keyspace_;
  KeyQueues<Watcher> lines_;
  std::map<int, std::unordered_set<WatchList*>> existing_;  // by database: lists with keys that existed at WATCH
  std::deque<std::unique_ptr<WatchList>> dropped_;
};

// Ends the transaction, if there is one, and unwatches all keys.
inline void EndTransaction(WatchedKeys& watched_keys, Session& session) {
  watched_keys.Forget(session);
  if (session.transaction != nullptr) session.transaction->End();
}

}  // namespace respite
