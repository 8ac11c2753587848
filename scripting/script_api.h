// The table `redis` (alias `server`), with which scripts call the server.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "scripting/lua_api.h"
#include "scripting/script_host.h"

namespace respite {

// The arguments of one command that a script runs. They are reused, so that a call allocates nothing.
class CommandWords {
 public:
  // Removes the previous arguments. At most `count` new ones may follow.
  void Start(size_t count);
  // Adds an argument. Its text must stay valid while the arguments are used.
  void Add(Bytes text) { words_[count_++] = text; }
  // Adds a number: an integer with all digits, any other in the shortest form that reads back to the same value.
  void Add(double number);
  std::span<const Bytes> All() const { return {words_.data(), count_}; }

 private:
  std::vector<Bytes> words_;  // never shrinks below the largest `count`
  size_t count_ = 0;
  std::vector<std::string> numbers_;  // texts of numbers; not resized between Start and All
  size_t used_numbers_ = 0;
};

// What the table needs of the engine that runs the script.
class EngineLink {
 public:
  // `host` must outlive the link.
  explicit EngineLink(ScriptHost& host) : host_(host) {}
  virtual ~EngineLink() = default;
  EngineLink(const EngineLink&) = delete;
  EngineLink& operator=(const EngineLink&) = delete;

  // Returns the link in the extra space of a state, for functions that Lua calls.
  static EngineLink& Of(lua_State* lua) { return **static_cast<EngineLink**>(lua_getextraspace(lua)); }
  ScriptHost& host() { return host_; }
  CommandWords& words() { return words_; }

  // Returns true while a script or function runs, but not while a library is loaded.
  virtual bool Running() const = 0;
  // Lets the collector run during the current script, once the script has used a lot of memory.
  virtual void RelieveMemory() = 0;

 private:
  ScriptHost& host_;
  CommandWords words_;
};

// Sets the globals `redis` and `server`, and a pcall that returns the text of an error to the script instead of the
// error table. Requires: an EngineLink in the state's extra space.
void OpenScriptApi(lua_State* lua);

// Returns a name such as "redis.log", or "server.log" if the dialect names the table `server`.
std::string InApi(lua_State* lua, Bytes words);

// Raises the error {err="ERR " .. text}.
int RaiseError(lua_State* lua, Bytes text);

}  // namespace respite
