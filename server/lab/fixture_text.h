// Data as a fixture in the format .redis: one command a line, the same text for the same data, so that a test can
// compare it with a file.
//
//   SELECT 1                       before the keys of another database than 0
//   HSET user:1 age 36 name Ada    keys in order of their names, fields and members of sets, too
//   PEXPIREAT user:1 1700000060000
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "datatypes/keyspace.h"

namespace respite {

// The keys that match the pattern and have not expired. ReadRedisFixture reads it back. Cost: O(size of the data).
std::string RedisFixtureOf(const Keyspace& keyspace, Bytes pattern, int64_t now_ms);

}  // namespace respite
