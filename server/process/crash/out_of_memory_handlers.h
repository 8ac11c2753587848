// Handlers that end a process of the server when memory has run out. They are installed with SetOutOfMemoryHandler
// (base/out_of_memory.h).
#pragma once

#include <cstddef>

namespace respite {

// Logs "Out Of Memory allocating N bytes!", then ends the server with SIGABRT, which causes a crash report.
void EndServerOutOfMemory(size_t bytes);  // logs the failed allocation, and ends the server with SIGABRT
// Logs "Out Of Memory allocating N bytes!", then ends only the child. The server continues.
void EndChildOutOfMemory(size_t bytes);          // logs the failed allocation, and ends a child that writes a file
void EndCrashReporterOutOfMemory(size_t bytes);  // ends the child that writes a crash report, silently

// Touches the stack 1 MB below the present end (at most a quarter of RLIMIT_STACK), so that the kernel extends it now.
// Later, when memory has run out, the stack need not grow: that would end in SIGSEGV and a misleading crash report.
// Costs one page.
void ReserveStack();  // lets the stack grow now, before memory runs out

}  // namespace respite
