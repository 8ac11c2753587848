// Finds the keys of a request, for COMMAND GETKEYS, ACL checks, the cluster, tracking and prefetching. The key specs of
// the command (CommandSpec::keys) say where the keys are. They are not sufficient if the flags of a key depend on an
// option, or if keys follow options in any order. For such a command, CommandSpec::find_keys is one of the functions
// KeysOf… below. It is called if a key spec does not fit the request, is incomplete, or has variable flags.
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
  uint32_t index = 0;  // position of the key in argv
  uint16_t flags = 0;  // KeyFlag bits: the key is read, written, deleted …
};

// The keys are in the order of the key specs. Up to eight keys need no allocation.
class KeyList {  // the keys of one request
 public:
  void Add(size_t index, int flags);

  bool IsEmpty() const { return size_ == 0; }  // the request has no keys
  size_t Size() const { return size_; }
  const KeyRef& operator[](size_t i) const { return begin()[i]; }
  const KeyRef* begin() const {  // for range-based for
    return size_ <= kMaxInlineKeys ? inline_.data() : overflow_.data();
  }
  const KeyRef* end() const { return begin() + size_; }

 private:
  static constexpr size_t kMaxInlineKeys = 8;  // up to this number of keys needs no allocation

  size_t size_ = 0;                              // number of keys
  std::array<KeyRef, kMaxInlineKeys> inline_{};  // the keys, if there are at most kMaxInlineKeys
  std::vector<KeyRef> overflow_;                 // all keys, if there are more than kMaxInlineKeys
};

inline void KeyList::Add(size_t index, int flags) {
  const KeyRef key{static_cast<uint32_t>(index), static_cast<uint16_t>(flags)};
  if (size_ < kMaxInlineKeys) {
    inline_[size_] = key;
  } else {
    if (size_ == kMaxInlineKeys) overflow_.assign(inline_.begin(), inline_.end());
    overflow_.push_back(key);
  }
  ++size_;
}

// Returns the keys of a request; argv[0] is the name of the command. Returns an empty list if the arguments do not fit
// the key specs and CommandSpec::find_keys is null. Arguments with the flag kKeyNotKey are no keys. Cost: O(keys) if
// the keys are at fixed places, O(argc) if they follow a keyword.
KeyList KeyPositions(const CommandSpec& spec, std::span<const Bytes> argv);  // finds the keys of a request, if any

// Returns all keys that a request may use, because an ACL check must not miss one. Where a key spec does not fit the
// arguments, KeyPositions returns no keys at all. This function then returns the keys of the other specs, if
// CommandSpec::find_keys is null. For example, `PFMERGE destination` has no sources, but writes a key.
KeyList KeysForAclCheck(const CommandSpec& spec, std::span<const Bytes> argv);  // finds all keys that may be used

// Returns whether requests of this command can have keys. COMMAND GETKEYS refuses other commands.
bool MayHaveKeys(const CommandSpec& spec);  // whether requests of this command can have keys

struct LegacyKeys {      // first key, last key and step, as COMMAND INFO shows them
  int first = 0;         // position of the first key in argv; 0: no keys
  int last = 0;          // position of the last key in argv; negative: from the end
  int step = 0;          // distance between two keys
  bool movable = false;  // flag "movablekeys": clients must call COMMAND GETKEYS
};
LegacyKeys LegacyKeysOf(std::span<const KeySpec> specs);  // computes first key, last key and step of key specs

// Returns the position of one key only, because it is enough to prefetch one key of a request.
uint32_t PrefetchKeyIndex(std::span<const KeySpec> specs);  // argv index of the first key at a fixed place; 0: none

// Returns the position in argv of the key of a command that always has exactly one key, at a fixed place. Otherwise
// returns 0. Requires: if the command also has CommandSpec::find_keys, that function finds the same key.
uint32_t OnlyKeyIndex(std::span<const KeySpec> specs);  // argv index of the only key if its place is fixed; else 0

// --- Functions that find the keys of a request of one command. The command names its function in
// CommandSpec::find_keys.
KeyList KeysOfSet(std::span<const Bytes> argv);       // the key of SET; with GET, IFEQ … it is also read
KeyList KeysOfDelEx(std::span<const Bytes> argv);     // the key of DELEX; with a condition, it is also read
KeyList KeysOfBitField(std::span<const Bytes> argv);  // the key of BITFIELD; written only by SET and INCRBY
KeyList KeysOfSort(std::span<const Bytes> argv);      // the keys of SORT: the source, and the target of the last STORE
KeyList KeysOfSortRo(std::span<const Bytes> argv);    // the keys of SORT_RO: only the first argument
KeyList KeysOfMigrate(std::span<const Bytes> argv);   // the keys of MIGRATE: one, or those after the option KEYS

}  // namespace respite
