// Where a thread is: its stack, its registers, what lies on the stack. All but PrepareStackTraces is for signal
// handlers: no memory is taken, nothing is waited for. Memory is read that may not be there: whoever
// calls them can stand a fault.
#pragma once

#include <ucontext.h>

#include "server/process/signal_log.h"

namespace respite {

// Finds the names of functions; to be called once, before the first trace.
void PrepareStackTraces();

// A line for each function that was running when the signal of `context` came, the innermost first:
//
//   respite-server(_ZN7respite…+0x1c)[0x4f21c]      the address is what `addr2line -e` takes
//   /lib/x86_64-linux-gnu/libc.so.6(…+0x65)[0x7f23d9959545]
void WriteStackTrace(const SignalLog& log, const ucontext_t& context);

// Registers, the top of the stack, and the machine code around the instruction.
void WriteRegisters(const SignalLog& log, const ucontext_t& context);
void WriteStackTop(const SignalLog& log, const ucontext_t& context);
void WriteCode(const SignalLog& log, const ucontext_t& context);

uint64_t InstructionOf(const ucontext_t& context);

}  // namespace respite
