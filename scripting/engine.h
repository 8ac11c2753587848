// ScriptEngine: one Lua state that runs scripts of clients: nothing of it is shared between scripts but what is
// compiled, none can change what another sees, and none can take all memory.
//
// Garbage: the collector is stopped while scripts run, since most leave a few hundred bytes; CollectGarbage goes on
// between Turns, in small steps. A script that needs a lot starts it again (RelieveMemory).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/reply.h"
#include "scripting/command_words.h"
#include "scripting/lua51.h"
#include "scripting/lua_api.h"
#include "scripting/script_host.h"
#include "scripting/script_watch.h"

namespace respite {

// Why a script ended without a reply.
struct ScriptFailure {
  std::string text;         // as for Reply::Error
  bool is_counted = false;  // it is the error of a command, which has been counted
};

class ScriptEngine final : private ThreadObserver {
 public:
  // A script that wants more than this ends with an error.
  static constexpr size_t kMemoryLimit = size_t{1} << 30;

  // A function that Lua keeps for us.
  using Function = int;
  // Adds to the globals before they become read-only.
  using Extend = void (*)(lua_State* lua);

  // `host` must outlive the engine. Cost: about 100 microseconds.
  explicit ScriptEngine(ScriptHost& host, Extend extend = nullptr);
  ~ScriptEngine() override;
  ScriptEngine(const ScriptEngine&) = delete;
  ScriptEngine& operator=(const ScriptEngine&) = delete;

  // Makes a function of a text; `chunk` names it in errors ("@user_script"). The error is Lua's text.
  Result<Function> Compile(Bytes source, const char* chunk);
  // Takes the function on top of Lua's stack. May raise an error of Lua.
  Function Keep();
  void Release(Function function);

  // What a function is called with.
  struct Invocation {
    Function function;
    Bytes name;  // for errors: the script's SHA-1 or the function's name
    std::span<const Bytes> keys;
    std::span<const Bytes> args;
  };
  // EVAL: keys and arguments are the globals KEYS and ARGV. Writes the reply, unless it fails.
  std::optional<ScriptFailure> RunScript(const Invocation& invocation, Reply& reply);
  // FCALL: keys and arguments are the function's arguments.
  std::optional<ScriptFailure> RunFunction(const Invocation& invocation, Reply& reply);
  // FUNCTION LOAD: runs the text of a library, without a reply, for so long at most (0: as long as it takes).
  std::optional<ScriptFailure> RunLibrary(Function function, int64_t timeout_ms);
  // A script or function runs, not a library that is loaded.
  bool Running() const { return phase_ == Phase::kRun; }
  // To be called a few times a second.
  void RestIfIdle() { watch_.RestIfIdle(); }

  // A step of the collector, if there is enough to collect. Cost: some microseconds at most.
  void CollectGarbage() {
    if (used_bytes_ > collect_from_) CollectSome();
  }
  // Lets the collector run during the script that is running, once it has taken a lot.
  void RelieveMemory() {
    if (used_bytes_ > kRelieveFrom) StartCollector();
  }
  size_t UsedBytes() const { return used_bytes_; }

  // For functions that Lua calls.
  static ScriptEngine& Of(lua_State* lua) { return **static_cast<ScriptEngine**>(lua_getextraspace(lua)); }
  ScriptHost& host() { return host_; }
  CommandWords& words() { return words_; }
  lua_State* lua() { return lua_; }

 private:
  enum class Phase : uint8_t { kIdle, kRun, kLoad };

  static constexpr size_t kRelieveFrom = size_t{64} << 20;
  static constexpr size_t kCollectLeast = size_t{32} << 10;

  static void* Allocate(void* engine, void* block, size_t old_bytes, size_t new_bytes);
  static void OnCount(lua_State* lua, lua_Debug*);
  // What the script has to do now and then: raises an error when it must end.
  void Look(lua_State* lua);
  void BeforeResume(lua_State* lua) override;
  void OnSwitch(lua_State* thread) noexcept override { watch_.Switch(thread); }
  bool MustEnd(lua_State* lua) noexcept override;
  // The error that ends what runs; null: it may go on.
  const char* StopReason();
  // Calls `work` where errors of Lua are caught and memory is limited; what it leaves on its stack comes to the top of
  // ours. Gives lua_pcall's result. With `argument` it finds a copy of our top on its stack.
  enum class Argument : uint8_t { kNone, kTop };
  template <typename Work>
  int Protect(Work& work, Argument argument = Argument::kNone);
  int ProtectedRun(Phase phase, int arguments, int results);
  template <typename Prepare>
  std::optional<ScriptFailure> Run(const Invocation& invocation, Prepare prepare, Reply& reply);
  std::optional<ScriptFailure> Finish(int status, Bytes name, Reply& reply);
  ScriptFailure BriefFailure(Bytes name);
  ScriptFailure TakeFailure(Bytes name);
  void PushTexts(std::span<const Bytes> texts);
  void CollectSome();
  void StartCollector();

  ScriptHost& host_;
  CommandWords words_;
  size_t used_bytes_ = 0;
  size_t collect_from_ = kCollectLeast;
  bool limited_ = false;  // memory; only where Lua catches the error
  Phase phase_ = Phase::kIdle;
  const char* stop_reason_ = nullptr;  // what runs has been ended
  int64_t load_until_ms_ = 0;          // monotonic; of a library that is loaded
  bool collector_runs_ = false;        // the script has taken a lot
  ScriptWatch watch_;
  Function globals_ = 0;  // the real table of globals
  lua_State* lua_;
};

}  // namespace respite
