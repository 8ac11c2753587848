// Writes to a file descriptor until everything is written.
#pragma once

#include "base/bytes.h"
#include "persistence/file_system.h"

namespace respite {

// Continues after interruptions and short writes.
IoProgress WriteAll(int descriptor, Bytes data);

}  // namespace respite
