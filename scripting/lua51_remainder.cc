// The operator %. 5.1 computes it with the rounded quotient, so that 1 % 0.1 is 0 and 5 % (1/0) is NaN. The interpreter
// of 5.4 may contain an inlined version of its own, which the linker cannot replace.
//
// So no compiled function keeps an instruction for %. After each one, the compiler emits a second instruction, which
// calls the metamethod and is skipped if both operands are numbers. When a function has been compiled, the first is
// replaced by an instruction without effect, so the second is always reached. It calls TryBinary (lua51_numbers.cc).
#include <cmath>
#include <span>

#include "scripting/lua51_internals.h"

namespace respite::lua51 {

namespace {

// Opcodes in Lua's list, and the fields of an instruction. The lowest 7 bits are the opcode, followed by the result
// register. In a move, the source register begins at bit 16.
constexpr uint32_t kMove = 0;
constexpr uint32_t kRemainderOfConstant = 25;
constexpr uint32_t kRemainder = 37;
constexpr uint32_t kInstructionMask = 0x7F;
constexpr int kResultShift = 7;
constexpr uint32_t kResultMask = 0xFF;
constexpr int kSourceShift = 16;

// The first fields of a compiled function and of the compiler's state.
struct Prototype {
  ObjectHeader header;
  int sizes[9];
  Value* constants;
  uint32_t* code;
};
struct FunctionState {
  Prototype* prototype;
  void* surroundings[3];
  int instructions;
};

bool IsRemainder(uint32_t instruction) {
  const uint32_t which = instruction & kInstructionMask;
  return which == kRemainder || which == kRemainderOfConstant;
}

// Returns a move of the result register to itself. Lua reads this register when it describes an error and when a
// metamethod yields.
uint32_t WithoutEffect(uint32_t instruction) {
  const uint32_t result = instruction >> kResultShift & kResultMask;
  return kMove | result << kResultShift | result << kSourceShift;
}

// Rounds as std::floor does, but without a call if the result fits an integer. Zeros keep their sign, which is visible
// in a remainder of 0.
double RoundedDown(double number) {
  constexpr double kFits = 4503599627370496.0;
  if (!(std::fabs(number) < kFits) || number == 0) return std::floor(number);
  const auto cut = static_cast<double>(static_cast<int64_t>(number));
  return cut > number ? cut - 1 : cut;
}

}  // namespace

double Remainder(double a, double b) { return a - RoundedDown(a / b) * b; }

extern "C" {
void RealFinish(FunctionState* function) asm("__real__Z11luaK_finishP9FuncState");
[[gnu::used]] void Finish(FunctionState* function) asm("__wrap__Z11luaK_finishP9FuncState");
[[gnu::used]] double ConstantRemainder(lua_State* lua, double a, double b) asm("__wrap__Z9luaV_modfP9lua_Statedd");
}

void Finish(FunctionState* function) {
  RealFinish(function);
  const std::span code(function->prototype->code, static_cast<size_t>(function->instructions));
  for (uint32_t& instruction : code) {
    if (IsRemainder(instruction)) instruction = WithoutEffect(instruction);
  }
}

// Computes the remainder when the compiler knows both operands.
double ConstantRemainder(lua_State*, double a, double b) { return Remainder(a, b); }

}  // namespace respite::lua51
