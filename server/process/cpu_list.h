// Lists of processors: `0,2,3`, `0-7`, `0-20:2`, as in bgsave_cpulist and aof_rewrite_cpulist.
#pragma once

#include <sched.h>

#include <optional>

#include "base/bytes.h"

namespace respite {

// Returns nullopt for an invalid list.
std::optional<cpu_set_t> ParseCpuList(Bytes list);

// Binds the calling thread to these processors. Redis: silently ignores an invalid list, or one without a processor of
// this machine.
void BindToProcessors(Bytes list);

}  // namespace respite
