// MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md) between texts and values: pack, unpack,
// unpack_one, unpack_limit.
//
// msgpack-c is not used. Its unpacker first builds a tree, allows only 32 levels, and does not report the end of a
// value, which unpack_one and unpack_limit return. The writer chooses the same forms as the library that Redis
// contains:
//
//   number   the shortest integer if it has no fraction and fits into a signed 64-bit integer, else float 32 if that is
//            exact, else float 64
//   text     str; never bin
//   table    array if its keys are exactly 1…n, else map, in the order of next(); an empty table is an array
//   boolean  true or false
//   others   nil; so is a table at the 17th level of nesting, which ends cycles
//
// The reader accepts everything except bin, ext and the byte c1, which are errors. A uint 64 of 2^63 or more is read as
// the negative number with the same bits.
//
// The number of stack slots limits the nesting of input (RequireStackSlots): 4000 levels of arrays or of maps as
// values, 8000 if each map is a key of the one around it. An announced length reserves memory for a few elements only,
// so a false length costs nothing.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/byte_order.h"
#include "base/bytes.h"
#include "scripting/lib_support.h"

namespace respite {
namespace {

enum Tag : uint8_t {
  kFixMap = 0x80,
  kFixArray = 0x90,
  kFixText = 0xa0,
  kNil = 0xc0,
  kFalse = 0xc2,
  kTrue = 0xc3,
  kFloat32 = 0xca,
  kFloat64 = 0xcb,
  kUint8 = 0xcc,
  kUint16 = 0xcd,
  kUint32 = 0xce,
  kUint64 = 0xcf,
  kInt8 = 0xd0,
  kInt16 = 0xd1,
  kInt32 = 0xd2,
  kInt64 = 0xd3,
  kText8 = 0xd9,
  kText16 = 0xda,
  kText32 = 0xdb,
  kArray16 = 0xdc,
  kArray32 = 0xdd,
  kMap16 = 0xde,
  kMap32 = 0xdf,
  kNegativeFix = 0xe0,
};

class MessagePacker {
 public:
  explicit MessagePacker(lua_State* lua) : lua_(lua), work_(lua), out_(lua) {}

  // Packs the Lua value at this absolute stack index, and appends it to the output.
  void Append(int index, int depth) {
    work_.Step();
    switch (lua_type(lua_, index)) {
      case LUA_TSTRING:
        return AppendText(index);
      case LUA_TBOOLEAN:
        return out_.Append(static_cast<char>(lua_toboolean(lua_, index) != 0 ? kTrue : kFalse));
      case LUA_TNUMBER:
        return AppendNumber(lua_tonumber(lua_, index));
      case LUA_TTABLE:
        if (depth < kMaxNesting) return AppendTable(index, depth);
        [[fallthrough]];
      default:
        return out_.Append(static_cast<char>(kNil));
    }
  }

  Bytes View() const { return out_.View(); }

 private:
  static constexpr int kMaxNesting = 16;

  template <typename Unsigned>
  void AppendTagged(Tag tag, Unsigned number) {
    char* to = out_.Reserve(1 + sizeof(number));
    *to = static_cast<char>(tag);
    StoreBig<Unsigned>(to + 1, number);
    out_.Commit(1 + sizeof(number));
  }

  void AppendFix(Tag tag, size_t value) { out_.Append(static_cast<char>(tag | value)); }

  void AppendText(int index) {
    size_t size = 0;
    const char* text = lua_tolstring(lua_, index, &size);
    if (size < 32) {
      AppendFix(kFixText, size);
    } else if (size <= 0xff) {
      AppendTagged(kText8, static_cast<uint8_t>(size));
    } else if (size <= 0xffff) {
      AppendTagged(kText16, static_cast<uint16_t>(size));
    } else if (size <= 0xffffffff) {
      AppendTagged(kText32, static_cast<uint32_t>(size));
    } else {
      luaL_error(lua_, "string too long for MessagePack");
    }
    out_.Append(Bytes(text, size));
  }

  void AppendNumber(double number) {
    const int64_t integer = TruncatedInteger(number);
    if (static_cast<double>(integer) != number || number >= 9223372036854775808.0) return AppendFloating(number);
    if (integer >= 0) return AppendUnsigned(static_cast<uint64_t>(integer));
    AppendNegative(integer);
  }

