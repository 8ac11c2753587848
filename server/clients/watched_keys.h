// WatchedKeys: WATCH. A change of a watched key makes the transactions of those who watch it stale.
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
  // Nothing new when the session watches it already. Cost: O(log n) for n keys that the session watches.
  void Watch(Session& session, Bytes key, int64_t now_ms);
  // UNWATCH, the end of a transaction or of a session. Many keys are only dropped: nobody hears of them any more, and
  // DropSome frees them. Cost: O(1).
  void Forget(Session& session);
  // Frees up to so many keys that were dropped.
  void DropSome(size_t count);
  bool HasDropped() const { return !dropped_.empty(); }
  // Whether the time of a watched key has come though nobody has removed it yet.
  bool SawExpiry(const Session& session, int64_t now_ms) const;

  // See ChangeListener.
  void OnChange(int db, Bytes key);
  // Cost: O(sessions that watch keys), however many keys.
  void OnFlush(int db);
  void OnSwap(int one, int other, int64_t now_ms);

 private:
  void OnSwapOf(int db, int replaced, int64_t now_ms);
  // How many more there could have been.
  size_t Drop(WatchList& list, size_t count);
  static void MakeStale(const Watcher& watcher) {
    if (watcher.list->transaction != nullptr) watcher.list->transaction->MakeStale();
  }
  bool IsExpired(int db, Bytes key, int64_t now_ms) const {
    const Entry* entry = keyspace_[db].Find(key);
    return entry != nullptr && entry->IsExpired(now_ms);
  }

  Keyspace& keyspace_;
  KeyLines<Watcher> lines_;
  std::map<int, std::unordered_set<WatchList*>> existing_;  // by database: who watches keys that existed
  std::deque<std::unique_ptr<WatchList>> dropped_;
};

// Leaves the transaction, if there is one, and unwatches all keys.
inline void EndTransaction(WatchedKeys& watched_keys, Session& session) {
  watched_keys.Forget(session);
  if (session.transaction != nullptr) session.transaction->End();
}

}  // namespace respite
