// How the processes of a server end when the system has no more memory, for ChooseOutOfMemoryEnding
// (base/out_of_memory.h).
#pragma once

#include <cstddef>

namespace respite {

// The server: "Out Of Memory allocating N bytes!" in its log, then SIGABRT and with it the report of a crash.
void EndServerOutOfMemory(size_t bytes);
// A child that writes a file: the same line, then the exit code of a failed child. The server goes on.
void EndChildOutOfMemory(size_t bytes);
// The child that writes a part of the report of a crash. Without a word.
void EndReportOutOfMemory(size_t bytes);

// Has the system set aside the room that the main thread's stack may need, since a stack that cannot grow is no
// allocation that fails but a fault. Cost: a page.
void ReserveStack();

}  // namespace respite
