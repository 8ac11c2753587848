// WatchedKeys: WATCH. A change of a watched key makes the transactions of those who watch it stale.
#pragma once

#include "datatypes/keyspace.h"
#include "server/session.h"

namespace respite {

class WatchedKeys {
 public:
  WatchedKeys(Keyspace& keyspace, const HashKey& hash_key) : keyspace_(keyspace), lines_(hash_key) {}

  bool Empty() const { return lines_.Empty(); }
  // Nothing new when the session watches it already. Cost: O(log n) for n keys that the session watches.
  void Watch(Session& session, Bytes key, int64_t now_ms);
  // UNWATCH, the end of a transaction or of a session. Cost: O(keys that the session watches).
  void Forget(Session& session);
  // Up to so many keys.
  void ForgetSome(Session& session, size_t count);
  // Whether the time of a watched key has come though nobody has removed it yet.
  bool SawExpiry(const Session& session, int64_t now_ms) const;

  // See ChangeListener.
  void OnChange(int db, Bytes key);
  void OnFlush(int db);
  void OnSwap(int one, int other, int64_t now_ms);

 private:
  void OnSwapOf(int db, int replaced, int64_t now_ms);
  bool IsExpired(int db, Bytes key, int64_t now_ms) const {
    const Entry* entry = keyspace_[db].Find(key);
    return entry != nullptr && entry->IsExpired(now_ms);
  }

  Keyspace& keyspace_;
  KeyLines<Watcher> lines_;
};

}  // namespace respite
