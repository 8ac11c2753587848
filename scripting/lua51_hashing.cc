// Hashing of Lua's tables and strings: the seed, and what keeps chosen keys from blocking the server.
//
// Lua does not randomize the hash of numbers. Here, it does not randomize the hash of strings either, because `pairs`
// must visit most tables in the order of 5.1. So a script can choose keys and strings with equal hashes. Then one step
// of the interpreter could take minutes, during which no hook runs and no SCRIPT KILL is answered:
// * A table that grows moves all its keys into a larger one. Each key is compared with the keys that were moved to the
//   same place before; long strings are compared whole. So RefuseSlowMove ends the script if this would take too long.
//   AreLongStringsEqual saves most comparisons of long strings that differ.
// * The collector takes each dead string from the list of the strings with equal hash, and searches this list from its
//   start. So RemoveString takes all dead strings from a list together.
// Work of many steps (adding keys one by one, creating strings) can be slow, but SCRIPT KILL ends it.
#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "scripting/lua51_internals.h"

namespace respite::lua51 {

struct StringObject {  // TString of Lua 5.4, without its text
  void* next_object;
  uint8_t tag;
  uint8_t marks;  // the collector's bits: kWhites and others
  uint8_t extra;  // long strings: whether `hash` was computed
  uint8_t size;   // short strings: bytes
  uint32_t hash;  // of the text
  union {
    StringObject* in_list;  // short strings: the next string of the list; the string itself: it is in no list
    size_t long_size;       // long strings: bytes
  };
};
static_assert(sizeof(StringObject) == kStringTextOffset);

struct GlobalStateHead {  // the beginning of Lua's global_State
  void* allocator[2];
  ptrdiff_t allocated;  // allocated + debt: bytes that Lua uses
  ptrdiff_t debt;
  size_t estimates[2];
  StringObject** string_lists;  // lists of the short strings, by hash
  int string_count;
  int string_list_count;  // a power of 2
  Value registry;
  Value nil;
  unsigned seed;
  uint8_t current_white;  // the collector's bit for objects that were created in this cycle
};

struct StateHead {  // the beginning of lua_State
  void* next_object;
  uint8_t bytes[8];
  void* top;
  GlobalStateHead* global;
};

struct TableNode {  // an entry of a table that is not in its array: a value and its key
  void* value;
  uint8_t value_tag;
  uint8_t key_tag;
  int next;
  void* key_payload;

