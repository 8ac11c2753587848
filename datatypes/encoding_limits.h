// EncodingLimits: the sizes up to which a collection stays packed and a stream block is filled. The directives of the
// same names set them; OBJECT ENCODING shows the effect.
#pragma once

#include <cstdint>

namespace respite {

struct EncodingLimits {                      // directives: how large a packed collection may become
  uint64_t hash_max_listpack_entries = 512;  // fields
  uint64_t hash_max_listpack_value = 64;     // bytes of a name or value
  uint64_t set_max_intset_entries = 512;     // members
  uint64_t set_max_listpack_entries = 128;   // members
  uint64_t set_max_listpack_value = 64;      // bytes of a member
  uint64_t zset_max_listpack_entries = 128;  // members
  uint64_t zset_max_listpack_value = 64;     // bytes of a member
  int list_max_listpack_size = -2;           // -1 to -5: 4 to 64 KB per chunk; positive: elements per chunk
  uint64_t stream_node_max_bytes = 4096;     // of a block; 0: no limit
  int64_t stream_node_max_entries = 100;     // of a block; 0: no limit
};

}  // namespace respite
