#include "scripting/script_api.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/digest.h"
#include "protocol/redis_version.h"
#include "scripting/engine.h"
#include "scripting/lib_support.h"
#include "scripting/lua51.h"
#include "scripting/lua_reply.h"

namespace respite {

namespace {

ScriptEngine& EngineOf(lua_State* lua) { return ScriptEngine::Of(lua); }

ScriptDialect DialectOf(lua_State* lua) { return EngineOf(lua).host().Dialect(); }

// Pushes the table {err="ERR " .. text}.
int PushError(lua_State* lua, Bytes text) {
  PushErrorTable(lua, "ERR " + std::string(text));
  return 1;
}

// Returns the host of the engine. As in Redis, a function that needs the host raises an error while no script or
// function runs, as when a library is loaded.
ScriptHost& HostFor(lua_State* lua, const char* function) {
  ScriptEngine& engine = EngineOf(lua);
  if (!engine.IsRunning()) {
    RaiseError(lua, PrefixTableName(lua, function) + " can only be called inside a script invocation");
  }
  return engine.host();
}

// The maximum size in bytes of all arguments of a command together, because a script may pass the same long text
// thousands of times. This is the default of proto-max-bulk-len, so each single argument that a client may send fits.
constexpr size_t kMaxArgumentBytes = size_t{512} << 20;
constexpr char kArgumentsTooLong[] = "The arguments of the command are too long for a script";

// Stores the arguments of the Lua function in the engine's CallArguments. If there are none, if one has the wrong type,
// or if they are too long, pushes an error table and returns false.
bool TakeWords(lua_State* lua) {
  const int count = lua_gettop(lua);
  if (count == 0)
    return PushError(lua, "Please specify at least one argument for this " + std::string(DialectOf(lua).call)) == 0;
  CallArguments& words = EngineOf(lua).words();
  words.Start(static_cast<size_t>(count));
  size_t bytes = 0;
  for (int i = 1; i <= count; ++i) {
    switch (lua_type(lua, i)) {
      case LUA_TSTRING:
        words.Add(TextAt(lua, i));
        bytes += TextAt(lua, i).size();
        break;
      case LUA_TNUMBER:
        words.Add(lua_tonumber(lua, i));
        break;
      default:
        return PushError(lua, std::string(DialectOf(lua).command) + " arguments must be strings or integers") == 0;
    }
  }
  if (bytes > kMaxArgumentBytes) return PushError(lua, kArgumentsTooLong) == 0;
  return true;
}

// Runs the command that the arguments give, and pushes its reply. If the reply is an error, or if the arguments are not
// valid, pushes the error and returns false.
bool RunCommand(lua_State* lua, const char* function) {
  ScriptHost& host = HostFor(lua, function);
  EngineOf(lua).StartCollectorIfNeeded();
  return TakeWords(lua) && !PushReply(lua, host.RunCommand(EngineOf(lua).words().All()));
}

int Call(lua_State* lua) { return RunCommand(lua, "call") ? 1 : lua_error(lua); }

int ProtectedCall(lua_State* lua) {
  RunCommand(lua, "pcall");
  return 1;
}

int ErrorReply(lua_State* lua) {
  if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING)
    return PushError(lua, "wrong number or type of arguments");
  Bytes text = TextBeforeNul(TextAt(lua, 1));
  if (text.starts_with('-')) text.remove_prefix(1);
  // The first word is the error code. As in Redis, a text of one word has no code, so it gets the code ERR.
  const size_t blank = text.find(' ');
  const Bytes code = blank == Bytes::npos ? Bytes("ERR") : text.substr(0, blank);
  Bytes rest = blank == Bytes::npos ? text : text.substr(blank + 1);
  while (!rest.empty() && (rest.back() == '\r' || rest.back() == '\n')) rest.remove_suffix(1);
  rest.remove_prefix(std::min(rest.find_first_not_of("\r\n"), rest.size()));
  LuaBuffer error(lua);
  error.Append(code);
  error.Append(' ');
  error.Append(rest);
  PushErrorTable(lua, error.View());
  return 1;
}

int StatusReply(lua_State* lua) {
  if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING)
    return PushError(lua, "wrong number or type of arguments");
  lua_createtable(lua, 0, 1);
  lua_insert(lua, 1);
  lua_setfield(lua, 1, "ok");
  return 1;
}