  void AppendFloating(double number) {
    // Checks the range before the conversion to float, which is undefined behaviour for a number beyond the range.
    // Infinities convert exactly.
    const bool in_range = std::isinf(number) || std::fabs(number) <= std::numeric_limits<float>::max();
    if (in_range && static_cast<double>(static_cast<float>(number)) == number) {
      return AppendTagged(kFloat32, std::bit_cast<uint32_t>(static_cast<float>(number)));
    }
    AppendTagged(kFloat64, std::bit_cast<uint64_t>(number));
  }

  void AppendUnsigned(uint64_t number) {
    if (number < 0x80) return out_.Append(static_cast<char>(number));
    if (number <= 0xff) return AppendTagged(kUint8, static_cast<uint8_t>(number));
    if (number <= 0xffff) return AppendTagged(kUint16, static_cast<uint16_t>(number));
    if (number <= 0xffffffff) return AppendTagged(kUint32, static_cast<uint32_t>(number));
    AppendTagged(kUint64, number);
  }

  void AppendNegative(int64_t number) {
    if (number >= -32) return out_.Append(static_cast<char>(number));
    if (number >= std::numeric_limits<int8_t>::min()) return AppendTagged(kInt8, static_cast<uint8_t>(number));
    if (number >= std::numeric_limits<int16_t>::min()) return AppendTagged(kInt16, static_cast<uint16_t>(number));
    if (number >= std::numeric_limits<int32_t>::min()) return AppendTagged(kInt32, static_cast<uint32_t>(number));
    AppendTagged(kInt64, static_cast<uint64_t>(number));
  }

  struct TableShape {
    bool is_array;
    size_t entries;
  };

  // As in Redis, a table with an index beyond the range of int becomes a map.
  static bool IsIndex(double key) {
    return key >= 1 && key <= std::numeric_limits<int>::max() && std::floor(key) == key;
  }

  TableShape ShapeOf(int index) {
    size_t entries = 0;
    double last = 0;
    bool all_indexes = true;
    work_.Poll();
    for (lua_pushnil(lua_); lua_next(lua_, index) != 0; lua_pop(lua_, 1)) {
      work_.Step();
      ++entries;
      if (!all_indexes) continue;
      const double key = lua_type(lua_, -2) == LUA_TNUMBER ? lua_tonumber(lua_, -2) : 0;
      all_indexes = IsIndex(key);
      last = std::max(last, key);
    }
    return {all_indexes && last == static_cast<double>(entries), entries};
  }

  void AppendTable(int index, int depth) {
    luaL_checkstack(lua_, 6, "in function mp_encode_lua_table_as_map");
    PushTableThatKeepsEntries(lua_, index, work_);
    const int table = lua_gettop(lua_);
    const TableShape shape = ShapeOf(table);
    if (shape.is_array) {
      AppendArray(table, shape.entries, depth);
    } else {
      AppendMap(table, shape.entries, depth);
    }
    lua_pop(lua_, 1);
  }

  void AppendArray(int index, size_t size, int depth) {
    AppendSize(size, kFixArray, kArray16, kArray32);
    for (size_t i = 1; i <= size; ++i) {
      lua_rawgeti(lua_, index, static_cast<lua_Integer>(i));
      Append(lua_gettop(lua_), depth + 1);
      lua_pop(lua_, 1);
    }
  }

  void AppendMap(int index, size_t size, int depth) {
    AppendSize(size, kFixMap, kMap16, kMap32);
    work_.Poll();
    for (lua_pushnil(lua_); lua_next(lua_, index) != 0; lua_pop(lua_, 1)) {
      const int value = lua_gettop(lua_);
      Append(value - 1, depth + 1);
      Append(value, depth + 1);
    }
  }

  void AppendSize(size_t size, Tag fix, Tag in_16_bits, Tag in_32_bits) {
    if (size < 16) return AppendFix(fix, size);
    if (size <= 0xffff) return AppendTagged(in_16_bits, static_cast<uint16_t>(size));
    AppendTagged(in_32_bits, static_cast<uint32_t>(size));
  }

  lua_State* lua_;
  WorkCounter work_;
  LuaBuffer out_;
};

class MessageUnpacker {
 public:
  MessageUnpacker(lua_State* lua, Bytes input) : lua_(lua), work_(lua), rest_(input) {}

