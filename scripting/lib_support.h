// Common helpers of the libraries for scripts: number conversions of Lua 5.1, its limit of stack slots, and an output
// buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite {

// Converts a number as x86-64 does: towards zero, and to the smallest integer if it does not fit into 64 bits. Redis:
// leaves these conversions to the compiler, so scripts see the behaviour of this processor.
int64_t TruncatedInteger(double value);
// The same for unsigned integers: negative values become their two's complement, 2^64 and more become 0.
uint64_t TruncatedUnsigned(double value);

// An argument that is a number or a numeric text, without its fraction. Raises Lua's error for others.
int64_t IntegerArgument(lua_State* lua, int index);
int64_t OptionalIntegerArgument(lua_State* lua, int index, int64_t otherwise);

// For long C++ work: runs the hook of the script, if it has one by now, as between two instructions, so that the script
// can be ended there. May raise that error.
inline void Listen(lua_State* lua) {
  lua_Hook hook = lua_gethook(lua);
  if (hook == nullptr) return;
  lua_Debug nothing{};
  hook(lua, &nothing);
}

// Calls Listen periodically in a loop, and soon after ScriptWatch wants a look: a single step may take long, such as
// one of lua_next in a table with millions of empty slots. Cost of a step: an increment, and a call for every
// sixteenth.
class WorkCount {
 public:
  explicit WorkCount(lua_State* lua) : lua_(lua) {}

  void Step() {
    if (++steps_ % kStepsPerCheck == 0 && (steps_ % kStepsPerLook == 0 || IsLookWanted())) Listen(lua_);
  }
  // Many steps, such as the bytes of a text.
  void Steps(size_t count) {
    steps_ += static_cast<uint32_t>(std::min<size_t>(count, kStepsPerLook));
    if (steps_ < kStepsPerLook) return;
    steps_ = 0;
    Listen(lua_);
  }

 private:
  static constexpr uint32_t kStepsPerLook = 16384;  // some hundred microseconds
  static constexpr uint32_t kStepsPerCheck = 16;

  // ScriptWatch sets this count.
  bool IsLookWanted() const { return lua_gethookcount(lua_) == 1; }

  lua_State* lua_;
  uint32_t steps_ = 0;
};

// Makes room for `count` more values on the stack. Returns false beyond the 8000 slots that Lua 5.1 gives a C function,
// and when the native stack is nearly used up. This bounds the nesting depth in the libraries.
bool ReserveSlots(lua_State* lua, size_t count);
// The same, but raises an error: "stack overflow (<why>)".
void RequireSlots(lua_State* lua, size_t count, const char* why);

// A number as printf's "%.<precision>g" writes it: 5, 0.1, 1e+15, -0, inf, -nan. Lua 5.1 uses a precision of 14.
// Requires: 1 <= precision <= 14.
//
// Cost: about 10 ns for integers, 60 ns for numbers with few digits, 200 ns for others.
class PrintedNumber {
 public:
  explicit PrintedNumber(double number, int precision = 14);

  operator Bytes() const { return {text_, size_}; }  // NOLINT(google-explicit-constructor): it is a text

 private:
  static constexpr size_t kLongest = 32;

  bool PrintInteger(double number, int precision);
  bool PrintShort(double number, int precision);

  char text_[kLongest];
  size_t size_ = 0;
};

// A growing text. It allocates with the allocator of the Lua state, so the memory limit of scripts applies to it;
// beyond the limit it raises Lua's error "not enough memory".
//
// Cost: amortised O(1) per byte; no allocation up to kInlineSize bytes.
class LuaBuffer {
 public:
  explicit LuaBuffer(lua_State* lua) : lua_(lua) {}
  ~LuaBuffer();
  LuaBuffer(const LuaBuffer&) = delete;
  LuaBuffer& operator=(const LuaBuffer&) = delete;

  void Append(char byte) {
    if (size_ == capacity_) Grow(1);
    data_[size_++] = byte;
  }
  void Append(Bytes text);
  void AppendZeros(size_t count);

  // Room for `count` bytes after the text; Commit() appends the bytes that were written there.
  char* Reserve(size_t count) {
    if (capacity_ - size_ < count) Grow(count);
    return data_ + size_;
  }
  void Commit(size_t count) { size_ += count; }

  void Clear() { size_ = 0; }
  Bytes View() const { return {data_, size_}; }

 private:
  static constexpr size_t kInlineSize = 1024;

  void Grow(size_t count);

  lua_State* lua_;
  size_t size_ = 0;
  size_t capacity_ = kInlineSize;
  char* data_ = inline_;
  alignas(size_t) char inline_[kInlineSize];
};

// Pushes a text.
inline void PushBytes(lua_State* lua, Bytes text) { lua_pushlstring(lua, text.data(), text.size()); }

}  // namespace respite
