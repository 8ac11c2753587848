// Dataset: the data of a server and the state that every Unit (atomic execution) needs. A Dataset does not depend on
// clients, sockets or files: it knows them only through interfaces for listeners, journals and the freeing of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/random.h"
#include "datatypes/encoding_limits.h"
#include "datatypes/keyspace.h"
#include "server/catalogue/key_event.h"
#include "server/config/settings.h"
#include "server/dataset/history.h"
#include "server/dataset/journal.h"
#include "server/dataset/key_usage.h"

namespace respite {

// The fields of a hash that a change concerns: every `step`th item of `words` (arguments of a command), beginning with
// the first. The step is 2 for the arguments of HSET, in which a value follows each field.
struct Subkeys {                 // the fields of a hash that a change concerns
  std::span<const Bytes> words;  // the fields, perhaps each followed by its value
  size_t step = 1;               // 1: `words` has only fields; 2: a value follows each field

  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(Bytes) for each field
    for (size_t i = 0; i < words.size(); i += step) visit(words[i]);
  }
};

class ChangeListener {  // interface: is told of key changes (WATCH, blocked clients, tracking, keyspace events)
 public:
  virtual ~ChangeListener() = default;
  virtual void OnChange(int db, Bytes key) = 0;  // a key was created or removed, or its value or deadline changed
  virtual void OnEvent(int db, Bytes key, const KeyEvent& event) = 0;  // a keyspace event such as "set" has occurred
  virtual bool WantsSubkeys() const = 0;  // whether OnSubkeys does anything; if not, callers need not collect fields
  // Called after OnEvent, with the fields of the hash that this event concerned.
  virtual void OnSubkeys(int db, Bytes key, const KeyEvent& event, const Subkeys& fields) = 0;  // publishes the fields
  virtual void OnWake(int db, Bytes key) = 0;          // clients blocked on this unchanged key must check again
  virtual void OnFlush(std::span<const int> dbs) = 0;  // these databases are about to lose all their keys
  virtual void OnSwap(int one, int other) = 0;         // SWAPDB has swapped these databases
};

class OldValueKeeper {  // interface: keeps data that is about to change, so that TEST SNAPSHOT can restore the data
 public:
  virtual ~OldValueKeeper() = default;
  // Called before this key may be changed, removed or created: by a command, expiry or eviction. `entry` is the key's
  // current value, or null if the key does not exist.
  virtual void BeforeChange(int db, Bytes key, const Entry* entry) = 0;  // this key may be about to change
  // Called when a database has been emptied. `content` is what the database contained, which is no longer used. This
  // object may take the content, and must then leave an empty database in its place.
  virtual void OnFlushed(int db, Database& content) = 0;  // a flush removed `content`, which may be taken
  virtual void OnSwap(int one, int other) = 0;            // SWAPDB has swapped these databases
  virtual void OnReplaced() = 0;                          // called before all data is replaced or taken out
};

struct KeyspaceStats {                     // counters of look-ups, expiry and eviction, for INFO
  uint64_t hits = 0;                       // look-ups that found a key (keyspace_hits)
  uint64_t misses = 0;                     // look-ups that found no key (keyspace_misses)
  uint64_t expired_keys = 0;               // keys removed because the key's own deadline passed
  uint64_t expired_fields = 0;             // fields of hashes removed because their deadline passed
  uint64_t expired_keys_active = 0;        // those of expired_keys that active expiry has found
  uint64_t expired_fields_active = 0;      // those of expired_fields that active expiry has found
  double expired_stale_share = 0;          // moving average (0 to 1) of the share of sampled keys that were expired
  uint64_t expire_cycles_out_of_time = 0;  // rounds of active expiry that ended before all databases were clean
  uint64_t expire_cycle_us = 0;            // how long active expiry has run in total, in microseconds
  uint64_t dirty = 0;                      // changes since the last save (rdb_changes_since_last_save)
  uint64_t evicted_keys = 0;               // keys removed because of maxmemory, expired ones not counted
};

// Frees values that were removed from the keyspace: immediately or on the background thread, as the lazyfree directives
// say. Very large values always go to the background thread.
class Disposal {  // interface: frees values that were removed from the keyspace, now or on another thread
 public:
  virtual ~Disposal() = default;
  virtual void FreeExpired(EntryPtr entry) = 0;                     // frees an expired key with its value
  virtual void FreeEvicted(EntryPtr entry) = 0;                     // frees a key that is evicted, or of a foreign slot
  virtual void FreeOverwritten(BlobRef value) = 0;                  // frees a large string that was replaced
  virtual void FreeOverwritten(std::unique_ptr<Object> value) = 0;  // frees a collection that was replaced
};

// Through this interface, a Capture can take out and put back keys and functions together. The class of a Content is
// known only in server/execution.
class FunctionStore {  // interface: takes out and puts back all functions of FCALL together
 public:
  class Content {  // the functions that Exchange took out
   public:
    virtual ~Content() = default;
    virtual size_t FunctionCount() const = 0;          // number of functions
    virtual bool MayBeFreedByOtherThread() const = 0;  // false: a snapshot uses the same Lua state
  };

  virtual ~FunctionStore() = default;
  // Stores `content`, which an earlier Exchange returned, and returns the old functions; null means no functions.
  // Cost: O(1).
  virtual std::unique_ptr<Content> Exchange(std::unique_ptr<Content> content) = 0;  // stores new, returns old functions
};

struct Dataset {  // the keys of a server, and the state that command executions (Units) share
  // `rules` must outlive this object. `random_seed` is for random choices that clients can see (such as SPOP).
  // `id_source` makes what clients must not guess: replication IDs and passwords of ACL GENPASS.
  Dataset(const Settings& rules, const HashKey& hash_key, uint64_t random_seed, const IdSource& id_source = IdSource())
      : settings(rules),
        keyspace(rules.cluster_enabled ? rules.cluster_databases : rules.databases, hash_key,
                 rules.cluster_enabled ? Keyspace::Index::kBySlot : Keyspace::Index::kNone),
        random(random_seed),
        usage(rules, random),
        limits(rules),
        ids(id_source),
        history{.id = ids.Hex(History::kIdLength)} {}
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  const Settings& settings;                // values of the directives
  Keyspace keyspace;                       // all databases with their keys
  KeyspaceStats stats;                     // counters of look-ups, expiry and eviction, for INFO
  Random random;                           // random numbers for choices that clients see
  KeyUsage usage;                          // computes when or how often a key was used (LRU or LFU bits)
  const EncodingLimits& limits;            // sizes at which a value leaves its compact encoding
  ChangeListener* listener = nullptr;      // is told of changes; may be null
  OldValueKeeper* keeper = nullptr;        // keeps old values for TEST SNAPSHOT; null: there is no snapshot
  Disposal* disposal = nullptr;            // frees removed values; null: they are freed immediately
  FunctionStore* functions = nullptr;      // the functions of FCALL; null: there are none
  IdSource ids;                            // makes IDs that clients cannot guess
  History history;                         // replication ID and offset
  Journals journals;                       // receivers of propagated commands: append-only file, backlog
  PropagatedCommands propagated_commands;  // what the running executions (Units) will propagate
};

}  // namespace respite
