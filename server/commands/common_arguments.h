// Arguments that commands of several families take: keys, ranges of indexes, database numbers, timeouts and expire
// times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "datatypes/keyspace.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {

inline constexpr char kDbIndex[] = "ERR DB index is out of range";
inline constexpr char kNotInt[] = "ERR value is out of range, value must between -2147483648 and 2147483647";

inline constexpr char kTimeoutNotFloat[] = "ERR timeout is not a float or out of range";
inline constexpr char kTimeoutNotInteger[] = "ERR timeout is not an integer or out of range";
inline constexpr char kTimeoutOutOfRange[] = "ERR timeout is out of range";
inline constexpr char kTimeoutNegative[] = "ERR timeout is negative";

// The error for an expire time that is out of range.
inline Refusal InvalidExpireOf(const Call& call) {  // the error "ERR invalid expire time in 'set' command"
  const std::string& name = call.command.full_name;
  if (call.services.env.dialect.traits.expire_errors_quote_commands) return InvalidExpire(name);
  return {"ERR invalid expire time in " + name};
}

}  // namespace refusals

// --- Keys and elements.

// Calls visit(std::span<const Bytes> group) for each group of `step` remaining words, whose first word is a key.
// Prefetches keys in blocks. Requires: all groups are complete.
template <class Visit>
void ForEachKeyGroup(Call& call, size_t step, Visit&& visit) {  // for MSET and the like: each key with its arguments
  const std::span<const Bytes> words = call.args.Rest();
  const size_t block = step * DbView::kPrefetchAhead;
  for (size_t at = 0; at < words.size(); at += step) {
    if (at % block == 0) call.db.Prefetch(words.subspan(at), step);
    visit(words.subspan(at, step));
  }
}

// Calls visit(Bytes key) for each remaining word.
template <class Visit>
void ForEachKey(Call& call, Visit&& visit) {
  ForEachKeyGroup(call, 1, [&](std::span<const Bytes> group) { visit(group[0]); });
}

// A range of indexes in a list, or of ranks in a sorted set: from start to stop, inclusive. Negative numbers count from
// the end.
struct IndexRange {   // indexes of a list or ranks of a sorted set, as in LRANGE
  int64_t start = 0;  // negative numbers count from the end
  int64_t stop = 0;   // inclusive; negative numbers count from the end

  struct Part {        // some consecutive elements
    size_t first = 0;  // index of the first element
    size_t count = 0;  // number of elements
  };
  Part ClampTo(size_t size) const {  // the part of the range within `size` elements
    const auto length = static_cast<int64_t>(size);
    const int64_t first = std::max<int64_t>(start < 0 ? start + length : start, 0);
    const int64_t last = std::min(stop < 0 ? stop + length : stop, length - 1);
    if (first > last) return {};
    return {static_cast<size_t>(first), static_cast<size_t>(last - first + 1)};
  }
};

// --- Databases.

// Parses a database number. Redis: a number beyond 32 bits has its own error, even if no such database can exist.
inline int ParseDbNumber(Bytes word, const char* refusal, const char* refusal_of_range) {  // it need not exist
  const int64_t number = Args::Integer(word, refusal);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max()) {
    throw Refusal{refusal_of_range};
  }
  return static_cast<int>(number);
}

inline void RequireDb(const Call& call, int number) {  // throws a Refusal if there is no such database
  if (number < 0 || number >= call.services.data.dataset.keyspace.Count()) throw Refusal{refusals::kDbIndex};
}

// Returns true for a cluster node with one database (the default of cluster-databases). SELECT, MOVE and COPY … DB are
// then refused, as in Redis.
inline bool IsConfinedToOneDb(const Call& call) {  // this is a cluster node with one database, which refuses SELECT
  return call.services.env.settings.cluster_enabled && call.services.data.dataset.keyspace.Count() == 1;
}

inline int ParseDbIndex(const Call& call, Bytes word) {  // throws a Refusal if there is no such database
  const int number = ParseDbNumber(word, refusals::kNotInteger, refusals::kNotInt);
  RequireDb(call, number);
  return number;
}

// --- Timeouts in milliseconds (WAIT, CLIENT PAUSE) or seconds (BLPOP and its variants).

// Redis: adds timeouts to the wall clock, so timeouts that would overflow are out of range.
inline int64_t CheckedTimeoutMs(const Call& call, int64_t timeout_ms) {  // throws a Refusal if it is out of range
  if (timeout_ms < 0) throw Refusal{refusals::kTimeoutNegative};
  if (timeout_ms > std::numeric_limits<int64_t>::max() - call.now_ms) throw Refusal{refusals::kTimeoutOutOfRange};
  return timeout_ms;
}

inline int64_t ParseTimeoutMs(const Call& call, Bytes word) {  // parses milliseconds (WAIT, CLIENT PAUSE)
  return CheckedTimeoutMs(call, Args::Integer(word, refusals::kTimeoutNotInteger));
}

// Parses seconds with a fraction. Returns milliseconds, rounded up; 0 means no timeout. Redis: a negative fraction of a
// millisecond becomes 0.
int64_t ParseSecondsAsMs(const Call& call, Bytes word);  // parses seconds (BLPOP); returns milliseconds

// --- Expire times, such as seconds from now (EXPIRE) and Unix milliseconds (PEXPIREAT).

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds };
enum class TimeBase : uint8_t { kNow, kEpoch };

// Reply of TTL, HTTL and their variants for a key or a field without a deadline.
inline constexpr int64_t kNoDeadlineReply = -1;

}  // namespace respite
