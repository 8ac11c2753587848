// The list of modules in HELLO and MODULE LIST.
#pragma once

#include "protocol/reply.h"
#include "server/catalogue/shown_modules.h"

namespace respite {

inline void WriteModuleList(Reply& reply, const Dialect& dialect) {  // writes an array with a map for each module
  const std::vector<ShownModule> modules = ShownModules(dialect);
  reply.Array(modules.size());
  for (const ShownModule& module : modules) {
    reply.Map(4);
    reply.Bulk("name");
    reply.Bulk(module.name);
    reply.Bulk("ver");
    reply.Integer(module.version);
    reply.Bulk("path");
    reply.Bulk(module.path);
    reply.Bulk("args");
    reply.Array(0);
  }
}

}  // namespace respite
