// The library `struct`, which converts between Lua values and C structures: the functions pack, unpack and size.
//
//   format = { item }
//   item   = ' ' | '<' | '>' | '!' [n]                     blank, little endian, big endian, greatest alignment
//                                                          (default 1; '!' alone is 8)
//          | 'x'                                           one byte of padding
//          | 'b' 'h' 'l' 'i'[n] | 'B' 'H' 'L' 'I'[n] 'T'   integers of 1, 2, 8, n (default 4) bytes: signed,
//                                                          or unsigned (capitals); T is unsigned with 8 bytes
//          | 'f' | 'd'                                     float, double
//          | 'c' [n] | 's'                                 n bytes (default 1); text up to a zero byte
//
// 'c0' packs a whole text. When unpacking, 'c0' replaces the preceding number by a text of as many bytes. Numbers are
// native (little) endian unless the format says otherwise, and unaligned.
//
// Sizes in a format are checked against the data before the data is accessed. Sums of positions may wrap around, but
// each position is compared with the size of the data. Integers wider than 8 bytes keep only their low 8 bytes.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/byte_order.h"
#include "base/bytes.h"
#include "scripting/lib_support.h"

namespace respite {
namespace {

constexpr size_t kMaxIntegerSize = 32;
constexpr int kDefaultAlignment = 8;

enum class Kind { kSigned, kUnsigned, kFloat, kDouble, kChars, kText, kPadding, kNone };

// One item of a format. `alignment` is the number of padding bytes before the item.
struct Item {
  char option;
  Kind kind;
  size_t size;
  size_t alignment;
};

Kind KindOf(char option) {
  switch (option) {
    case 'b':
    case 'h':
    case 'l':
    case 'i':
      return Kind::kSigned;
    case 'B':
    case 'H':
    case 'L':
    case 'I':
    case 'T':
      return Kind::kUnsigned;
    case 'f':
      return Kind::kFloat;
    case 'd':
      return Kind::kDouble;
    case 'c':
      return Kind::kChars;
    case 's':
      return Kind::kText;
    case 'x':
      return Kind::kPadding;
    default:
      return Kind::kNone;
  }
}

// Iterates over a format, which is the first argument of the Lua function. The argument stays on the stack, so rest_
// remains valid.
class Format {
 public:
  explicit Format(lua_State* lua) : lua_(lua), work_(lua), rest_(luaL_checkstring(lua, 1)) {}

  bool AtEnd() const { return rest_.empty(); }
  std::endian Order() const { return order_; }

  // Returns the next item. `position` is where the item would begin in the structure, before padding.
  Item Next(size_t position) {
    work_.Step();
    const char option = rest_.front();
    rest_.remove_prefix(1);
    const Kind kind = KindOf(option);
    const size_t size = SizeOf(option);
    return {option, kind, size, kind == Kind::kChars ? 0 : Alignment(position, size)};
  }

  // Applies an item that stands for no data: a blank, a byte order, or an alignment. Raises an error for unknown items.
  void Control(char option) {
    switch (option) {
      case ' ':
        return;
      case '<':
        order_ = std::endian::little;
        return;
      case '>':
        order_ = std::endian::big;
        return;
      case '!':
        max_alignment_ = GreatestAlignment();
        return;
      default:
        luaL_argerror(lua_, 1, lua_pushfstring(lua_, "invalid format option '%c'", option));
    }
  }

 private:
  int Number(int otherwise) {
    if (AtEnd() || !IsDigit(rest_.front())) return otherwise;
    int64_t number = 0;
    while (!AtEnd() && IsDigit(rest_.front())) {
      work_.Step();
      number = number * 10 + (rest_.front() - '0');
      if (number > std::numeric_limits<int>::max()) luaL_error(lua_, "integral size overflow");
      rest_.remove_prefix(1);
    }
    return static_cast<int>(number);
  }

  size_t SizeOf(char option) {
    switch (option) {
      case 'b':
      case 'B':
      case 'x':
        return 1;
      case 'h':
      case 'H':
        return 2;
      case 'f':
        return 4;
      case 'l':
      case 'L':
      case 'T':
      case 'd':
        return 8;
      case 'c':
        return static_cast<size_t>(Number(1));
      case 'i':
      case 'I':
        return IntegerSize();
      default:
        return 0;
    }
  }

  size_t IntegerSize() {
    const int size = Number(sizeof(int));
    constexpr int kMax = kMaxIntegerSize;
    if (size > kMax) luaL_error(lua_, "integral size %d is larger than limit of %d", size, kMax);
    return static_cast<size_t>(size);
  }

