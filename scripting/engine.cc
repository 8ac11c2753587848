#include "scripting/engine.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <utility>

#include "base/memory.h"
#include "base/out_of_memory.h"
#include "scripting/lib_support.h"
#include "scripting/lua51.h"
#include "scripting/lua_reply.h"
#include "scripting/sandbox.h"
#include "scripting/script_api.h"

namespace respite {

namespace {

// The number of Lua instructions between two calls of the hook OnCount, which checks whether the script must end.
constexpr int kInstructionsPerLook = 10'000;
constexpr char kLoadTimeout[] = "FUNCTION LOAD timeout";
constexpr char kLoadTimeoutError[] = "ERR FUNCTION LOAD timeout";
constexpr char kUnknownError[] = "ERR unknown error";

// Copies the field `name` of the table at index `from` to the table on top of the stack.
void CopyField(lua_State* lua, int from, const char* name) {
  lua_pushstring(lua, name);
  lua_rawget(lua, from);
  lua_setfield(lua, -2, name);
}

// Sets `source` and `line` of the error table on top. As in Redis, both fields name the position in the script, not the
// library function that raised the error.
void SetPlace(lua_State* lua) {
  lua_Debug where;
  if (lua_getstack(lua, 1, &where) == 0) return;
  lua_getinfo(lua, "Sl", &where);
  if (where.what[0] == 'C') {
    if (lua_getstack(lua, 2, &where) == 0) return;
    lua_getinfo(lua, "Sl", &where);
  }
  lua_pushstring(lua, where.source);
  lua_setfield(lua, -2, "source");
  lua_pushnumber(lua, where.currentline);
  lua_setfield(lua, -2, "line");
}

// The error handler of lua_pcall: converts the error to a table {err=, source=, line=}.
int DescribeError(lua_State* lua) {
  lua_settop(lua, 1);
  if (lua_istable(lua, 1)) {
    lua_createtable(lua, 0, 4);
    CopyField(lua, 1, "err");
    CopyField(lua, 1, "ignore_error_stats_update");
  } else {
    lua_createtable(lua, 0, 4);
    lua_pushliteral(lua, "ERR ");
    lua_pushstring(lua, luaL_tolstring(lua, 1, nullptr));  // Redis: the text ends at its first zero
    lua_remove(lua, -2);
    lua_concat(lua, 2);
    lua_setfield(lua, -2, "err");
  }
  SetPlace(lua);
  return 1;
}

void OpenLibrary(lua_State* lua, const char* name, lua_CFunction open) {
  lua_pushcfunction(lua, open);
  lua_call(lua, 0, 1);
  lua_setglobal(lua, name);
}

void RemoveGlobals(lua_State* lua, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    lua_pushnil(lua);
    lua_setglobal(lua, name);
  }
}

int Clock(lua_State* lua) {
  lua_pushnumber(lua, static_cast<lua_Number>(std::clock()) / CLOCKS_PER_SEC);
  return 1;
}

// Opens the part of `os` that scripts may use: os.clock.
int OpenClock(lua_State* lua) {
  lua_createtable(lua, 0, 1);
  lua_pushcfunction(lua, Clock);
  lua_setfield(lua, -2, "clock");
  return 1;
}

// Returns the text of a field of the table on top, or nullopt if the field is not a text. Cuts the text to `most` + 1
// bytes, so that the caller can see that it is longer than `most`.
std::optional<std::string> FieldText(lua_State* lua, const char* name, size_t most) {
  std::optional<std::string> text;
  lua_pushstring(lua, name);
  if (lua_rawget(lua, -2) == LUA_TSTRING) text = TextAt(lua, -1).substr(0, most + 1);
  lua_pop(lua, 1);
  return text;
}

bool IsFieldTrue(lua_State* lua, const char* name) {
  lua_pushstring(lua, name);
  const bool is_true = lua_rawget(lua, -2) == LUA_TBOOLEAN && lua_toboolean(lua, -1) != 0;
  lua_pop(lua, 1);
  return is_true;
}

// Returns the failure that the value on top describes if the value is a table with a text `err`. Otherwise returns
// nullopt.
std::optional<ScriptFailure> FailureIn(lua_State* lua) {
  if (!lua_istable(lua, -1)) return std::nullopt;
  std::optional<std::string> text = FieldText(lua, "err", kMaxReplyLineBytes);
  if (!text) return std::nullopt;
  if (text->size() > kMaxReplyLineBytes) return ScriptFailure{kLongScriptError};
  text->resize(TextBeforeNul(*text).size());
  return ScriptFailure{std::move(*text), IsFieldTrue(lua, "ignore_error_stats_update")};
}

constexpr size_t kLittleCapacity = 64 * 1024;

// Returns an upper estimate of the memory that keys and arguments need as Lua values.
size_t CapacityFor(const ScriptEngine::Invocation& invocation) {
  constexpr size_t kPerText = 128;
  constexpr size_t kTables = 1024;
  size_t bytes = kTables;
  for (Bytes key : invocation.keys) bytes += key.size() + kPerText;
  for (Bytes argument : invocation.args) bytes += argument.size() + kPerText;
  return bytes;
}

}  // namespace

