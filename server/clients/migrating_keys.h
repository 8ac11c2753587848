// MigratingKeys: keys that are being sent to another server (MIGRATE).
//
// Until the transfer has succeeded or failed, requests that name such a key are paused. Requests that may change keys
// without naming them (FLUSHALL, SWAPDB, a script without keys) are also paused. So no client sees a key at both
// servers, and no write is lost. A script with undeclared keys or a primary's stream may still change a key. MIGRATE
// then does not delete that key here.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "server/clients/key_queues.h"

namespace respite {

struct Command;
struct Session;

class MigratingKeys {  // keys that MIGRATE is sending to another server
  struct MovingKey {   // a key that is being sent
    int db;
    bool was_changed = false;  // the key has changed since Add
  };

 public:
  using Place = KeyQueues<MovingKey>::Place;

  explicit MigratingKeys(const HashKey& hash_key) : lines_(hash_key) {}

  bool IsEmpty() const { return lines_.IsEmpty(); }  // no key is being sent
  bool Contains(int db, Bytes key);                  // true: the key is being sent
  // Adds a key that is about to be sent. Requires: !Contains(db, key).
  Place Add(int db, Bytes key) { return lines_.Add(kAnyDb, key, {.db = db}); }
  static bool WasChanged(const Place& place) { return (*place).was_changed; }  // true: the key has changed since Add
  void Remove(const Place& place) { lines_.Remove(place); }                    // the transfer has ended

  // Returns whether the request must wait until the transfer ends. Requires: at least one key is being sent.
  bool MustPause(const Session& session, const Command& command, uint32_t flags,  // true: until a transfer ends
                 std::span<const Bytes> arguments);
  // Notes the keys that a command of a script writes as changed, because scripts cannot pause.
  void NoteWrittenKeys(int db, const Command& command, std::span<const Bytes> arguments);  // a script writes the keys
  void AddPaused(const Session& session);  // its request waits until the transfer ends
  // Returns the ids of the clients whose requests wait for the end of a transfer, in order of arrival. Empties the
  // list.
  std::vector<uint64_t> TakePaused() { return std::exchange(paused_client_ids_, {}); }  // empties the list

  // ChangeDispatcher calls OnChange, OnFlush and OnSwap to report changes of the data. ChangeListener describes these
  // events.
  void OnChange(int db, Bytes key);    // the key has changed
  void OnFlush(int db);                // the database is about to lose all keys
  void OnSwap(int db, int other_db) {  // SWAPDB has swapped the databases
    OnFlush(db);
    OnFlush(other_db);
  }

 private:
  // Keys are found here without regard to their database, because the databases of a request are not known in advance.
  // A transaction may select other databases, and COPY and MOVE name two.
  static constexpr int kAnyDb = 0;  // lines_ has the keys of all databases under this number

  bool MustPauseCommand(const Command& command, uint32_t flags,  // as MustPause, for one command
                        std::span<const Bytes> arguments);

  KeyQueues<MovingKey> lines_;               // the keys that are being sent, under kAnyDb
  std::vector<uint64_t> paused_client_ids_;  // ids of clients whose requests wait for the transfer, in order of arrival
};

}  // namespace respite
