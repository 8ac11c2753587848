#include "scripting/lib_support.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/grisu.h"

namespace respite {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr size_t kMaxSlots = 8000;

// The bytes of the native stack that recursion must leave free for the functions of Lua and of the server that the
// recursion calls.
constexpr size_t kReserve = size_t{192} << 10;
// The assumed number of unused bytes of the native stack if the system does not report its bounds.
constexpr size_t kSupposed = size_t{256} << 10;

uintptr_t FindFloor() {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  uintptr_t lowest = here - kSupposed;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* start = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &start, &size) == 0) lowest = reinterpret_cast<uintptr_t>(start);
    pthread_attr_destroy(&attributes);
  }
  // Reserves kReserve bytes, but at most half of the bytes of the stack that are left.
  return lowest + std::min(kReserve, (here - lowest) / 2);
}

}  // namespace

int64_t TruncatedInteger(double value) {
  const bool fits = value >= -kTwoTo63 && value < kTwoTo63;
  return fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min();
}

uint64_t TruncatedUnsigned(double value) {
  constexpr uint64_t kHighBit = uint64_t{1} << 63;
  if (value >= kTwoTo63) return static_cast<uint64_t>(TruncatedInteger(value - kTwoTo63)) ^ kHighBit;
  return static_cast<uint64_t>(TruncatedInteger(value));
}

int64_t IntegerArgument(lua_State* lua, int index) { return TruncatedInteger(luaL_checknumber(lua, index)); }

int64_t OptionalIntegerArgument(lua_State* lua, int index, int64_t otherwise) {
  return lua_isnoneornil(lua, index) ? otherwise : IntegerArgument(lua, index);
}

uintptr_t StackFloor() {
  thread_local const uintptr_t floor = FindFloor();
  return floor;
}

bool ReserveStackSlots(lua_State* lua, size_t count) {
  const auto used = static_cast<size_t>(lua_gettop(lua));
  return used + count <= kMaxSlots && HasStackSpace() && lua_checkstack(lua, static_cast<int>(count)) != 0;
}

void RequireStackSlots(lua_State* lua, size_t count, const char* why) {
  if (!ReserveStackSlots(lua, count)) luaL_error(lua, "stack overflow (%s)", why);
}

void PushTableThatKeepsEntries(lua_State* lua, int index, WorkCounter& work) {
  lua_pushvalue(lua, index);
  if (luaL_getmetafield(lua, -1, "__mode") == LUA_TNIL) return;
  lua_pop(lua, 1);
  lua_newtable(lua);
  lua_insert(lua, -2);
  for (lua_pushnil(lua); lua_next(lua, -2) != 0;) {
    work.Step();
    lua_pushvalue(lua, -2);
    lua_insert(lua, -2);
    lua_rawset(lua, -5);
  }
  lua_pop(lua, 1);
}

PrintedNumber::PrintedNumber(double number, int precision) {
  if (PrintInteger(number, precision) || PrintShort(number, precision)) return;
  const auto printed = std::to_chars(text_, text_ + kTextRoom, number, std::chars_format::general, precision);
  size_ = static_cast<size_t>(printed.ptr - text_);
}

bool PrintedNumber::PrintInteger(double number, int precision) {
  constexpr std::array<double, 15> kPowersOfTen = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
  const bool fits = std::fabs(number) < kPowersOfTen[static_cast<size_t>(precision)] && std::trunc(number) == number;
  if (!fits || (number == 0 && std::signbit(number))) return false;
  size_ = static_cast<size_t>(std::to_chars(text_, text_ + kTextRoom, static_cast<int64_t>(number)).ptr - text_);
  return true;
}

// Prints numbers whose magnitude is from 0.0001 to below 10^14, and whose shortest decimal has a fraction and at most
// `precision` digits. Returns false for other numbers. The digits are those of printf, which prints the nearest decimal
// of `precision` digits: doubles are closer together than such decimals, so the nearest one is the shortest decimal.
bool PrintedNumber::PrintShort(double number, int precision) {
  const double magnitude = std::fabs(number);
  if (!(magnitude >= 1e-4 && magnitude < 1e14)) return false;
  const Decimal decimal = ShortDecimal(number);
  const int size = static_cast<int>(decimal.size);
  const int before_point = size + decimal.scale;
  if (size > precision || decimal.scale >= 0 || before_point > precision) return false;
  char* to = text_;
  if (number < 0) *to++ = '-';
  const char* digits = decimal.digits.data();
  if (before_point > 0) {
    to = std::copy_n(digits, before_point, to);
    *to++ = '.';
    to = std::copy_n(digits + before_point, -decimal.scale, to);
  } else {
    *to++ = '0';
    *to++ = '.';
    to = std::fill_n(to, -before_point, '0');
    to = std::copy_n(digits, size, to);
  }
  size_ = static_cast<size_t>(to - text_);
  return true;
}

LuaBuffer::~LuaBuffer() {
  if (data_ == inline_) return;
  void* context = nullptr;
  lua_getallocf(lua_, &context)(context, data_, capacity_, 0);
}

void LuaBuffer::Append(Bytes text) {
  if (text.empty()) return;
  std::memcpy(Reserve(text.size()), text.data(), text.size());
  size_ += text.size();
}

void LuaBuffer::AppendZeros(size_t count) {
  if (count == 0) return;
  std::memset(Reserve(count), 0, count);
  size_ += count;
}

void LuaBuffer::Grow(size_t count) {
  const bool countable = count <= std::numeric_limits<size_t>::max() / 4 - size_;
  const size_t wanted = countable ? std::max(2 * capacity_, size_ + count) : 0;
  void* context = nullptr;
  const lua_Alloc allocate = lua_getallocf(lua_, &context);
  void* old = data_ == inline_ ? nullptr : data_;
  // Passes 0 as the old size if there is no old block: Lua's allocators then read this argument as the kind of the new
  // object, and 0 means no kind.
  const auto resized = [&] { return allocate(context, old, old == nullptr ? 0 : capacity_, wanted); };
  void* grown = wanted == 0 ? nullptr : resized();
  if (grown == nullptr && wanted != 0) {
    lua_gc(lua_, LUA_GCCOLLECT);
    grown = resized();
  }
  if (grown == nullptr) {
    lua_pushliteral(lua_, "not enough memory");
    lua_error(lua_);
    return;
  }
  if (old == nullptr) std::memcpy(grown, inline_, size_);
  data_ = static_cast<char*>(grown);
  capacity_ = wanted;
}

}  // namespace respite
