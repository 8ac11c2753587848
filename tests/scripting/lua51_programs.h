// Runs small programs as scripts of Lua 5.1, without a server. What they give was taken from Redis 7.2.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite {

struct Program {
  Bytes source;
  Bytes expected;
};

// A state with the libraries of 5.1 and nothing else.
class Lua51State {
 public:
  Lua51State();
  ~Lua51State();
  Lua51State(const Lua51State&) = delete;
  Lua51State& operator=(const Lua51State&) = delete;

  // The first result as text, or "ERR " and the message. Programs find a function `show`, which makes text of all its
  // arguments, between bars.
  std::string Run(Bytes source);
  lua_State* lua() { return lua_; }

 private:
  lua_State* lua_;
};

// Each program in a state of its own.
void ExpectResults(const std::vector<Program>& programs);

}  // namespace respite