int Sha1Hex(lua_State* lua) {
  if (lua_gettop(lua) != 1) return RaiseError(lua, "wrong number of arguments");
  const std::string hex = HexText(Sha1(lua_isstring(lua, 1) != 0 ? TextAt(lua, 1) : Bytes()));
  lua_pushlstring(lua, hex.data(), hex.size());
  return 1;
}

// The maximum size of a text that redis.log writes. Escaping and writing a longer one would block the server.
constexpr size_t kMaxLoggedBytes = 4096;

int Log(lua_State* lua) {
  const int count = lua_gettop(lua);
  if (count < 2) return RaiseError(lua, PrefixTableName(lua, "log() requires two arguments or more."));
  if (lua_isnumber(lua, 1) == 0) return RaiseError(lua, "First argument must be a number (log level).");
  const lua_Number level = std::trunc(lua_tonumber(lua, 1));
  if (!(level >= 0 && level <= 3)) {
    return RaiseError(lua, "Invalid " + std::string(DialectOf(lua).log_level) + ".");
  }
  LuaBuffer line(lua);
  for (int i = 2; i <= count && line.View().size() < kMaxLoggedBytes; ++i) {
    if (lua_isstring(lua, i) == 0) continue;
    if (i > 2) line.Append(' ');
    line.Append(TextAt(lua, i).substr(0, kMaxLoggedBytes - line.View().size()));
  }
  EngineOf(lua).host().Log(static_cast<LogLevel>(static_cast<int>(level)), line.View());
  return 0;
}

int SetResp(lua_State* lua) {
  ScriptHost& host = HostFor(lua, "setresp");
  if (lua_gettop(lua) != 1) return RaiseError(lua, PrefixTableName(lua, "setresp() requires one argument."));
  const lua_Number version = std::trunc(lua_tonumber(lua, 1));
  if (version != 2 && version != 3) return RaiseError(lua, "RESP version must be 2 or 3.");
  host.SetResp(version == 3 ? RespVersion::kResp3 : RespVersion::kResp2);
  return 0;
}

