// The entry of the module lua in HELLO and MODULE LIST. Valkey since 9.1 has its Lua engine in a module.
#pragma once

#include "protocol/reply.h"

namespace respite {

inline void WriteLuaModule(Reply& reply) {  // one module: its name, version, path and arguments
  reply.Map(4);
  reply.Bulk("name");
  reply.Bulk("lua");
  reply.Bulk("ver");
  reply.Integer(1);
  reply.Bulk("path");
  reply.Bulk("lua");
  reply.Bulk("args");
  reply.Array(0);
}

}  // namespace respite
