// Durations and times among the arguments of TEST.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace respite {

// `250`, `250ms`, `30s`, `5m`, `2h`, `7d`, in milliseconds. Throws a refusal that says so.
int64_t DurationMs(Bytes word);
// Unix milliseconds. Throws a refusal that says so.
int64_t TimeMs(Bytes word);
// ON or OFF.
bool OnOrOff(Bytes word);

}  // namespace respite