ScriptEngine::ScriptEngine(ScriptHost& host, Extend extend)
    : host_(host), watch_(OnCount, kInstructionsPerLook), lua_(lua_newstate(Allocate, this)) {
  if (lua_ == nullptr) EndProcessOutOfMemory(sizeof(lua_State*));
  *static_cast<ScriptEngine**>(lua_getextraspace(lua_)) = this;
  lua_gc(lua_, LUA_GCSTOP);
  OpenLua51(lua_);
  OpenLibrary(lua_, "cjson", host.Dialect().has_json_arrays ? OpenCjsonWithArrays : OpenCjson);
  OpenLibrary(lua_, "cmsgpack", OpenCmsgpack);
  OpenLibrary(lua_, "bit", OpenBit);
  OpenLibrary(lua_, "struct", OpenStruct);
  if (!host.Dialect().has_environments) RemoveGlobals(lua_, {"getfenv", "setfenv", "newproxy"});
  if (host.Dialect().has_clock) OpenLibrary(lua_, "os", OpenClock);
  OpenScriptApi(lua_);
  if (extend != nullptr) extend(lua_);
  globals_ = ProtectGlobals(lua_);
  SetCoroutineObserver(lua_, this);
  CollectAll();
}

ScriptEngine::~ScriptEngine() { lua_close(lua_); }

// If Lua's table of short strings cannot grow, Lua makes a full collection, continues without an error, and tries
// again at the next new string: each string would take as long as a collection. So the growth of this table may pass
// the memory limit. Its size is at most half the size of the strings in it. It is the first block of kFirstStringTable
// bytes, which lua_newstate allocates.
void* ScriptEngine::Allocate(void* engine, void* block, size_t old_bytes, size_t new_bytes) {
  constexpr size_t kFirstStringTable = 128 * sizeof(void*);
  auto* self = static_cast<ScriptEngine*>(engine);
  if (block == nullptr) old_bytes = 0;  // for a new block, Lua passes the object type instead of the old size
  if (new_bytes == 0) {
    if (block != nullptr) FreeSized(block, old_bytes);
    if (block != nullptr) self->used_bytes_ -= SizeClassOf(old_bytes);
    return nullptr;
  }
  const size_t freed = block == nullptr ? 0 : SizeClassOf(old_bytes);
  const size_t used_bytes = self->used_bytes_ - freed + SizeClassOf(new_bytes);
  const bool is_string_table = block != nullptr && block == self->string_table_;
  const bool is_limited = self->is_memory_limited_ && !is_string_table;
  if (is_limited && new_bytes > old_bytes && used_bytes > self->memory_limit_) return nullptr;
  void* moved = block == nullptr ? std::malloc(new_bytes) : std::realloc(block, new_bytes);
  if (moved != nullptr) {
    self->used_bytes_ = used_bytes;
    const bool is_first = self->string_table_ == nullptr && new_bytes == kFirstStringTable;
    if (is_string_table || is_first) self->string_table_ = moved;
  } else if (!self->is_memory_limited_) {
    EndProcessOutOfMemory(new_bytes);  // a Lua error would not be caught here
  }
  return moved;
}

void ScriptEngine::OnCount(lua_State* lua, lua_Debug*) {
  ScriptEngine& self = Of(lua);
  if (self.phase_ != Phase::kIdle) self.Check(lua);
}

void ScriptEngine::CheckIfDue(lua_State* lua) {
  if (phase_ != Phase::kIdle && watch_.IsCheckDue()) Check(lua);
}

// Checks before a coroutine is resumed whether the script must end. Lua counts instructions separately for each
// coroutine, so in a script whose coroutines all run briefly, the count never reaches the hook.
void ScriptEngine::BeforeResume(lua_State* lua) { stop_reason_ != nullptr ? Check(lua) : CheckIfDue(lua); }

void ScriptEngine::Check(lua_State* lua) {
  StartCollectorIfNeeded();
  if (stop_reason_ == nullptr) stop_reason_ = PollStopReason();
  if (!MustEnd(lua)) return watch_.RearmHook(lua);
  RaiseError(lua, stop_reason_);
}

