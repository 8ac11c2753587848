// Dataset: the data of a server and what every Unit over it needs. It knows no clients, sockets or files: listeners,
// journals and the disposal of values are interfaces.
#pragma once

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
#include "server/dataset/function_store.h"
#include "server/dataset/history.h"
#include "server/dataset/journal.h"
#include "server/dataset/key_usage.h"

namespace respite {

// Hears of changes while they happen: transactions that watch keys, clients that wait for them or cache them, and those
// who subscribed to keyspace events.
class ChangeListener {
 public:
  virtual ~ChangeListener() = default;
  // A key was created or removed, or its value changed.
  virtual void OnChange(int db, Bytes key) = 0;
  virtual void OnEvent(int db, Bytes key, const KeyEvent& event) = 0;
  // Clients that wait for the key must look again, although its value is unchanged.
  virtual void OnWake(int db, Bytes key) = 0;
  // These databases are about to lose all their keys.
  virtual void OnFlush(std::span<const int> dbs) = 0;
  // Two databases changed places.
  virtual void OnSwap(int one, int other) = 0;
};

// Keeps what is about to change, so that it can be brought back (snapshots of TEST).
class ChangeKeeper {
 public:
  virtual ~ChangeKeeper() = default;
  // A command may change or remove this key, or create it. `entry` is what it is now; null: absent.
  virtual void BeforeChange(int db, Bytes key, const Entry* entry) = 0;
  // A database has lost this content, which nobody else needs. Whoever keeps it leaves an empty database behind.
  virtual void OnFlushed(int db, Database& content) = 0;
  virtual void OnSwap(int one, int other) = 0;
  // All data goes elsewhere: another data set takes its place.
  virtual void OnReplaced() = 0;
};

// Counters that writes and look-ups feed; INFO shows them.
struct KeyspaceStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t expired_keys = 0;
  uint64_t expired_fields = 0;
  double expired_stale_share = 0;  // running estimate of the share of keys that are expired but still there
  uint64_t expire_cycles_cut = 0;  // expired_time_cap_reached_count
  uint64_t expire_cycle_us = 0;
  uint64_t dirty = 0;  // changes since the last save
  uint64_t evicted_keys = 0;
};

// Frees values that were removed from the keyspace: at once, or on the background thread, as the lazyfree directives
// say.
class Disposal {
 public:
  virtual ~Disposal() = default;
  virtual void Expired(EntryPtr entry) = 0;
  virtual void Evicted(EntryPtr entry) = 0;
  virtual void Overwritten(BlobRef value) = 0;
  virtual void Overwritten(std::unique_ptr<Object> value) = 0;
};

struct Dataset {
  // The rules must outlive it. `random_seed` is for choices that clients see, `id_source` for what they must not
  // guess.
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

  const Settings& settings;
  Keyspace keyspace;
  KeyspaceStats stats;
  Random random;
  KeyUsage usage;
  const EncodingLimits& limits;
  ChangeListener* listener = nullptr;  // null: nobody listens
  ChangeKeeper* keeper = nullptr;      // null: nobody keeps anything
  Disposal* disposal = nullptr;        // null: everything is freed at once
  FunctionStore* functions = nullptr;  // null: there are none
  IdSource ids;
  History history;
  Journals journals;
  Effects effects;  // of the Units that are under way
};

}  // namespace respite
