#include "server/watched_keys.h"

#include <algorithm>
#include <cstdint>

namespace respite {

void WatchedKeys::Watch(Session& session, Bytes key, int64_t now_ms) {
  Transaction& transaction = session.EnsureTransaction();
  const Watcher watcher{.session = &session, .was_expired = IsExpired(session.db, key, now_ms)};
  const auto place = lines_.Add(session.db, key, watcher);
  if (!transaction.watched.insert(place).second) lines_.Remove(place);
}

void WatchedKeys::Forget(Session& session) { ForgetSome(session, SIZE_MAX); }

void WatchedKeys::ForgetSome(Session& session, size_t count) {
  if (session.transaction == nullptr) return;
  auto& watched = session.transaction->watched;
  for (; count > 0 && !watched.empty(); --count) lines_.Remove(watched.extract(watched.begin()).value());
}

bool WatchedKeys::SawExpiry(const Session& session, int64_t now_ms) const {
  const auto& watched = session.transaction->watched;
  return std::any_of(watched.begin(), watched.end(), [&](const auto& place) {
    return !(*place).was_expired && IsExpired(place.Name().db, place.Name().key, now_ms);
  });
}

void WatchedKeys::OnChange(int db, Bytes key) {
  auto* line = lines_.Find(db, key);
  if (line == nullptr) return;
  const bool exists = keyspace_[db].Find(key) != nullptr;
  for (Watcher& watcher : line->members) {
    // What had expired before the WATCH is now removed, which changes nothing; but from now on it may come again.
    if (watcher.was_expired && !exists) {
      watcher.was_expired = false;
    } else {
      watcher.session->transaction->MakeStale();
    }
  }
}

void WatchedKeys::OnFlush(int db) {
  lines_.ForEachOf(db, [&](const KeyName& name, auto& line) {
    if (keyspace_[db].Find(name.key) == nullptr) return;
    for (Watcher& watcher : line.members) {
      if (!watcher.was_expired) watcher.session->transaction->MakeStale();
      watcher.was_expired = false;
    }
  });
}

void WatchedKeys::OnSwap(int one, int other, int64_t now_ms) {
  OnSwapOf(one, other, now_ms);
  OnSwapOf(other, one, now_ms);
}

// What was in `db` is in `replaced` now.
void WatchedKeys::OnSwapOf(int db, int replaced, int64_t now_ms) {
  lines_.ForEachOf(db, [&](const KeyName& name, auto& line) {
    const bool existed = keyspace_[replaced].Find(name.key) != nullptr;
    const bool exists = keyspace_[db].Find(name.key) != nullptr;
    if (!existed && !exists) return;
    const bool is_expired = IsExpired(db, name.key, now_ms);
    for (Watcher& watcher : line.members) {
      // Redis: absent and expired are one and the same, before and after.
      const bool was_absent = watcher.was_expired || !existed;
      if (was_absent && (is_expired || !exists)) {
        watcher.was_expired = is_expired;
      } else {
        watcher.session->transaction->MakeStale();
      }
    }
  });
}

}  // namespace respite