  Value key() const { return {{key_payload}, key_tag}; }
};
static_assert(sizeof(TableNode) == 24);

struct TableObject {
  void* next_object;
  uint8_t bytes[3];
  uint8_t node_count_log2;
  unsigned array_limit;
  const Value* array;
  const TableNode* nodes;
  const TableNode* free_end;  // no node at or after this one is free
};

namespace {

constexpr uint8_t kWhites = 1 << 3 | 1 << 4;
constexpr uint8_t kAbsentTag = LUA_TNIL | 2 << 4;
constexpr uint8_t kFalseTag = LUA_TBOOLEAN;
constexpr uint8_t kTrueTag = LUA_TBOOLEAN | 1 << 4;
constexpr uint8_t kCollectableBit = 1 << 6;  // of a tag: the collector manages the value

// Decides when a table is checked for keys with equal hashes before it grows (IsChecked). A table with
// 2^kAlwaysCheckedLog2 (2048) nodes or more is always checked. A smaller table is checked only if one of its keys is a
// long string and Lua uses more than kMemoryToCheckAll bytes (4 MB), because fewer than 2048 short keys are moved in
// milliseconds, even if all their hashes are equal.
constexpr uint8_t kAlwaysCheckedLog2 = 11;
constexpr ptrdiff_t kMemoryToCheckAll = ptrdiff_t{4} << 20;
// The maximum work for moving the keys of a table that grows: kMaxWork (about a quarter of a second), plus kWorkPerKey
// for each node of the table. Comparing two keys is one unit of work, plus one for each kBytesPerUnit bytes of a long
// string.
constexpr uint64_t kMaxWork = uint64_t{1} << 25;
constexpr uint64_t kWorkPerKey = 4;
constexpr size_t kBytesPerUnit = 128;
constexpr char kCollidingKeys[] = "too many keys of a table have equal hashes";

bool IsNil(uint8_t tag) { return (tag & kTypeMask) == LUA_TNIL; }

// Returns the key as a table stores it: a float without a fraction becomes an integer, if it is in the range of one.
Value AsStored(Value key) {
  if (key.tag != kFloatTag || std::floor(key.number) != key.number) return key;
  if (key.number < -0x1p63 || key.number >= 0x1p63) return key;
  return {.integer = static_cast<lua_Integer>(key.number), .tag = kIntegerTag};
}

uint32_t HashOfFraction(lua_Number number) {
  int exponent = 0;
  const lua_Number scaled = std::frexp(number, &exponent) * -static_cast<lua_Number>(INT_MIN);
  if (!(scaled >= -0x1p63 && scaled < 0x1p63)) return 0;
  const uint32_t hash = static_cast<uint32_t>(exponent) + static_cast<uint32_t>(static_cast<int64_t>(scaled));
  return hash <= INT_MAX ? hash : ~hash;
}

// Returns the index of the node at which a table with 2^log2 nodes first looks for this key.
size_t MainPosition(const Value& key, int log2) {
  const size_t count = size_t{1} << log2;
  const size_t divisor = (count - 1) | 1;
  switch (key.tag & ~kCollectableBit) {
    case kShortStringTag & ~kCollectableBit:
    case kLongStringTag & ~kCollectableBit:
      return static_cast<const StringObject*>(key.object)->hash & (count - 1);
    case kIntegerTag:
      return static_cast<uint64_t>(key.integer) % divisor;
    case kFloatTag:
      return HashOfFraction(key.number) % divisor;
    case kFalseTag:
    case kTrueTag:
      return key.tag == kTrueTag ? 1 : 0;
    default:
      return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(key.object)) % divisor;
  }
}

struct NewSizes {
  uint64_t array = 0;  // elements of the array: integer keys up to this one are not in nodes
  int nodes_log2 = 0;
};

// Counts the integer keys of a Lua table, grouped by the size that the array part needs to hold them. From these
// counts, Sizes computes how large Lua will make the array part and the hash part (nodes) of the table.
class KeyCounter {
 public:
  void Count(const Value& key) {
    ++keys_;
    if (key.tag != kIntegerTag || key.integer <= 0 || key.integer > INT_MAX) return;
    ++integers_;
    ++integers_below_[static_cast<size_t>(std::bit_width(static_cast<uint64_t>(key.integer - 1)))];
  }
  // Returns the sizes that Lua will choose. The size of the array is the largest power of 2 of which more than half
  // would be in use.
  NewSizes Sizes() const {
    NewSizes sizes;
    uint64_t below = 0;
    uint64_t in_array = 0;
    for (size_t log2 = 0; log2 < integers_below_.size() && integers_ > (uint64_t{1} << log2) / 2; ++log2) {
      below += integers_below_[log2];
      if (below <= (uint64_t{1} << log2) / 2) continue;
      sizes.array = uint64_t{1} << log2;
      in_array = below;
    }
    const uint64_t in_nodes = keys_ - in_array;
    sizes.nodes_log2 = in_nodes == 0 ? 0 : static_cast<int>(std::bit_width(in_nodes - 1));
    return sizes;
  }

 private:
  uint64_t keys_ = 0;
  uint64_t integers_ = 0;                         // positive integers
  std::array<uint64_t, 32> integers_below_ = {};  // [i]: integers over 2^(i-1), up to 2^i
};

std::span<const TableNode> NodesOf(const TableObject& table) {
  return {table.nodes, size_t{1} << table.node_count_log2};
}

NewSizes SizesAfterGrowth(const TableObject& table, size_t array_size, const Value& new_key) {
  KeyCounter counter;
  counter.Count(new_key);
  for (size_t i = 0; i < array_size; ++i)
    if (!IsNil(table.array[i].tag)) counter.Count({.integer = static_cast<lua_Integer>(i) + 1, .tag = kIntegerTag});
  for (const TableNode& node : NodesOf(table))
    if (!IsNil(node.value_tag)) counter.Count(node.key());
  return counter.Sizes();
}

bool IsLongString(uint8_t tag) { return tag == (kLongStringTag | kCollectableBit); }

// Returns the estimated work of comparing this key with another one: 1, and 1 more for each kBytesPerUnit bytes of a
// long string.
uint64_t WorkOf(const Value& key) {
  if (!IsLongString(key.tag)) return 1;
  return 1 + static_cast<const StringObject*>(key.object)->long_size / kBytesPerUnit;
}

// Returns true if moving the keys of the table's nodes into a table of this size takes little enough work. The estimate
// also counts comparisons of long strings with different sizes, which Lua does not make.
bool CanMoveKeys(const TableObject& table, const NewSizes& sizes) {
  std::vector<uint32_t> work_at(size_t{1} << sizes.nodes_log2);  // [i]: work of comparing a key with all at place i
  uint64_t work = 0;
  for (const TableNode& node : NodesOf(table)) {
    const Value key = node.key();
    if (IsNil(node.value_tag)) continue;
    if (key.tag == kIntegerTag && static_cast<uint64_t>(key.integer) - 1 < sizes.array) continue;
    uint32_t& work_here = work_at[MainPosition(key, sizes.nodes_log2)];
    work += work_here;
    work_here = static_cast<uint32_t>(std::min<uint64_t>(work_here + WorkOf(key), UINT32_MAX));
  }
  return work <= kMaxWork + kWorkPerKey * NodesOf(table).size();
}

}  // namespace

