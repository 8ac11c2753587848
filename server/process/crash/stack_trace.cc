#include "server/process/crash/stack_trace.h"

#include <execinfo.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <span>

#include "server/process/crash/symbols.h"

namespace respite {

namespace {

constexpr int kDeepestFrame = 100;
constexpr int kStackWords = 16;
constexpr uint64_t kCodeBefore = 32;
constexpr uint64_t kCodeBytes = 96;

std::optional<Symbols> symbols;

struct Frames {
  std::array<uint64_t, kDeepestFrame> addresses;
  int count = 0;
};

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* into) {
  auto& frames = *static_cast<Frames*>(into);
  const uint64_t address = _Unwind_GetIP(context);
  if (address == 0 || frames.count == kDeepestFrame) return _URC_END_OF_STACK;
  frames.addresses[static_cast<size_t>(frames.count++)] = address;
  return _URC_NO_REASON;
}

void WriteFrame(const SignalLog& log, uint64_t address) {
  if (!symbols || !symbols->IsInProgram(address)) {
    void* one = reinterpret_cast<void*>(address);  // NOLINT: glibc's parameter type
    backtrace_symbols_fd(&one, 1, log.FileDescriptor());
    return;
  }
  const Symbols::Place place = symbols->Find(address);
  log.Write("respite-server(");
  log.Write(place.function);
  if (!place.function.empty()) {
    log.Write("+");
    log.Hexadecimal(place.function_offset);
  }
  log.Write(")[");
  log.Hexadecimal(place.program_offset);
  log.Write("]\n");
}

struct Register {
  const char* name;
  int index;
};

#if defined(__x86_64__)
constexpr std::array kRegisters = {
    Register{"RAX", REG_RAX}, Register{"RBX", REG_RBX}, Register{"RCX", REG_RCX},   Register{"RDX", REG_RDX},
    Register{"RDI", REG_RDI}, Register{"RSI", REG_RSI}, Register{"RBP", REG_RBP},   Register{"RSP", REG_RSP},
    Register{"R8 ", REG_R8},  Register{"R9 ", REG_R9},  Register{"R10", REG_R10},   Register{"R11", REG_R11},
    Register{"R12", REG_R12}, Register{"R13", REG_R13}, Register{"R14", REG_R14},   Register{"R15", REG_R15},
    Register{"RIP", REG_RIP}, Register{"EFL", REG_EFL}, Register{"CSG", REG_CSGSFS}};

uint64_t ValueOf(const ucontext_t& context, int index) {
  return static_cast<uint64_t>(context.uc_mcontext.gregs[index]);
}
uint64_t StackPointer(const ucontext_t& context) { return ValueOf(context, REG_RSP); }
#elif defined(__aarch64__)
constexpr std::array kRegisters = {Register{"X0 ", 0},  Register{"X1 ", 1},  Register{"X2 ", 2},  Register{"X3 ", 3},
                                   Register{"X4 ", 4},  Register{"X5 ", 5},  Register{"X6 ", 6},  Register{"X7 ", 7},
                                   Register{"X8 ", 8},  Register{"X19", 19}, Register{"X20", 20}, Register{"X21", 21},
                                   Register{"X22", 22}, Register{"X29", 29}, Register{"X30", 30}};

uint64_t ValueOf(const ucontext_t& context, int index) { return context.uc_mcontext.regs[index]; }
uint64_t StackPointer(const ucontext_t& context) { return context.uc_mcontext.sp; }
#else
constexpr std::array<Register, 0> kRegisters;

uint64_t ValueOf(const ucontext_t&, int) { return 0; }
uint64_t StackPointer(const ucontext_t&) { return 0; }
#endif

}  // namespace

uint64_t InstructionAddress(const ucontext_t& context) {
#if defined(__x86_64__)
  return ValueOf(context, REG_RIP);
#elif defined(__aarch64__)
  return context.uc_mcontext.pc;
#else
  return 0;
#endif
}

void PrepareStackTraces() {
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    symbols.emplace();
    Frames frames;
    _Unwind_Backtrace(AddFrame, &frames);  // the first call sets up tables, which a handler must not do
  });
}

// Walks the stack with the unwinder of C++ exceptions, which is part of the program: glibc's backtrace() would load a
// library. Leaves out the first frames, which belong to the signal handler.
void WriteStackTrace(const SignalLog& log, const ucontext_t& context) {
  log.Write("\n------ STACK TRACE ------\n");
  Frames frames;
  _Unwind_Backtrace(AddFrame, &frames);
  const auto all = std::span(frames.addresses).first(static_cast<size_t>(frames.count));
  auto first = std::find(all.begin(), all.end(), InstructionAddress(context));
  if (first == all.end()) {  // the stack is damaged: print the program counter alone
    WriteFrame(log, InstructionAddress(context));
    first = all.begin();
  }
  for (; first != all.end(); ++first) WriteFrame(log, *first);
}

void WriteRegisters(const SignalLog& log, const ucontext_t& context) {
  constexpr int kPerLine = 4;
  log.Write("\n------ REGISTERS ------\n");
  int column = 0;
  for (const Register& one : kRegisters) {
    log.Write(one.name);
    log.Write(":");
    log.Word(ValueOf(context, one.index));
    log.Write(++column % kPerLine == 0 ? "\n" : " ");
  }
  if (column % kPerLine != 0) log.Write("\n");
}

void WriteStackTop(const SignalLog& log, const ucontext_t& context) {
  log.Write("\n------ TOP OF THE STACK ------\n");
  const uint64_t top = StackPointer(context);
  if (top == 0 || top % sizeof(uint64_t) != 0) return;
  for (int i = kStackWords - 1; i >= 0; --i) {
    const uint64_t at = top + static_cast<uint64_t>(i) * sizeof(uint64_t);
    log.Write("(");
    log.Word(at);
    log.Write(") -> ");
    log.Word(*reinterpret_cast<const volatile uint64_t*>(at));  // NOLINT: reads an address
    log.Write("\n");
  }
}

void WriteMachineCode(const SignalLog& log, const ucontext_t& context) {
  log.Write("\n------ CODE AROUND THE INSTRUCTION ------\n");
  const uint64_t instruction = InstructionAddress(context);
  if (instruction < kCodeBefore) return;
  log.Hexadecimal(instruction - kCodeBefore);
  log.Write(": ");
  for (uint64_t at = instruction - kCodeBefore; at < instruction - kCodeBefore + kCodeBytes; ++at) {
    log.Byte(*reinterpret_cast<const volatile unsigned char*>(at));  // NOLINT: reads an address
  }
  log.Write("\n");
}

}  // namespace respite
