// Runs small programs as scripts of Lua 5.1, without a server. The expected results are from Redis 7.2.
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

// A state with only the libraries of 5.1.
class Lua51State {
 public:
  Lua51State();
  ~Lua51State();
  Lua51State(const Lua51State&) = delete;
  Lua51State& operator=(const Lua51State&) = delete;

  // Returns the first result as text, or "ERR " and the message. Programs can call `show`, which formats all its
  // arguments, separated by bars.
  std::string Run(Bytes source);
  lua_State* lua() { return lua_; }
  // A failure of this memory ends only the program that Run executes next.
  FailingMemory& memory() { return memory_; }

 private:
  FailingMemory memory_;
  lua_State* lua_;
};

// Runs each program in its own state, and checks that it survives a failure of each of its allocations.
void ExpectResults(const std::vector<Program>& programs);
// Runs a program repeatedly and makes its first, second, third ... allocation fail; for programs with a thousand
// allocations, only at a few points.
void ExpectToSurviveFailures(Bytes source);

}  // namespace respite
