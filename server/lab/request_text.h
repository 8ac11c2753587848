// Requests as people would type them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"

namespace respite {

// One line; long words and many words are shortened. Words from `hidden_from` on may be secrets, and are not shown.
std::string RequestText(std::span<const Bytes> words, size_t hidden_from = SIZE_MAX);

}  // namespace respite
