// LatencyHistogram: how long the calls of one command took, for LATENCY HISTOGRAM and INFO latencystats.
//
// Layout: durations under 256 ns have a bucket each. Above that, each power of two is divided into 128 buckets, so a
// bucket is at most 1/128 of its value wide. Buckets are allocated in groups of 128 (1 KB) on first use; a typical
// command uses three to six groups. An empty histogram takes 200 bytes; the largest possible one takes 24 KB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace respite {

class LatencyHistogram {  // counts how long the calls of one command took
 public:
  // Counts one duration, clamped to the range from 1 ns to 1 s. Cost: a few ns.
  void Record(uint64_t duration_ns);  // counts one call of this duration; above 1 s counts as 1 s

  uint64_t Count() const { return count_; }  // number of recorded calls

  // Returns the upper end, in nanoseconds, of the bucket with the given percentile. Percentile 100 gives the bucket of
  // the longest call. As in Redis, percentile 0 gives the lower end of the bucket of the shortest call. Returns 0 if
  // nothing was recorded. Cost: one pass over all buckets.
  uint64_t ValueAtPercentile(double percentile) const;  // this % of calls took at most the returned ns; 0: no calls

  // Returns pairs: an upper bound in µs, and the number of calls that took at most this long. Leaves out a bound that
  // adds no calls. The bounds double: 1, 2, 4, 8, 16, 33, 66, 132 … (As in Redis, a bound is the end of the bucket that
  // begins at 1024 ns times a power of two. The pair shows the bound in whole microseconds.)
  std::vector<std::pair<uint64_t, uint64_t>> CumulativeBucketsUs() const;  // (bound in µs, number of calls within)

  void Reset();  // forgets all recorded calls

 private:
  static constexpr size_t kGroupSize = 128;  // number of buckets that are allocated together
  static constexpr size_t kMaxGroups = 24;   // maximum number of groups of buckets
  using Group = std::array<uint64_t, kGroupSize>;

  static size_t BucketOf(uint64_t duration_ns);      // index of the bucket that counts this duration
  static uint64_t ShortestInBucketNs(size_t index);  // the shortest duration, in ns, that the bucket `index` counts
  static uint64_t LongestInBucketNs(size_t index) {  // the longest duration of bucket `index`, in ns
    return ShortestInBucketNs(index + 1) - 1;
  }

  uint64_t CountAt(size_t index) const;  // number of durations in the bucket `index`

  std::array<std::unique_ptr<Group>, kMaxGroups> groups_;  // groups of bucket counts; null: all zero
  uint64_t count_ = 0;                                     // number of recorded calls
};

}  // namespace respite
