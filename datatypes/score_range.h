// Ranges of the members of a sorted set: by score, by the bytes of the member, by rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/bytes.h"

namespace respite {

// Each bound is inclusive or exclusive. The range is empty if its minimum is above its maximum, or if both are equal
// and one is excluded.
struct ScoreRange {  // a range of scores, as in ZRANGEBYSCORE
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool excludes_min = false;  // true: `min` itself is not in the range
  bool excludes_max = false;  // true: `max` itself is not in the range

  bool StartsAtOrBelow(double score) const {  // true: `score` is not below the range
    return excludes_min ? score > min : score >= min;
  }
  bool EndsAtOrAbove(double score) const {  // true: `score` is not above the range
    return excludes_max ? score < max : score <= max;
  }
};

// kLowest: the end is before all members. kHighest: the end is after all members. kIncluded, kExcluded: the end is at
// `member`, which is or is not in the range.
struct LexEnd {  // one end of a LexRange: at a member, or beyond all members
  enum class Kind : uint8_t { kLowest, kIncluded, kExcluded, kHighest };
  Kind kind = Kind::kLowest;
  Bytes member = {};  // the member at this end, unless the kind is kLowest or kHighest
};

// Members are ordered by their bytes. A LexRange is meaningful only if all members have equal scores.
struct LexRange {  // a range of members, as in ZRANGEBYLEX
  LexEnd min = {LexEnd::Kind::kLowest};
  LexEnd max = {LexEnd::Kind::kHighest};

  bool StartsAtOrBelow(Bytes member) const {  // true: `member` is not before the range
    if (min.kind == LexEnd::Kind::kLowest) return true;
    if (min.kind == LexEnd::Kind::kHighest) return false;
    const int order = member.compare(min.member);
    return order > 0 || (order == 0 && min.kind == LexEnd::Kind::kIncluded);
  }
  bool EndsAtOrAbove(Bytes member) const {  // true: `member` is not after the end of the range
    if (max.kind == LexEnd::Kind::kHighest) return true;
    if (max.kind == LexEnd::Kind::kLowest) return false;
    const int order = member.compare(max.member);
    return order < 0 || (order == 0 && max.kind == LexEnd::Kind::kIncluded);
  }
};

struct RankSpan {    // a range of ranks: `count` members from rank `first` on; rank 0 has the lowest score
  size_t first = 0;  // the lowest rank
  size_t count = 0;  // number of members

  bool IsEmpty() const { return count == 0; }  // true: no members
};

enum class Direction : uint8_t { kUp, kDown };

}  // namespace respite
