// Redis' glob patterns, as KEYS, SCAN MATCH, PSUBSCRIBE, CONFIG GET and ACL use them.
//
//   *       any octets, also none          ?       any one octet
//   [abc]   one of these                   [^abc]  none of these
//   [a-z]   a range, in either order       \c      the octet c, without its special meaning (also inside [])
//
// The text is matched whole. Oddities kept from Redis are marked in glob.cc.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace respite {

enum class CaseMode : uint8_t { kSensitive, kIgnore };

// Cost: O(|pattern| * |text|) at worst whatever the number of stars, no recursion, no allocation.
bool GlobMatch(Bytes pattern, Bytes text, CaseMode mode = CaseMode::kSensitive);

}  // namespace respite
