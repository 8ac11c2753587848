// KeyRemoval: whether keys may go now by themselves, because they expired or memory is short. What asks owns this
// interface; what knows of clients answers.
#pragma once

#include <cstdint>

namespace respite {

class KeyRemoval {
 public:
  enum class Answer : uint8_t {
    kYes,
    kLater,  // somebody is in the middle of something
    kNo,     // clients are paused, or the server stops
  };
  virtual ~KeyRemoval() = default;
  virtual Answer Now() const = 0;
};

}  // namespace respite
