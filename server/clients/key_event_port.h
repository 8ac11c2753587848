// KeyEventPorts: report key events to internal listeners, regardless of notify-keyspace-events. A port has at most one
// listener, so each listening component has its own port.
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
  // Called before these databases lose all their keys. No events for the single keys follow.
  virtual void OnFlush(std::span<const int> dbs) = 0;
  // Called when two databases were swapped.
  virtual void OnSwap(int one, int other) = 0;
};

// A port without a listener costs one branch per event.
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
