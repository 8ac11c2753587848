// The library `table` as in 5.1, which ignores the metamethods of the table, and accepts positions beyond the end.
#include <algorithm>
#include <utility>

#include "scripting/lua51.h"
#include "scripting/sandbox.h"

namespace respite::lua51 {
namespace {

int CheckSize(lua_State* lua, int index) {
  luaL_checktype(lua, index, LUA_TTABLE);
  return RawSize(lua, index);
}

void AddElement(lua_State* lua, luaL_Buffer& text, int index) {
  lua_rawgeti(lua, 1, index);
  if (!lua_isstring(lua, -1)) {
    luaL_error(lua, "invalid value (%s) at index %d in table for 'concat'", luaL_typename(lua, -1), index);
  }
  luaL_addvalue(&text);
}

int Concat(lua_State* lua) {
  size_t separator_size = 0;
  const char* separator = luaL_optlstring(lua, 2, "", &separator_size);
  luaL_checktype(lua, 1, LUA_TTABLE);
  const int first = OptionalInt(lua, 3, 1);
  const int last = OptionalInt(lua, 4, RawSize(lua, 1));
  luaL_Buffer text;
  luaL_buffinit(lua, &text);
  WorkCounter work(lua);
  for (int64_t i = first; i <= last; i++) {
    work.Step();
    AddElement(lua, text, static_cast<int>(i));
    if (i < last) luaL_addlstring(&text, separator, separator_size);
  }
  luaL_pushresult(&text);
  return 1;
}

// Calls the function at index 2 with the key and value on top of the stack. If the function returns a value, pushes
// that value and returns true. Otherwise pops the old value, so that the key is on top, and returns false.
bool Visit(lua_State* lua) {
  lua_pushvalue(lua, 2);
  lua_pushvalue(lua, -3);
  lua_pushvalue(lua, -3);
  lua_call(lua, 2, 1);
  if (!lua_isnil(lua, -1)) return true;
  lua_pop(lua, 2);
  return false;
}

int ForEach(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  luaL_checktype(lua, 2, LUA_TFUNCTION);
  if (PushReal(lua, 1)) lua_replace(lua, 1);
  WorkCounter work(lua);
  lua_pushnil(lua);
  while (lua_next(lua, 1)) {
    work.Step();
    work.Poll();
    if (Visit(lua)) return 1;
  }
  return 0;
}

int ForEachIndex(lua_State* lua) {
  const int size = CheckSize(lua, 1);
  luaL_checktype(lua, 2, LUA_TFUNCTION);
  WorkCounter work(lua);
  for (int i = 1; i <= size; i++) {
    work.Step();
    work.Poll();
    lua_pushinteger(lua, i);
    lua_rawgeti(lua, 1, i);
    if (Visit(lua)) return 1;
    lua_pop(lua, 1);
  }
  return 0;
}

int GetSize(lua_State* lua) {
  lua_pushinteger(lua, CheckSize(lua, 1));
  return 1;
}

int MaxKey(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_Number greatest = 0;
  WorkCounter work(lua);
  lua_pushnil(lua);
  while (lua_next(lua, 1)) {
    work.Step();
    lua_pop(lua, 1);
    if (lua_type(lua, -1) == LUA_TNUMBER && lua_tonumber(lua, -1) > greatest) greatest = lua_tonumber(lua, -1);
  }
  lua_pushnumber(lua, greatest);
  return 1;
}

int SetSize(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  return luaL_error(lua, "'setn' is obsolete");
}

// Copies an element of the table at index 1: t[to] = t[from].
void Move(lua_State* lua, int64_t from, int64_t to) {
  lua_rawgeti(lua, 1, from);
  lua_rawseti(lua, 1, to);
}

int Insert(lua_State* lua) {
  const int end = CheckSize(lua, 1) + 1;
  const int arguments = lua_gettop(lua);
  if (arguments != 2 && arguments != 3) return luaL_error(lua, "wrong number of arguments to 'insert'");
  // Refuses to insert into a read-only table. Scripts have only the proxy of such a table, and the proxy is empty. The
  // other functions of the library need no such check, because they cannot put an element into an empty table.
  if (IsReadOnly(lua, 1)) return RefuseRawChange(lua);
  const int position = arguments == 2 ? end : CheckInt(lua, 2);
  WorkCounter work(lua);
  for (int64_t i = std::max(end, position); i > position; i--) {
    work.Step();
    Move(lua, i - 1, i);
  }
  lua_settop(lua, arguments);
  lua_rawseti(lua, 1, position);
  return 0;
}

int Remove(lua_State* lua) {
  const int end = CheckSize(lua, 1);
  const int position = OptionalInt(lua, 2, end);
  if (position < 1 || position > end) return 0;
  lua_rawgeti(lua, 1, position);
  WorkCounter work(lua);
  for (int i = position; i < end; i++) {
    work.Step();
    Move(lua, i + 1, i);
  }
  lua_pushnil(lua);
  lua_rawseti(lua, 1, end);
  return 1;
}

// Quicksort whose pivot is the median of first, middle and last. As in Redis, comparisons and exchanges happen in the
// order of 5.1, because the order of equal elements is visible. Stack index 1 is the table; index 2 is the comparison
// function, or nil.
class Sorter {
 public:
  explicit Sorter(lua_State* lua) : lua_(lua), work_(lua), has_order_(!lua_isnil(lua, 2)) {}

