#include "scripting/function_api.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/str_cat.h"
#include "scripting/function_header.h"
#include "scripting/lib_support.h"
#include "scripting/lua_reply.h"
#include "scripting/sandbox.h"
#include "scripting/script_api.h"

namespace respite {

namespace {

// The addresses of these two variables are keys of Lua's registry. The values of these keys are the globals that
// library code sees during loading, and the library that is being loaded.
const char kLoadGlobals = 0;
const char kLoadedLibrary = 0;

FunctionLibrary* LoadedLibrary(lua_State* lua) {
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &kLoadedLibrary);
  auto* library = static_cast<FunctionLibrary*>(lua_touserdata(lua, -1));
  lua_pop(lua, 1);
  return library;
}

void SetLoadedLibrary(lua_State* lua, FunctionLibrary* library) {
  lua_pushlightuserdata(lua, library);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kLoadedLibrary);
}

// The arguments of register_function, except the callback, which stays on Lua's stack.
struct Registration {
  std::optional<std::string> name;
  std::optional<std::string> description;
  uint32_t flags = 0;
};

// Limits of names and descriptions. Their copies do not count for the memory limit of scripts.
constexpr size_t kMaxTextBytes = 64 << 10;           // maximum size of one name or description
constexpr size_t kMaxTextBytesOfLibrary = 16 << 20;  // maximum size of all names and descriptions of a library

// Returns a text argument, or raises an error that begins with `argument`, such as "first argument to ". As in Redis, a
// number counts as a text.
std::string TextArgument(lua_State* lua, int index, Bytes argument, WorkCounter& work) {
  if (lua_isstring(lua, index) == 0) {
    RaiseError(lua, StrCat(argument, PrefixTableName(lua, "register_function must be a string")));
  }
  const Bytes text = TextAt(lua, index);
  if (text.size() > kMaxTextBytes) {
    RaiseError(lua, StrCat(argument, PrefixTableName(lua, "register_function must not be longer than "), kMaxTextBytes,
                           " bytes"));
  }
  work.AddSteps(text.size());  // each byte is a step, because a table may give the same long text thousands of times
  return std::string(text);
}

// Returns the flag whose name is on top of the stack, or nullopt if no flag has this name. As in Redis, ignores the
// case.
std::optional<ScriptFlag> FlagOnTop(lua_State* lua) {
  constexpr size_t kMaxFlagBytes = 64;  // more than any flag has; a longer text is not copied
  if (lua_isstring(lua, -1) == 0) return std::nullopt;
  const Bytes name = TextAt(lua, -1);
  return name.size() <= kMaxFlagBytes ? FindScriptFlag(ToLower(name)) : std::nullopt;
}

