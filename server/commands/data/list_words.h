// Helpers for list commands and their blocking variants: parse ends, pop and move elements.
#pragma once

#include <cstddef>
#include <span>

#include "datatypes/list.h"
#include "server/execution/call.h"

namespace respite {

ListEnd TakeEnd(Args& args);  // takes the argument LEFT or RIGHT, or throws a Refusal

inline KeyEvent EventOfPush(ListEnd end) {  // the keyspace event of a push at this end
  return end == ListEnd::kHead ? KeyEvent("lpush") : KeyEvent("rpush");
}
inline KeyEvent EventOfPop(ListEnd end) {  // the keyspace event of a pop at this end
  return end == ListEnd::kHead ? KeyEvent("lpop") : KeyEvent("rpop");
}
inline Bytes CommandOfPop(ListEnd end) {  // name of the command that is propagated for a pop at this end
  return end == ListEnd::kHead ? "LPOP" : "RPOP";
}

inline Bytes CommandOfPush(ListEnd end) {  // name of the command that is propagated for a push at this end
  return end == ListEnd::kHead ? "LPUSH" : "RPUSH";
}

void PopOne(Call& call, Edit<List>& list, ListEnd end);  // removes the element at this end, and replies with it
// Removes `count` elements from one end, and replies with an array of them. The array begins with the outermost
// element. Requires: the list has this many elements.
void PopMany(Call& call, Edit<List>& list, ListEnd end, size_t count);  // pops; replies with array, outermost first

struct LMPopOptions {  // the arguments of LMPOP, and of BLMPOP after its timeout
  std::span<const Bytes> keys;
  ListEnd end = ListEnd::kHead;
  size_t count = 1;  // COUNT: maximum number of elements to pop
};
LMPopOptions ParseLMPopOptions(Args& args);                  // parses the arguments of LMPOP from `numkeys` on
bool PopFromFirst(Call& call, const LMPopOptions& options);  // pops from the first list that exists; false: none exists

// Moves an element from one end of `source` to an end of the list at `target_key`, and replies with it. Requires: the
// source list exists.
void MoveElement(Call& call, Edit<List>& source, ListEnd from,  // moves one element to another list, as LMOVE does
                 Bytes target_key, ListEnd to);

}  // namespace respite
