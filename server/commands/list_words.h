// What the commands of lists have in common with those that wait for one: ends as words, popping and moving.
#pragma once

#include <cstddef>
#include <span>

#include "datatypes/list.h"
#include "server/execution/call.h"

namespace respite {

// `left` or `right`.
ListEnd TakeEnd(Args& args);

inline KeyEvent PushEvent(ListEnd end) { return end == ListEnd::kHead ? KeyEvent("lpush") : KeyEvent("rpush"); }
inline KeyEvent PopEvent(ListEnd end) { return end == ListEnd::kHead ? KeyEvent("lpop") : KeyEvent("rpop"); }
// The command that pops at an end, as effects name it.
inline Bytes PopCommand(ListEnd end) { return end == ListEnd::kHead ? "LPOP" : "RPOP"; }

// Writes the element at an end and takes it out. Requires: there is one.
void PopOne(Call& call, Edit<List>& list, ListEnd end);
// Writes the `count` elements at an end as an array, outermost first, and takes them out. Requires: there are as many.
void PopMany(Call& call, Edit<List>& list, ListEnd end, size_t count);

// The words of LMPOP, and of BLMPOP behind its timeout.
struct LMPopOptions {
  std::span<const Bytes> keys;
  ListEnd end = ListEnd::kHead;
  size_t count = 1;
};
LMPopOptions ParseLMPopOptions(Args& args);
// Pops from the first of the lists that exists. False, and nothing done, when there is none.
bool PopFromFirst(Call& call, const LMPopOptions& options);

// Moves an element from `source` to the list at `target_key`, and writes it. Requires: there is a source.
void MoveElement(Call& call, Edit<List>& source, ListEnd from, Bytes target_key, ListEnd to);

}  // namespace respite
