// Lua's own error messages in the wording of 5.1. Two functions inside Lua build every message of the interpreter and
// the compiler from a format and arguments. The linker replaces these functions (see lua51_internals.h), and the
// replacements change the formats that 5.1 words differently.
//
// Errors also name the chunk of source text. A chunk called `=name` or `@file` is shown as that name, and any other
// text as its first line in quotes. 5.1 truncates long names differently than 5.4, and less in errors of the compiler.
#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "scripting/lib_support.h"
#include "scripting/lua51_internals.h"

namespace respite::lua51 {

#if defined(__aarch64__)
#define RESPITE_PUSH_FORMATTED "_Z17luaO_pushvfstringP9lua_StatePKcSt9__va_list"
#else
#define RESPITE_PUSH_FORMATTED "_Z17luaO_pushvfstringP9lua_StatePKcP13__va_list_tag"
#endif

extern "C" {
const char* RealPushFormatted(lua_State* lua, const char* format,
                              va_list arguments) asm("__real_" RESPITE_PUSH_FORMATTED);
[[gnu::used]] const char* PushFormatted(lua_State* lua, const char* format,
                                        va_list arguments) asm("__wrap_" RESPITE_PUSH_FORMATTED);
[[gnu::used]] const char* PushFormat(lua_State* lua, const char* format,
                                     ...) asm("__wrap__Z16luaO_pushfstringP9lua_StatePKcz");
}

namespace {

const char* Push(lua_State* lua, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char* text = RealPushFormatted(lua, format, arguments);
  va_end(arguments);
  return text;
}

const char* Push(lua_State* lua, const std::string& text) { return lua_pushlstring(lua, text.data(), text.size()); }

struct Variable {
  std::string kind;
  std::string name;
};

// Parses the description of a variable, which 5.4 appends to a message as ` (local 'x')`. Returns nullopt for kinds of
// variables that 5.1 does not name.
std::optional<Variable> ParseVariable(Bytes info) {
  const size_t quote = info.find(" '");
  if (!info.starts_with(" (") || quote == Bytes::npos || !info.ends_with("')")) return std::nullopt;
  const Bytes kind = info.substr(2, quote - 2);
  for (const Bytes known : {"local", "global", "upvalue", "field", "method"}) {
    if (kind != known) continue;
    return Variable{std::string(kind), std::string(info.substr(quote + 2, info.size() - quote - 4))};
  }
  return std::nullopt;
}

// Pushes the error for an operand of the wrong type: "attempt to index local 'x' (a nil value)".
const char* PushTypeError(lua_State* lua, va_list arguments) {
  const char* action = va_arg(arguments, const char*);
  const char* type = va_arg(arguments, const char*);
  const auto variable = ParseVariable(va_arg(arguments, const char*));
  if (!variable) return Push(lua, "attempt to %s a %s value", action, type);
  return Push(lua, "attempt to %s %s '%s' (a %s value)", action, variable->kind.c_str(), variable->name.c_str(), type);
}

const char* PushForError(lua_State* lua, va_list arguments) {
  const Bytes what = va_arg(arguments, const char*);
  return Push(lua, what.starts_with("initial") ? "'for' initial value must be a number" : "'for' %s must be a number",
              what.data());
}

// Returns a token of an error message of Lua 5.4 as Lua 5.1 prints it, always in quotes.
std::string QuotedToken(Bytes token) {
  if (token.starts_with("'<\\") && token.ends_with(">'")) {
    return "'char(" + std::string(token.substr(3, token.size() - 5)) + ")'";
  }
  return token.starts_with('\'') ? std::string(token) : "'" + std::string(token) + "'";
}

// Shortens the token in the error "escape sequence too large near '…'": 5.1 shows the string up to the wrong escape
// sequence, while 5.4 also shows the sequence. Changes nothing if the string contains a zero byte, because then the
// token ends there.
void CutEscape(std::string& token) {
  const size_t escape = token.rfind('\\');
  if (escape == std::string::npos || !IsDigit(token[escape + 1])) return;
  token.replace(escape, std::string::npos, "'");
}

constexpr Bytes kTooManyOfFunction = " has more than ";

bool ReplaceEnd(std::string& text, Bytes end, Bytes replacement) {
  if (!text.ends_with(end)) return false;
  text.replace(text.size() - end.size(), end.size(), replacement);
  return true;
}

// Pushes an error of the compiler: "<message> near <token>".
const char* PushSyntaxError(lua_State* lua, va_list arguments) {
  const char* message = va_arg(arguments, const char*);
  std::string text = message;
  std::string token = QuotedToken(va_arg(arguments, const char*));
  if (text.find(kTooManyOfFunction) != std::string::npos) return Push(lua, text);
  text.resize(std::min(text.size(), text.find(" (starting at line ")));
  if (ReplaceEnd(text, "decimal escape too large", "escape sequence too large")) CutEscape(token);
  // If a statement is an expression that is no call, Lua 5.4 reports "syntax error", and 5.1 that '=' is missing.
  // Both say "syntax error" before '=' or ',': there it means that the left side is no variable.
  if (token != "'='" && token != "','") ReplaceEnd(text, "syntax error", "'=' expected");
  return Push(lua, text + " near " + token);
}

const char* PushExpected(lua_State* lua, va_list arguments) {
  return Push(lua, QuotedToken(va_arg(arguments, const char*)) + " expected");
}

const char* PushExpectedToClose(lua_State* lua, va_list arguments) {
  const std::string token = QuotedToken(va_arg(arguments, const char*));
  const std::string opening = QuotedToken(va_arg(arguments, const char*));
  const int line = va_arg(arguments, int);
  return Push(lua, "%s expected (to close %s at line %d)", token.c_str(), opening.c_str(), line);
}

const char* PushTooMany(lua_State* lua, va_list arguments) {
  const char* what = va_arg(arguments, const char*);
  const int limit = va_arg(arguments, int);
  return Push(lua, "%s has more than %d %s", va_arg(arguments, const char*), limit, what);
}

struct Rewording {
  Bytes format;
  const char* (*push)(lua_State* lua, va_list arguments);
};

// Pushes a number as Lua 5.1 writes it (%.14g). Replaces lua_pushfstring of Lua 5.4 for the format "%f", with which
// luaL_tolstring writes numbers.
const char* PushNumberText(lua_State* lua, va_list arguments) {
  const PrintedNumber printed(va_arg(arguments, lua_Number));
  const Bytes text = printed;
  return lua_pushlstring(lua, text.data(), text.size());
}

constexpr Rewording kRewordings[] = {
    {"%f", PushNumberText},
    {"attempt to %s a %s value%s", PushTypeError},
    {"bad 'for' %s (number expected, got %s)", PushForError},
    {"%s near %s", PushSyntaxError},
    {"%s expected", PushExpected},
    {"%s expected (to close %s at line %d)", PushExpectedToClose},
    {"too many %s (limit is %d) in %s", PushTooMany},
    {"break outside loop at line %d", [](lua_State* lua, va_list) { return Push(lua, "no loop to break"); }},
    {"'__index' chain too long; possible loop", [](lua_State* lua, va_list) { return Push(lua, "loop in gettable"); }},
    {"'__newindex' chain too long; possible loop",
     [](lua_State* lua, va_list) { return Push(lua, "loop in settable"); }},
    {"attempt to yield across a C-call boundary",
     [](lua_State* lua, va_list) { return Push(lua, "attempt to yield across metamethod/C-call boundary"); }},
    {"attempt to yield from outside a coroutine",
     [](lua_State* lua, va_list) { return Push(lua, "attempt to yield across metamethod/C-call boundary"); }},
};

}  // namespace

const char* PushFormatted(lua_State* lua, const char* format, va_list arguments) {
  for (const Rewording& rewording : kRewordings) {
    if (rewording.format == format) return rewording.push(lua, arguments);
  }
  return RealPushFormatted(lua, format, arguments);
}

const char* PushFormat(lua_State* lua, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char* text = PushFormatted(lua, format, arguments);
  va_end(arguments);
  return text;
}

// The offset of the characters in a TString, the string object of the linked Lua 5.4.
constexpr size_t kStringHeaderSize = 24;
// Lua 5.1 shortens the name of a chunk to these sizes in bytes (with a final zero byte): to kRuntimeSize in errors of
// running code, to kCompilerSize in errors of the compiler.
constexpr size_t kRuntimeSize = LUA_IDSIZE;
constexpr size_t kCompilerSize = 80;
static_assert(kRuntimeSize == 60);

extern "C" {
[[gnu::used]] void ChunkName(char* name, const char* source, size_t size) asm("__wrap__Z12luaO_chunkidPcPKcm");
[[gnu::used]] const char* AddCompilerPlace(lua_State* lua, const char* message, const char* source,
                                           int line) asm("__wrap__Z12luaG_addinfoP9lua_StatePKcP7TStringi");
}

namespace {

std::string FileName(Bytes file, size_t size) {
  constexpr size_t kReserved = 8;
  const size_t room = size - kReserved;
  return file.size() <= room ? std::string(file) : "..." + std::string(file.substr(file.size() - room));
}

std::string FirstLine(Bytes text, size_t size) {
  constexpr size_t kReserved = 17;
  const size_t room = size - kReserved;
  const size_t shown = std::min({text.substr(0, room).find_first_of("\r\n"), text.size(), room});
  return "[string \"" + std::string(text.substr(0, shown)) + (shown < text.size() ? "...\"]" : "\"]");
}

std::string NameOf(Bytes source, size_t size) {
  if (source.starts_with('=')) return std::string(source.substr(1, size - 1));
  if (source.starts_with('@')) return FileName(source.substr(1), size);
  return FirstLine(source, size);
}

}  // namespace

void ChunkName(char* name, const char* source, size_t) {
  const std::string text = NameOf(source, kRuntimeSize);
  std::memcpy(name, text.c_str(), text.size() + 1);
}

const char* AddCompilerPlace(lua_State* lua, const char* message, const char* source, int line) {
  const std::string name = NameOf(source + kStringHeaderSize, kCompilerSize);
  return lua_pushfstring(lua, "%s:%d: %s", name.c_str(), line, message);
}

}  // namespace respite::lua51
