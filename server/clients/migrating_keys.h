// MigratingKeys: keys that are on their way to another server (MIGRATE).
//
// Until it is known whether they have arrived, requests that name such a key wait, and so do those that may change keys
// without naming any (FLUSHALL, SWAPDB, a script without keys). So nobody sees a key at both servers, and no write to
// it is lost. What changes a key nevertheless (a script that did not declare it, the primary of a writable replica)
// makes it a changed one, which stays.
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
  // Requires: it does not contain the key.
  Place Add(int db, Bytes key) { return lines_.Add(kAnyDb, key, {.db = db}); }
  // Whether the key has changed since Add.
  static bool WasChanged(const Place& place) { return (*place).was_changed; }
  void Remove(const Place& place) { lines_.Remove(place); }

  struct Request {
    const Command& command;
    uint32_t flags;
    std::span<const Bytes> words;
  };
  // Whether the request has to wait. Requires: !Empty().
  bool MustPause(const Session& session, const Request& request);
  // A command of a script is about to run, and cannot wait.
  void NoteUse(int db, const Command& command, std::span<const Bytes> words);
  // A session whose request waits in Session::held.
  void AddPaused(const Session& session);
  // Returns and empties the list: ids in order of arrival.
  std::vector<uint64_t> TakePaused() { return std::exchange(paused_request_, {}); }

  // See ChangeListener.
  void OnChange(int db, Bytes key);
  void OnFlush(int db);
  void OnSwap(int one, int other) {
    OnFlush(one);
    OnFlush(other);
  }

 private:
  // Requests are held by the name of a key, whichever database they mean: a transaction may select another one, and
  // COPY and MOVE name two.
  static constexpr int kAnyDb = 0;

  bool MustPauseAlone(const Request& request);

  KeyQueues<Moving> lines_;
  std::vector<uint64_t> paused_request_;
};

}  // namespace respite
