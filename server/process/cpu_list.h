// Lists of processors: `0,2,3`, `0-7`, `0-20:2`, as in bgsave_cpulist and aof_rewrite_cpulist.
#pragma once

#include <sched.h>

#include <optional>

#include "base/bytes.h"

namespace respite {

std::optional<cpu_set_t> ParseCpuList(Bytes list);  // parses processors "0-7"; nullopt: the list is invalid

// As in Redis, an invalid list is silently ignored, and so is one without a processor of this machine.
void BindToProcessors(Bytes list);  // lets the calling thread run only on these processors

}  // namespace respite
