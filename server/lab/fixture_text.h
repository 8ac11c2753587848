// Writes data as a fixture in the format .redis, with one command per line. Equal data gives equal text, so a test can
// compare the text with a file.
//
//   SELECT 1                       before the keys of each database except 0
//   HSET user:1 age 36 name Ada    keys, fields and set members are sorted
//   PEXPIREAT user:1 1700000060000
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "datatypes/keyspace.h"

namespace respite {

// Returns the commands, one per line, that create the keys that match the pattern and have not expired.
// ReadRedisFixture can read the text. Cost: O(size of the data), and the sorting of the keys, fields and members.
std::string FixtureText(const Keyspace& keyspace, Bytes pattern, int64_t now_ms);  // commands that create matching keys

}  // namespace respite