  size_t GreatestAlignment() {
    const int alignment = Number(kDefaultAlignment);
    if (alignment <= 0 || !std::has_single_bit(static_cast<unsigned>(alignment))) {
      luaL_error(lua_, "alignment %d is not a power of 2", alignment);
    }
    return static_cast<size_t>(alignment);
  }

  // Returns the number of padding bytes before an item. As in Redis, the computation with a bit mask is correct only
  // for sizes that are powers of 2. For other sizes (such as 3 in i3), it returns a number that is no correct padding.
  size_t Alignment(size_t position, size_t size) const {
    if (size == 0) return 0;
    const size_t unit = std::min(size, max_alignment_);
    return (unit - (position & (unit - 1))) & (unit - 1);
  }

  lua_State* lua_;
  WorkCounter work_;
  Bytes rest_;
  std::endian order_ = std::endian::native;
  size_t max_alignment_ = 1;
};

template <typename Number>
std::array<char, sizeof(Number)> InOrder(Number number, std::endian order) {
  auto bytes = std::bit_cast<std::array<char, sizeof(Number)>>(number);
  if (order != std::endian::native) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

class Packer {
 public:
  explicit Packer(lua_State* lua) : lua_(lua), format_(lua), out_(lua) {
    // Pushes a nil after the arguments. As in Redis, the error for a missing argument then says "got nil", not "got no
    // value".
    lua_pushnil(lua);
  }

  int Run() {
    while (!format_.AtEnd()) {
      const Item item = format_.Next(position_);
      out_.AppendZeros(item.alignment);
      position_ += item.alignment + Append(item);
    }
    PushBytes(lua_, out_.View());
    return 1;
  }

 private:
  // Appends the packed bytes of an item to the result. Returns by how many bytes position_ must advance.
  size_t Append(const Item& item) {
    switch (item.kind) {
      case Kind::kSigned:
      case Kind::kUnsigned:
        AppendInteger(item.size);
        return item.size;
      case Kind::kFloat:
        AppendFloating(static_cast<float>(luaL_checknumber(lua_, argument_++)));
        return item.size;
      case Kind::kDouble:
        AppendFloating(luaL_checknumber(lua_, argument_++));
        return item.size;
      case Kind::kChars:
      case Kind::kText:
        return AppendText(item);
      case Kind::kPadding:
        out_.AppendZeros(1);
        return 1;
      case Kind::kNone:
        format_.Control(item.option);
        return 0;
    }
    return 0;
  }

  // Appends the next argument as an integer of `size` bytes. Bytes beyond the low eight are 0, even for negative
  // numbers.
  void AppendInteger(size_t size) {
    const uint64_t value = TruncatedUnsigned(luaL_checknumber(lua_, argument_++));
    std::array<char, kMaxIntegerSize> bytes{};
    StoreLittle(bytes.data(), value, std::min(size, sizeof value));
    if (format_.Order() == std::endian::big) std::reverse(bytes.begin(), bytes.begin() + size);
    out_.Append(Bytes(bytes.data(), size));
  }

  template <typename Number>
  void AppendFloating(Number number) {
    const auto bytes = InOrder(number, format_.Order());
    out_.Append(Bytes(bytes.data(), bytes.size()));
  }

  size_t AppendText(const Item& item) {
    size_t length = 0;
    const char* text = luaL_checklstring(lua_, argument_++, &length);
    const size_t size = item.size == 0 ? length : item.size;
    // As in Redis, the number of the argument in this error is one too high, because argument_ was already incremented.
    luaL_argcheck(lua_, length >= size, argument_, "string too short");
    out_.Append(Bytes(text, size));
    if (item.kind == Kind::kChars) return size;
    out_.AppendZeros(1);
    return size + 1;
  }

  lua_State* lua_;
  Format format_;
  LuaBuffer out_;
  int argument_ = 2;
  size_t position_ = 0;
};

class Unpacker {
 public:
  explicit Unpacker(lua_State* lua) : lua_(lua), format_(lua) {
    size_t size = 0;
    const char* data = luaL_checklstring(lua, 2, &size);
    data_ = Bytes(data, size);
    // As in Redis, a negative offset becomes a huge one, so reading fails with "data string too short".
    position_ = static_cast<size_t>(OptionalIntegerArgument(lua, 3, 1));
    luaL_argcheck(lua, position_ > 0, 3, "offset must be 1 or greater");
    --position_;
  }

  int Run() {
    while (!format_.AtEnd()) {
      const Item item = format_.Next(position_);
      position_ += item.alignment;
      RequireData(item.size);
      RequireStackSlots(lua_, 2, "too many results");
      position_ += Read(item);
    }
    lua_pushnumber(lua_, static_cast<double>(static_cast<int64_t>(position_ + 1)));
    return results_ + 1;
  }

 private:
  void RequireData(size_t size) {
    luaL_argcheck(lua_, size <= data_.size() && position_ <= data_.size() - size, 2, "data string too short");
  }

  // Unpacks an item, and pushes its value. Returns the number of bytes by which the position in the input advances.
  size_t Read(const Item& item) {
    switch (item.kind) {
      case Kind::kSigned:
        PushNumber(SignedInteger(item.size));
        return item.size;
      case Kind::kUnsigned:
        PushNumber(static_cast<double>(Integer(item.size)));
        return item.size;
      case Kind::kFloat:
        PushNumber(Floating<float>());
        return item.size;
      case Kind::kDouble:
        PushNumber(Floating<double>());
        return item.size;
      case Kind::kChars:
        return ReadChars(item.size);
      case Kind::kText:
        return ReadText();
      case Kind::kPadding:
        return item.size;
      case Kind::kNone:
        format_.Control(item.option);
        return 0;
    }
    return 0;
  }

  void PushNumber(double number) {
    lua_pushnumber(lua_, number);
    ++results_;
  }

  // Returns the integer of `size` bytes at position_; of more than eight bytes, only the low eight.
  uint64_t Integer(size_t size) const {
    const char* const from = data_.data() + position_;
    const size_t low = std::min(size, sizeof(uint64_t));
    return format_.Order() == std::endian::big ? LoadBig(from + size - low, low) : LoadLittle(from, low);
  }

  // Returns the signed integer of `size` bytes at position_. As in Redis, the sign bit is bit (size * 8 - 1) modulo 64;
  // for i9 this is bit 7. If the sign bit or a higher bit is set, sets the sign bit and all higher bits, so that the
  // number is negative.
  double SignedInteger(size_t size) const {
    const uint64_t value = Integer(size);
    const uint64_t sign_and_above = std::numeric_limits<uint64_t>::max() << ((size * 8 - 1) % 64);
    const uint64_t extended = (value & sign_and_above) != 0 ? value | sign_and_above : value;
    return static_cast<double>(static_cast<int64_t>(extended));
  }

  template <typename Number>
  double Floating() const {
    std::array<char, sizeof(Number)> bytes;
    std::memcpy(bytes.data(), data_.data() + position_, bytes.size());
    if (format_.Order() != std::endian::native) std::reverse(bytes.begin(), bytes.end());
    return static_cast<double>(std::bit_cast<Number>(bytes));
  }

  size_t ReadChars(size_t size) {
    if (size == 0) {
      if (results_ == 0 || lua_isnumber(lua_, -1) == 0) luaL_error(lua_, "format 'c0' needs a previous size");
      size = static_cast<size_t>(TruncatedUnsigned(lua_tonumber(lua_, -1)));
      lua_pop(lua_, 1);
      --results_;
      RequireData(size);
    }
    PushText(data_.substr(position_, size));
    return size;
  }

  size_t ReadText() {
    const size_t end = data_.find('\0', position_);
    if (end == Bytes::npos) luaL_error(lua_, "unfinished string in data");
    const size_t length = end - position_;
    PushText(data_.substr(position_, length));
    return length + 1;
  }

  void PushText(Bytes text) {
    PushBytes(lua_, text);
    ++results_;
  }

  lua_State* lua_;
  Format format_;
  Bytes data_;
  size_t position_ = 0;
  int results_ = 0;
};

int Pack(lua_State* lua) { return Packer(lua).Run(); }

int Unpack(lua_State* lua) { return Unpacker(lua).Run(); }

bool IsLetterOrDigit(char c) {
  const char lower = LowerChar(c);
  return IsDigit(c) || (lower >= 'a' && lower <= 'z');
}

int Size(lua_State* lua) {
  Format format(lua);
  size_t position = 0;
  while (!format.AtEnd()) {
    const Item item = format.Next(position);
    if (item.kind == Kind::kText) luaL_argerror(lua, 1, "option 's' has no fixed size");
    if (item.kind == Kind::kChars && item.size == 0) luaL_argerror(lua, 1, "option 'c0' has no fixed size");
    // As in Redis, struct.size ignores letters and digits that are no options. Control raises an error for other
    // unknown characters.
    if (!IsLetterOrDigit(item.option)) format.Control(item.option);
    position += item.alignment + item.size;
  }
  lua_pushnumber(lua, static_cast<double>(position));
  return 1;
}

}  // namespace

int OpenStruct(lua_State* lua) {
  constexpr std::array<luaL_Reg, 4> kStructFunctions = {
      {{"pack", Pack}, {"unpack", Unpack}, {"size", Size}, {nullptr, nullptr}}};
  lua_createtable(lua, 0, 3);
  luaL_setfuncs(lua, kStructFunctions.data(), 0);
  return 1;
}

}  // namespace respite
