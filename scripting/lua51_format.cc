// string.format of 5.1: converts each argument to the type that its conversion requires, and formats it, in most cases
// with C's printf.
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

#include "scripting/lib_support.h"
#include "scripting/lua51.h"

namespace respite::lua51 {
namespace {

constexpr size_t kMaxItemSize = 512;
// As in Lua 5.1, %s copies texts of at least this size without printf, and ignores the width, if no precision is given.
constexpr size_t kMinCopiedText = 100;

// One conversion of a format, for example %-5.2f.
struct Conversion {
  std::string flags;
  char letter;
  bool has_precision;
};

template <typename Value>
void AddPrinted(luaL_Buffer& result, const std::string& format, Value value) {
  std::array<char, kMaxItemSize> item;
  std::snprintf(item.data(), item.size(), format.c_str(), value);
  luaL_addstring(&result, item.data());
}

void AddQuoted(lua_State* lua, luaL_Buffer& result, Bytes text) {
  WorkCounter work(lua);
  luaL_addchar(&result, '"');
  for (const char c : text) {
    work.Step();
    if (c == '\r') {
      luaL_addstring(&result, "\\r");
    } else if (c == '\0') {
      luaL_addstring(&result, "\\000");
    } else {
      if (c == '"' || c == '\\' || c == '\n') luaL_addchar(&result, '\\');
      luaL_addchar(&result, c);
    }
  }
  luaL_addchar(&result, '"');
}

void AddText(lua_State* lua, luaL_Buffer& result, const Conversion& conversion, int argument) {
  const Bytes text = CheckBytes(lua, argument);
  if (!conversion.has_precision && text.size() >= kMinCopiedText)
    return luaL_addlstring(&result, text.data(), text.size());
  AddPrinted(result, conversion.flags + "s", text.data());
}

void AddArgument(lua_State* lua, luaL_Buffer& result, const Conversion& conversion, int argument) {
  const std::string integer_flags = conversion.flags + "ll" + conversion.letter;
  switch (conversion.letter) {
    case 'c':
      return AddPrinted(result, conversion.flags + 'c',
                        static_cast<int>(TruncatedInteger(luaL_checknumber(lua, argument))));
    case 'd':
    case 'i':
      return AddPrinted(result, integer_flags,
                        static_cast<long long>(TruncatedInteger(luaL_checknumber(lua, argument))));
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return AddPrinted(result, integer_flags,
                        static_cast<unsigned long long>(TruncatedUnsigned(luaL_checknumber(lua, argument))));
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
      return AddPrinted(result, conversion.flags + conversion.letter, luaL_checknumber(lua, argument));
    case 'q':
      return AddQuoted(lua, result, CheckBytes(lua, argument));
    case 's':
      return AddText(lua, result, conversion, argument);
    default: {
      const char letter[] = {conversion.letter, '\0'};
      luaL_error(lua, "invalid option '%%%s' to 'format'", letter);
    }
  }
}

const char* SkipTwoDigits(const char* place) {
  if (IsDigit(*place)) place++;
  return IsDigit(*place) ? place + 1 : place;
}

// Reads flags, width, precision and letter of a conversion. `place` is after the %.
Conversion ReadConversion(lua_State* lua, const char* place) {
  constexpr size_t kMaxFlags = 5;
  const char* const start = place;
  place += std::strspn(place, "-+ #0");
  if (static_cast<size_t>(place - start) > kMaxFlags) luaL_error(lua, "invalid format (repeated flags)");
  place = SkipTwoDigits(place);
  const bool has_precision = *place == '.';
  if (has_precision) place = SkipTwoDigits(place + 1);
  if (IsDigit(*place)) luaL_error(lua, "invalid format (width or precision too long)");
  return {"%" + std::string(start, place), *place, has_precision};
}

}  // namespace

int Format(lua_State* lua) {
  const Bytes format = CheckBytes(lua, 1);
  const int arguments = lua_gettop(lua);
  int argument = 1;
  luaL_Buffer result;
  luaL_buffinit(lua, &result);
  WorkCounter work(lua);
  for (size_t i = 0; i < format.size(); i++) {
    work.Step();
    if (format[i] != '%') {
      luaL_addchar(&result, format[i]);
    } else if (format.data()[i + 1] == '%') {
      luaL_addchar(&result, format[++i]);
    } else {
      if (++argument > arguments) luaL_argerror(lua, argument, "no value");
      const Conversion conversion = ReadConversion(lua, format.data() + i + 1);
      AddArgument(lua, result, conversion, argument);
      i += conversion.flags.size();
    }
  }
  luaL_pushresult(&result);
  return 1;
}

}  // namespace respite::lua51
