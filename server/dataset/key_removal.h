// KeyRemoval: whether keys may be removed now because they expired or memory is short. Expiry and eviction ask; the
// room of clients answers.
#pragma once

#include <cstdint>

namespace respite {

class KeyRemoval {
 public:
  enum class Answer : uint8_t {
    kYes,
    kLater,  // a script is late, or data is loaded
    kNo,     // clients are paused, data is imported, or the server stops
  };
  virtual ~KeyRemoval() = default;
  virtual Answer Now() const = 0;
};

}  // namespace respite
