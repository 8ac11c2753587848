// Taking members off the ends of sorted sets, at once (ZPOPMIN, ZMPOP) or after waiting (BZPOPMIN, BZMPOP).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datatypes/sorted_set.h"
#include "server/execution/call.h"

namespace respite {

enum class ScoreEnd : uint8_t { kMin, kMax };

// The command that pops at an end, as effects name it.
inline Bytes PopCommand(ScoreEnd end) { return end == ScoreEnd::kMin ? "ZPOPMIN" : "ZPOPMAX"; }

// Takes `count` members off one end and calls write(member, score) for each before. Requires: there are as many.
template <class Write>
void PopMembers(Edit<SortedSet>& set, ScoreEnd end, size_t count, Write&& write) {
  const RankSpan span{end == ScoreEnd::kMin ? 0 : set->Size() - count, count};
  set->ForEach(span, end == ScoreEnd::kMin ? Direction::kUp : Direction::kDown, write);
  set->Remove(span);
  set.Touched(end == ScoreEnd::kMin ? KeyEvent("zpopmin") : KeyEvent("zpopmax"), count);
}

// The words of ZMPOP, and of BZMPOP behind its timeout.
struct ZMPopOptions {
  std::span<const Bytes> keys;
  ScoreEnd end = ScoreEnd::kMin;
  size_t count = 1;
};
ZMPopOptions ParseZMPopOptions(Args& args);
// Pops from the first of the sorted sets that exists. False, and nothing done, when there is none.
bool PopFromFirst(Call& call, const ZMPopOptions& options);

}  // namespace respite
