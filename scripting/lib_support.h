// The libraries cjson, cmsgpack, bit and struct (lib_*.cc), which scripts find as globals beside Lua's own libraries.
// Also the helpers that all these libraries share: number conversions, calls of the script's hook in long loops, limits
// of Lua's and of the native stack, and an output buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite {

// Converts a number as x86-64 does: towards zero. A number that does not fit into 64 bits, or NaN, becomes the smallest
// integer. Redis leaves these conversions to the compiler, so its scripts see the same results on x86-64.
int64_t TruncatedInteger(double value);  // removes the fraction; INT64_MIN: NaN, or does not fit
// Converts a number as x86-64 does for unsigned integers: removes the fraction, and then
//   from 0 to below 2^64   keeps the value
//   from -2^63 to below 0  becomes the two's complement
//   2^64 or more           becomes 0
//   below -2^63, or NaN    becomes 2^63
uint64_t TruncatedUnsigned(double value);  // no fraction; -2^63 to 0: two's complement; 2^64 or more: 0; other: 2^63

// Accepts a number or a numeric text. Raises Lua's error for any other argument.
int64_t IntegerArgument(lua_State* lua, int index);         // a number argument without its fraction, else an error
int64_t OptionalIntegerArgument(lua_State* lua, int index,  // an IntegerArgument, or `otherwise` if absent
                                int64_t otherwise);

// Calls the hook of the script, if one is set, as Lua does while it runs a script's instructions. Long C++ functions
// call this, so that a script can be ended inside them. The hook may raise the error that ends the script.
inline void CallHook(lua_State* lua) {  // calls the script's hook, which may raise an error to end the script
  lua_Hook hook = lua_gethook(lua);
  if (hook == nullptr) return;
  lua_Debug nothing{};
  hook(lua, &nothing);
}

// Calls the script's hook regularly in a loop. Step also calls the hook soon after ScriptWatch requests a check,
// because one step may take long, such as lua_next in a table with millions of empty slots. Cost of a step: an
// increment; every sixteenth step also tests for a request.
class WorkCounter {  // in a long C++ loop: counts steps, and regularly calls the script's hook
 public:
  explicit WorkCounter(lua_State* lua) : lua_(lua) {}

  void Step() {  // counts one step
    if (++steps_ % kStepsPerPoll == 0 && (steps_ % kStepsPerHookCall == 0 || IsCheckRequested())) CallHook(lua_);
  }
  // Calls the hook if ScriptWatch requests a check. Call Poll before a loop over a table, because the table may have
  // millions of empty slots and no entry. Also call Poll in each step that calls a function of the script, which may
  // take long.
  void Poll() {  // calls the hook if a check is requested
    if (IsCheckRequested()) CallHook(lua_);
  }
  void AddSteps(size_t count) {  // counts `count` steps, but at most kStepsPerHookCall; may call the hook
    steps_ += static_cast<uint32_t>(std::min<size_t>(count, kStepsPerHookCall));
    if (steps_ < kStepsPerHookCall && !IsCheckRequested()) return;
    steps_ = 0;
    CallHook(lua_);
  }

 private:
  static constexpr uint32_t kStepsPerHookCall = 16384;  // steps after which the hook is called: some hundred µs
  static constexpr uint32_t kStepsPerPoll = 16;         // steps after which Step looks for a request of ScriptWatch

  bool IsCheckRequested() const {  // true: ScriptWatch requests a hook call, by setting the hook's count to 1
    return lua_gethookcount(lua_) == 1;
  }

  lua_State* lua_;
  uint32_t steps_ = 0;  // steps since AddSteps has called the hook; Step only counts
};

// Returns the lowest address to which recursion may grow this thread's native stack, for recursion whose depth a script
// controls. The stack below that address is reserved for functions that do not recurse. The creator of a thread chooses
// the size of its stack; that of the main thread is the `ulimit -s` with which the process started. Cost: the first
// call on a thread asks the system for this size.
uintptr_t StackFloor();  // the address in this thread's native stack below which recursion must not grow

inline bool HasStackSpace() {  // false: the native stack is nearly full, so recursion must stop
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) > StackFloor();
}

// Makes room for `count` more values on Lua's stack. Returns false if that needs more than the 8000 slots that Lua 5.1
// gives a C function, if the native stack is nearly used up, or if memory is missing. This limits the nesting depth in
// the libraries.
bool ReserveStackSlots(lua_State* lua, size_t count);  // makes room on Lua's stack; false: too deep, or no memory
// Raises the error "stack overflow (<why>)" if ReserveStackSlots returns false.
void RequireStackSlots(lua_State* lua, size_t count, const char* why);  // makes room on Lua's stack, or raises an error

