// The library string as in 5.1; string.format is in lua51_format.cc.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/random.h"
#include "scripting/lua51.h"
#include "scripting/lua51_pattern.h"

namespace respite::lua51 {
namespace {

// Converts a position, which counts from 1; a negative position counts from the end. A position before the start
// becomes 0. A position after the end stays unchanged.
lua_Integer Position(lua_Integer position, size_t size) {
  if (position >= 0) return position;
  return std::max<lua_Integer>(position + static_cast<lua_Integer>(size) + 1, 0);
}

int Byte(lua_State* lua) {
  const Bytes text = CheckBytes(lua, 1);
  lua_Integer first = Position(luaL_optinteger(lua, 2, 1), text.size());
  lua_Integer last = Position(luaL_optinteger(lua, 3, first), text.size());
  first = std::max<lua_Integer>(first, 1);
  last = std::min(last, static_cast<lua_Integer>(text.size()));
  if (first > last) return 0;
  const lua_Integer count = last - first + 1;
  if (count >= INT_MAX) return luaL_error(lua, "string slice too long");
  luaL_checkstack(lua, static_cast<int>(count), "string slice too long");
  for (lua_Integer i = first; i <= last; i++) {
    lua_pushinteger(lua, static_cast<unsigned char>(text[static_cast<size_t>(i - 1)]));
  }
  return static_cast<int>(count);
}

int Char(lua_State* lua) {
  const int count = lua_gettop(lua);
  WorkCounter work(lua);
  luaL_Buffer text;
  luaL_buffinit(lua, &text);
  for (int i = 1; i <= count; i++) {
    work.Step();
    const int code = CheckInt(lua, i);
    luaL_argcheck(lua, code >= 0 && code <= UINT8_MAX, i, "invalid value");
    luaL_addchar(&text, static_cast<char>(code));
  }
  luaL_pushresult(&text);
  return 1;
}

// string.dump. Always raises an error, because scripts must not see bytecode.
int Dump(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TFUNCTION);
  return luaL_error(lua, "unable to dump given function");
}

int Len(lua_State* lua) {
  lua_pushinteger(lua, static_cast<lua_Integer>(CheckBytes(lua, 1).size()));
  return 1;
}

template <char (*kChange)(char)>
int ChangeCase(lua_State* lua) {
  const Bytes text = CheckBytes(lua, 1);
  luaL_Buffer result;
  char* to = luaL_buffinitsize(lua, &result, text.size());
  std::transform(text.begin(), text.end(), to, kChange);
  luaL_pushresultsize(&result, text.size());
  return 1;
}

int Reverse(lua_State* lua) {
  const Bytes text = CheckBytes(lua, 1);
  luaL_Buffer result;
  char* to = luaL_buffinitsize(lua, &result, text.size());
  std::reverse_copy(text.begin(), text.end(), to);
  luaL_pushresultsize(&result, text.size());
  return 1;
}

int Rep(lua_State* lua) {
  const Bytes text = CheckBytes(lua, 1);
  const int count = CheckInt(lua, 2);
  if (count <= 0 || text.empty()) return lua_pushliteral(lua, ""), 1;
  constexpr size_t kMaxSize = PTRDIFF_MAX;
  if (text.size() > kMaxSize / static_cast<size_t>(count)) return luaL_error(lua, "resulting string too large");
  const size_t size = text.size() * static_cast<size_t>(count);
  luaL_Buffer result;
  char* const to = luaL_buffinitsize(lua, &result, size);
  std::copy(text.begin(), text.end(), to);
  for (size_t done = text.size(); done < size;) {  // doubles the copied text each time
    const size_t more = std::min(done, size - done);
    std::memcpy(to + done, to, more);
    done += more;
  }
  luaL_pushresultsize(&result, size);
  return 1;
}

int Sub(lua_State* lua) {
  const Bytes text = CheckBytes(lua, 1);
  const lua_Integer first = std::max<lua_Integer>(Position(luaL_checkinteger(lua, 2), text.size()), 1);
  const lua_Integer last =
      std::min(Position(luaL_optinteger(lua, 3, -1), text.size()), static_cast<lua_Integer>(text.size()));
  if (first > last) return lua_pushliteral(lua, ""), 1;
  PushBytes(lua, text.substr(static_cast<size_t>(first - 1), static_cast<size_t>(last - first + 1)));
  return 1;
}

enum class Wanted { kPlaces, kCaptures };  // kPlaces: string.find; kCaptures: string.match

bool HasSpecials(Bytes pattern) { return std::strpbrk(pattern.data(), "^$*+?.([%-") != nullptr; }

int PushPlace(lua_State* lua, size_t start, size_t size) {
  lua_pushinteger(lua, static_cast<lua_Integer>(start + 1));
  lua_pushinteger(lua, static_cast<lua_Integer>(start + size));
  return 2;
}

// For a `wanted` of at most 64 KB: returns where `text` first contains `wanted` from `start` on, or npos. Uses memmem
// of the C library, which always takes linear time; Bytes::find may take quadratic time. Searches in pieces, between
// which the script can be ended. Each piece also has the first bytes of the next one, because `wanted` may begin in one
// piece and end in the next.
size_t FindShort(lua_State* lua, Bytes text, Bytes wanted, size_t start) {
  constexpr size_t kPieceBytes = size_t{1} << 20;
  for (;; start += kPieceBytes) {
    const Bytes piece = text.substr(start, kPieceBytes + wanted.size() - 1);
    if (const void* found = memmem(piece.data(), piece.size(), wanted.data(), wanted.size())) {
      return static_cast<size_t>(static_cast<const char*>(found) - text.data());
    }
    if (text.size() - start <= kPieceBytes) return Bytes::npos;
    CallHook(lua);
  }
}

// Returns where `text` first contains `wanted` from `start` on, or npos, for a `wanted` of any length. Compares hashes
// of all parts of `text` that are as long as `wanted` (Rabin-Karp). The base of the hashes is random, so that a script
// cannot choose texts of equal hashes.
size_t FindLong(lua_State* lua, Bytes text, Bytes wanted, size_t start) {
  if (text.size() - start < wanted.size()) return Bytes::npos;
  __extension__ using Wide = unsigned __int128;
  constexpr uint64_t kModulus = (uint64_t{1} << 61) - 1;  // a prime
  static const uint64_t base = SystemSeed() % (kModulus - 256) + 256;
  const auto remainder = [](Wide number) {  // of a number below kModulus squared; 2^61 is 1 modulo kModulus
    const uint64_t sum = static_cast<uint64_t>(number & kModulus) + static_cast<uint64_t>(number >> 61);
    return sum >= kModulus ? sum - kModulus : sum;
  };
  const auto with = [&](uint64_t hash, char next) {  // the hash of a text to which a byte is appended
    return remainder(Wide{hash} * base + static_cast<unsigned char>(next));
  };
  WorkCounter work(lua);
  uint64_t hash_of_wanted = 0, hash = 0, highest = 1;  // highest: the factor of the first byte of a part
  for (size_t i = 0; i < wanted.size(); ++i) {
    work.Step();
    hash_of_wanted = with(hash_of_wanted, wanted[i]);
    hash = with(hash, text[start + i]);
    if (i != 0) highest = remainder(Wide{highest} * base);
  }
  for (;; ++start) {
    work.Step();
    if (hash == hash_of_wanted && text.substr(start, wanted.size()) == wanted) return start;
    if (start + wanted.size() == text.size()) return Bytes::npos;
    const uint64_t first = remainder(Wide{highest} * static_cast<unsigned char>(text[start]));
    hash = with(remainder(Wide{hash} + kModulus - first), text[start + wanted.size()]);
  }
}

// Searches for `wanted` as a text, not as a pattern.
int FindPlain(lua_State* lua, Bytes text, Bytes wanted, size_t start) {
  constexpr size_t kMaxShortBytes = size_t{64} << 10;
  const size_t place =
      wanted.size() <= kMaxShortBytes ? FindShort(lua, text, wanted, start) : FindLong(lua, text, wanted, start);
  if (place == Bytes::npos) return lua_pushnil(lua), 1;
  return PushPlace(lua, place, wanted.size());
}

int FindPattern(lua_State* lua, Bytes text, Bytes pattern, size_t start, Wanted wanted) {
  const bool is_anchored = pattern.starts_with('^');
  if (is_anchored) pattern.remove_prefix(1);
  PatternMatcher matcher(lua, text, pattern);
  const char* const text_end = text.data() + text.size();
  for (const char* place = text.data() + start; place <= text_end; place++) {
    if (const char* end = matcher.MatchAt(place)) {
      if (wanted == Wanted::kCaptures) return matcher.PushCaptures(place, end);
      const int places = PushPlace(lua, static_cast<size_t>(place - text.data()), static_cast<size_t>(end - place));
      return places + matcher.PushOwnCaptures();
    }
    if (is_anchored) break;
  }
  return lua_pushnil(lua), 1;
}

// Returns the offset in the text at which string.find and string.match begin (their third argument). As in Redis, an
// offset beyond the end of the text becomes the end.
size_t SearchStart(lua_State* lua, Bytes text) {
  const lua_Integer start = Position(luaL_optinteger(lua, 3, 1), text.size()) - 1;
  return static_cast<size_t>(std::clamp<lua_Integer>(start, 0, static_cast<lua_Integer>(text.size())));
}

int Find(lua_State* lua) {
  const Bytes text = CheckBytes(lua, 1);
  const Bytes pattern = CheckBytes(lua, 2);
  const size_t start = SearchStart(lua, text);
  if (lua_toboolean(lua, 4) || !HasSpecials(pattern)) return FindPlain(lua, text, pattern, start);
  return FindPattern(lua, text, pattern, start, Wanted::kPlaces);
}

int MatchFunction(lua_State* lua) {
  const Bytes text = CheckBytes(lua, 1);
  const Bytes pattern = CheckBytes(lua, 2);
  return FindPattern(lua, text, pattern, SearchStart(lua, text), Wanted::kCaptures);
}

// The iterator that gmatch returns. Its upvalues are the subject, the pattern and the position to continue from.
int NextMatch(lua_State* lua) {
  const Bytes text = CheckBytes(lua, lua_upvalueindex(1));
  PatternMatcher matcher(lua, text, CheckBytes(lua, lua_upvalueindex(2)));
  const char* const text_end = text.data() + text.size();
  const char* place = text.data() + lua_tointeger(lua, lua_upvalueindex(3));
  for (; place <= text_end; place++) {
    const char* end = matcher.MatchAt(place);
    if (end == nullptr) continue;
    lua_pushinteger(lua, end - text.data() + (end == place ? 1 : 0));
    lua_replace(lua, lua_upvalueindex(3));
    return matcher.PushCaptures(place, end);
  }
  return 0;
}

int Gmatch(lua_State* lua) {
  CheckBytes(lua, 1);
  CheckBytes(lua, 2);
  lua_settop(lua, 2);
  lua_pushinteger(lua, 0);
  lua_pushcclosure(lua, NextMatch, 3);
  return 1;
}

struct Found {
  const char* start;
  const char* end;
};

// Appends a replacement text. As in Redis, a % before anything except a digit stands for the following character, even
// for the zero byte after the end.
void AddTemplate(lua_State* lua, luaL_Buffer& result, PatternMatcher& matcher, Found found) {
  const Bytes text = CheckBytes(lua, 3);
  WorkCounter work(lua);
  for (size_t i = 0; i < text.size(); i++) {
    work.Step();
    if (text[i] != '%') {
      luaL_addchar(&result, text[i]);
      continue;
    }
    const char code = text.data()[++i];
    if (!IsDigit(code)) {
      luaL_addchar(&result, code);
    } else if (code == '0') {
      luaL_addlstring(&result, found.start, static_cast<size_t>(found.end - found.start));
    } else {
      matcher.PushCapture(code - '1', found.start, found.end);
      luaL_addvalue(&result);
    }
  }
}

void AddReplacement(lua_State* lua, luaL_Buffer& result, PatternMatcher& matcher, Found found) {
  switch (lua_type(lua, 3)) {
    case LUA_TFUNCTION:
      lua_pushvalue(lua, 3);
      lua_call(lua, matcher.PushCaptures(found.start, found.end), 1);
      break;
    case LUA_TTABLE:
      matcher.PushCapture(0, found.start, found.end);
      lua_gettable(lua, 3);
      break;
    default:
      return AddTemplate(lua, result, matcher, found);
  }
  if (!lua_toboolean(lua, -1)) {
    lua_pop(lua, 1);
    lua_pushlstring(lua, found.start, static_cast<size_t>(found.end - found.start));
  } else if (!lua_isstring(lua, -1)) {
    luaL_error(lua, "invalid replacement value (a %s)", luaL_typename(lua, -1));
  }
  luaL_addvalue(&result);
}

void CheckReplacement(lua_State* lua) {
  const int type = lua_type(lua, 3);
  luaL_argcheck(lua, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                "string/function/table expected");
}

int Gsub(lua_State* lua) {
  const Bytes text = CheckBytes(lua, 1);
  Bytes pattern = CheckBytes(lua, 2);
  CheckReplacement(lua);
  const lua_Integer limit = lua_isnoneornil(lua, 4) ? static_cast<lua_Integer>(text.size()) + 1 : CheckInt(lua, 4);
  const bool is_anchored = pattern.starts_with('^');
  if (is_anchored) pattern.remove_prefix(1);
  PatternMatcher matcher(lua, text, pattern);
  WorkCounter work(lua);
  luaL_Buffer result;
  luaL_buffinit(lua, &result);
  const char* place = text.data();
  const char* const text_end = place + text.size();
  lua_Integer count = 0;
  while (count < limit) {
    const char* end = matcher.MatchAt(place);
    if (end != nullptr) {
      count++;
      work.Poll();  // a replacement may take long
      AddReplacement(lua, result, matcher, {place, end});
    }
    if (end != nullptr && end > place) {
      place = end;
    } else if (place < text_end) {
      luaL_addchar(&result, *place++);
    } else {
      break;
    }
    if (is_anchored) break;
  }
  luaL_addlstring(&result, place, static_cast<size_t>(text_end - place));
  luaL_pushresult(&result);
  lua_pushinteger(lua, count);
  return 2;
}

constexpr luaL_Reg kStringFunctions[] = {{"byte", Byte},
                                         {"char", Char},
                                         {"dump", Dump},
                                         {"find", Find},
                                         {"format", Format},
                                         {"gfind", Gmatch},
                                         {"gmatch", Gmatch},
                                         {"gsub", Gsub},
                                         {"len", Len},
                                         {"lower", ChangeCase<LowerChar>},
                                         {"match", MatchFunction},
                                         {"rep", Rep},
                                         {"reverse", Reverse},
                                         {"sub", Sub},
                                         {"upper", ChangeCase<UpperChar>},
                                         {nullptr, nullptr}};

}  // namespace

void AddStringLibrary(lua_State* lua) {
  luaL_newlib(lua, kStringFunctions);
  lua_pushliteral(lua, "");
  lua_createtable(lua, 0, 1);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
  lua_pop(lua, 1);
  lua_setglobal(lua, "string");
}

}  // namespace respite::lua51
