// Emulated: the version that a server emulates; see dialect.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace respite {

// Values of the directive `emulate`.
enum class Emulated : uint8_t {
  kNone,
  kRedis62,
  kRedis70,
  kRedis72,
  kRedis74,
  kRedis80,
  kValkey72,
  kValkey80,
  kValkey81,
};
inline constexpr size_t kEmulatedCount = 9;

}  // namespace respite
