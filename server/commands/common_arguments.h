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

inline Refusal InvalidExpireOf(const Call& call) {  // this command's error "ERR invalid expire time in 'set' command"
  const std::string& name = call.command.full_name;
  if (call.services.env.dialect.traits.expire_errors_quote_commands) return InvalidExpire(name);
  return {"ERR invalid expire time in " + name};
}

}  // namespace refusals

// --- Keys and elements.

// Divides the remaining arguments into groups of `step`, and calls visit(std::span<const Bytes> group) for each. The
// first argument of a group is a key. Prefetches many keys at a time. Requires: the last group is complete.
template <class Visit>
void ForEachKeyGroup(Call& call, size_t step, Visit&& visit) {  // calls visit(group) for each `step` arguments: MSET 2
  const std::span<const Bytes> words = call.args.Rest();
  const size_t block = step * DbView::kPrefetchAhead;
  for (size_t at = 0; at < words.size(); at += step) {
    if (at % block == 0) call.db.Prefetch(words.subspan(at), step);
    visit(words.subspan(at, step));
  }
}

// Calls visit(Bytes key) for each remaining argument. Prefetches many keys at a time.
template <class Visit>
void ForEachKey(Call& call, Visit&& visit) {  // calls visit(key) for each remaining argument
  ForEachKeyGroup(call, 1, [&](std::span<const Bytes> group) { visit(group[0]); });
}

// A range of indexes of a list, or of ranks of a sorted set. Contains both ends, `start` and `stop`.
struct IndexRange {   // indexes of a list or ranks of a sorted set, as in LRANGE
  int64_t start = 0;  // index of the first element; negative numbers count from the end
  int64_t stop = 0;   // inclusive; negative numbers count from the end

  struct Part {        // those elements of a range that exist
    size_t first = 0;  // index of the first element
    size_t count = 0;  // number of elements
  };
  Part ClampTo(size_t size) const {  // converts negative indexes, and cuts the range to the `size` elements that exist
    const auto length = static_cast<int64_t>(size);
    const int64_t first = std::max<int64_t>(start < 0 ? start + length : start, 0);
    const int64_t last = std::min(stop < 0 ? stop + length : stop, length - 1);
    if (first > last) return {};
    return {static_cast<size_t>(first), static_cast<size_t>(last - first + 1)};
  }
};

// --- Databases.

// Parses a database number, without checking that the database exists. As in Redis, a number that does not fit into 32
// bits gets its own error, `refusal_of_range`.
inline int ParseDbNumber(Bytes word,  // parses a database number; does not check that the database exists
                         const char* refusal, const char* refusal_of_range) {
  const int64_t number = Args::Integer(word, refusal);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max()) {
    throw Refusal{refusal_of_range};
  }
  return static_cast<int>(number);
}

inline void RequireDb(const Call& call, int number) {  // throws a Refusal if database `number` does not exist
  if (number < 0 || number >= call.services.data.dataset.keyspace.Count()) throw Refusal{refusals::kDbIndex};
}

// Returns true for a node of a cluster with only one database (the default of the directive cluster-databases). As in
// Redis, such a node refuses SELECT, MOVE and COPY … DB.
// Returns whether SELECT, MOVE and COPY with DB are refused because this is a cluster node. Valkey since 9.0 only
// checks the number of the database.
inline bool IsConfinedToOneDb(const Call& call) {  // true: a cluster node with only one database: SELECT is refused
  const Dialect& dialect = call.services.env.dialect;
  const bool allows_databases = dialect.EmulatesVersion() && dialect.Has("valkey:9.0.0");
  return call.services.env.settings.cluster_enabled && call.services.data.dataset.keyspace.Count() == 1 &&
         !allows_databases;
}

inline int ParseDbIndex(const Call& call, Bytes word) {  // parses a database number; throws if it does not exist
  const int number = ParseDbNumber(word, refusals::kNotInteger, refusals::kNotInt);
  RequireDb(call, number);
  return number;
}

// --- Timeouts in milliseconds (WAIT, CLIENT PAUSE) or seconds (BLPOP and its variants).

// Refuses a negative timeout. As in Redis, also refuses a timeout if its sum with the Unix time in milliseconds would
// overflow.
inline int64_t CheckedTimeoutMs(const Call& call, int64_t timeout_ms) {  // the timeout; throws if negative or too large
  if (timeout_ms < 0) throw Refusal{refusals::kTimeoutNegative};
  if (timeout_ms > std::numeric_limits<int64_t>::max() - call.now_ms) throw Refusal{refusals::kTimeoutOutOfRange};
  return timeout_ms;
}

inline int64_t ParseTimeoutMs(const Call& call, Bytes word) {  // parses a timeout in milliseconds (WAIT)
  return CheckedTimeoutMs(call, Args::Integer(word, refusals::kTimeoutNotInteger));
}

// Returns the milliseconds rounded up; 0 means no timeout. As in Redis, a negative timeout of less than a millisecond
// counts as 0.
int64_t ParseSecondsAsMs(const Call& call, Bytes word);  // parses a timeout in seconds (BLPOP); returns milliseconds

// --- Expire times, such as seconds from now (EXPIRE) and Unix milliseconds (PEXPIREAT).

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds };
enum class TimeBase : uint8_t { kNow, kEpoch };

// The reply of TTL, HTTL and their variants for a key or a field that has no deadline.
inline constexpr int64_t kNoDeadlineReply = -1;

}  // namespace respite
