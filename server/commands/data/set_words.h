// Helpers for set commands.
#pragma once

#include <algorithm>
#include <span>

#include "datatypes/set.h"
#include "server/execution/call.h"

namespace respite {

inline void ReplyMember(Reply& reply, const PackedElement& member) {
  member.is_integer ? reply.BulkInteger(member.integer) : reply.Bulk(member.text);
}

// Calls visit(Bytes member) for each word, until it returns false. Prefetches look-ups in a large set.
template <class Visit>
void ForEachMemberWord(const Set& set, std::span<const Bytes> words, Visit&& visit) {
  constexpr size_t kBlock = 16;
  for (size_t at = 0; at < words.size(); ++at) {
    if (at % kBlock == 0 && words.size() > 1) set.FetchAhead(words.subspan(at, std::min(kBlock, words.size() - at)));
    if (!visit(words[at])) return;
  }
}

}  // namespace respite
