// ScriptEngine: one Lua state that runs the scripts of clients. Scripts share compiled code, the settings of cjson and
// the sequence of math.random. Otherwise no script can change data that another script sees, or use up all memory.
//
// Memory: the owner reserves the memory of the code that it keeps (ReserveMemory), so that scripts which are loaded
// take nothing away from those that run. In addition, a script or function may use script-memory-limit
// (ScriptHost::MemoryLimit). The data that functions keep in the variables of their library also counts. SetLoadMemory
// limits the memory that loading a library may add.
//
// Garbage: the collector is stopped while scripts run, because most leave only a few hundred bytes. CollectGarbage
// collects in small steps between iterations of the event loop. If there is much garbage, a step also runs before each
// script, and a long script restarts the collector (StartCollectorIfNeeded).
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
#include "scripting/lib_support.h"
#include "scripting/lua51.h"
#include "scripting/lua_api.h"
#include "scripting/script_host.h"
#include "scripting/script_watch.h"

namespace respite {

struct ScriptFailure {      // the error with which a script, function or library ended
  std::string text;         // in the form for Reply::Error
  bool is_counted = false;  // true: a command failed, and this error is in the statistics already
};

class ScriptEngine final : private CoroutineObserver {  // a Lua state that runs clients' scripts or functions
 public:
  static constexpr char kKilled[] =  // the error of a script that was killed
      "Script killed by user with SCRIPT KILL...";

  // A reference to a Lua function, as an index in Lua's registry.
  using Function = int;
  // A function that the constructor calls to add globals, before the globals become read-only.
  using Extend = void (*)(lua_State* lua);

  // `host` must outlive the engine. Cost: about 100 microseconds.
  explicit ScriptEngine(ScriptHost& host, Extend extend = nullptr);
  ~ScriptEngine() override;
  ScriptEngine(const ScriptEngine&) = delete;
  ScriptEngine& operator=(const ScriptEngine&) = delete;

  // Which limits may end the compiler. kHost: ScriptHost::PollStopRequest, which may also end a running script.
  // kLoadLimits: the limits for loading a library, which SetLoadDeadline and SetLoadMemory set.
  enum class CompileLimit : uint8_t { kHost, kLoadLimits };
  // The error is the text of Lua's error, or names the limit that ended the compiler. Requires: no script runs in this
  // engine.
  Result<Function> Compile(Bytes source, const char* chunk,  // compiles Lua source text; `chunk`: its name in errors
                           CompileLimit limit);
  // Raises a Lua error if there is no memory.
  Function Keep();                  // pops the function on top of Lua's stack, and returns a reference
  void Release(Function function);  // frees a function that Compile or Keep returned

  struct Invocation {             // what to run, and with which keys and arguments (EVAL, FCALL)
    Function function;            // the compiled script or function
    Bytes name;                   // for errors: the script's SHA-1 or the function's name
    std::span<const Bytes> keys;  // KEYS
    std::span<const Bytes> args;  // ARGV
  };
  // Sets the globals KEYS and ARGV. If the script fails, `reply` may contain part of a reply; the caller must remove
  // it.
  std::optional<ScriptFailure> RunScript(const Invocation& invocation,  // EVAL: runs a script; nullopt: success
                                         Reply& reply);
  // Passes keys and arguments to the function. If the function fails, `reply` may contain part of a reply; the caller
  // must remove it.
  std::optional<ScriptFailure> RunFunction(const Invocation& invocation,  // FCALL: runs a function; nullopt: success
                                           Reply& reply);
  void SetLoadDeadline(int64_t timeout_ms) {  // libraries must be loaded within this processor time from now
    load_until_ms_ = host_.CpuMs() + timeout_ms;
  }
  void SetLoadMemory(size_t bytes) {  // the next library may add this many bytes to the Lua state
    load_memory_limit_ = used_bytes_ + bytes;
  }
  void ReserveMemory(size_t bytes) { reserved_bytes_ += bytes; }    // raises the scripts' memory limit for kept code
  void UnreserveMemory(size_t bytes) { reserved_bytes_ -= bytes; }  // undoes ReserveMemory for freed code
  size_t ReservedBytes() const { return reserved_bytes_; }          // bytes of the code that is kept
  // The code runs within the limits of SetLoadDeadline and SetLoadMemory. There is no reply.
  std::optional<ScriptFailure> RunLibrary(Function function);  // FUNCTION LOAD: runs a library's code; nullopt: success
  bool IsRunning() const {  // true: runs or compiles a script, or runs a function; false: also while a library loads
    return phase_ == Phase::kRun;
  }

  void CollectGarbage() {  // between scripts: runs a step of Lua's collector if there is enough garbage
    if (used_bytes_ > collector_threshold_bytes_) CollectSome();
  }
  void StartCollectorIfNeeded() {  // if there is much garbage: lets Lua's collector run until the script ends
    if (used_bytes_ > collector_start_bytes_) StartCollector();
  }
  void CollectAll();  // between scripts: runs a full collection; 0.1 s for each 100 MB
  bool HasRunSinceCollection() const { return has_run_since_collection_; }  // true: a script or function ran since then
  size_t UsedBytes() const { return used_bytes_; }                          // bytes that the Lua state has allocated
  size_t UnusedBytes() const {  // bytes that the running script may still allocate (memory limit)
    return used_bytes_ < memory_limit_ ? memory_limit_ - used_bytes_ : 0;
  }

