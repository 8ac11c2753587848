// Finds the keys of a request, for COMMAND GETKEYS, ACL, blocking, tracking and prefetching. So the handler of a
// command need not declare its keys a second time. The key specs of the card decide. If they are not sufficient (flags
// depend on an option, or keys follow options in any order), the card names one of the hooks below. The hook replaces
// the key specs, or is used when they fail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_spec.h"

namespace respite {

struct KeyRef {        // the position of one key of a request
  uint32_t index = 0;  // position in argv
  uint16_t flags = 0;  // KeyFlag bits
};

// The keys are in the order of the key specs. The first eight keys need no allocation.
class KeyList {  // the keys of one request
 public:
  void Add(size_t index, int flags);

  bool IsEmpty() const { return size_ == 0; }  // the request has no keys
  size_t Size() const { return size_; }
  const KeyRef& operator[](size_t i) const { return begin()[i]; }
  const KeyRef* begin() const { return size_ <= kInline ? inline_.data() : overflow_.data(); }  // the first key
  const KeyRef* end() const { return begin() + size_; }

 private:
  static constexpr size_t kInline = 8;  // number of keys that need no allocation

  size_t size_ = 0;                       // number of keys
  std::array<KeyRef, kInline> inline_{};  // used for up to kInline keys
  std::vector<KeyRef> overflow_;          // all keys, if there are more than kInline
};

inline void KeyList::Add(size_t index, int flags) {
  const KeyRef key{static_cast<uint32_t>(index), static_cast<uint16_t>(flags)};
  if (size_ < kInline) {
    inline_[size_] = key;
  } else {
    if (size_ == kInline) overflow_.assign(inline_.begin(), inline_.end());
    overflow_.push_back(key);
  }
  ++size_;
}

// argv[0] is the name of the command. Returns an empty list if the command will refuse the arguments. Cost: O(keys) if
// the keys are at fixed places, O(argc) if they follow a keyword.
KeyList KeyPositions(const CommandSpec& spec, std::span<const Bytes> argv);  // the keys of a request; may be empty

// Returns all keys that the command may use, because an ACL check must not miss one. Even if one key spec does not fit
// the arguments, returns the keys of the others: `PFMERGE destination` has no sources but writes.
KeyList KeysForAclCheck(const CommandSpec& spec, std::span<const Bytes> argv);  // all keys that it may use

// COMMAND GETKEYS refuses commands for which this is false.
bool MayHaveKeys(const CommandSpec& spec);  // false: no request of this command has keys

struct LegacyKeys {      // first key, last key and step of COMMAND INFO
  int first = 0;         // position in argv; 0: no keys
  int last = 0;          // position in argv; negative: from the end
  int step = 0;          // distance between two keys
  bool movable = false;  // flag "movablekeys": clients must call COMMAND GETKEYS
};
LegacyKeys LegacyKeysOf(std::span<const KeySpec> specs);  // the numbers that describe these specs best

// Returns one position only, because prefetching one key is enough.
uint32_t PrefetchKeyIndex(std::span<const KeySpec> specs);  // argv index of the first key at a fixed place; 0: none

// Requires: if the card has a hook, the hook finds the same key.
uint32_t OnlyKeyIndex(std::span<const KeySpec> specs);  // argv index of the only key; 0: not one key at a fixed place

// --- The following functions are hooks, values of CommandSpec::find_keys.
KeyList KeysOfSet(std::span<const Bytes> argv);       // the keys of SET; with the option GET, it also reads the key
KeyList KeysOfBitField(std::span<const Bytes> argv);  // keys of BITFIELD, which only reads if all operations are GET
KeyList KeysOfSort(std::span<const Bytes> argv);      // the keys of SORT; of several STORE options the last one counts
KeyList KeysOfSortRo(std::span<const Bytes> argv);    // the keys of SORT_RO: only the first argument
KeyList KeysOfMigrate(std::span<const Bytes> argv);   // the keys of MIGRATE: one, or those after the option KEYS

}  // namespace respite
