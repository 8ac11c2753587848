// How the processes of a server end when memory runs out, for ChooseOutOfMemoryEnding (base/out_of_memory.h).
#pragma once

#include <cstddef>

namespace respite {

// The server: logs "Out Of Memory allocating N bytes!" and raises SIGABRT, which writes a crash report.
void EndServerOutOfMemory(size_t bytes);
// A child that writes a file: logs the same line and exits as failed. The server continues.
void EndChildOutOfMemory(size_t bytes);
// The child that writes a part of the crash report: exits silently.
void EndReportOutOfMemory(size_t bytes);

// Makes the system reserve memory for the main thread's stack, since a stack that cannot grow causes a fault, not a
// failed allocation. Cost: a page.
void ReserveStack();

}  // namespace respite
