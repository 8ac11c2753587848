// Stack traces, registers and stack contents of a thread. All functions except PrepareStackTraces are for signal
// handlers: they do not allocate or block. They may read memory that is not mapped, so the caller must handle faults.
#pragma once

#include <ucontext.h>

#include "server/process/crash/signal_log.h"

namespace respite {

// Prepares stack traces. Must be called before the first stack trace; any thread may call this.
void PrepareStackTraces();  // maps the symbol table and sets up the unwinder

// Writes a line for each function that was running when the signal of `context` came, the innermost first:
//
//   respite-server(_ZN7respite…+0x1c)[0x4f21c]      the address is the argument of `addr2line -e`
//   /lib/x86_64-linux-gnu/libc.so.6(…+0x65)[0x7f23d9959545]
void WriteStackTrace(const SignalLog& log, const ucontext_t& context);  // writes one line per active function

// The following functions write three further parts of a crash report about the thread: registers, the top of the
// stack, and machine code.
void WriteRegisters(const SignalLog& log, const ucontext_t& context);    // writes the processor's registers
void WriteStackTop(const SignalLog& log, const ucontext_t& context);     // writes the words at the stack pointer
void WriteMachineCode(const SignalLog& log, const ucontext_t& context);  // writes the code around the instruction

uint64_t InstructionAddress(const ucontext_t& context);  // address of the instruction that a signal interrupted

}  // namespace respite
