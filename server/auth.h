// Auth: who may come in. One user, `default`, whose password is requirepass; users and rules come with ACL.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace respite {

class Auth {
 public:
  // Empty: everybody is let in.
  void SetPassword(Bytes password);
  bool Required() const { return password_hash_.has_value(); }
  // Compares in constant time. Without a password any is right.
  bool Accepts(Bytes user, Bytes password) const;

 private:
  std::optional<std::array<uint8_t, 32>> password_hash_;  // SHA-256
};

}  // namespace respite