  // Returns the engine that owns a Lua state, for C++ functions that Lua calls.
  static ScriptEngine& Of(lua_State* lua) { return **static_cast<ScriptEngine**>(lua_getextraspace(lua)); }
  ScriptHost& host() { return host_; }       // the server, as scripts use it
  CallArguments& words() { return words_; }  // the arguments of the command that redis.call is running
  lua_State* lua() { return lua_; }          // the Lua state of this engine

 private:
  enum class Phase : uint8_t { kIdle, kRun, kLoad };
  class WatchedPhase;  // exists while code is compiled or runs, so that a request or a deadline can end it

  static constexpr size_t kMinCollectorStartBytes = size_t{64} << 20;  // lowest value of collector_start_bytes_
  static constexpr size_t kMinGarbageToCollect = size_t{32} << 10;     // bytes that make a collector step worthwhile

  static void* Allocate(void* engine, void* block,  // Lua's allocator (lua_Alloc), with the memory limit
                        size_t old_bytes, size_t new_bytes);
  static void OnCount(lua_State* lua, lua_Debug*);  // Lua's hook, called in long scripts; calls Check
  void Check(lua_State* lua);       // raises an error if the script must end (PollStopReason); else sets the hook again
  void CheckIfDue(lua_State* lua);  // if IsCheckDue: checks whether the script must end
  void BeforeResume(lua_State* lua) override;           // called before a coroutine is resumed; calls CheckIfDue
  void OnSwitch(lua_State* thread) noexcept override {  // this Lua thread (a coroutine or its resumer) runs now
    watch_.Switch(thread);
  }
  bool MustEnd(lua_State* lua) noexcept override;  // true: the script was ended, so no code may catch its error
  const char* PollStopReason();  // polls the host or the clock: the error that must end the script; null: none
  // The argument that Protect passes to `work`: none, or a copy of the value on top of the engine's stack.
  enum class Argument : uint8_t { kNone, kTop };
  // Protect calls work() with Lua errors caught and memory limited. Moves the results of `work` to the top of this
  // engine's stack, and returns the result of lua_pcall.
  template <typename Work>
  int Protect(Work& work, Argument argument = Argument::kNone);  // calls work(), catching errors; returns a Lua status
  int ProtectedRun(int arguments, int results);                  // lua_pcall with the memory limit; returns its status
  template <typename Prepare>
  std::optional<ScriptFailure> Run(const Invocation& invocation, Prepare prepare, Reply& reply);  // runs any script
  void RestoreEnvironment(Function function);  // undoes what setfenv has done to a function that has run
  std::optional<ScriptFailure> Finish(int status, Bytes name, Reply& reply);  // writes the reply, or returns the error
  ScriptFailure DescribeFailure(Bytes name);         // turns the error on Lua's stack into text; raises no Lua error
  ScriptFailure DescribeFailureBriefly(Bytes name);  // gives only 100 bytes of the error's text; needs no memory of Lua
  ScriptFailure TakeFailure(Bytes name);             // may raise another Lua error; returns the full text of the error
  void ClearArguments();                             // removes the globals KEYS and ARGV of the last script
  void PushTexts(std::span<const Bytes> texts);      // pushes the texts as a Lua table, such as KEYS
  void CollectBeforeScript() {                       // if there is much garbage: runs one step of the collector
    if (used_bytes_ > collector_start_bytes_) CollectSome();
  }
  void CollectSome();     // runs one step of Lua's garbage collector
  void NoteCollected();   // a full collection has ended: sets at which memory use the next begins
  void StartCollector();  // lets Lua's garbage collector run until the script ends

  ScriptHost& host_;                                         // the server, as scripts use it
  CallArguments words_;                                      // the arguments of the command that redis.call is running
  size_t used_bytes_ = 0;                                    // bytes that the Lua state has allocated
  void* string_table_ = nullptr;                             // Lua's table of short strings, which may pass the limit
  size_t collector_threshold_bytes_ = kMinGarbageToCollect;  // CollectGarbage does nothing while fewer bytes are used
  size_t collector_start_bytes_ = kMinCollectorStartBytes;   // used bytes at which the collector starts during a script
  bool is_memory_limited_ = false;     // true: memory_limit_ applies now, because Lua's memory error would be caught
  Phase phase_ = Phase::kIdle;         // kRun: runs or compiles a script, or runs a function; kLoad: loads a library
  const char* stop_reason_ = nullptr;  // the error with which the running script was ended; null: it was not ended
  size_t memory_limit_ = 0;            // maximum of used_bytes_ in the present phase (kRun or kLoad)
  size_t reserved_bytes_ = 0;          // bytes of kept code (ReserveMemory), added to the limit of scripts
  int64_t load_until_ms_ = 0;          // when loading a library must end (host_.CpuMs())
  size_t load_memory_limit_ = 0;       // maximum of used_bytes_ while a library is loaded
  bool has_run_since_collection_ = false;  // true: a script or function has run since the last full collection
  bool collector_runs_ = false;            // true: StartCollector was called for the running script
  ScriptWatch watch_;                      // makes Lua call OnCount regularly in long scripts
  Function globals_ = 0;                   // registry index of the real table of globals, behind the read-only proxy
  lua_State* lua_;                         // the Lua state of this engine
};

}  // namespace respite
