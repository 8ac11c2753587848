// The globals that the code of a library of functions sees during FUNCTION LOAD: only a table `redis` with
// register_function, log and a few constants. `server` is another name of this table, except if Redis or Valkey 7.2 is
// emulated. When the functions of the library run later, they see the globals of scripts, without register_function.
#pragma once

#include <cstdint>
#include <optional>

#include "scripting/engine.h"
#include "scripting/function_library.h"

namespace respite {

// As in Redis, only scripts have redis.replicate_commands, redis.breakpoint and redis.debug, so OpenFunctionApi removes
// them from `redis`.
void OpenFunctionApi(lua_State* lua);  // adds the globals that the code of libraries sees during FUNCTION LOAD

// Runs the code of a library within the limits of ScriptEngine::SetLoadDeadline and SetLoadMemory. The code adds its
// functions to `library`. Requires: `engine` was created with OpenFunctionApi.
std::optional<ScriptFailure> RegisterFunctions(ScriptEngine& engine,  // runs a library's code; nullopt: success
                                               ScriptEngine::Function code, FunctionLibrary& library);

}  // namespace respite
