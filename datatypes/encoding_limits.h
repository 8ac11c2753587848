// EncodingLimits: the sizes up to which a collection stays packed and a stream block is filled. The directives of the
// same names set them; OBJECT ENCODING shows the effect.
#pragma once

#include <cstdint>

namespace respite {

struct EncodingLimits {
  uint64_t hash_max_listpack_entries = 512;
  uint64_t hash_max_listpack_value = 64;
  uint64_t set_max_intset_entries = 512;
  uint64_t set_max_listpack_entries = 128;
  uint64_t set_max_listpack_value = 64;
  uint64_t zset_max_listpack_entries = 128;
  uint64_t zset_max_listpack_value = 64;
  int list_max_listpack_size = -2;
  uint64_t stream_node_max_bytes = 4096;  // 0: no limit
  int64_t stream_node_max_entries = 100;  // 0: no limit
};

}  // namespace respite
