// MigratingKeys: keys that are being sent to another server (MIGRATE).
//
// Until the transfer has succeeded or failed, requests that name such a key are paused. Requests that may change keys
// without naming them (FLUSHALL, SWAPDB, a script without keys) are also paused. So no client sees a key at both
// servers, and no write is lost. A script with undeclared keys or a primary's stream may still change a key; MIGRATE
// then keeps the changed key.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "server/clients/key_queues.h"

namespace respite {

struct Command;
struct Session;

class MigratingKeys {
  struct Moving {
    int db;
    bool was_changed = false;
  };

 public:
  using Place = KeyQueues<Moving>::Place;

  explicit MigratingKeys(const HashKey& hash_key) : lines_(hash_key) {}

  bool Empty() const { return lines_.Empty(); }
  bool Contains(int db, Bytes key);
  // Requires: !Contains(db, key).
  Place Add(int db, Bytes key) { return lines_.Add(kAnyDb, key, {.db = db}); }
  // Returns whether the key has changed since Add.
  static bool WasChanged(const Place& place) { return (*place).was_changed; }
  void Remove(const Place& place) { lines_.Remove(place); }

  // Returns whether the request must pause. Requires: !Empty().
  bool MustPause(const Session& session, const Command& command, uint32_t flags, std::span<const Bytes> words);
  // Notes a write command of a script, which cannot pause, as a change of its keys.
  void NoteUse(int db, const Command& command, std::span<const Bytes> words);
  // Adds a session whose request waits in Session::paused_request.
  void AddPaused(const Session& session);
  // Returns the ids in order of arrival, and empties the list.
  std::vector<uint64_t> TakePaused() { return std::exchange(paused_request_, {}); }

  // See ChangeListener.
  void OnChange(int db, Bytes key);
  void OnFlush(int db);
  void OnSwap(int one, int other) {
    OnFlush(one);
    OnFlush(other);
  }

 private:
  // Requests pause by the name of a key in any database, because a transaction may select another database, and COPY
  // and MOVE name two.
  static constexpr int kAnyDb = 0;

  bool MustPauseAlone(const Command& command, uint32_t flags, std::span<const Bytes> words);

  KeyQueues<Moving> lines_;
  std::vector<uint64_t> paused_request_;
};

}  // namespace respite
