// The globals of a library of functions while it is loaded: only a table `redis` with register_function, log and a few
// constants. When its functions run later, they see the globals of scripts, without register_function.
#pragma once

#include <cstdint>
#include <optional>

#include "scripting/engine.h"
#include "scripting/function_library.h"

namespace respite {

void OpenFunctionApi(lua_State* lua);  // adds the globals that library code sees; an `Extend` for ScriptEngine

// Runs the code of a library, which adds its functions to `library`, until the engine's load deadline. Requires: an
// engine with OpenFunctionApi.
std::optional<ScriptFailure> RegisterFunctions(ScriptEngine& engine, ScriptEngine::Function code,
                                               FunctionLibrary& library);

}  // namespace respite