extern "C" {

[[gnu::used]] unsigned MakeSeed(const char* text, size_t size, unsigned seed) asm("__wrap__Z9luaS_hashPKcmj");
[[gnu::used]] void RemoveString(lua_State* lua, StringObject* dead) asm("__wrap__Z11luaS_removeP9lua_StateP7TString");
[[gnu::used]] int AreLongStringsEqual(const StringObject* one,
                                      const StringObject* other) asm("__wrap__Z13luaS_eqlngstrP7TStringS0_");
int RealAreLongStringsEqual(const StringObject* one,
                            const StringObject* other) asm("__real__Z13luaS_eqlngstrP7TStringS0_");
[[gnu::used]] void SetInTable(lua_State* lua, TableObject* table, const Value* key,
                              Value* value) asm("__wrap__Z8luaH_setP9lua_StateP5TablePK6TValuePS3_");
[[gnu::used]] void SetIntegerInTable(lua_State* lua, TableObject* table, lua_Integer key,
                                     Value* value) asm("__wrap__Z11luaH_setintP9lua_StateP5TablexP6TValue");
[[gnu::used]] void ResizeArray(lua_State* lua, TableObject* table,
                               unsigned size) asm("__wrap__Z16luaH_resizearrayP9lua_StateP5Tablej");
[[gnu::used]] void FinishSetInTable(lua_State* lua, TableObject* table, const Value* key, const Value* place,
                                    Value* value) asm("__wrap__Z14luaH_finishsetP9lua_StateP5TablePK6TValueS5_PS3_");
void RealSetInTable(lua_State* lua, TableObject* table, const Value* key,
                    Value* value) asm("__real__Z8luaH_setP9lua_StateP5TablePK6TValuePS3_");
void RealSetIntegerInTable(lua_State* lua, TableObject* table, lua_Integer key,
                           Value* value) asm("__real__Z11luaH_setintP9lua_StateP5TablexP6TValue");
void RealResizeArray(lua_State* lua, TableObject* table,
                     unsigned size) asm("__real__Z16luaH_resizearrayP9lua_StateP5Tablej");
void RealFinishSetInTable(lua_State* lua, TableObject* table, const Value* key, const Value* place,
                          Value* value) asm("__real__Z14luaH_finishsetP9lua_StateP5TablePK6TValueS5_PS3_");
const Value* FindInTable(TableObject* table, const Value* key) asm("_Z8luaH_getP5TablePK6TValue");
[[noreturn]] void RunError(lua_State* lua, const char* format, ...) asm("_Z13luaG_runerrorP9lua_StatePKcz");
unsigned ArraySizeOf(const TableObject* table) asm("_Z14luaH_realasizePK5Table");

}  // extern "C"

