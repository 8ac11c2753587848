// What is known here of the inside of Lua 5.4.4: the layout of a value, and functions that its own parts share. Nothing
// else of ours relies on the inside; a new release of Lua has to be compared with this page before the check below
// accepts it.
//
// The linker gives calls between Lua's object files to functions of ours (cmake/Dependencies.cmake has the list of
// `--wrap` options): where a part of Lua calls `f`, it reaches `__wrap_f`; what Lua itself has is `__real_f`.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scripting/lua_api.h"

namespace respite::lua51 {

static_assert(LUA_VERSION_NUM == 504 && std::string_view(LUA_VERSION_RELEASE) == "4");
static_assert(sizeof(lua_Integer) == 8 && sizeof(lua_Number) == 8);

// A value as it lies in a register or a table.
struct Value {
  union {
    void* object;
    lua_Integer integer;
    lua_Number number;
  };
  uint8_t tag;
};
static_assert(sizeof(Value) == 16);

inline constexpr uint8_t kIntegerTag = LUA_TNUMBER;
inline constexpr uint8_t kFloatTag = LUA_TNUMBER | 1 << 4;
// Of strings of up to 40 octets.
inline constexpr uint8_t kShortStringTag = LUA_TSTRING | 1 << 6;

// How every object that is collected starts.
struct ObjectHeader {
  void* next;
  uint8_t tag;
};
inline constexpr uint8_t kTableTag = LUA_TTABLE;

// Metamethods, in the order of Lua's list. From the first of arithmetic on, subtracting it gives the operator for
// lua_arith.
inline constexpr int kLengthEvent = 4;
inline constexpr int kFirstArithmeticEvent = 6;

extern "C" {
// A new or interned string.
void* NewString(lua_State* lua, const char* text, size_t size) asm("_Z12luaS_newlstrP9lua_StatePKcm");
// Not 0 when the value is a number or text that can be read as one.
int ToNumber(const Value* value, lua_Number* number) asm("_Z14luaV_tonumber_PK6TValuePd");
}

}  // namespace respite::lua51
