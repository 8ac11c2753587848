// The operator %: 5.1 computes with the rounded quotient, so that 1 % 0.1 is 0 and 5 % (1/0) is NaN. The interpreter of
// 5.4 may have its own version inlined, which we cannot replace.
//
// So no function keeps an instruction for %. The compiler emits after each one an instruction that calls the metamethod
// and is skipped if both operands are numbers. Once a function is compiled, we replace the first by an instruction
// without effect, so the second is always reached. It calls TryBinary (lua51_numbers.cc).
#include <cmath>
#include <span>

#include "scripting/lua51_internals.h"

namespace respite::lua51 {

namespace {

// Opcodes in Lua's list, and the fields of an instruction: the lowest bits are the opcode, above them is the register
// of the result; in a move the source register is in the highest bits but 8.
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

// The move keeps the result register, because Lua reads it when it describes an error and when a metamethod yields.
uint32_t WithoutEffect(uint32_t instruction) {
  const uint32_t result = instruction >> kResultShift & kResultMask;
  return kMove | result << kResultShift | result << kSourceShift;
}

// As std::floor, without a call if the result fits an integer. Zeros keep their sign, because a remainder of 0 shows
// it.
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

// Used when the compiler knows both operands.
double ConstantRemainder(lua_State*, double a, double b) { return Remainder(a, b); }

}  // namespace respite::lua51