// Reads the flags of a function (no-writes, allow-oom …) from the table on top of the stack, and pops the table.
uint32_t ReadFlags(lua_State* lua, WorkCounter& work) {
  uint32_t flags = 0;
  for (lua_Integer i = 1; lua_rawgeti(lua, -1, i) != LUA_TNIL; ++i) {
    work.Step();
    const auto flag = FlagOnTop(lua);
    if (!flag) RaiseError(lua, "unknown flag given");
    flags |= *flag;
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return flags;
}

constexpr int kTable = 1;
constexpr int kCallback = 2;

// Reads one named argument, whose value is on top of the stack. Copies a callback to index kCallback.
void ReadArgument(lua_State* lua, Bytes name, Registration& registration, WorkCounter& work) {
  if (EqualsIgnoreCase(name, "function_name")) {
    registration.name = TextArgument(lua, -1, "function_name argument given to ", work);
  } else if (EqualsIgnoreCase(name, "description")) {
    registration.description = TextArgument(lua, -1, "description argument given to ", work);
  } else if (EqualsIgnoreCase(name, "callback")) {
    if (!lua_isfunction(lua, -1))
      RaiseError(lua, "callback argument given to " + PrefixTableName(lua, "register_function must be a function"));
    lua_pushvalue(lua, -1);
    lua_replace(lua, kCallback);
  } else if (EqualsIgnoreCase(name, "flags")) {
    if (!lua_istable(lua, -1)) {
      RaiseError(lua, "flags argument to " +
                          PrefixTableName(lua, "register_function must be a table representing function flags"));
    }
    registration.flags = ReadFlags(lua, work);
  } else {
    RaiseError(lua, "unknown argument given to " + PrefixTableName(lua, "register_function"));
  }
}

Registration ReadNamed(lua_State* lua) {
  if (!lua_istable(lua, kTable)) {
    RaiseError(lua,
               "calling " + PrefixTableName(lua,
                                            "register_function with a single argument is only applicable to Lua table "
                                            "(representing named arguments)."));
  }
  Registration registration;
  WorkCounter work(lua);
  lua_settop(lua, kCallback);
  for (lua_pushnil(lua); lua_next(lua, kTable) != 0; lua_pop(lua, 1)) {
    work.Step();
    if (lua_isstring(lua, -2) == 0) {
      RaiseError(lua, "named argument key given to " + PrefixTableName(lua, "register_function is not a string"));
    }
    // Passes an empty name if the key is a number. lua_tolstring would convert the number to text in place, but
    // lua_next needs the key unchanged.
    ReadArgument(lua, lua_type(lua, -2) == LUA_TSTRING ? TextAt(lua, -2) : Bytes(), registration, work);
  }
  if (!registration.name) RaiseError(lua, PrefixTableName(lua, "register_function must get a function name argument"));
  if (lua_isnil(lua, kCallback))
    RaiseError(lua, PrefixTableName(lua, "register_function must get a callback argument"));
  return registration;
}

Registration ReadPositional(lua_State* lua) {
  Registration registration;
  WorkCounter work(lua);
  registration.name = TextArgument(lua, 1, "first argument to ", work);
  if (!lua_isfunction(lua, kCallback)) {
    RaiseError(lua, "second argument to " + PrefixTableName(lua, "register_function must be a function"));
  }
  return registration;
}

bool HasFunction(const FunctionLibrary& library, Bytes name) {
  return std::any_of(library.functions.begin(), library.functions.end(),
                     [&](const auto& function) { return EqualsIgnoreCase(function->name, name); });
}

int RegisterFunction(lua_State* lua) {
  FunctionLibrary* library = LoadedLibrary(lua);
  if (library == nullptr) {
    return RaiseError(lua, PrefixTableName(lua, "register_function can only be called on FUNCTION LOAD command"));
  }
  const int count = lua_gettop(lua);
  if (count < 1 || count > 2)
    return RaiseError(lua, "wrong number of arguments to " + PrefixTableName(lua, "register_function"));
  Registration registration = count == 1 ? ReadNamed(lua) : ReadPositional(lua);
  if (!IsLibraryOrFunctionName(*registration.name)) return RaiseError(lua, kBadFunctionName);
  if (HasFunction(*library, *registration.name)) return RaiseError(lua, "Function already exists in the library");
  library->text_bytes += registration.name->size() + (registration.description ? registration.description->size() : 0);
  if (library->text_bytes > kMaxTextBytesOfLibrary) {
    return RaiseError(lua, StrCat("Names and descriptions of a library must not be longer than ",
                                  kMaxTextBytesOfLibrary, " bytes together"));
  }
  lua_pushvalue(lua, kCallback);
  library->functions.push_back(
      std::make_unique<ScriptFunction>(ScriptFunction{.name = std::move(*registration.name),
                                                      .description = std::move(registration.description),
                                                      .flags = registration.flags,
                                                      .function = ScriptEngine::Of(lua).Keep(),
                                                      .library = library}));
  return 0;
}

// Copies the field `name` of the table at index `from` to the table on top of the stack.
void CopyApiField(lua_State* lua, int from, const char* name) {
  lua_getfield(lua, from, name);
  lua_setfield(lua, -2, name);
}

}  // namespace

void OpenFunctionApi(lua_State* lua) {
  lua_getglobal(lua, "redis");
  const int api = lua_gettop(lua);
  lua_newtable(lua);  // the globals of code that is being loaded
  lua_newtable(lua);  // the table `redis` in these globals
  for (const char* name : {"log", "LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING", "REDIS_VERSION",
                           "REDIS_VERSION_NUM", "SERVER_NAME", "VALKEY_VERSION", "VALKEY_VERSION_NUM"}) {
    CopyApiField(lua, api, name);
  }
  lua_pushcfunction(lua, RegisterFunction);
  lua_setfield(lua, -2, "register_function");
  RefuseUnknownNames(lua);
  MakeReadOnly(lua);
  if (ScriptEngine::Of(lua).host().Dialect().has_server_table) {
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -3, "server");
  }
  lua_setfield(lua, -2, "redis");
  RefuseUnknownNames(lua);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kLoadGlobals);
  // Removes old names from the API of functions. As in Redis, only scripts have these names.
  for (const char* name : {"replicate_commands", "breakpoint", "debug"}) {
    lua_pushnil(lua);
    lua_setfield(lua, api, name);
  }
  lua_pop(lua, 1);
}

std::optional<ScriptFailure> RegisterFunctions(ScriptEngine& engine, ScriptEngine::Function code,
                                               FunctionLibrary& library) {
  lua_State* lua = engine.lua();
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &kLoadGlobals);
  ShowInsteadOfGlobals(lua);
  SetLoadedLibrary(lua, &library);
  std::optional<ScriptFailure> failure = engine.RunLibrary(code);
  SetLoadedLibrary(lua, nullptr);
  ShowGlobals(lua);
  return failure;
}

}  // namespace respite
