// Lists of processors: `0,2,3`, `0-7`, `0-20:2`, as in bgsave_cpulist and aof_rewrite_cpulist.
#pragma once

#include <sched.h>

#include <optional>

#include "base/bytes.h"

namespace respite {

// Nothing if it is no such list.
std::optional<cpu_set_t> ParseCpuList(Bytes list);

// Binds the calling thread to these processors. Redis: a list that is none, or names no processor of this machine,
// binds to nothing and is not mentioned.
void BindToProcessors(Bytes list);

}  // namespace respite
