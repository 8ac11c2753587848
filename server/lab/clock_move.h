// ClockMove: the change that TEST CLOCK or TEST CLUSTER CLOCK requests.
#pragma once

#include <cstdint>
#include <optional>

namespace respite {

struct ClockMove {
  enum class Kind : uint8_t { kFreeze, kAdvance, kSet, kNext, kRate, kAuto, kReal } kind;
  std::optional<int64_t> ms = {};  // kFreeze, kSet: Unix time; kAdvance: a duration
  double rate = 1;                 // kRate
  bool is_auto = false;            // kAuto
};

}  // namespace respite
