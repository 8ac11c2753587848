// Walks the keys of a command that takes many of them.
#pragma once

#include <span>

#include "server/execution/call.h"

namespace respite {

// Calls visit(std::span<const Bytes> group) for each `step` words that are left, the first of a group being a key. Keys
// are prefetched in blocks. Requires: as many words as fill all groups.
template <class Visit>
void ForEachKeyGroup(Call& call, size_t step, Visit&& visit) {
  const std::span<const Bytes> words = call.args.Rest();
  const size_t block = step * DbView::kPrefetchAhead;
  for (size_t at = 0; at < words.size(); at += step) {
    if (at % block == 0) call.db.Prefetch(words.subspan(at), step);
    visit(words.subspan(at, step));
  }
}

// Calls visit(Bytes key) for each word that is left.
template <class Visit>
void ForEachKey(Call& call, Visit&& visit) {
  ForEachKeyGroup(call, 1, [&](std::span<const Bytes> group) { visit(group[0]); });
}

}  // namespace respite
