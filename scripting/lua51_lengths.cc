// The operator #. Its result is a double in 5.1. In 5.4 it is an integer: products of it wrap around, and a remainder
// by 0 is an error. So the compiler adds an instruction after each #: a division by 1, which always gives a double.
//
// The 1 is an integer, while all numerals of scripts are doubles (lua51_numbers.cc). This distinguishes the division
// from a script's own divisions, so that a non-numeric result of a proxy's __len stays unchanged.
#include "scripting/lua51_internals.h"

namespace respite::lua51 {

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
// Indexes in Lua's lists of expression kinds and operators.
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

}  // namespace respite::lua51
