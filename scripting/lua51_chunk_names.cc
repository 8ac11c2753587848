// The names of chunks in errors. `=name` and `@file` give the name, any other text its first line in quotes. 5.1
// truncates long names differently than 5.4, and less in errors of the compiler.
#include <algorithm>
#include <cstring>
#include <string>

#include "base/bytes.h"
#include "scripting/lua51_internals.h"

namespace respite::lua51 {

// The offset of the bytes in a string object.
constexpr size_t kStringHeaderSize = 24;
// The sizes of the two buffers of 5.1, each including the final zero.
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
  const size_t shown = std::min({text.find_first_of("\r\n"), text.size(), size - kReserved});
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
