#include "server/clients/watched_keys.h"

#include <algorithm>
#include <cstdint>

namespace respite {

void WatchedKeys::Watch(Session& session, Bytes key, int64_t now_ms) {
  FreeDroppedKeys(2);  // frees more keys than one WATCH adds
  Transaction& transaction = session.EnsureTransaction();
  if (transaction.watches == nullptr)
    transaction.watches = std::make_unique<WatchList>(WatchList{&transaction, {}, {}});
  WatchList& list = *transaction.watches;
  const Entry* entry = keyspace_[session.db].Find(key);
  const bool is_expired = entry != nullptr && entry->IsExpired(now_ms);
  const auto place = queues_.Add(session.db, key, Watcher{.list = &list, .was_expired = is_expired});
  if (!list.places.insert(place).second) return queues_.Remove(place);
  if (entry == nullptr || is_expired || !list.databases.insert(session.db).second) return;
  lists_for_flush_[session.db].insert(&list);
}

void WatchedKeys::Forget(Session& session) {
  constexpr size_t kAtOnce = 100;
  if (session.transaction == nullptr || session.transaction->watches == nullptr) return;
  std::unique_ptr<WatchList> list = std::move(session.transaction->watches);
  list->transaction = nullptr;
  for (const int db : list->databases) {
    const auto lists = lists_for_flush_.find(db);
    if (lists == lists_for_flush_.end()) continue;
    lists->second.erase(list.get());
    if (lists->second.empty()) lists_for_flush_.erase(lists);
  }
  if (list->places.size() <= kAtOnce) {
    Drop(*list, kAtOnce);
  } else {
    dropped_lists_.push_back(std::move(list));
  }
}

size_t WatchedKeys::Drop(WatchList& list, size_t count) {
  for (; count > 0 && !list.places.empty(); --count) queues_.Remove(list.places.extract(list.places.begin()).value());
  return count;
}

void WatchedKeys::FreeDroppedKeys(size_t count) {
  while (count > 0 && !dropped_lists_.empty()) {
    count = Drop(*dropped_lists_.front(), count);
    if (dropped_lists_.front()->places.empty()) dropped_lists_.pop_front();
  }
}

bool WatchedKeys::HasExpiredWatchedKey(const Session& session, int64_t now_ms) const {
  if (session.transaction->watches == nullptr) return false;
  const auto& places = session.transaction->watches->places;
  return std::any_of(places.begin(), places.end(), [&](const auto& place) {
    return !(*place).was_expired && IsExpired(place.Name().db, place.Name().key, now_ms);
  });
}

void WatchedKeys::OnChange(int db, Bytes key) {
  auto* line = queues_.Find(db, key);
  if (line == nullptr) return;
  const bool exists = keyspace_[db].Find(key) != nullptr;
  for (Watcher& watcher : line->members) {
    // The key had expired before WATCH and is now removed: this is no change. A new key with this name is a change.
    if (watcher.was_expired && !exists) {
      watcher.was_expired = false;
    } else {
      NoteWatchedKeyChange(watcher);
    }
  }
}

// Handles the removal of all keys of `db`. Marks each transaction that watches a key of `db` which existed at WATCH, so
// that its EXEC runs nothing. Need not look up the key: if it was removed since WATCH, that removal has already marked
// the transaction.
void WatchedKeys::OnFlush(int db) {
  const auto lists = lists_for_flush_.find(db);
  if (lists == lists_for_flush_.end()) return;
  for (const WatchList* list : lists->second) list->transaction->NoteWatchedKeyChange();
  lists_for_flush_.erase(lists);
}

void WatchedKeys::OnSwap(int db, int other_db, int64_t now_ms) {
  MarkStaleAfterSwap(db, other_db, now_ms);
  MarkStaleAfterSwap(other_db, db, now_ms);
}

// Marks the transactions that watch keys of `db`, after SWAPDB has moved the content of `db` to `moved_to_db`.
void WatchedKeys::MarkStaleAfterSwap(int db, int moved_to_db, int64_t now_ms) {
  queues_.ForEachInDatabase(db, [&](const KeyName& name, auto& line) {
    const bool existed = keyspace_[moved_to_db].Find(name.key) != nullptr;
    const bool exists = keyspace_[db].Find(name.key) != nullptr;
    if (!existed && !exists) return;
    const bool is_expired = IsExpired(db, name.key, now_ms);
    for (Watcher& watcher : line.members) {
      // As in Redis, a key that had already expired at WATCH counts as absent before SWAPDB. A key that has expired by
      // now counts as absent after SWAPDB.
      const bool was_absent = watcher.was_expired || !existed;
      if (was_absent && (is_expired || !exists)) {
        watcher.was_expired = is_expired;
      } else {
        NoteWatchedKeyChange(watcher);
      }
    }
  });
}

}  // namespace respite