// Returns true if the script has been ended. In this case, makes Lua call the hook at every line and instruction, so
// that the error handlers of the script also end.
bool ScriptEngine::MustEnd(lua_State* lua) noexcept {
  if (stop_reason_ == nullptr) return false;
  lua_sethook(lua, OnCount, LUA_MASKLINE | LUA_MASKCOUNT, 1);
  return true;
}

const char* ScriptEngine::PollStopReason() {
  if (phase_ == Phase::kRun) return host_.PollStopRequest() ? kKilled : nullptr;
  return host_.CpuMs() > load_until_ms_ ? kLoadTimeout : nullptr;
}

template <typename Work>
int ScriptEngine::Protect(Work& work, Argument argument) {
  const int arguments = argument == Argument::kTop ? 2 : 1;
  if (argument == Argument::kTop) lua_pushvalue(lua_, -1);
  lua_pushlightuserdata(lua_, &work);
  lua_pushcfunction(lua_, [](lua_State* lua) {
    Work& protected_work = *static_cast<Work*>(lua_touserdata(lua, -1));
    lua_pop(lua, 1);
    protected_work();
    return lua_gettop(lua);
  });
  lua_insert(lua_, -1 - arguments);
  const bool was_limited = std::exchange(is_memory_limited_, true);
  const int status = lua_pcall(lua_, arguments, LUA_MULTRET, 0);
  is_memory_limited_ = was_limited;
  return status;
}

class ScriptEngine::WatchedPhase {
 public:
  WatchedPhase(ScriptEngine& engine, Phase phase) : engine_(engine) {
    assert(engine.phase_ == Phase::kIdle);
    engine.phase_ = phase;
    engine.stop_reason_ = nullptr;
    engine.memory_limit_ =
        phase == Phase::kLoad ? engine.load_memory_limit_ : engine.reserved_bytes_ + engine.host_.MemoryLimit();
    engine.watch_.Begin(engine.lua_);
  }
  ~WatchedPhase() {
    engine_.watch_.End();
    engine_.phase_ = Phase::kIdle;
    if (std::exchange(engine_.collector_runs_, false)) lua_gc(engine_.lua_, LUA_GCSTOP);
  }
  WatchedPhase(const WatchedPhase&) = delete;
  WatchedPhase& operator=(const WatchedPhase&) = delete;

 private:
  ScriptEngine& engine_;
};

Result<ScriptEngine::Function> ScriptEngine::Compile(Bytes source, const char* chunk, CompileLimit limit) {
  const WatchedPhase watched(*this, limit == CompileLimit::kHost ? Phase::kRun : Phase::kLoad);
  CollectBeforeScript();  // scripts that were evicted may have left a lot of garbage
  Function function = LUA_NOREF;
  auto compile = [&] {
    if (LoadSource(lua_, source, chunk) != LUA_OK) lua_error(lua_);
    function = Keep();
  };
  if (Protect(compile) == LUA_OK) return function;
  // Takes the text from stop_reason_ if a limit ended the compiler, because the error on top is then a table without a
  // text.
  Bytes text = stop_reason_ != nullptr ? Bytes(stop_reason_) : TextAt(lua_, -1);
  if (text.size() > kMaxReplyLineBytes) text = "the error is too long";  // it names a token, of any length
  std::string error(text);
  lua_pop(lua_, 1);
  return Failure(std::move(error));
}

ScriptEngine::Function ScriptEngine::Keep() { return luaL_ref(lua_, LUA_REGISTRYINDEX); }

void ScriptEngine::Release(Function function) { luaL_unref(lua_, LUA_REGISTRYINDEX, function); }

void ScriptEngine::PushTexts(std::span<const Bytes> texts) {
  lua_createtable(lua_, static_cast<int>(texts.size()), 0);
  // Checks in the loop whether the script must end (SCRIPT KILL), because pushing the texts may take long: a client can
  // choose texts that collide in Lua's table of strings.
  constexpr lua_Integer kTextsPerCheck = 64;
  lua_Integer index = 0;
  for (Bytes text : texts) {
    if (is_memory_limited_ && index % kTextsPerCheck == 0) CheckIfDue(lua_);
    lua_pushlstring(lua_, text.data(), text.size());
    lua_rawseti(lua_, -2, ++index);
  }
}

