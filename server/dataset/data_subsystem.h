// DataSubsystem: the data of a server (Node), and the objects that remove keys (expiry, eviction) and free memory (lazy
// free).
#pragma once

#include "base/late_bound.h"
#include "protocol/reply_buffer.h"
#include "server/dataset/active_expiry.h"
#include "server/dataset/dataset.h"
#include "server/dataset/eviction.h"
#include "server/dataset/exact_expiry.h"
#include "server/dataset/expiry.h"
#include "server/dataset/lazy_free.h"
#include "server/dataset/lazy_free_thread.h"
#include "server/dataset/memory_gauge.h"
#include "server/runtime/env.h"

namespace respite {

struct DataSubsystem {  // the data of a server, and what removes keys: expiry, eviction, lazy free
  // `random_seed` is for random choices that clients can see (such as SPOP). `ids` makes what clients must not guess:
  // replication IDs and passwords of ACL GENPASS.
  DataSubsystem(const Env& env, const HashKey& hash_key, uint64_t random_seed, const IdSource& ids)
      : dataset(env.settings, hash_key, random_seed, ids),
        memory(env.stats),
        lazy_free({.env = env, .keyspace = dataset.keyspace, .memory = memory, .lazy_free_thread = lazy_free_thread}),
        expiry(dataset, env.clock, env.real_clock),
        active_expiry({.env = env, .removal = expiry_rule, .expiry = expiry}),
        exact_expiry(dataset, env.clock, expiry_rule),
        eviction({.env = env,
                  .data = dataset,
                  .eviction_rule = eviction_rule,
                  .lazy_free = lazy_free,
                  .memory = memory,
                  .blocks = reply_blocks}) {
    dataset.disposal = &lazy_free;
    env.timers.Add(exact_expiry);
  }
  DataSubsystem(const DataSubsystem&) = delete;
  DataSubsystem& operator=(const DataSubsystem&) = delete;

  // These rules say whether keys may be removed now. They depend on clients and replication, so ClientSubsystem
  // attaches them later.
  LateBound<const KeyRemovalPermission> expiry_rule;    // says whether expired keys may be removed now
  LateBound<const KeyRemovalPermission> eviction_rule;  // says whether keys may be evicted now
  Dataset dataset;                                      // the keys, and the state that command executions share
  BlockPool reply_blocks;           // free blocks for reply buffers; given back before keys are evicted
  LazyFreeThread lazy_free_thread;  // frees large values in the background
  MemoryGauge memory;               // measures used memory
  LazyFree lazy_free;               // frees removed values, now or in the background
  Expiry expiry;                    // finds and removes expired keys that no command has found
  ActiveExpiry active_expiry;       // lets `expiry` work in short slices, at each timer tick
  ExactExpiry exact_expiry;         // removes keys exactly at their deadline while a test moves the clock
  Eviction eviction;                // removes keys to keep memory within maxmemory
};

}  // namespace respite
