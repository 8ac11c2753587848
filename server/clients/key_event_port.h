// KeyEventPorts: where parts hear of what happens to keys, whatever notify-keyspace-events says. A port has one
// listener or none, so each part that listens has a port of its own.
#pragma once

#include <span>

#include "base/bytes.h"
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

class KeyEventPort {
 public:
  void Attach(KeyEventListener* listener) { listener_ = listener; }
  explicit operator bool() const { return listener_ != nullptr; }
  KeyEventListener& operator*() const { return *listener_; }

 private:
  KeyEventListener* listener_ = nullptr;
};

// An empty port costs a branch for each event.
struct KeyEventPorts {
  KeyEventPort journal;
  KeyEventPort lint;

  // Calls tell(KeyEventListener&).
  template <class Tell>
  void ForEach(Tell&& tell) const {
    for (const KeyEventPort* port : {&journal, &lint}) {
      if (*port) tell(**port);
    }
  }
};

}  // namespace respite
