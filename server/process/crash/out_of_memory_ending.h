// Handlers that end a process of the server when memory has run out, for ChooseOutOfMemoryEnding
// (base/out_of_memory.h).
#pragma once

#include <cstddef>

namespace respite {

// In the server: logs "Out Of Memory allocating N bytes!" and raises SIGABRT, which writes a crash report.
void EndServerOutOfMemory(size_t bytes);
// In a child that writes a file: logs that line and exits as failed. The server continues.
void EndChildOutOfMemory(size_t bytes);
// In the child that writes part of the crash report: exits silently.
void EndReportOutOfMemory(size_t bytes);

// Makes the system reserve memory for the main thread's stack, since a stack that cannot grow causes a fault, not a
// failed allocation. Cost: a page.
void ReserveStack();

}  // namespace respite
