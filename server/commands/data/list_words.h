// Helpers for list commands and their blocking variants: parse ends, pop and move elements.
#pragma once

#include <cstddef>
#include <span>

#include "datatypes/list.h"
#include "server/execution/call.h"

namespace respite {

// Takes `left` or `right`.
ListEnd TakeEnd(Args& args);

inline KeyEvent PushEvent(ListEnd end) { return end == ListEnd::kHead ? KeyEvent("lpush") : KeyEvent("rpush"); }
inline KeyEvent PopEvent(ListEnd end) { return end == ListEnd::kHead ? KeyEvent("lpop") : KeyEvent("rpop"); }
// Returns the pop command that is propagated for an end.
inline Bytes PopCommand(ListEnd end) { return end == ListEnd::kHead ? "LPOP" : "RPOP"; }

// Replies with the element at an end and removes it. Requires: the element exists.
void PopOne(Call& call, Edit<List>& list, ListEnd end);
// Replies with an array of `count` elements from an end, outermost first, and removes them. Requires: the elements
// exist.
void PopMany(Call& call, Edit<List>& list, ListEnd end, size_t count);

// The arguments of LMPOP, and of BLMPOP after its timeout.
struct LMPopOptions {
  std::span<const Bytes> keys;
  ListEnd end = ListEnd::kHead;
  size_t count = 1;
};
LMPopOptions ParseLMPopOptions(Args& args);
// Pops from the first list that exists. Returns false and does nothing if there is none.
bool PopFromFirst(Call& call, const LMPopOptions& options);

// Moves an element from `source` to the list at `target_key`, and replies with it. Requires: source exists.
void MoveElement(Call& call, Edit<List>& source, ListEnd from, Bytes target_key, ListEnd to);

}  // namespace respite
