// Lists of processors: `0,2,3`, `0-7`, `0-20:2`, as in bgsave_cpulist and aof_rewrite_cpulist.
#pragma once

#include <sched.h>

#include <optional>

#include "base/bytes.h"

namespace respite {

std::optional<cpu_set_t> ParseCpuList(Bytes list);  // parses processors "0-7"; nullopt: the list is invalid

// Lets the calling thread run only on the processors of this list. As in Redis, does nothing, without an error, if the
// list is invalid or names no processor of this machine.
void BindToProcessors(Bytes list);  // lets the calling thread run only on the processors in `list`, such as "0-3"

}  // namespace respite