int SetRepl(lua_State* lua) {
  ScriptHost& host = HostFor(lua, "set_repl");
  if (lua_gettop(lua) != 1) return RaiseError(lua, PrefixTableName(lua, "set_repl() requires one argument."));
  const lua_Number flags = std::trunc(lua_tonumber(lua, 1));
  if (!(flags >= 0 && flags <= int{kReplicateAll})) {
    return RaiseError(lua, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
  }
  host.SetReplication(static_cast<uint8_t>(flags));
  return 0;
}

// redis.replicate_commands. Returns true and changes nothing, because scripts are always replicated by the commands
// that they run.
int ReplicateCommands(lua_State* lua) {
  lua_pushboolean(lua, 1);
  return 1;
}

// redis.breakpoint. Has no effect, because there is no script debugger.
int Breakpoint(lua_State* lua) {
  lua_pushboolean(lua, 0);
  return 1;
}

int Debug(lua_State*) { return 0; }

int AclCheckCmd(lua_State* lua) {
  ScriptHost& host = HostFor(lua, "acl_check_cmd");
  if (!TakeWords(lua)) return lua_error(lua);
  const std::optional<bool> may = host.MayRun(EngineOf(lua).words().All());
  if (!may) return RaiseError(lua, "Invalid command passed to " + PrefixTableName(lua, "acl_check_cmd()"));
  lua_pushboolean(lua, *may ? 1 : 0);
  return 1;
}

// The global function pcall (not redis.pcall). As in Redis, a script that catches the error of a command gets the text
// of the error instead of a table.
int CatchErrors(lua_State* lua) {
  luaL_checkany(lua, 1);
  lua_pushboolean(lua, 1);
  lua_insert(lua, 1);
  if (lua_pcall(lua, lua_gettop(lua) - 2, LUA_MULTRET, 0) == LUA_OK) return lua_gettop(lua);
  lua51::ReraiseIfScriptEnded(lua);
  lua_pushboolean(lua, 0);
  lua_replace(lua, 1);
  if (!lua_istable(lua, -1)) return 2;
  lua_getfield(lua, -1, "err");
  if (lua_isstring(lua, -1) == 0) return 3;  // Redis: also returns the value it examined
  lua_replace(lua, -2);
  return 2;
}

constexpr luaL_Reg kScriptApiFunctions[] = {{"call", Call},
                                            {"pcall", ProtectedCall},
                                            {"error_reply", ErrorReply},
                                            {"status_reply", StatusReply},
                                            {"sha1hex", Sha1Hex},
                                            {"log", Log},
                                            {"setresp", SetResp},
                                            {"set_repl", SetRepl},
                                            {"replicate_commands", ReplicateCommands},
                                            {"breakpoint", Breakpoint},
                                            {"debug", Debug},
                                            {nullptr, nullptr}};

constexpr struct {
  const char* name;
  int value;
} kNumbers[] = {{"LOG_DEBUG", 0},
                {"LOG_VERBOSE", 1},
                {"LOG_NOTICE", 2},
                {"LOG_WARNING", 3},
                {"REPL_NONE", kReplicateNone},
                {"REPL_AOF", kReplicateAof},
                {"REPL_SLAVE", kReplicateReplicas},
                {"REPL_REPLICA", kReplicateReplicas},
                {"REPL_ALL", kReplicateAll}};

void SetNumber(lua_State* lua, const char* name, int value) {
  lua_pushnumber(lua, value);
  lua_setfield(lua, -2, name);
}

void SetApiText(lua_State* lua, const char* name, std::string_view value) {
  lua_pushlstring(lua, value.data(), value.size());
  lua_setfield(lua, -2, name);
}

// Adds the version fields and acl_check_cmd of the emulated version to the table on top. If this version has a global
// `server` (Valkey), makes it the same table.
void SetVersion(lua_State* lua, const ScriptDialect& dialect) {
  if (dialect.knows_redis_version) {
    lua_pushcfunction(lua, AclCheckCmd);
    lua_setfield(lua, -2, "acl_check_cmd");
    SetApiText(lua, "REDIS_VERSION", dialect.redis_version);
    SetNumber(lua, "REDIS_VERSION_NUM", dialect.redis_version_number);
  }
  if (dialect.has_server_table) {
    lua_pushvalue(lua, -1);
    lua_setglobal(lua, "server");
  }
  if (dialect.valkey_version_number == 0) return;
  SetApiText(lua, "SERVER_NAME", "valkey");
  SetApiText(lua, "VALKEY_VERSION", dialect.valkey_version);
  SetNumber(lua, "VALKEY_VERSION_NUM", dialect.valkey_version_number);
}

}  // namespace

std::string PrefixTableName(lua_State* lua, Bytes text) {
  return std::string(DialectOf(lua).table) + "." + std::string(text);
}

int RaiseError(lua_State* lua, Bytes text) {
  PushError(lua, text);
  return lua_error(lua);
}

void OpenScriptApi(lua_State* lua) {
  lua_newtable(lua);
  luaL_setfuncs(lua, kScriptApiFunctions, 0);
  for (const auto& number : kNumbers) SetNumber(lua, number.name, number.value);
  SetVersion(lua, DialectOf(lua));
  lua_setglobal(lua, "redis");
  lua_pushcfunction(lua, CatchErrors);
  lua_setglobal(lua, "pcall");
}

}  // namespace respite