std::optional<ScriptFailure> ScriptEngine::RunScript(const Invocation& invocation, Reply& reply) {
  auto prepare = [&] {
    lua_rawgeti(lua_, LUA_REGISTRYINDEX, globals_);
    PushTexts(invocation.keys);
    lua_setfield(lua_, -2, "KEYS");
    PushTexts(invocation.args);
    lua_setfield(lua_, -2, "ARGV");
    lua_pop(lua_, 1);
    lua_pushcfunction(lua_, DescribeError);
    lua_rawgeti(lua_, LUA_REGISTRYINDEX, invocation.function);
  };
  auto failure = Run(invocation, prepare, reply);
  // Removes long arguments. Otherwise such arguments would take memory until the next script, and count against the
  // memory limit of that script.
  if (CapacityFor(invocation) > kLittleCapacity) ClearArguments();
  return failure;
}

void ScriptEngine::ClearArguments() {
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, globals_);
  for (const char* name : {"KEYS", "ARGV"}) {
    lua_pushnil(lua_);
    lua_setfield(lua_, -2, name);
  }
  lua_pop(lua_, 1);
}

std::optional<ScriptFailure> ScriptEngine::RunFunction(const Invocation& invocation, Reply& reply) {
  auto prepare = [&] {
    lua_pushcfunction(lua_, DescribeError);
    lua_rawgeti(lua_, LUA_REGISTRYINDEX, invocation.function);
    PushTexts(invocation.keys);
    PushTexts(invocation.args);
  };
  return Run(invocation, prepare, reply);
}

// Runs a script or function, and writes its reply. `prepare` pushes the error handler, the function and its arguments.
template <typename Prepare>
std::optional<ScriptFailure> ScriptEngine::Run(const Invocation& invocation, Prepare prepare, Reply& reply) {
  // Without lua_pcall, an allocation that fails ends the process. So pushes the arguments without lua_pcall only if
  // they are small, and the memory limit has room for them: then the allocation fails only if the system has no memory.
  // Pushes other arguments inside lua_pcall, which returns an error if the memory limit is exceeded.
  const size_t room = CapacityFor(invocation);
  // The phase kRun includes preparing the arguments and writing the reply, because a client can make both arbitrarily
  // long.
  const WatchedPhase watched(*this, Phase::kRun);
  has_run_since_collection_ = true;
  CollectBeforeScript();  // the scripts of one EXEC leave garbage, and CollectGarbage is not called between them
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, invocation.function);
  lua51::PushEnvironment(lua_, -1);
  lua_remove(lua_, -2);
  int status = LUA_OK;
  if (room <= kLittleCapacity && used_bytes_ + room < memory_limit_) {
    prepare();
  } else {
    status = Protect(prepare);
  }
  if (status == LUA_OK) status = ProtectedRun(lua_gettop(lua_) - 3, 1);
  RestoreEnvironment(invocation.function);
  return Finish(status, invocation.name, reply);
}

// Gives the function that has run its original environment again, in case it called setfenv. Otherwise its next call,
// perhaps for another client, would use the new environment, whose memory could not be freed until then. Requires: the
// original environment is at the bottom of Lua's stack.
void ScriptEngine::RestoreEnvironment(Function function) {
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, function);
  lua_pushvalue(lua_, 1);
  lua51::ReplaceEnvironment(lua_, -2);
  lua_pop(lua_, 1);
}

std::optional<ScriptFailure> ScriptEngine::RunLibrary(Function function) {
  // Checks the deadline before the library runs, because Lua never calls the hook in a short library. A series of short
  // libraries could otherwise exceed the deadline.
  if (host_.CpuMs() > load_until_ms_) return ScriptFailure{kLoadTimeoutError};
  const WatchedPhase watched(*this, Phase::kLoad);
  lua_pushcfunction(lua_, DescribeError);
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, function);
  const int status = ProtectedRun(0, 0);
  std::optional<ScriptFailure> failure;
  if (status != LUA_OK) failure = DescribeFailure(Bytes());
  lua_settop(lua_, 0);
  // Collects all garbage if the library has allocated much memory. The library itself took longer than this collection,
  // and the next calls then need not collect its garbage.
  if (status == LUA_ERRMEM || used_bytes_ > collector_start_bytes_) CollectAll();
  return failure;
}

// Calls the function with memory limited. The stack contains the error handler, the function and the arguments.
int ScriptEngine::ProtectedRun(int arguments, int results) {
  is_memory_limited_ = true;
  const int status = lua_pcall(lua_, arguments, results, -2 - arguments);
  is_memory_limited_ = false;
  return status;
}

