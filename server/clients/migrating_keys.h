// MigratingKeys: keys that are being sent to another server (MIGRATE).
//
// Until the transfer of a key has succeeded or failed, requests that name the key (in any database) are paused.
// Requests that may change keys without naming them (FLUSHALL, SWAPDB, a script without keys) are also paused. So no
// client sees a key at both servers, and no write is lost. A script with undeclared keys or a primary's stream may
// still change a key. MIGRATE then does not delete that key here.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "server/clients/key_queues.h"

namespace respite {

struct Command;
struct Session;

class MigratingKeys {          // the keys that MIGRATE is sending to another server
  struct MovingKey {           // one key that MIGRATE is sending
    int db;                    // database of the key
    bool was_changed = false;  // true: the key was changed after Add
  };

 public:
  using Place = KeyQueues<MovingKey>::Place;

  explicit MigratingKeys(const HashKey& hash_key) : queues_(hash_key) {}

  bool IsEmpty() const { return queues_.IsEmpty(); }  // true: MIGRATE is sending no key
  bool Contains(int db, Bytes key);                   // true: MIGRATE is sending this key
  // Adds a key that MIGRATE is about to send. Returns the place to pass to WasChanged and Remove. Requires:
  // !Contains(db, key).
  Place Add(int db, Bytes key) { return queues_.Add(kAnyDb, key, {.db = db}); }  // adds a key, sent from now on
  static bool WasChanged(const Place& place) { return (*place).was_changed; }    // the key was changed after Add
  void Remove(const Place& place) { queues_.Remove(place); }  // removes a key whose transfer has ended

  // Returns whether the request must wait until a transfer ends. Requires: at least one key is being sent.
  bool MustPause(const Session& session, const Command& command, uint32_t flags,  // true: a MIGRATE delays the command
                 std::span<const Bytes> arguments);
  // Marks all keys of a command that writes as changed, so that MIGRATE does not delete them here. Called for commands
  // of scripts and EXEC: they cannot be paused while they run, so they may change a key while MIGRATE is sending it.
  void NoteWrittenKeys(int db, const Command& command, std::span<const Bytes> arguments);  // marks the keys of a write
  void AddPaused(const Session& session);  // adds a client whose request waits until a transfer ends
  // Returns the ids of the clients whose requests wait until MIGRATE has sent a key, in order of arrival, and empties
  // the list.
  std::vector<uint64_t> TakePaused() { return std::exchange(paused_client_ids_, {}); }  // takes the waiting clients

  // ChangeDispatcher calls OnChange, OnFlush and OnSwap to report changes of the data. ChangeListener describes these
  // events.
  void OnChange(int db, Bytes key);    // called for each changed key; notes it if MIGRATE is sending it
  void OnFlush(int db);                // called before `db` loses all keys: its keys count as changed
  void OnSwap(int db, int other_db) {  // SWAPDB has swapped these databases: their keys count as changed
    OnFlush(db);
    OnFlush(other_db);
  }

 private:
  // The database number under which queues_ keeps the keys of all databases. MustPause compares only names of keys,
  // because the databases of a request are not known in advance: a transaction may select other databases, and COPY and
  // MOVE name two.
  static constexpr int kAnyDb = 0;  // queues_ has the keys of all databases under this number

  bool MustPauseCommand(const Command& command, uint32_t flags,  // true: this command must wait for MIGRATE
                        std::span<const Bytes> arguments);

  KeyQueues<MovingKey> queues_;              // the keys that MIGRATE is sending, all under kAnyDb
  std::vector<uint64_t> paused_client_ids_;  // ids of clients whose requests wait for a transfer, in order of arrival
};

}  // namespace respite
