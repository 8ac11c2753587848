// EncodingLimits: the sizes up to which a collection stays packed and a stream block is filled. A directive of
// redis.conf sets each size: hash-max-listpack-entries sets hash_max_listpack_entries. OBJECT ENCODING shows the
// effect.
#pragma once

#include <cstdint>

namespace respite {

struct EncodingLimits {  // sizes up to which collections stay packed; directives of redis.conf set them
  uint64_t hash_max_listpack_entries = 512;  // a packed hash has at most this many fields
  uint64_t hash_max_listpack_value = 64;     // a name or value in a packed hash has at most this many bytes
  uint64_t set_max_intset_entries = 512;     // an intset has at most this many members
  uint64_t set_max_listpack_entries = 128;   // a packed set with texts has at most this many members
  uint64_t set_max_listpack_value = 64;      // a member of a packed set has at most this many bytes
  uint64_t zset_max_listpack_entries = 128;  // a packed sorted set has at most this many members
  uint64_t zset_max_listpack_value = 64;     // a member of a packed sorted set has at most this many bytes
  int list_max_listpack_size = -2;           // -1 to -5: 4 to 64 KB per chunk; positive: elements per chunk
  uint64_t stream_node_max_bytes = 4096;     // an entry that would bring a block to this size starts a new one; 0: 1 GB
  int64_t stream_node_max_entries = 100;     // a block of a stream gets at most this many entries; 0: no limit
  int64_t stream_idmp_duration = 100;        // XADD IDMP: seconds for which a new stream remembers an idempotent ID
  int64_t stream_idmp_maxsize = 100;         // XADD IDMP: idempotent IDs per producer that a new stream remembers
};

}  // namespace respite
