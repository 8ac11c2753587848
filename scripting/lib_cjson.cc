// cjson: the table of JSON functions that Redis gives to scripts, with its settings.
//
// Respite has its own implementation (json_encoder.cc, json_decoder.cc), because lua-cjson 2.1.0, which Linux
// distributions provide, is not safe for untrusted scripts. lua-cjson counts in int, so a string of 400 MB makes it
// write beyond its buffer (CVE-2022-24834). lua-cjson also ends the process when a document grows beyond 2 GB, for
// example for a table with 250 references to one string of 10 MB. Its buffers are not subject to the memory limit of
// scripts, and they leak when Lua runs out of memory.
#include "scripting/lib_cjson.h"

#include <array>
#include <limits>

#include "scripting/lib_support.h"
#include "scripting/sandbox.h"

namespace respite {
namespace {

// Returns the settings of the cjson table to which the running function belongs. Each function of the table has the
// settings as its first upvalue, which keeps them alive.
JsonConfig& Config(lua_State* lua) { return *static_cast<JsonConfig*>(lua_touserdata(lua, lua_upvalueindex(1))); }

int Encode(lua_State* lua) {
  luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
  EncodeJson(lua, Config(lua));
  return 1;
}

int Decode(lua_State* lua) {
  luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
  DecodeJson(lua, Config(lua), 1);
  return 1;
}

// The functions for settings, such as cjson.encode_max_depth. An argument sets the value; each function returns the
// current value.

// Refuses more than `count` arguments, and sets missing ones to nil.
void TakeArguments(lua_State* lua, int count) {
  luaL_argcheck(lua, lua_gettop(lua) <= count, count + 1, "found too many arguments");
  lua_settop(lua, count);
}

struct Range {
  int least;
  int most;
};

int PushNumberSetting(lua_State* lua, int index, int JsonConfig::*setting, Range range) {
  if (!lua_isnil(lua, index)) {
    const auto value = static_cast<int>(IntegerArgument(lua, index));
    if (value < range.least || value > range.most) {
      // As in Redis, the error always names the first argument.
      return luaL_argerror(lua, 1, lua_pushfstring(lua, "expected integer between %d and %d", range.least, range.most));
    }
    Config(lua).*setting = value;
  }
  lua_pushnumber(lua, Config(lua).*setting);
  return 1;
}

int SwitchArgument(lua_State* lua, int index, int current) {
  constexpr std::array<const char*, 3> kNames = {"off", "on", nullptr};
  if (lua_isnil(lua, index)) return current;
  if (lua_isboolean(lua, index)) return lua_toboolean(lua, index);
  return luaL_checkoption(lua, index, nullptr, kNames.data());
}

int SparseArrayFunction(lua_State* lua) {
  constexpr Range kAny = {0, std::numeric_limits<int>::max()};
  TakeArguments(lua, 3);
  JsonConfig& config = Config(lua);
  config.sparse_arrays = static_cast<SparseArrays>(SwitchArgument(lua, 1, static_cast<int>(config.sparse_arrays)));
  lua_pushboolean(lua, config.sparse_arrays == SparseArrays::kAsObjects);
  PushNumberSetting(lua, 2, &JsonConfig::sparse_ratio, kAny);
  PushNumberSetting(lua, 3, &JsonConfig::sparse_safe, kAny);
  return 3;
}

template <int JsonConfig::*kSetting, int kMax>
int NumberFunction(lua_State* lua) {
  TakeArguments(lua, 1);
  return PushNumberSetting(lua, 1, kSetting, {1, kMax});
}

template <bool JsonConfig::*kSetting>
int SwitchFunction(lua_State* lua) {
  TakeArguments(lua, 1);
  bool& setting = Config(lua).*kSetting;
  setting = SwitchArgument(lua, 1, setting ? 1 : 0) != 0;
  lua_pushboolean(lua, setting);
  return 1;
}

int EncodeInvalidNumbersFunction(lua_State* lua) {
  constexpr std::array<const char*, 4> kNames = {"off", "on", "null", nullptr};
  TakeArguments(lua, 1);
  InvalidNumbers& setting = Config(lua).encode_invalid_numbers;
  if (lua_isboolean(lua, 1)) {
    setting = lua_toboolean(lua, 1) != 0 ? InvalidNumbers::kWrite : InvalidNumbers::kRefuse;
  } else if (!lua_isnil(lua, 1)) {
    setting = static_cast<InvalidNumbers>(luaL_checkoption(lua, 1, nullptr, kNames.data()));
  }
  if (setting == InvalidNumbers::kNull) {
    lua_pushliteral(lua, "null");
  } else {
    lua_pushboolean(lua, setting == InvalidNumbers::kWrite);
  }
  return 1;
}

constexpr int kAnyDepth = std::numeric_limits<int>::max();

constexpr std::array<luaL_Reg, 11> kJsonFunctions = {{
    {"encode", Encode},
    {"decode", Decode},
    {"encode_sparse_array", SparseArrayFunction},
    {"encode_max_depth", NumberFunction<&JsonConfig::encode_max_depth, kAnyDepth>},
    {"decode_max_depth", NumberFunction<&JsonConfig::decode_max_depth, kAnyDepth>},
    {"encode_number_precision", NumberFunction<&JsonConfig::encode_precision, JsonConfig::kMaxPrecision>},
    {"encode_keep_buffer", SwitchFunction<&JsonConfig::encode_keep_buffer>},
    {"encode_invalid_numbers", EncodeInvalidNumbersFunction},
    {"decode_invalid_numbers", SwitchFunction<&JsonConfig::decode_invalid_numbers>},
    {"new", OpenCjson},
    {nullptr, nullptr},
}};

constexpr char kIsArray[] = "__is_cjson_array";
const char kArrayMetatable = 0;  // its address is the key of the metatable in the registry

// Makes the metatable of arrays, unless it exists.
void MakeArrayMetatable(lua_State* lua) {
  if (lua_rawgetp(lua, LUA_REGISTRYINDEX, &kArrayMetatable) == LUA_TNIL) {
    lua_createtable(lua, 0, 1);
    lua_pushboolean(lua, 1);
    lua_setfield(lua, -2, kIsArray);
    MakeReadOnly(lua);
    lua_rawsetp(lua, LUA_REGISTRYINDEX, &kArrayMetatable);
  }
  lua_pop(lua, 1);
}

}  // namespace

void PushJsonArrayMetatable(lua_State* lua) { lua_rawgetp(lua, LUA_REGISTRYINDEX, &kArrayMetatable); }

bool IsMarkedAsJsonArray(lua_State* lua) {
  if (lua_getmetatable(lua, -1) == 0) return false;
  PushJsonArrayMetatable(lua);
  const bool has_marks = lua_istable(lua, -1);
  bool is_array = lua_rawequal(lua, -1, -2) != 0;
  lua_pop(lua, 1);
  if (has_marks && !is_array) {  // a metatable that the script has made may also have the mark
    lua_pushstring(lua, kIsArray);
    lua_rawget(lua, -2);
    is_array = lua_toboolean(lua, -1) != 0;
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return is_array;
}

int OpenCjsonWithArrays(lua_State* lua) {
  MakeArrayMetatable(lua);
  OpenCjson(lua);
  lua_getfield(lua, -1, "decode");
  lua_getupvalue(lua, -1, 1);  // the settings
  lua_pushcclosure(lua, SwitchFunction<&JsonConfig::decode_marks_arrays>, 1);
  lua_setfield(lua, -3, "decode_array_with_array_mt");
  lua_pop(lua, 1);
  lua_pushcfunction(lua, OpenCjsonWithArrays);
  lua_setfield(lua, -2, "new");
  return 1;
}

int OpenCjson(lua_State* lua) {
  lua_createtable(lua, 0, 13);
  new (lua_newuserdatauv(lua, sizeof(JsonConfig), 0)) JsonConfig();
  luaL_setfuncs(lua, kJsonFunctions.data(), 1);
  lua_pushlightuserdata(lua, nullptr);
  lua_setfield(lua, -2, "null");
  lua_pushliteral(lua, "cjson");
  lua_setfield(lua, -2, "_NAME");
  lua_pushliteral(lua, "2.1.0");
  lua_setfield(lua, -2, "_VERSION");
  return 1;
}

}  // namespace respite
