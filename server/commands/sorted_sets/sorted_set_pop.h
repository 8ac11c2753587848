// Pops members from sorted sets, for ZPOPMIN, ZPOPMAX, ZMPOP and their blocking forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datatypes/sorted_set.h"
#include "server/execution/call.h"

namespace respite {

enum class ScoreEnd : uint8_t { kMin, kMax };

inline Bytes CommandOfPop(ScoreEnd end) {  // name of the command that is propagated for a pop at this end
  return end == ScoreEnd::kMin ? "ZPOPMIN" : "ZPOPMAX";
}

// Removes `count` members from one end, and calls write(member, score) for each. Also reports the change. Requires: the
// set has at least `count` members.
template <class Write>
void PopMembers(Edit<SortedSet>& set, ScoreEnd end, size_t count, Write&& write) {  // pops exactly `count` members
  const RankSpan span{end == ScoreEnd::kMin ? 0 : set->Size() - count, count};
  set->ForEach(span, end == ScoreEnd::kMin ? Direction::kUp : Direction::kDown, write);
  set->Remove(span);
  set.ReportChange(end == ScoreEnd::kMin ? KeyEvent("zpopmin") : KeyEvent("zpopmax"), count);
}

struct ZMPopOptions {  // the arguments of ZMPOP, and of BZMPOP after its timeout
  std::span<const Bytes> keys;
  ScoreEnd end = ScoreEnd::kMin;
  size_t count = 1;  // COUNT: maximum number of members to pop
};
ZMPopOptions ParseZMPopOptions(Args& args);                  // parses the arguments of ZMPOP from `numkeys` on
bool PopFromFirst(Call& call, const ZMPopOptions& options);  // pops from the first existing key, replies; false: none

}  // namespace respite
