#include "server/auth.h"

#include "base/digest.h"

namespace respite {

void Auth::SetPassword(Bytes password) {
  if (password.empty()) {
    password_hash_.reset();
  } else {
    password_hash_ = Sha256(password);
  }
}

bool Auth::Accepts(Bytes user, Bytes password) const {
  if (user != "default") return false;
  if (!password_hash_) return true;
  auto given = Sha256(password);
  return ConstantTimeEquals({reinterpret_cast<const char*>(given.data()), given.size()},
                            {reinterpret_cast<const char*>(password_hash_->data()), password_hash_->size()});
}

}  // namespace respite