namespace {

// Returns whether Lua needs a larger table for a new key: the key's main position is taken, and no node is free.
bool MustGrow(const TableObject& table, const Value& new_key) {
  const auto nodes = NodesOf(table);
  if (IsNil(nodes[MainPosition(new_key, table.node_count_log2)].value_tag)) return false;
  return std::none_of(std::make_reverse_iterator(table.free_end), std::make_reverse_iterator(table.nodes),
                      [](const TableNode& node) { return node.key_tag == LUA_TNIL; });
}

// Raises a Lua error if a table cannot be resized to `sizes`, because moving the keys of its nodes would take too much
// work.
void RefuseSlowMove(lua_State* lua, const TableObject& table, const NewSizes& sizes) {
  if (!CanMoveKeys(table, sizes)) RunError(lua, kCollidingKeys);
}

// Raises a Lua error if storing this value makes the table grow, and moving its keys would take too much work. `place`
// is what FindInTable returned for the key; only an absent key can make the table grow.
void CheckGrowth(lua_State* lua, const TableObject& table, const Value& key, const Value& place, const Value& value) {
  if (place.tag != kAbsentTag || IsNil(value.tag)) return;
  const Value stored = AsStored(key);
  if (MustGrow(table, stored)) RefuseSlowMove(lua, table, SizesAfterGrowth(table, ArraySizeOf(&table), stored));
}

// Returns whether moving the keys of this table may take long, so that its growth must be checked.
bool IsChecked(lua_State* lua, const TableObject& table) {
  if (table.node_count_log2 >= kAlwaysCheckedLog2) return true;
  const GlobalStateHead& global = *reinterpret_cast<const StateHead*>(lua)->global;
  return global.allocated + global.debt > kMemoryToCheckAll && table.node_count_log2 > 0 &&
         std::ranges::any_of(NodesOf(table), [](const TableNode& node) { return IsLongString(node.key_tag); });
}

}  // namespace

// Returns 0 as the seed for the hashes of strings. Then `pairs` and `next` visit most tables in the order of Lua 5.1,
// which has no seed, and strings of up to 31 bytes have the same hash as in 5.1. Lua 5.4 takes the seed from the time
// and addresses, so the order would differ between processes.
//
// The linker makes calls of Lua's hash function (luaS_hash) from other object files call this function. The only such
// call is the one that makes the seed. The calls that hash a string are in the object file of luaS_hash itself, and
// still reach Lua's function.
unsigned MakeSeed(const char*, size_t, unsigned) { return 0; }

// Called when Lua's garbage collector frees the string `freed`. Removes the string from its bucket (a list) in the hash
// table of strings. Also removes the other dead strings of the bucket, so that the bucket is not searched for each of
// them. If `freed` is not dead, the whole Lua state is being closed, so all strings of the bucket are removed.
void RemoveString(lua_State* lua, StringObject* freed) {
  if (freed->in_list == freed) return;
  GlobalStateHead& global = *reinterpret_cast<StateHead*>(lua)->global;
  const uint8_t dead_white = global.current_white ^ kWhites;
  const bool is_closing = (freed->marks & dead_white & kWhites) == 0;
  StringObject** place = &global.string_lists[freed->hash & static_cast<uint32_t>(global.string_list_count - 1)];
  while (StringObject* const string = *place) {
    if (!is_closing && (string->marks & dead_white & kWhites) == 0) {
      place = &string->in_list;
      continue;
    }
    *place = string->in_list;
    string->in_list = string;
    --global.string_count;
  }
}

// Compares the hashes first if both were computed, which is so in each look-up of a table. This saves time, because a
// script can make Lua compare two long strings thousands of times in one step (a table that is its own __index).
int AreLongStringsEqual(const StringObject* one, const StringObject* other) {
  const bool are_different = one->extra != 0 && other->extra != 0 && one->hash != other->hash;
  return are_different ? 0 : RealAreLongStringsEqual(one, other);
}

void SetInTable(lua_State* lua, TableObject* table, const Value* key, Value* value) {
  if (IsChecked(lua, *table)) [[unlikely]]
    CheckGrowth(lua, *table, *key, *FindInTable(table, key), *value);
  RealSetInTable(lua, table, key, value);
}

void SetIntegerInTable(lua_State* lua, TableObject* table, lua_Integer integer, Value* value) {
  if (IsChecked(lua, *table)) [[unlikely]] {
    const Value key = {.integer = integer, .tag = kIntegerTag};
    CheckGrowth(lua, *table, key, *FindInTable(table, &key), *value);
  }
  RealSetIntegerInTable(lua, table, integer, value);
}

void FinishSetInTable(lua_State* lua, TableObject* table, const Value* key, const Value* place, Value* value) {
  if (IsChecked(lua, *table)) [[unlikely]]
    CheckGrowth(lua, *table, *key, *place, *value);
  RealFinishSetInTable(lua, table, key, place, value);
}

// Changes the size of the array part of a table. Lua then also moves the keys of the table's nodes into as many new
// nodes, so RefuseSlowMove first ends the script if that would take too long.
void ResizeArray(lua_State* lua, TableObject* table, unsigned size) {
  if (IsChecked(lua, *table)) [[unlikely]]
    RefuseSlowMove(lua, *table, {.array = size, .nodes_log2 = table->node_count_log2});
  RealResizeArray(lua, table, size);
}

}  // namespace respite::lua51