  void Sort(int low, int high) {
    while (low < high) {
      OrderEnds(low, high);
      if (high - low == 1) return;
      const int middle = low + (high - low) / 2;
      OrderMiddle(low, middle, high);
      if (high - low == 2) return;
      const int split = Partition(low, middle, high);
      if (split - low < high - split) {
        Sort(low, split - 1);
        low = split + 1;
      } else {
        Sort(split + 1, high);
        high = split - 1;
      }
    }
  }

 private:
  void Get(int index) { lua_rawgeti(lua_, 1, index); }

  // Pops two values. Stores the topmost at index `lower` of the table, and the one below it at `upper`.
  void SetBoth(int lower, int upper) {
    lua_rawseti(lua_, 1, lower);
    lua_rawseti(lua_, 1, upper);
  }

  // Returns the work of comparing two texts, as steps for WorkCounter, because the texts may share a long prefix.
  size_t WorkOfTexts(int left, int right) const {
    constexpr size_t kBytesPerStep = 64;
    return std::min(lua_rawlen(lua_, left), lua_rawlen(lua_, right)) / kBytesPerStep;
  }

  bool IsLess(int left, int right) {
    work_.AddSteps(has_order_ ? 1 : 1 + WorkOfTexts(left, right));
    if (!has_order_) return lua_compare(lua_, left, right, LUA_OPLT);
    lua_pushvalue(lua_, 2);
    lua_pushvalue(lua_, left - 1);
    lua_pushvalue(lua_, right - 2);
    lua_call(lua_, 2, 1);
    const bool is_less = lua_toboolean(lua_, -1);
    lua_pop(lua_, 1);
    return is_less;
  }

  void OrderEnds(int low, int high) {
    Get(low);
    Get(high);
    if (IsLess(-1, -2)) return SetBoth(low, high);
    lua_pop(lua_, 2);
  }

  void OrderMiddle(int low, int middle, int high) {
    Get(middle);
    Get(low);
    if (IsLess(-2, -1)) return SetBoth(middle, low);
    lua_pop(lua_, 1);
    Get(high);
    if (IsLess(-1, -2)) return SetBoth(middle, high);
    lua_pop(lua_, 2);
  }

  void Swap(int a, int b) {
    Get(a);
    Get(b);
    SetBoth(a, b);
  }

  // Searches upward from `index` + 1. Returns the first index whose element is not less than the pivot, and leaves this
  // element on top of the stack, above the pivot.
  int FindUp(int index, int high) {
    for (Get(++index); IsLess(-1, -2); Get(++index)) {
      if (index > high) luaL_error(lua_, "invalid order function for sorting");
      lua_pop(lua_, 1);
    }
    return index;
  }

  // Searches downward from `index` - 1. Returns the first index whose element is not greater than the pivot, and leaves
  // this element on top of the stack.
  int FindDown(int index, int low) {
    for (Get(--index); IsLess(-3, -1); Get(--index)) {
      if (index < low) luaL_error(lua_, "invalid order function for sorting");
      lua_pop(lua_, 1);
    }
    return index;
  }

  // Divides the elements from `low` to `high`. Elements before the returned index are not greater than the element
  // there; elements after it are not less.
  int Partition(int low, int middle, int high) {
    Get(middle);
    lua_pushvalue(lua_, -1);
    Get(high - 1);
    SetBoth(middle, high - 1);
    int up = low;
    int down = high - 1;
    while (true) {
      up = FindUp(up, high);
      down = FindDown(down, low);
      if (down < up) break;
      SetBoth(up, down);
    }
    lua_pop(lua_, 3);
    Swap(high - 1, up);
    return up;
  }

  lua_State* lua_;
  WorkCounter work_;
  bool has_order_;
};

int Sort(lua_State* lua) {
  const int size = CheckSize(lua, 1);
  luaL_checkstack(lua, 40, "");
  if (!lua_isnoneornil(lua, 2)) luaL_checktype(lua, 2, LUA_TFUNCTION);
  lua_settop(lua, 2);
  Sorter(lua).Sort(1, size);
  return 0;
}

constexpr luaL_Reg kTableFunctions[] = {
    {"concat", Concat}, {"foreach", ForEach}, {"foreachi", ForEachIndex}, {"getn", GetSize}, {"insert", Insert},
    {"maxn", MaxKey},   {"remove", Remove},   {"setn", SetSize},          {"sort", Sort},    {nullptr, nullptr}};

}  // namespace

void AddTableLibrary(lua_State* lua) {
  luaL_newlib(lua, kTableFunctions);
  lua_setglobal(lua, "table");
}

}  // namespace respite::lua51
