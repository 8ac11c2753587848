// Handlers that end a process of the server when memory has run out. They are installed with SetOutOfMemoryHandler
// (base/out_of_memory.h).
#pragma once

#include <cstddef>

namespace respite {

// Logs "Out Of Memory allocating N bytes!" first. SIGABRT causes a crash report.
void EndServerOutOfMemory(size_t bytes);  // logs the failed allocation, and ends the server with SIGABRT
// Logs "Out Of Memory allocating N bytes!" first. Only the child ends, and the server continues.
void EndChildOutOfMemory(size_t bytes);          // logs the failed allocation, and ends a child that writes a file
void EndCrashReporterOutOfMemory(size_t bytes);  // ends the child that writes a crash report, silently

// Extends the stack now by up to 1 MB of address space. Otherwise a stack that cannot grow later would cause a fault,
// and the report would show a crash instead of a lack of memory. Takes one page of memory.
void ReserveStack();  // reserves address space for the main thread's stack to grow

}  // namespace respite
