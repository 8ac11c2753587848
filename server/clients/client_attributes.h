// Checks for names that a client gives itself. They must not break the format of CLIENT LIST.
#pragma once

#include <algorithm>

#include "base/bytes.h"
#include "base/refusal.h"

namespace respite {

namespace refusals {

inline constexpr char kClientName[] = "ERR Client names cannot contain spaces, newlines or special characters.";

}  // namespace refusals

// Redis: ignores (and does not show) the text after a NUL.
inline bool IsClientAttribute(Bytes text) {
  Bytes shown = text.substr(0, text.find('\0'));
  return std::all_of(shown.begin(), shown.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// Throws the error of CLIENT SETNAME and HELLO … SETNAME for an invalid name.
inline void CheckClientName(Bytes name) {
  if (!IsClientAttribute(name)) throw Refusal{refusals::kClientName};
}

}  // namespace respite
