// Handlers that end a process of the server when memory has run out, for ChooseOutOfMemoryEnding
// (base/out_of_memory.h).
#pragma once

#include <cstddef>

namespace respite {

// Logs "Out Of Memory allocating N bytes!". The signal writes a crash report.
void EndServerOutOfMemory(size_t bytes);  // in the server: raises SIGABRT
// Logs the same line, and ends only the child. The server continues.
void EndChildOutOfMemory(size_t bytes);   // in a child that writes a file: exits as failed
void EndReportOutOfMemory(size_t bytes);  // in the child that writes a crash report: exits silently

// A stack that cannot grow causes a fault, not a failed allocation. Cost: a page.
void ReserveStack();  // memory for the main thread's stack to grow

}  // namespace respite
