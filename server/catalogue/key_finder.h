// Which arguments of a command are keys: COMMAND GETKEYS, ACL, waiting, tracking and the prefetch before execution ask
// here, so that no handler has to tell twice where its keys stand.
//
// The key specs of the card decide. Where they cannot (flags that depend on an option, keys behind options that may
// stand anywhere), the card names one of the hooks below, which is asked instead or as a last resort.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_spec.h"

namespace respite {

struct KeyRef {
  uint32_t index = 0;  // in argv
  uint16_t flags = 0;  // KeyFlag bits
};

// The keys of one request in the order of its key specs. The first eight need no allocation.
class KeyList {
 public:
  void Add(size_t index, int flags) {
    const KeyRef key{static_cast<uint32_t>(index), static_cast<uint16_t>(flags)};
    if (size_ < kInline) {
      inline_[size_] = key;
    } else {
      if (size_ == kInline) overflow_.assign(inline_.begin(), inline_.end());
      overflow_.push_back(key);
    }
    ++size_;
  }

  bool Empty() const { return size_ == 0; }
  size_t Size() const { return size_; }
  const KeyRef& operator[](size_t i) const { return begin()[i]; }
  const KeyRef* begin() const { return size_ <= kInline ? inline_.data() : overflow_.data(); }
  const KeyRef* end() const { return begin() + size_; }

 private:
  static constexpr size_t kInline = 8;

  size_t size_ = 0;
  std::array<KeyRef, kInline> inline_{};
  std::vector<KeyRef> overflow_;
};

// The keys of a request, argv[0] being the command's name. Empty when it has none, or when the arguments are such that
// the command itself will refuse them.
// Cost: O(keys) for keys at fixed places, O(argc) for keys behind a keyword.
KeyList KeyPositions(const CommandSpec& spec, std::span<const Bytes> argv);

// The same for permissions, which must not miss a key that the command will use: where a part of the arguments does not
// fit, the keys of the other parts. (`PFMERGE destination` has no sources, and writes.)
KeyList NamedKeys(const CommandSpec& spec, std::span<const Bytes> argv);

// False for commands that never have keys: COMMAND GETKEYS refuses them.
bool MayHaveKeys(const CommandSpec& spec);

// The first, last and step numbers of COMMAND INFO, the older way to describe keys, and whether clients have to ask
// COMMAND GETKEYS because these numbers do not tell all ("movablekeys").
struct LegacyKeys {
  int first = 0;
  int last = 0;
  int step = 0;
  bool movable = false;
};
LegacyKeys LegacyKeysOf(std::span<const KeySpec> specs);

// The index in argv of a key that every valid request has there, to fetch its memory early; 0: none.
uint32_t PrefetchKeyIndex(std::span<const KeySpec> specs);

// Hooks for CommandSpec::find_keys.
KeyList SetKeys(std::span<const Bytes> argv);       // with GET the key is read, too
KeyList BitFieldKeys(std::span<const Bytes> argv);  // only GET operations: the key is only read
KeyList SortKeys(std::span<const Bytes> argv);      // the last STORE counts
KeyList SortRoKeys(std::span<const Bytes> argv);
KeyList MigrateKeys(std::span<const Bytes> argv);  // one key, or those behind KEYS

}  // namespace respite
