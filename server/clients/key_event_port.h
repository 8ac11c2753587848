// KeyEventPort: where a part hears of what happens to keys, whatever notify-keyspace-events says.
#pragma once

#include <span>

#include "base/bytes.h"
#include "server/catalogue/key_event.h"

namespace respite {

class KeyEventListener {
 public:
  virtual ~KeyEventListener() = default;
  virtual void OnKeyEvent(int db, Bytes key, KeyEvent event) = 0;
  // These databases are about to lose all their keys; there is no event for each of them.
  virtual void OnFlush(std::span<const int> dbs) = 0;
  // Two databases changed places.
  virtual void OnSwap(int one, int other) = 0;
};

// Empty, it costs a branch for each event.
class KeyEventPort {
 public:
  void Attach(KeyEventListener* listener) { listener_ = listener; }
  explicit operator bool() const { return listener_ != nullptr; }
  KeyEventListener* operator->() const { return listener_; }

 private:
  KeyEventListener* listener_ = nullptr;
};

}  // namespace respite
