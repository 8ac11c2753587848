// Numbers of Lua 5.1 inside Lua 5.4: every number that a script can create or see is a double. Numerals, numbers read
// from text, results of libraries, lengths (lua51_operators.cc) and keys that `next` returns are doubles. Numbers
// always print as "%.14g".

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/bytes.h"
#include "scripting/lib_support.h"
#include "scripting/lua51.h"
#include "scripting/lua51_internals.h"

namespace respite {
namespace lua51 {
namespace {

constexpr lua_Number kTwoTo63 = 9223372036854775808.0;
constexpr int kMaxSimpleDigits = 15;

struct ReadNumber {
  lua_Number number;
  const char* end;
};

// Reads an integer of up to 15 digits, which a double stores exactly. ReadAny reads all other numbers.
ReadNumber ReadSimple(const char* text) {
  lua_Integer number = 0;
  const char* end = text;
  while (IsDigit(*end) && end - text <= kMaxSimpleDigits) number = number * 10 + (*end++ - '0');
  return {static_cast<lua_Number>(number), end};
}

bool IsDone(const char* text, const char* end) { return end != text && end - text <= kMaxSimpleDigits && *end == '\0'; }

// As Redis does, accepts all numbers of C's strtod, so "inf", "nan" and hexadecimal fractions are also numbers.
ReadNumber ReadAny(const char* text) {
  char* end = nullptr;
  const lua_Number number = std::strtod(text, &end);
  const char* rest = end;
  while (rest != text && IsSpace(*rest)) rest++;
  return {number, rest};
}

void SetNumber(Value* value, lua_Number number) {
  value->number = number;
  value->tag = kFloatTag;
}

struct MaybeNumber {
  bool is_number;
  lua_Number number;
};

MaybeNumber NumberOf(const Value& value) {
  if (value.tag == kFloatTag) return {true, value.number};
  MaybeNumber result{};
  result.is_number = ToNumber(&value, &result.number) != 0;
  return result;
}

}  // namespace

extern "C" {

int RealArithmetic(lua_State* lua, int op, const Value* a, const Value* b,
                   Value* result) asm("_Z13luaO_rawarithP9lua_StateiPK6TValueS3_PS1_");
void RealTryBinary(lua_State* lua, const Value* a, const Value* b, Value* result,
                   int event) asm("__real__Z13luaT_trybinTMP9lua_StatePK6TValueS3_P10StackValue3TMS");
[[noreturn]] void RealOperandError(lua_State* lua, const Value* a, const Value* b,
                                   const char* message) asm("__real__Z15luaG_opinterrorP9lua_StatePK6TValueS3_PKc");
int RealTableNext(lua_State* lua, void* table, Value* key) asm("__real__Z9luaH_nextP9lua_StateP5TableP10StackValue");

// Stores the number that a text contains in `value`. Returns the size of the text including its final zero, or 0 if the
// text is not a number.
[[gnu::used]] size_t TextToNumber(const char* text, Value* value) asm("__wrap__Z12luaO_str2numPKcP6TValue");
[[gnu::used]] void NumberToText(lua_State* lua, Value* value) asm("__wrap__Z13luaO_tostringP9lua_StateP6TValue");
[[gnu::used]] void PushInteger(lua_State* lua, lua_Integer integer) asm("__wrap_" RESPITE_LUA_PUSH_INTEGER);
[[gnu::used]] lua_Integer ToInteger(lua_State* lua, int index, int* is_number) asm("__wrap_" RESPITE_LUA_TO_INTEGER);
[[gnu::used]] int TableNext(lua_State* lua, void* table,
                            Value* key) asm("__wrap__Z9luaH_nextP9lua_StateP5TableP10StackValue");
[[gnu::used]] void TryBinary(lua_State* lua, const Value* a, const Value* b, Value* result,
                             int event) asm("__wrap__Z13luaT_trybinTMP9lua_StatePK6TValueS3_P10StackValue3TMS");
[[gnu::used]] void TryBinaryFlipped(
    lua_State* lua, const Value* a, const Value* b, int is_flipped, Value* result,
    int event) asm("__wrap__Z18luaT_trybinassocTMP9lua_StatePK6TValueS3_iP10StackValue3TMS");
[[gnu::used]] void OperandError(lua_State* lua, const Value* a, const Value* b,
                                const char* message) asm("__wrap__Z15luaG_opinterrorP9lua_StatePK6TValueS3_PKc");

size_t TextToNumber(const char* text, Value* value) {
  ReadNumber read = ReadSimple(text);
  if (!IsDone(text, read.end)) {
    if (strnlen(text, kMaxNumeralBytes + 1) > kMaxNumeralBytes) return 0;
    read = ReadAny(text);
  }
  if (read.end == text || *read.end != '\0') return 0;
  SetNumber(value, read.number);
  return static_cast<size_t>(read.end - text) + 1;
}

void NumberToText(lua_State* lua, Value* value) {
  const lua_Number number = value->tag == kFloatTag ? value->number : static_cast<lua_Number>(value->integer);
  const PrintedNumber printed(number);
  const Bytes text = printed;
  value->object = NewString(lua, text.data(), text.size());
  value->tag = kShortStringTag;
}

void PushInteger(lua_State* lua, lua_Integer integer) { lua_pushnumber(lua, static_cast<lua_Number>(integer)); }

lua_Integer ToInteger(lua_State* lua, int index, int* is_number) {
  return TruncatedInteger(lua_tonumberx(lua, index, is_number));
}

// Finds the entry after `key`, for next(). Converts the key to an integer first, because a table stores integral keys
// as integers, and finds the previous key only in this form.
int TableNext(lua_State* lua, void* table, Value* key) {
  const bool fits = key->tag == kFloatTag && key->number >= -kTwoTo63 && key->number < kTwoTo63;
  if (fits && std::trunc(key->number) == key->number) {
    key->integer = static_cast<lua_Integer>(key->number);
    key->tag = kIntegerTag;
  }
  const int found = RealTableNext(lua, table, key);
  if (found != 0 && key->tag == kIntegerTag) SetNumber(key, static_cast<lua_Number>(key->integer));
  return found;
}

// Called for an arithmetic operation with an operand that is no number, and for every remainder (lua51_operators.cc).
// As in 5.1, first tries to convert texts to numbers, and looks for metamethods only if this fails.
void TryBinary(lua_State* lua, const Value* a, const Value* b, Value* result, int event) {
  if (event == kRemainderEvent && a->tag == kFloatTag && b->tag == kFloatTag) {
    return SetNumber(result, Remainder(a->number, b->number));
  }
  const MaybeNumber left = NumberOf(*a);
  const MaybeNumber right = NumberOf(*b);
  const int op = event - kFirstArithmeticEvent;
  const bool is_arithmetic = (op >= LUA_OPADD && op <= LUA_OPDIV) || op == LUA_OPUNM;
  if (!is_arithmetic || !left.is_number || !right.is_number) return RealTryBinary(lua, a, b, result, event);
  Value left_value;
  Value right_value;
  SetNumber(&left_value, left.number);
  SetNumber(&right_value, right.number);
  RealArithmetic(lua, op, &left_value, &right_value, result);
}

void TryBinaryFlipped(lua_State* lua, const Value* a, const Value* b, int is_flipped, Value* result, int event) {
  // Makes a division return its first operand unchanged if the second operand is an integer. lua51_operators.cc adds
  // such a division by 1 after each operator #, and no other division has an integer there. So # returns what __len
  // returned, if that is not a number.
  if (event == kDivisionEvent && b->tag == kIntegerTag) {
    *result = *a;
    return;
  }
  return is_flipped ? TryBinary(lua, b, a, result, event) : TryBinary(lua, a, b, result, event);
}

// Raises the error for wrong operands, which names the first operand that is not a number. A numeric text counts as a
// number.
void OperandError(lua_State* lua, const Value* a, const Value* b, const char* message) {
  RealOperandError(lua, NumberOf(*a).is_number ? b : a, b, message);
}

}  // extern "C"
}  // namespace lua51

}  // namespace respite
