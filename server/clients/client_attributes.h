// What a client may call itself: names that keep the lines of CLIENT LIST readable.
#pragma once

#include <algorithm>

#include "base/bytes.h"
#include "server/catalogue/refusals.h"
#include "server/clients/session.h"

namespace respite {

// Redis: what follows a NUL is not looked at (nor shown).
inline bool IsClientAttribute(Bytes text) {
  Bytes shown = text.substr(0, text.find('\0'));
  return std::all_of(shown.begin(), shown.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// Throws the refusal of CLIENT SETNAME and HELLO … SETNAME.
inline void CheckClientName(Bytes name) {
  if (!IsClientAttribute(name)) throw Refusal{refusals::kClientName};
}

}  // namespace respite
