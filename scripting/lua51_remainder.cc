// The operator %: 5.1 computes with the rounded quotient, so that 1 % 0.1 is 0 there and 5 % (1/0) no number. What 5.4
// has in its place may be compiled into its interpreter, where nothing of ours can stand before it.
//
// So no function keeps an instruction for %. Behind each the compiler has put the one that asks for metamethods, which
// is skipped where both operands are numbers; once a function is compiled, an instruction without effect takes the
// place of the first, and the second is always reached. It calls TryBinary (lua51_numbers.cc).
#include <cmath>
#include <span>

#include "scripting/lua51_internals.h"

namespace respite::lua51 {

namespace {

// Places in Lua's list of instructions, and of their parts: the lowest bits tell which instruction it is, those above
// them the register of its result; of a move the highest bits but 8 are the register it takes.
constexpr uint32_t kMove = 0;
constexpr uint32_t kRemainderOfConstant = 25;
constexpr uint32_t kRemainder = 37;
constexpr uint32_t kInstructionMask = 0x7F;
constexpr int kResultShift = 7;
constexpr uint32_t kResultMask = 0xFF;
constexpr int kSourceShift = 16;

// The starts of what is compiled, and of what the compiler knows of it.
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

// The move has the same result: where an error is described, and where a metamethod yields, Lua looks at it.
uint32_t WithoutEffect(uint32_t instruction) {
  const uint32_t result = instruction >> kResultShift & kResultMask;
  return kMove | result << kResultShift | result << kSourceShift;
}

// As std::floor, without a call for what fits an integer. Zeros keep their sign, which a remainder of 0 shows.
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

// Where the compiler knows both operands.
double ConstantRemainder(lua_State*, double a, double b) { return Remainder(a, b); }

}  // namespace respite::lua51
