// Runs small programs as scripts of Lua 5.1, without a server. What they give was taken from Redis 7.2.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "failing_memory.h"
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
  // What it fails to give ends the program that Run runs next, and no more.
  FailingMemory& memory() { return memory_; }

 private:
  FailingMemory memory_;
  lua_State* lua_;
};

// Each program in a state of its own. And each survives a lack of memory wherever it wants some.
void ExpectResults(const std::vector<Program>& programs);
// Runs a program again and again, with memory refused from its first, second, third ... allocation on; at a few
// points in those that want it a thousand times.
void ExpectToSurviveFailures(Bytes source);

}  // namespace respite
