// KeyEventPorts: where parts hear of what happens to keys, whatever notify-keyspace-events says. A port has one
// listener or none, so each part that listens has a port of its own.
#pragma once

#include <span>

#include "base/bytes.h"
#include "base/late_bound.h"
#include "server/catalogue/key_event.h"

namespace respite {

class KeyEventListener {
 public:
  virtual ~KeyEventListener() = default;
  virtual void OnKeyEvent(int db, Bytes key, const KeyEvent& event) = 0;
  // These databases are about to lose all their keys; there is no event for each of them.
  virtual void OnFlush(std::span<const int> dbs) = 0;
  // Two databases changed places.
  virtual void OnSwap(int one, int other) = 0;
};

// An empty port costs a branch for each event.
struct KeyEventPorts {
  LateBound<KeyEventListener> journal;
  LateBound<KeyEventListener> lint;

  // Calls tell(KeyEventListener&).
  template <class Tell>
  void ForEach(Tell&& tell) const {
    for (const LateBound<KeyEventListener>* port : {&journal, &lint}) {
      if (*port) tell(**port);
    }
  }
};

}  // namespace respite
