#include "base/histogram.h"

#include <algorithm>
#include <bit>

namespace respite {

namespace {

constexpr uint64_t kShortest_ns = 1;
constexpr uint64_t kLongest_ns = 1'000'000'000;

// Durations below 2^kExactBits ns have a bucket each. For longer durations, the eight leading bits select the bucket.
constexpr int kExactBits = 8;

int DroppedBits(uint64_t value) { return std::max(0, static_cast<int>(std::bit_width(value)) - kExactBits); }

}  // namespace

// Returns the index of the bucket that counts this duration. Each power of two has kGroupSize buckets, which follow
// those of the previous power. The eight leading bits of the duration (128 to 255) choose one of them.
size_t LatencyHistogram::BucketOf(uint64_t duration_ns) {
  const int dropped = DroppedBits(duration_ns);
  return static_cast<size_t>(dropped) * kGroupSize + static_cast<size_t>(duration_ns >> dropped);
}

uint64_t LatencyHistogram::ShortestInBucketNs(size_t index) {
  if (index < 2 * kGroupSize) return index;
  const size_t dropped = index / kGroupSize - 1;
  return static_cast<uint64_t>(index - dropped * kGroupSize) << dropped;
}

uint64_t LatencyHistogram::CountAt(size_t index) const {
  const auto& group = groups_[index / kGroupSize];
  return group ? (*group)[index % kGroupSize] : 0;
}

void LatencyHistogram::Record(uint64_t duration_ns) {
  const size_t index = BucketOf(std::clamp(duration_ns, kShortest_ns, kLongest_ns));
  auto& group = groups_[index / kGroupSize];
  if (!group) group = std::make_unique<Group>();
  (*group)[index % kGroupSize]++;
  count_++;
}

uint64_t LatencyHistogram::ValueAtPercentile(double percentile) const {
  const double wanted = std::clamp(percentile, 0.0, 100.0) / 100 * static_cast<double>(count_) + 0.5;
  const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, std::max<uint64_t>(count_, 1));
  uint64_t seen = 0;
  for (size_t index = 0; index < kMaxGroups * kGroupSize; index++) {
    seen += CountAt(index);
    if (seen >= rank) return percentile > 0 ? LongestInBucketNs(index) : ShortestInBucketNs(index);
  }
  return 0;
}

std::vector<std::pair<uint64_t, uint64_t>> LatencyHistogram::CumulativeBucketsUs() const {
  std::vector<std::pair<uint64_t, uint64_t>> steps;
  uint64_t cumulative = 0;
  uint64_t reported = 0;
  size_t index = 0;
  for (uint64_t bound_ns = 1024; reported < count_; bound_ns *= 2) {
    // As in Redis, the bucket that begins exactly at the bound also counts as below the bound.
    const size_t last = std::min(BucketOf(bound_ns), kMaxGroups * kGroupSize - 1);
    for (; index <= last; index++) cumulative += CountAt(index);
    if (cumulative > reported) steps.emplace_back(LongestInBucketNs(last) / 1000, cumulative);
    reported = cumulative;
  }
  return steps;
}

void LatencyHistogram::Reset() {
  for (auto& group : groups_) group.reset();
  count_ = 0;
}

}  // namespace respite
