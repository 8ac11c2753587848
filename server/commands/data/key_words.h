// Iterates over the keys of a command with many keys.
#pragma once

#include <span>

#include "server/execution/call.h"

namespace respite {

// Calls visit(std::span<const Bytes> group) for each group of `step` remaining words, whose first word is a key.
// Prefetches keys in blocks. Requires: all groups are complete.
template <class Visit>
void ForEachKeyGroup(Call& call, size_t step, Visit&& visit) {
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

}  // namespace respite