// Pushes the table at `index`, or a copy if the table has a metafield __mode, and so may be weak. For a library that
// first counts the entries and then writes them: at each allocation, the collector may remove entries of a weak table,
// but not of the copy. Requires: 5 free slots on Lua's stack. Cost: O(1) without a copy.
void PushTableThatKeepsEntries(lua_State* lua,  // pushes the table; if it is weak, a copy that is not weak
                               int index, WorkCounter& work);

// A number as printf's "%.<precision>g" writes it: 5, 0.1, 1e+15, -0, inf, -nan. Lua 5.1 uses a precision of 14.
// Requires: 1 <= precision <= 14.
//
// Cost: about 10 ns for integers, 60 ns for numbers with few digits, 200 ns for others.
class PrintedNumber {  // the text of a number, as printf's "%.14g" (or another precision) writes it
 public:
  explicit PrintedNumber(double number, int precision = 14);

  operator Bytes() const { return {text_, size_}; }  // NOLINT(google-explicit-constructor): it is a text

 private:
  static constexpr size_t kTextRoom = 32;  // size of text_ in bytes; no printed number is longer

  bool PrintInteger(double number, int precision);  // prints a whole number; false: a fraction, too large, or -0
  bool PrintShort(double number, int precision);    // prints a fraction with few digits; false: printed nothing

  char text_[kTextRoom];
  size_t size_ = 0;
};

// A growing text. The text uses the allocator of the Lua state, so the memory limit of scripts applies. Beyond that
// limit, appending raises Lua's error "not enough memory".
//
// Cost: amortised O(1) per byte; no allocation up to kInlineSize bytes.
class LuaBuffer {  // a growing text whose memory counts for the Lua state
 public:
  explicit LuaBuffer(lua_State* lua) : lua_(lua) {}
  ~LuaBuffer();
  LuaBuffer(const LuaBuffer&) = delete;
  LuaBuffer& operator=(const LuaBuffer&) = delete;

  void Append(char byte) {  // appends one byte to the text
    if (size_ == capacity_) Grow(1);
    data_[size_++] = byte;
  }
  void Append(Bytes text);         // appends bytes; raises Lua's error if there is no memory
  void AppendZeros(size_t count);  // appends `count` zero bytes

  char* Reserve(size_t count) {  // returns `count` bytes after the text, for the caller to fill; then call Commit
    if (capacity_ - size_ < count) Grow(count);
    return data_ + size_;
  }
  void Commit(size_t count) { size_ += count; }  // appends the `count` bytes that were written after Reserve

  void Clear() { size_ = 0; }                    // makes the text empty
  Bytes View() const { return {data_, size_}; }  // the text so far

 private:
  static constexpr size_t kInlineSize = 1024;  // bytes of a text that needs no allocation

  void Grow(size_t count);  // makes room for this many more bytes

  lua_State* lua_;
  size_t size_ = 0;
  size_t capacity_ = kInlineSize;             // bytes that data_ has room for
  char* data_ = inline_;                      // the text: inline_, or an allocation
  alignas(size_t) char inline_[kInlineSize];  // the text, up to this size
};

inline void PushBytes(lua_State* lua, Bytes text) { lua_pushlstring(lua, text.data(), text.size()); }  // pushes a text

// OpenCjson … OpenStruct each push the table of one library and return 1, as lua_CFunction requires. All these
// libraries are safe for untrusted scripts.

// JSON, compatible with lua-cjson 2.1, which Redis contains.
int OpenCjsonWithArrays(lua_State* lua);  // as OpenCjson, with the function decode_array_with_array_mt of Redis 8.4
int OpenCjson(lua_State* lua);            // pushes the library `cjson` (JSON); returns 1
// MessagePack: pack, unpack, unpack_one, unpack_limit.
int OpenCmsgpack(lua_State* lua);  // pushes the library `cmsgpack` (MessagePack); returns 1
// Compatible with LuaBitOp 1.0, which Redis contains.
int OpenBit(lua_State* lua);  // pushes the library `bit` (32-bit operations); returns 1
// C structures: pack, unpack, size.
int OpenStruct(lua_State* lua);  // pushes the library `struct` (C structures); returns 1

}  // namespace respite
