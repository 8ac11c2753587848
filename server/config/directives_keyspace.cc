// Directives of the keyspace: memory, eviction, expiry, encodings of values.
#include <array>

#include "server/config/directive_rows.h"
#include "server/config/special_directives.h"

namespace respite::rows {
namespace {

constexpr ChoiceName kEvictionPolicyNames[] = {
    Named("volatile-lru", EvictionPolicy::kVolatileLru),
    Named("volatile-lfu", EvictionPolicy::kVolatileLfu),
    Named("volatile-random", EvictionPolicy::kVolatileRandom),
    Named("volatile-ttl", EvictionPolicy::kVolatileTtl),
    Named("volatile-lrm", EvictionPolicy::kVolatileLrm, "8.6.0"),
    Named("allkeys-lru", EvictionPolicy::kAllKeysLru),
    Named("allkeys-lfu", EvictionPolicy::kAllKeysLfu),
    Named("allkeys-random", EvictionPolicy::kAllKeysRandom),
    Named("allkeys-lrm", EvictionPolicy::kAllKeysLrm, "8.6.0"),
    Named("noeviction", EvictionPolicy::kNoEviction),
};

constexpr Directive kKeyspaceDirectives[] = {
    {"active-defrag-cycle-max", kMeaningless, Number<&Settings::active_defrag_cycle_max>(1, 99)},
    {"active-defrag-cycle-min", kMeaningless, Number<&Settings::active_defrag_cycle_min>(1, 99)},
    Since("valkey:8.1.0",
          {"active-defrag-cycle-us", kMeaningless, Number<&Settings::active_defrag_cycle_us>(0, 100000), kHidden}),
    {"active-defrag-ignore-bytes", kMeaningless, Memory<&Settings::active_defrag_ignore_bytes>(1, kMaxLong)},
    {"active-defrag-max-scan-fields", kMeaningless, Number<&Settings::active_defrag_max_scan_fields>(1, kMaxLong)},
    {"active-defrag-threshold-lower", kMeaningless, Number<&Settings::active_defrag_threshold_lower>(0, 1000)},
    {"active-defrag-threshold-upper", kMeaningless, Number<&Settings::active_defrag_threshold_upper>(0, 1000)},
    {"active-expire-effort", kEffective, Number<&Settings::active_expire_effort>(1, 10)},
    {"activedefrag", kMeaningless, YesNo<&Settings::activedefrag>(), kDebug},
    {"activerehashing", kMeaningless, YesNo<&Settings::activerehashing>()},
    {"databases", kEffective, Number<&Settings::databases>(1, kMaxInt), kImmutable},
    RenamedIn("7.0.0",
              {"hash-max-listpack-entries", kEffective, Number<&Settings::hash_max_listpack_entries>(0, kMaxLong),
               kNoFlags, "hash-max-ziplist-entries"}),
    RenamedIn("7.0.0", {"hash-max-listpack-value", kEffective, Memory<&Settings::hash_max_listpack_value>(0, kMaxLong),
                        kNoFlags, "hash-max-ziplist-value"}),
    {"hll-sparse-max-bytes", kEffective, Memory<&Settings::hll_sparse_max_bytes>(0, kMaxLong)},
    Since("valkey:8.1.0", {"import-mode", kEffective, YesNo<&Settings::import_mode>(), kHidden}),
    {"jemalloc-bg-thread", kEffective, YesNo<&Settings::jemalloc_bg_thread>()},
    Since("8.6.0", {"key-memory-histograms", kEffective, kKeyMemoryHistograms, kHidden}),
    {"lazyfree-lazy-eviction", kEffective, YesNo<&Settings::lazyfree_lazy_eviction>(), kDebug},
    {"lazyfree-lazy-expire", kEffective, YesNo<&Settings::lazyfree_lazy_expire>(), kDebug},
    {"lazyfree-lazy-server-del", kEffective, YesNo<&Settings::lazyfree_lazy_server_del>(), kDebug},
    {"lazyfree-lazy-user-del", kEffective, YesNo<&Settings::lazyfree_lazy_user_del>(), kDebug},
    {"lazyfree-lazy-user-flush", kEffective, YesNo<&Settings::lazyfree_lazy_user_flush>(), kDebug},
    {"lfu-decay-time", kEffective, Number<&Settings::lfu_decay_time>(0, kMaxInt)},
    {"lfu-log-factor", kEffective, Number<&Settings::lfu_log_factor>(0, kMaxInt)},
    {"list-compress-depth", kMeaningless, Number<&Settings::list_compress_depth>(0, kMaxInt), kDebug},
    RenamedIn("7.0.0",
              {"list-max-listpack-size", kEffective, Number<&Settings::list_max_listpack_size>(kMinInt, kMaxInt),
               kNoFlags, "list-max-ziplist-size"}),
    {"maxmemory", kEffective, Memory<&Settings::maxmemory>(0, kMaxUnsignedLong)},
    {"maxmemory-eviction-tenacity", kEffective, Number<&Settings::maxmemory_eviction_tenacity>(0, 100)},
    {"maxmemory-policy", kEffective, Choice<&Settings::maxmemory_policy>(kEvictionPolicyNames)},
    {"maxmemory-samples", kEffective, Number<&Settings::maxmemory_samples>(1, kMaxInt)},
    {"notify-keyspace-events", kEffective, kNotifyKeyspaceEvents, kVolatile},
    {"set-max-intset-entries", kEffective, Number<&Settings::set_max_intset_entries>(0, kMaxLong)},
    Since("7.2.0", {"set-max-listpack-entries", kEffective, Number<&Settings::set_max_listpack_entries>(0, kMaxLong)}),
    Since("7.2.0", {"set-max-listpack-value", kEffective, Number<&Settings::set_max_listpack_value>(0, kMaxLong)}),
    Since("8.6.0", {"stream-idmp-duration", kEffective, Number<&Settings::stream_idmp_duration>(1, 86400), kHidden}),
    Since("8.6.0", {"stream-idmp-maxsize", kEffective, Number<&Settings::stream_idmp_maxsize>(1, 10000), kHidden}),
    {"stream-node-max-bytes", kEffective, Memory<&Settings::stream_node_max_bytes>(0, kMaxLong)},
    {"stream-node-max-entries", kEffective, Number<&Settings::stream_node_max_entries>(0, kMaxLong)},
    RenamedIn("7.0.0",
              {"zset-max-listpack-entries", kEffective, Number<&Settings::zset_max_listpack_entries>(0, kMaxLong),
               kNoFlags, "zset-max-ziplist-entries"}),
    RenamedIn("7.0.0", {"zset-max-listpack-value", kEffective, Memory<&Settings::zset_max_listpack_value>(0, kMaxLong),
                        kNoFlags, "zset-max-ziplist-value"}),
    Since("8.6.0", {"vset-force-single-threaded-execution", kMeaningless,
                    YesNo<&Settings::vset_force_single_threaded_execution>(), kHidden}),
};

}  // namespace

std::span<const Directive> KeyspaceDirectives() { return kKeyspaceDirectives; }

}  // namespace respite::rows
