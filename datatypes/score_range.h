// Ranges of a sorted set: by score, by member, by rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/bytes.h"

namespace respite {

// Bounds may be exclusive. A range whose minimum is above its maximum is empty.
struct ScoreRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool excludes_min = false;
  bool excludes_max = false;

  bool StartsAtOrBelow(double score) const { return excludes_min ? score > min : score >= min; }
  bool EndsAtOrAbove(double score) const { return excludes_max ? score < max : score <= max; }
};

// One end of a LexRange: a member, or a place before (kLowest) or after (kHighest) all members.
struct LexEnd {
  enum class Kind : uint8_t { kLowest, kIncluded, kExcluded, kHighest };
  Kind kind = Kind::kLowest;
  Bytes member = {};
};

// A range that compares the bytes of the member; useful if all scores are equal.
struct LexRange {
  LexEnd min = {LexEnd::Kind::kLowest};
  LexEnd max = {LexEnd::Kind::kHighest};

  bool StartsAtOrBelow(Bytes member) const {
    if (min.kind == LexEnd::Kind::kLowest) return true;
    if (min.kind == LexEnd::Kind::kHighest) return false;
    const int order = member.compare(min.member);
    return order > 0 || (order == 0 && min.kind == LexEnd::Kind::kIncluded);
  }
  bool EndsAtOrAbove(Bytes member) const {
    if (max.kind == LexEnd::Kind::kHighest) return true;
    if (max.kind == LexEnd::Kind::kLowest) return false;
    const int order = member.compare(max.member);
    return order < 0 || (order == 0 && max.kind == LexEnd::Kind::kIncluded);
  }
};

// `count` members from rank `first` on. Rank 0 has the lowest score.
struct RankSpan {
  size_t first = 0;
  size_t count = 0;

  bool IsEmpty() const { return count == 0; }
};

enum class Direction : uint8_t { kUp, kDown };

}  // namespace respite