  bool AtEnd() const { return rest_.empty(); }
  size_t RestSize() const { return rest_.size(); }

  // Reads the next value of the input, and pushes the value.
  void PushNext() {
    work_.Step();
    Need(1);
    ReserveInside(1, "too many return values at once; use unpack_one or unpack_limit instead.");
    const auto tag = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (tag < kFixMap) return PushInteger(tag);
    if (tag >= kNegativeFix) return PushInteger(static_cast<int8_t>(tag));
    if (tag < kFixArray) return PushMap(tag & 0x0f);
    if (tag < kFixText) return PushArray(tag & 0x0f);
    if (tag < kNil) return PushText(tag & 0x1f);
    PushTagged(tag);
  }

 private:
  void PushTagged(uint8_t tag) {
    switch (tag) {
      case kNil:
        return lua_pushnil(lua_);
      case kFalse:
      case kTrue:
        return lua_pushboolean(lua_, tag == kTrue);
      case kText8:
        return PushText(Take<uint8_t>());
      case kText16:
        return PushText(Take<uint16_t>());
      case kText32:
        return PushText(Take<uint32_t>());
      case kArray16:
        return PushArray(Take<uint16_t>());
      case kArray32:
        return PushArray(Take<uint32_t>());
      case kMap16:
        return PushMap(Take<uint16_t>());
      case kMap32:
        return PushMap(Take<uint32_t>());
      default:
        return PushNumber(tag);
    }
  }

  void PushNumber(uint8_t tag) {
    switch (tag) {
      case kFloat32:
        return lua_pushnumber(lua_, static_cast<double>(std::bit_cast<float>(Take<uint32_t>())));
      case kFloat64:
        return lua_pushnumber(lua_, std::bit_cast<double>(Take<uint64_t>()));
      case kUint8:
        return PushInteger(Take<uint8_t>());
      case kUint16:
        return PushInteger(Take<uint16_t>());
      case kUint32:
        return PushInteger(Take<uint32_t>());
      case kUint64:
      case kInt64:
        return PushInteger(static_cast<int64_t>(Take<uint64_t>()));
      case kInt8:
        return PushInteger(static_cast<int8_t>(Take<uint8_t>()));
      case kInt16:
        return PushInteger(static_cast<int16_t>(Take<uint16_t>()));
      case kInt32:
        return PushInteger(static_cast<int32_t>(Take<uint32_t>()));
      default:
        luaL_error(lua_, "Bad data format in input.");
    }
  }

  void PushInteger(int64_t integer) { lua_pushnumber(lua_, static_cast<double>(integer)); }

  void PushText(size_t size) {
    Need(size);
    PushBytes(lua_, rest_.substr(0, size));
    rest_.remove_prefix(size);
  }

  void PushArray(size_t size) {
    lua_createtable(lua_, static_cast<int>(Expected(size)), 0);
    ReserveInside(1, "in function mp_decode_to_lua_array");
    ++open_arrays_;
    for (size_t i = 1; i <= size; ++i) {
      PushNext();
      lua_rawseti(lua_, -2, static_cast<lua_Integer>(i));
    }
    --open_arrays_;
  }

  void PushMap(size_t size) {
    lua_createtable(lua_, 0, static_cast<int>(Expected(size)));
    for (size_t i = 0; i < size; ++i) {
      PushNext();
      PushNext();
      lua_rawset(lua_, -3);
    }
  }

  // Returns the number of elements for which a new Lua table reserves memory. `size` is the announced number of
  // elements, which the input may exaggerate.
  size_t Expected(size_t size) const {
    constexpr size_t kMax = 16;
    return std::min({size, rest_.size(), kMax});
  }

  template <typename Unsigned>
  Unsigned Take() {
    Need(sizeof(Unsigned));
    const auto number = LoadBig<Unsigned>(rest_.data());
    rest_.remove_prefix(sizeof(Unsigned));
    return number;
  }

  void Need(size_t size) {
    if (rest_.size() < size) luaL_error(lua_, "Missing bytes in input.");
  }

  // Makes room on Lua's stack for `count` values and, in addition, for one value per array that is being read. Redis
  // needs these additional slots, so the maximum depth is the same as in Redis.
  void ReserveInside(size_t count, const char* why) { RequireStackSlots(lua_, open_arrays_ + count, why); }

