// The modules that HELLO, MODULE LIST and INFO name. In Redis or Valkey, these parts of the server are modules, so
// clients look for them in the list of modules.
#pragma once

#include <string_view>
#include <vector>

#include "server/catalogue/dialect.h"

namespace respite {

struct ShownModule {         // a module, as replies show it
  std::string_view name;     // "vectorset", "ReJSON", "lua"
  int version;               // the field `ver`
  std::string_view path;     // as in Redis, empty for modules that are built in
  std::string_view options;  // the field `options` of INFO
};

// Returns none without emulation, because the server then counts as Redis 7.2, which has no such modules.
inline std::vector<ShownModule> ShownModules(const Dialect& dialect) {  // modules of the emulated version
  std::vector<ShownModule> modules;
  const ServerVersion version = dialect.version.value_or(kDefaultVersion);
  if (VersionMark("8.0.0").IsIn(version)) {
    modules.push_back({"vectorset", 1, "", "handle-io-errors|handle-repl-async-load"});
    // The module has the version of its Redis: 80603 with Redis 8.6.3.
    const auto [major, minor, patch] = version.version;
    modules.push_back({"ReJSON", 10'000 * major + 100 * minor + patch, "", "handle-io-errors"});
  }
  if (dialect.traits.lua_is_a_module) {
    modules.push_back({"lua", 1, "lua", "handle-repl-async-load|handle-atomic-slot-migration"});
  }
  return modules;
}

}  // namespace respite
