// Internals of Lua 5.4 that this directory depends on: the layout of a value, and internal functions. These are the
// same in 5.4.4 to 5.4.9; the build checks the functions for the installed Lua (cmake/Lua.cmake).
//
// The linker redirects calls between Lua's object files to functions of this directory (cmake/Lua.cmake lists the
// `--wrap` options). If Lua calls `f` in another object file, the call reaches `__wrap_f`. Lua's own function then
// has the name `__real_f`.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include "scripting/lua_api.h"

namespace respite::lua51 {

static_assert(sizeof(lua_Integer) == 8 && sizeof(lua_Number) == 8);

// The functions of Lua's API have C or C++ linkage names, depending on how Lua was compiled.
#if defined(RESPITE_LUA_HAS_CXX_NAMES)
#define RESPITE_LUA_PUSH_INTEGER "_Z15lua_pushintegerP9lua_Statex"
#define RESPITE_LUA_TO_INTEGER "_Z14lua_tointegerxP9lua_StateiPi"
#else
#define RESPITE_LUA_PUSH_INTEGER "lua_pushinteger"
#define RESPITE_LUA_TO_INTEGER "lua_tointegerx"
#endif

struct Value {  // a value in Lua 5.4's own memory layout (TValue)
  union {
    void* object;         // the value if it is a string, table, function …
    lua_Integer integer;  // the value if it is an integer, which scripts never see
    lua_Number number;    // the value if it is a double
  };
  uint8_t tag;
};
static_assert(sizeof(Value) == 16);

// The bits of a tag that contain the type of the value.
inline constexpr uint8_t kTypeMask = 0x0f;
inline constexpr uint8_t kIntegerTag = LUA_TNUMBER;
inline constexpr uint8_t kFloatTag = LUA_TNUMBER | 1 << 4;
// The tags of strings: up to 40 bytes, and longer.
inline constexpr uint8_t kShortStringTag = LUA_TSTRING | 1 << 6;
inline constexpr uint8_t kLongStringTag = kShortStringTag | 1 << 4;
// The offset of the text in a string object. The text ends with a NUL.
inline constexpr size_t kStringTextOffset = 24;

// The offset of the size in a userdata object. The userdata of newproxy has size 0; Lua's own
// buffers have a larger one.
inline constexpr size_t kUserdataSizeOffset = 16;

struct ObjectHeader {  // Lua 5.4's CommonHeader: how each string, table or function begins in memory
  void* next;          // the next object in Lua's list of all objects
  uint8_t tag;
};
inline constexpr uint8_t kTableTag = LUA_TTABLE;

// Indexes in Lua's list of metamethods. For an arithmetic metamethod, the index minus kFirstArithmeticEvent is the
// operator for lua_arith.
inline constexpr int kModeEvent = 3;
inline constexpr int kLengthEvent = 4;
inline constexpr int kCallEvent = 23;
inline constexpr int kFirstArithmeticEvent = 6;
inline constexpr int kRemainderEvent = kFirstArithmeticEvent + LUA_OPMOD;
inline constexpr int kDivisionEvent = kFirstArithmeticEvent + LUA_OPDIV;

extern "C" {
void* NewString(lua_State* lua, const char* text, size_t size)  // Lua's function that creates or interns a string
    asm("_Z12luaS_newlstrP9lua_StatePKcm");
int ToNumber(const Value* value,  // converts a number or numeric text; 0: not numeric
             lua_Number* number) asm("_Z14luaV_tonumber_PK6TValuePd");
}

double Remainder(double a, double b);  // computes a % b as Lua 5.1 does

}  // namespace respite::lua51
