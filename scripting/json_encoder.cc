// Encodes Lua values as JSON, for cjson.encode (lib_cjson.h).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/bytes.h"
#include "scripting/lib_cjson.h"
#include "scripting/lib_support.h"
#include "scripting/lua_reply.h"

namespace respite {
namespace {

constexpr size_t kMaxPlainBytes = 64 * 1024;  // bytes of a text that are appended in one step
constexpr size_t kPlainBytesPerStep = 16;     // bytes that take as long as a step of other work

// The letter that follows the backslash when a byte is escaped: 0 for a byte that is not escaped, 'u' for \u00xx.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> escapes{};
  for (size_t byte = 0; byte < 0x20; ++byte) escapes[byte] = 'u';
  escapes[0x7f] = 'u';
  escapes['\b'] = 'b';
  escapes['\t'] = 't';
  escapes['\n'] = 'n';
  escapes['\f'] = 'f';
  escapes['\r'] = 'r';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  escapes['/'] = '/';
  return escapes;
}();

class Encoder {
 public:
  Encoder(lua_State* lua, const JsonConfig& config) : lua_(lua), config_(config), work_(lua), out_(lua) {}

  Bytes View() const { return out_.View(); }

  // Appends the value on top of the stack. Does not pop the value.
  void AppendTop(int depth) {
    switch (lua_type(lua_, -1)) {
      case LUA_TSTRING:
        return AppendText(-1);
      case LUA_TNUMBER:
        return AppendNumber(-1);
      case LUA_TBOOLEAN:
        return out_.Append(lua_toboolean(lua_, -1) != 0 ? Bytes("true") : Bytes("false"));
      case LUA_TTABLE:
        return AppendTable(depth + 1);
      case LUA_TNIL:
        return out_.Append(Bytes("null"));
      case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(lua_, -1) == nullptr) return out_.Append(Bytes("null"));
        [[fallthrough]];
      default:
        Refuse(-1, "type not supported");
    }
  }

 private:
  void Refuse(int index, const char* reason) {
    luaL_error(lua_, "Cannot serialise %s: %s", lua_typename(lua_, lua_type(lua_, index)), reason);
  }

  void AppendText(int index) {
    out_.Append('"');
    for (Bytes rest = TextAt(lua_, index); !rest.empty();) {
      const Bytes plain = PlainPart(rest);
      out_.Append(plain);
      work_.AddSteps(plain.size() / kPlainBytesPerStep + 1);
      rest.remove_prefix(plain.size());
      if (rest.empty() || kEscapes[static_cast<uint8_t>(rest.front())] == 0) continue;
      AppendEscaped(rest.front());
      rest.remove_prefix(1);
    }
    out_.Append('"');
  }

  // Returns the bytes before the first one that needs an escape, at most kMaxPlainBytes of them. A script cannot be
  // ended while these bytes are appended.
  static Bytes PlainPart(Bytes text) {
    const Bytes part = text.substr(0, kMaxPlainBytes);
    return part.substr(
        0, static_cast<size_t>(
               std::ranges::find_if(part, [](char byte) { return kEscapes[static_cast<uint8_t>(byte)] != 0; }) -
               part.begin()));
  }

  void AppendEscaped(char byte) {
    const char letter = kEscapes[static_cast<uint8_t>(byte)];
    out_.Append('\\');
    out_.Append(letter);
    if (letter != 'u') return;
    out_.Append(Bytes("00"));
    out_.Append(kHexDigits[static_cast<uint8_t>(byte) >> 4]);
    out_.Append(kHexDigits[byte & 0xf]);
  }

  void AppendNumber(int index) {
    const double number = lua_tonumber(lua_, index);
    if (!std::isfinite(number) && config_.encode_invalid_numbers != InvalidNumbers::kWrite) {
      if (config_.encode_invalid_numbers == InvalidNumbers::kRefuse) Refuse(index, "must not be NaN or Inf");
      return out_.Append(Bytes("null"));
    }
    // Writes every NaN as "nan", because printf would print some NaNs with a sign.
    if (std::isnan(number)) return out_.Append(Bytes("nan"));
    out_.Append(PrintedNumber(number, config_.encode_precision));
  }

  void AppendTable(int depth) {
    if (depth > config_.encode_max_depth || !ReserveStackSlots(lua_, 3)) {
      luaL_error(lua_, "Cannot serialise, excessive nesting (%d)", depth);
    }
    // As in Redis, a marked array ends where the operator # says, and its other keys are left out.
    const bool is_marked = IsMarkedAsJsonArray(lua_);
    const int64_t size = is_marked ? static_cast<int64_t>(lua_rawlen(lua_, -1)) : ArraySize();
    if (is_marked || size > 0) {
      AppendArray(size, depth);
    } else {
      AppendObject(depth);
    }
  }

  // Returns the greatest key of the table on top of the stack, if all keys are positive integers. Returns 0 for a table
  // that becomes an object: an empty table, a table with another key, or a sparse table. (With the default of
  // cjson.encode_sparse_array, a sparse table raises an error instead.)
  //
  // As in Redis, the greatest key is stored in an int. A key above INT_MAX is stored as INT_MIN, so the key that is
  // visited next counts as the greatest one, even if it is smaller.
  int64_t ArraySize() {
    int64_t greatest = 0;
    int64_t entries = 0;
    work_.Poll();
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      work_.Step();
      const double key = lua_type(lua_, -2) == LUA_TNUMBER ? lua_tonumber(lua_, -2) : 0;
      if (key < 1 || std::floor(key) != key) {
        lua_pop(lua_, 2);
        return 0;
      }
      if (key > static_cast<double>(greatest)) greatest = AsInt(key);
      ++entries;
    }
    const bool sparse =
        config_.sparse_ratio > 0 && greatest > entries * config_.sparse_ratio && greatest > config_.sparse_safe;
    if (!sparse) return greatest;
    if (config_.sparse_arrays == SparseArrays::kRefuse) Refuse(-1, "excessively sparse array");
    return 0;
  }

  static int64_t AsInt(double key) {
    using Limits = std::numeric_limits<int>;
    return key <= Limits::max() ? static_cast<int64_t>(key) : Limits::min();
  }

  void AppendArray(int64_t size, int depth) {
    out_.Append('[');
    for (int64_t i = 1; i <= size; ++i) {
      work_.Step();
      if (i > 1) out_.Append(',');
      lua_rawgeti(lua_, -1, i);
      AppendTop(depth);
      lua_pop(lua_, 1);
    }
    out_.Append(']');
  }

  void AppendObject(int depth) {
    out_.Append('{');
    bool first = true;
    work_.Poll();
    for (lua_pushnil(lua_); lua_next(lua_, -2) != 0; lua_pop(lua_, 1)) {
      work_.Step();
      if (!first) out_.Append(',');
      first = false;
      AppendKey();
      out_.Append(':');
      AppendTop(depth);
    }
    out_.Append('}');
  }

  // Appends the key of a member. The key is on the stack below the value.
  void AppendKey() {
    switch (lua_type(lua_, -2)) {
      case LUA_TSTRING:
        return AppendText(-2);
      case LUA_TNUMBER:
        out_.Append('"');
        AppendNumber(-2);
        return out_.Append('"');
      default:
        Refuse(-2, "table key must be a number or string");
    }
  }

  lua_State* lua_;
  const JsonConfig& config_;
  WorkCounter work_;
  LuaBuffer out_;
};

}  // namespace

void EncodeJson(lua_State* lua, const JsonConfig& config) {
  Encoder encoder(lua, config);
  encoder.AppendTop(0);
  PushBytes(lua, encoder.View());
}

}  // namespace respite