// Ends a call for which lua_pcall returned `status`: writes the result on the stack as the reply, or returns the
// failure. A failure can also occur while the reply is being written: if the reply is too large, or if the script is
// killed. The caller then removes the part already written.
std::optional<ScriptFailure> ScriptEngine::Finish(int status, Bytes name, Reply& reply) {
  if (status == LUA_ERRMEM) CollectAll();
  std::optional<ScriptFailure> failure;
  auto finish = [&] {
    failure = FailureIn(lua_);
    if (!failure) WriteReply(lua_, reply, host_);
    lua_settop(lua_, 0);
  };
  if (status != LUA_OK) {
    failure = DescribeFailure(name);
  } else if (!lua_istable(lua_, -1)) {
    finish();  // does not allocate in Lua
  } else if (Protect(finish, Argument::kTop) != LUA_OK) {
    failure = DescribeFailure(name);
  }
  lua_settop(lua_, 0);
  words_.FreeIfMany();
  return failure;
}

// Returns the error on top of Lua's stack as text for the client. `name`: the script's SHA-1 or the function's name.
ScriptFailure ScriptEngine::DescribeFailure(Bytes name) {
  std::optional<ScriptFailure> failure;
  auto describe = [&] { failure = TakeFailure(name); };
  if (Protect(describe, Argument::kTop) != LUA_OK) failure = DescribeFailureBriefly(name);
  return *failure;
}

// Describes the error on top of Lua's stack without allocating in Lua. The error is a text instead of a table if Lua
// had no memory for the table.
ScriptFailure ScriptEngine::DescribeFailureBriefly(Bytes name) {
  const Bytes text = lua_type(lua_, -1) == LUA_TSTRING ? TextAt(lua_, -1) : "execution failure";
  return {"ERR Error running script " + std::string(name) + ", " + std::string(text.substr(0, 100))};
}

ScriptFailure ScriptEngine::TakeFailure(Bytes name) {
  if (!lua_istable(lua_, -1)) return DescribeFailureBriefly(name);
  ScriptFailure failure = FailureIn(lua_).value_or(ScriptFailure{kUnknownError});
  const std::optional<std::string> source = FieldText(lua_, "source", kMaxReplyLineBytes);
  if (!source || name.empty()) return failure;
  // `source` is the name of the Lua chunk. It may be too long for an error line, because a script chooses the names of
  // the chunks that it gives to loadstring.
  if (source->size() + failure.text.size() > kMaxReplyLineBytes) return ScriptFailure{kLongScriptError};
  lua_getfield(lua_, -1, "line");
  const std::string place = *source + ":" + std::string(TextAt(lua_, -1));
  if (host_.Dialect().errors_begin_with_call) {
    const size_t code = failure.text.starts_with("ERR user_script:") ? 4 : 0;
    failure.text.replace(0, code, "ERR Error running script (call to f_" + std::string(name) + "): " + place + ": ");
  } else {
    const std::string script = host_.Dialect().names_script_in_errors ? std::string(name) + ", " : "";
    failure.text += " script: " + script + "on " + place + ".";
  }
  lua_pop(lua_, 1);
  return failure;
}

void ScriptEngine::CollectSome() {
  // With the argument 0, LUA_GCSTEP always runs one step of the collector. Any other argument is added to Lua's GC debt
  // (the bytes allocated since a step was due), and a step runs only if the sum is positive. The sum might be negative
  // here: while the collector is stopped, Lua does not keep the debt up to date, and freed memory reduces it.
  constexpr int kOneStep = 0;
  if (lua_gc(lua_, LUA_GCSTEP, kOneStep) != 0) NoteCollected();
}

void ScriptEngine::CollectAll() {
  lua_gc(lua_, LUA_GCCOLLECT);
  NoteCollected();
}

// Sets how much memory must be in use before the collector starts again. Called when the collector has visited
// everything, so that little garbage is left. While a script runs, the collector starts only after 32 MB more, or a
// quarter more, were allocated, whichever is larger, and never below 64 MB in use. If it started at a fixed number of
// bytes, a state with more code than that would make each small script pay for a step.
void ScriptEngine::NoteCollected() {
  constexpr size_t kMinGarbageInScripts = size_t{32} << 20;
  has_run_since_collection_ = false;
  collector_start_bytes_ =
      std::max(kMinCollectorStartBytes, used_bytes_ + std::max(kMinGarbageInScripts, used_bytes_ / 4));
  collector_threshold_bytes_ = std::min(2 * used_bytes_ + kMinGarbageToCollect, collector_start_bytes_);
}

void ScriptEngine::StartCollector() {
  if (!std::exchange(collector_runs_, true)) lua_gc(lua_, LUA_GCRESTART);
}

}  // namespace respite
