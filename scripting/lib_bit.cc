// bit: operations on the 32 bits of numbers, compatible with LuaBitOp 1.0, which Redis contains.
//
// LuaBitOp 1.0.2, which Linux distributions provide, is not used. Its tohex writes beyond its buffer if 2^31 digits are
// requested (CVE-2024-31449).
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>

#include "base/byte_order.h"
#include "base/bytes.h"
#include "scripting/lib_support.h"

namespace respite {
namespace {

// Returns the low 32 bits of an argument, rounded to an integer (halves to even).
//
// As Redis does, adds 2^52 + 2^51, which moves the integer into the low bits of the double's fraction. Beyond 2^51, the
// sum is rounded: its low bits are meaningless, but equal to those in Redis.
uint32_t BitsArgument(lua_State* lua, int index) {
  constexpr double kIntegersInLowBits = 6755399441055744.0;
  return static_cast<uint32_t>(std::bit_cast<uint64_t>(luaL_checknumber(lua, index) + kIntegersInLowBits));
}

int PushBits(lua_State* lua, uint32_t bits) {
  lua_pushnumber(lua, static_cast<int32_t>(bits));
  return 1;
}

int ToBit(lua_State* lua) { return PushBits(lua, BitsArgument(lua, 1)); }

int Not(lua_State* lua) { return PushBits(lua, ~BitsArgument(lua, 1)); }

template <typename Operation>
int Combine(lua_State* lua) {
  uint32_t bits = BitsArgument(lua, 1);
  // Reads the arguments from the last to the second, because that determines which invalid argument an error names.
  WorkCounter work(lua);  // an argument may be a long text
  for (int i = lua_gettop(lua); i > 1; --i) {
    work.Step();
    bits = Operation()(bits, BitsArgument(lua, i));
  }
  return PushBits(lua, bits);
}

using Shifting = uint32_t (*)(uint32_t bits, int places);

template <Shifting kShift>
int Shift(lua_State* lua) {
  const uint32_t bits = BitsArgument(lua, 1);
  return PushBits(lua, kShift(bits, static_cast<int>(BitsArgument(lua, 2) % 32)));
}

uint32_t Left(uint32_t bits, int places) { return bits << places; }
uint32_t Right(uint32_t bits, int places) { return bits >> places; }
uint32_t RightSigned(uint32_t bits, int places) { return static_cast<uint32_t>(static_cast<int32_t>(bits) >> places); }
uint32_t RotatedLeft(uint32_t bits, int places) { return std::rotl(bits, places); }
uint32_t RotatedRight(uint32_t bits, int places) { return std::rotr(bits, places); }

int SwapBytes(lua_State* lua) {
  const uint32_t bits = BitsArgument(lua, 1);
  return PushBits(lua, ByteSwapped(bits));
}

// bit.tohex. The second argument is the number of digits; a negative number selects upper case.
int ToHex(lua_State* lua) {
  constexpr int64_t kMaxDigits = 8;
  uint32_t bits = BitsArgument(lua, 1);
  const int64_t wanted = lua_isnone(lua, 2) ? kMaxDigits : static_cast<int32_t>(BitsArgument(lua, 2));
  const Bytes digits = wanted < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
  const auto size = static_cast<size_t>(std::min(wanted < 0 ? -wanted : wanted, kMaxDigits));
  std::array<char, kMaxDigits> text;
  for (size_t i = size; i-- > 0; bits >>= 4) text[i] = digits[bits & 0xf];
  PushBytes(lua, Bytes(text.data(), size));
  return 1;
}

constexpr std::array<luaL_Reg, 13> kBitFunctions = {{
    {"tobit", ToBit},
    {"bnot", Not},
    {"band", Combine<std::bit_and<>>},
    {"bor", Combine<std::bit_or<>>},
    {"bxor", Combine<std::bit_xor<>>},
    {"lshift", Shift<Left>},
    {"rshift", Shift<Right>},
    {"arshift", Shift<RightSigned>},
    {"rol", Shift<RotatedLeft>},
    {"ror", Shift<RotatedRight>},
    {"bswap", SwapBytes},
    {"tohex", ToHex},
    {nullptr, nullptr},
}};

}  // namespace

int OpenBit(lua_State* lua) {
  lua_createtable(lua, 0, static_cast<int>(kBitFunctions.size() - 1));
  luaL_setfuncs(lua, kBitFunctions.data(), 0);
  return 1;
}

}  // namespace respite