  lua_State* lua_;
  WorkCounter work_;
  Bytes rest_;
  size_t open_arrays_ = 0;
};

int PackMessages(lua_State* lua) {
  const int count = lua_gettop(lua);
  if (count == 0) return luaL_argerror(lua, 0, "MessagePack pack needs input.");
  if (!ReserveStackSlots(lua, static_cast<size_t>(count))) {
    return luaL_argerror(lua, 0, "Too many arguments for MessagePack pack.");
  }
  MessagePacker packer(lua);
  for (int i = 1; i <= count; ++i) packer.Append(i, 0);
  PushBytes(lua, packer.View());
  return 1;
}

// Returns the first argument, which is the text to unpack.
Bytes Input(lua_State* lua) {
  size_t size = 0;
  const char* text = luaL_checklstring(lua, 1, &size);
  return {text, size};
}

// Reads and pushes at most `limit` values, and returns their number.
int PushValues(MessageUnpacker& unpacker, int64_t limit) {
  int count = 0;
  for (; !unpacker.AtEnd() && count < limit; ++count) unpacker.PushNext();
  return count;
}

int UnpackMessages(lua_State* lua) {
  MessageUnpacker unpacker(lua, Input(lua));
  return PushValues(unpacker, std::numeric_limits<int>::max());
}

// Unpacks at most `limit` values from `offset` on. Pushes the offset after the values (-1 at the end of the input),
// then the values.
int UnpackFrom(lua_State* lua, int64_t limit, int64_t offset) {
  // As in Redis, if limit and offset are 0, the function returns all values but no offset.
  if (limit == 0 && offset == 0) return UnpackMessages(lua);
  const Bytes input = Input(lua);
  const auto size = static_cast<int>(input.size());
  if (offset < 0 || limit < 0) {
    // As in Redis, the message shows the size of the input instead of the limit.
    return luaL_error(lua, "Invalid request to unpack with offset of %d and limit of %d.", static_cast<int>(offset),
                      size);
  }
  if (static_cast<uint64_t>(offset) > input.size()) {
    return luaL_error(lua, "Start offset %d greater than input length %d.", static_cast<int>(offset), size);
  }
  MessageUnpacker unpacker(lua, input.substr(static_cast<size_t>(offset)));
  const int count = PushValues(unpacker, limit);
  luaL_checkstack(lua, 1, "in function mp_unpack_full");
  const size_t next = input.size() - unpacker.RestSize();
  lua_pushnumber(lua, unpacker.AtEnd() ? -1 : static_cast<double>(next));
  lua_insert(lua, 2);
  return count + 1;
}

int UnpackOne(lua_State* lua) {
  const int64_t offset = OptionalIntegerArgument(lua, 2, 0);
  lua_settop(lua, std::min(lua_gettop(lua), 1));
  return UnpackFrom(lua, 1, offset);
}

int UnpackLimit(lua_State* lua) {
  const int64_t limit = IntegerArgument(lua, 2);
  const int64_t offset = OptionalIntegerArgument(lua, 3, 0);
  lua_settop(lua, std::min(lua_gettop(lua), 1));
  return UnpackFrom(lua, limit, offset);
}

void SetModuleText(lua_State* lua, const char* name, const char* text) {
  lua_pushstring(lua, text);
  lua_setfield(lua, -2, name);
}

}  // namespace

int OpenCmsgpack(lua_State* lua) {
  constexpr std::array<luaL_Reg, 5> kCmsgpackFunctions = {{{"pack", PackMessages},
                                                           {"unpack", UnpackMessages},
                                                           {"unpack_one", UnpackOne},
                                                           {"unpack_limit", UnpackLimit},
                                                           {nullptr, nullptr}}};
  lua_createtable(lua, 0, 8);
  luaL_setfuncs(lua, kCmsgpackFunctions.data(), 0);
  // These texts are the same as in Redis, because some scripts read them.
  SetModuleText(lua, "_NAME", "cmsgpack");
  SetModuleText(lua, "_VERSION", "lua-cmsgpack 0.4.0");
  SetModuleText(lua, "_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo");
  SetModuleText(lua, "_DESCRIPTION", "MessagePack C implementation for Lua");
  return 1;
}

}  // namespace respite
