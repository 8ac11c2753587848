// A Lua state with the globals of scripts and the four libraries, for tests of their results.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "scripting/lib_support.h"
#include "scripting/lua51.h"

namespace respite {

// An expression and its result in Redis 7.2.
struct LibraryCase {
  const char* expression;
  const char* shown;
};

class LibraryState {
 public:
  LibraryState() : LibraryState(luaL_newstate()) {}
  // For tests with their own allocator.
  explicit LibraryState(lua_State* lua) : lua_(lua, lua_close) {
    OpenLua51(lua);
    Open("cjson", OpenCjson);
    Open("cmsgpack", OpenCmsgpack);
    Open("bit", OpenBit);
    Open("struct", OpenStruct);
    RunChunk(kPrelude);
  }

  lua_State* Lua() { return lua_.get(); }

  // The values of an expression, separated by commas: texts in quotes (in hexadecimal if they are not printable),
  // tables with sorted keys; or its error.
  std::string Show(const std::string& expression) {
    return RunChunk("return show(pcall(function() return " + expression + " end))");
  }

  // Runs a chunk and returns its first result as text, or its error.
  std::string RunChunk(const std::string& chunk) {
    lua_State* lua = lua_.get();
    if (luaL_loadbuffer(lua, chunk.data(), chunk.size(), "@user_script") == LUA_OK) lua_pcall(lua, 0, 1, 0);
    size_t size = 0;
    const char* text = luaL_tolstring(lua, -1, &size);
    std::string result(text, size);
    lua_settop(lua, 0);
    return result;
  }

  // Leaves the first result of a chunk on the stack. The collector does not run by itself afterwards.
  void PushResult(const std::string& chunk) {
    lua_gc(lua_.get(), LUA_GCSTOP);
    ASSERT_EQ(luaL_loadbuffer(lua_.get(), chunk.data(), chunk.size(), "@user_script"), LUA_OK);
    ASSERT_EQ(lua_pcall(lua_.get(), 0, 1, 0), LUA_OK);
  }

  // Makes long C++ loops collect all garbage at each sixteenth step, where they call the hook of the script.
  void CollectInLoops() {
    lua_sethook(
        lua_.get(), [](lua_State* lua, lua_Debug*) { lua_gc(lua, LUA_GCCOLLECT); }, LUA_MASKCOUNT, 1);
  }

  // Returns how often the hook is called while the expression is computed. With `every` 1, each loop of C++ calls it,
  // and each instruction of Lua.
  int HookCallsOf(const std::string& expression, int every) {
    static int calls;
    calls = 0;
    lua_sethook(
        lua_.get(), [](lua_State*, lua_Debug*) { ++calls; }, LUA_MASKCOUNT, every);
    Show(expression);
    lua_sethook(lua_.get(), nullptr, 0, 0);
    return calls;
  }

 private:
  static constexpr const char* kPrelude = R"lua(
    local function hexadecimal(s) return (s:gsub(".", function(c) return string.format("%02x", c:byte()) end)) end
    local function one(v)
      if type(v) == "number" then return string.format("%.17g", v) end
      if type(v) == "string" then return v:find("^[\32-\126]*$") and '"' .. v .. '"' or "x" .. hexadecimal(v) end
      if type(v) == "userdata" then return "null" end
      if type(v) ~= "table" then return type(v) == "function" and "function" or tostring(v) end
      local entries = {}
      for k, x in pairs(v) do entries[#entries + 1] = one(k) .. "=" .. one(x) end
      table.sort(entries)
      return "{" .. table.concat(entries, " ") .. "}"
    end
    local function list(...)
      local all = {}
      for i = 1, select("#", ...) do all[i] = one((select(i, ...))) end
      return table.concat(all, ", ")
    end
    function show(ok, ...)
      if ok then return list(...) end
      return "error: " .. tostring((...))
    end
  )lua";

  void Open(const char* name, lua_CFunction open) {
    lua_pushcfunction(lua_.get(), open);
    lua_call(lua_.get(), 0, 1);
    lua_setglobal(lua_.get(), name);
  }

  std::unique_ptr<lua_State, void (*)(lua_State*)> lua_;
};

}  // namespace respite
