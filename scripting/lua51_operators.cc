// The operators % and #, for which the compiler of 5.4 must emit other instructions.
//
// 5.1 computes % with the rounded quotient, so that 1 % 0.1 is 0 and 5 % (1/0) is NaN. The interpreter of 5.4 may
// contain an inlined version of its own, which the linker cannot replace. So no compiled function keeps an instruction
// for %. After each such instruction, the compiler emits a second one, which calls the metamethod and is skipped if
// both operands are numbers. When a function has been compiled, the first instruction is replaced by one without
// effect, so the second is always reached. The second instruction calls TryBinary (lua51_numbers.cc).
//
// The result of # is a double in 5.1. In 5.4 the result is an integer, so that products wrap around, and a remainder by
// 0 is an error. So the compiler adds an instruction after each #: a division by 1, which always gives a double. This 1
// is an integer, while all numerals of scripts are doubles (lua51_numbers.cc). So the division can be told from the
// script's own, and a non-numeric result of a proxy's __len stays unchanged.
//
// The operators < and <= compare texts with strcoll, from one NUL to the next. The wrapper of strcoll calls the hook of
// the script regularly, because texts may have hundreds of millions of NULs.
#include <cmath>
#include <span>

#include "scripting/lib_support.h"
#include "scripting/lua51_internals.h"
#include "scripting/script_watch.h"

namespace respite::lua51 {

namespace {

// The opcodes of Lua 5.4 that this file needs, and the layout of an instruction: the opcode is in bits 0 to 6, the
// result register in bits 7 to 14. In kMove, the source register begins at bit 16.
constexpr uint32_t kMove = 0;
constexpr uint32_t kRemainderOfConstant = 25;
constexpr uint32_t kRemainder = 37;
constexpr uint32_t kInstructionMask = 0x7F;
constexpr int kResultShift = 7;
constexpr uint32_t kResultMask = 0xFF;
constexpr int kSourceShift = 16;

// The first fields of Lua's struct for a compiled function (Prototype) and of the compiler's state for a function
// (FunctionState).
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

// Returns an instruction that moves the result register of `instruction` to itself, so it does nothing. The register
// must be right, because Lua reads it to describe an error, and when a metamethod yields.
uint32_t WithoutEffect(uint32_t instruction) {
  const uint32_t result = instruction >> kResultShift & kResultMask;
  return kMove | result << kResultShift | result << kSourceShift;
}

// Rounds as std::floor does, but without a call for most numbers. Zeros keep their sign, which is visible in a
// remainder of 0.
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

// Computes a remainder of two constants during compilation.
double ConstantRemainder(lua_State*, double a, double b) { return Remainder(a, b); }

// The compiler's description of an expression, here a constant. Lua's own struct is at least as large.
struct Expression {
  int kind;
  union {
    lua_Integer integer;
    void* room[1];
  };
  int jump_if_true;
  int jump_if_false;
};
// Values from private lists of Lua's compiler: kIntegerConstant is a kind of expression, kDivide and kLength are
// operators, and kNoJump means "no jump".
constexpr int kIntegerConstant = 6;
constexpr int kDivide = 5;
constexpr int kLength = 3;
constexpr int kNoJump = -1;

extern "C" {
void RealPrefix(void* function, int op, void* operand,
                int line) asm("__real__Z11luaK_prefixP9FuncState5UnOprP7expdesci");
void Infix(void* function, int op, void* operand) asm("_Z10luaK_infixP9FuncState6BinOprP7expdesc");
void Postfix(void* function, int op, void* left, void* right,
             int line) asm("_Z11luaK_posfixP9FuncState6BinOprP7expdescS3_i");
[[gnu::used]] void Prefix(void* function, int op, void* operand,
                          int line) asm("__wrap__Z11luaK_prefixP9FuncState5UnOprP7expdesci");
}

void Prefix(void* function, int op, void* operand, int line) {
  RealPrefix(function, op, operand, line);
  if (op != kLength) return;
  Expression one{};
  one.kind = kIntegerConstant;
  one.integer = 1;
  one.jump_if_true = one.jump_if_false = kNoJump;
  Infix(function, kDivide, operand);
  Postfix(function, kDivide, operand, &one, line);
}

extern "C" {
int RealCollate(const char* left, const char* right) asm("__real_strcoll");
[[gnu::used]] int Collate(const char* left, const char* right) asm("__wrap_strcoll");
}

int Collate(const char* left, const char* right) {
  constexpr uint32_t kCallsPerHookCall = 16384;
  static thread_local uint32_t calls = 0;
  if (++calls % kCallsPerHookCall == 0) {
    if (lua_State* lua = ScriptWatch::Running()) CallHook(lua);
  }
  return RealCollate(left, right);
}

}  // namespace respite::lua51
