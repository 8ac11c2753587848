// Handlers that end a process of the server when memory has run out, for ChooseOutOfMemoryEnding
// (base/out_of_memory.h).
#pragma once

#include <cstddef>

namespace respite {

// Logs "Out Of Memory allocating N bytes!" first. SIGABRT causes a crash report.
void EndServerOutOfMemory(size_t bytes);  // ends the server with SIGABRT
// Logs "Out Of Memory allocating N bytes!" first. Only the child ends, and the server continues.
void EndChildOutOfMemory(size_t bytes);          // ends a child that writes a file, as failed
void EndCrashReporterOutOfMemory(size_t bytes);  // ends the child that writes a crash report, silently

// Without this, a stack that cannot grow would cause a fault, which is reported as a crash. Cost: a page.
void ReserveStack();  // makes memory available for the main thread's stack to grow

}  // namespace respite
