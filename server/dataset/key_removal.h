// KeyRemoval: whether expired or evicted keys may be removed now. Used by expiry and eviction; implemented in
// server/clients/ (RemovalRule).
#pragma once

#include <cstdint>

namespace respite {

class KeyRemoval {
 public:
  enum class Answer : uint8_t {
    kYes,
    kLater,  // a slow script is running, or data is being loaded
    kNo,     // clients are paused, data is imported, or the server has stopped
  };
  virtual ~KeyRemoval() = default;
  virtual Answer Now() const = 0;
};

}  // namespace respite
