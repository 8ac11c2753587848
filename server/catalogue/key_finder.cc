#include "server/catalogue/key_finder.h"

#include <algorithm>
#include <optional>

#include "base/number_text.h"

namespace respite {
namespace {

// Keys at equal distances in a request: the positions (in argv) of the first and the last key, and the distance.
struct KeyRun {
  int64_t first = 0;
  int64_t last = 0;  // inclusive
  int64_t step = 1;
};

int64_t Count(std::span<const Bytes> argv) { return static_cast<int64_t>(argv.size()); }

// Returns the position in argv after the keyword, or 0 if the keyword is not found. As in Redis, a search from the end
// skips argv[1], and a search from the start skips the last argument.
int64_t FindKeyword(const KeySpec& spec, std::span<const Bytes> argv) {
  const int64_t argc = Count(argv);
  const bool forward = spec.index > 0;
  int64_t at = forward ? spec.index : argc + spec.index;
  const int64_t end = forward ? argc - 1 : 1;
  const int64_t step = at <= end ? 1 : -1;
  for (; at != end && at >= 1 && at < argc; at += step)
    if (EqualsIgnoreCase(argv[static_cast<size_t>(at)], spec.keyword)) return at + 1;
  return 0;
}

int64_t LastOfRange(const KeySpec& spec, int64_t first, int64_t argc) {
  if (spec.last >= 0) return first + spec.last;
  if (spec.limit == 0) return argc + spec.last;
  return first + (argc - first) / spec.limit + spec.last;
}

std::optional<KeyRun> CountedRun(const KeySpec& spec, int64_t begin, std::span<const Bytes> argv) {
  const int64_t count_at = begin + spec.key_num_index;
  if (count_at >= Count(argv)) return std::nullopt;
  const std::optional<int64_t> count = ParseInteger(argv[static_cast<size_t>(count_at)]);
  if (!count || *count <= 0 || *count > Count(argv)) return std::nullopt;
  const int64_t first = begin + spec.first_key;
  return KeyRun{first, first + (*count - 1) * spec.step, spec.step};
}

// Returns the keys that a key spec describes. `begin` is the position in argv to which the spec's index or keyword
// leads. Returns nullopt if the arguments do not fit the spec.
std::optional<KeyRun> KeyRunFrom(const KeySpec& spec, int64_t begin, std::span<const Bytes> argv) {
  std::optional<KeyRun> run;
  if (spec.find == KeySpec::Find::kKeyNum) run = CountedRun(spec, begin, argv);
  if (spec.find == KeySpec::Find::kRange) run = KeyRun{begin, LastOfRange(spec, begin, Count(argv)), spec.step};
  if (run && (run->last < run->first || run->last >= Count(argv))) return std::nullopt;
  return run;
}

struct KeysOfSpecs {
  KeyList keys;
  bool complete = true;  // each spec fits, or its keyword is absent; none is unknown or marked incomplete
};

KeysOfSpecs KeysBySpecs(std::span<const KeySpec> specs, std::span<const Bytes> argv) {
  KeysOfSpecs found;
  for (const KeySpec& spec : specs) {
    if (spec.flags & kKeyNotKey) continue;
    if (spec.begin == KeySpec::Begin::kUnknown) {
      found.complete = false;
      continue;
    }
    const int64_t begin = spec.begin == KeySpec::Begin::kIndex ? spec.index : FindKeyword(spec, argv);
    if (begin == 0) continue;
    const std::optional<KeyRun> run = KeyRunFrom(spec, begin, argv);
    if (!run || (spec.flags & kKeyIncomplete)) found.complete = false;
    if (!run) continue;
    for (int64_t at = run->first; at <= run->last; at += run->step) found.keys.Add(static_cast<size_t>(at), spec.flags);
  }
  return found;
}

bool HasVariableFlags(const CommandSpec& spec) {
  return std::ranges::any_of(spec.keys.View(), [](const KeySpec& s) { return s.flags & kKeyVariableFlags; });
}

bool IsPlainRange(const KeySpec& spec) {
  return spec.begin == KeySpec::Begin::kIndex && spec.find == KeySpec::Find::kRange;
}

}  // namespace

KeyList KeyPositions(const CommandSpec& spec, std::span<const Bytes> argv) {
  if (!HasVariableFlags(spec)) {
    if (KeysOfSpecs found = KeysBySpecs(spec.keys.View(), argv); found.complete) return std::move(found.keys);
  }
  return spec.find_keys ? spec.find_keys(argv) : KeyList{};
}

KeyList KeysForAclCheck(const CommandSpec& spec, std::span<const Bytes> argv) {
  return spec.find_keys ? KeyPositions(spec, argv) : KeysBySpecs(spec.keys.View(), argv).keys;
}

bool MayHaveKeys(const CommandSpec& spec) {
  return spec.find_keys ||
         std::ranges::any_of(spec.keys.View(), [](const KeySpec& s) { return !(s.flags & kKeyNotKey); });
}

LegacyKeys LegacyKeysOf(std::span<const KeySpec> specs) {
  LegacyKeys legacy;
  int previous_last = 0;
  for (const KeySpec& spec : specs) {
    // COMMAND INFO can show only one range of keys. As in Redis, several key specs are merged to one range only if
    // their keys are consecutive and have step 1. A single spec may have any step.
    const bool joins = specs.size() == 1 || (spec.step == 1 && (previous_last == 0 || previous_last == spec.index - 1));
    if (!IsPlainRange(spec) || !joins) {
      legacy.movable = true;
      continue;
    }
    if (spec.flags & kKeyIncomplete) legacy.movable = true;
    const int last = spec.last >= 0 ? spec.index + spec.last : spec.last;
    if (legacy.first == 0) legacy = {spec.index, last, spec.step, legacy.movable};
    // A negative `last` counts from the end of argv. The casts make a negative `last` greater than all others.
    if (static_cast<unsigned>(last) > static_cast<unsigned>(legacy.last)) legacy.last = last;
    previous_last = legacy.last;
  }
  return legacy;
}

uint32_t PrefetchKeyIndex(std::span<const KeySpec> specs) {
  for (const KeySpec& spec : specs) {
    if ((spec.flags & kKeyNotKey) || spec.begin != KeySpec::Begin::kIndex) continue;
    const int offset = spec.find == KeySpec::Find::kKeyNum ? spec.first_key : 0;
    return static_cast<uint32_t>(spec.index + offset);
  }
  return 0;
}

uint32_t OnlyKeyIndex(std::span<const KeySpec> specs) {
  if (specs.size() != 1) return 0;
  const KeySpec& spec = specs[0];
  const bool is_fixed = (spec.flags & kKeyNotKey) == 0 && spec.begin == KeySpec::Begin::kIndex &&
                        spec.find == KeySpec::Find::kRange && spec.last == 0;
  return is_fixed ? static_cast<uint32_t>(spec.index) : 0;
}

namespace {

// Returns whether one of the arguments from index `first` on is one of the tokens, at whatever place.
bool HasToken(std::span<const Bytes> argv, size_t first, std::span<const Bytes> tokens) {
  return std::ranges::any_of(argv.subspan(std::min(first, argv.size())), [&](Bytes word) {
    return std::ranges::any_of(tokens, [&](Bytes token) { return EqualsIgnoreCase(word, token); });
  });
}

constexpr Bytes kValueConditions[] = {"ifeq", "ifne", "ifdeq", "ifdne"};
constexpr Bytes kGet[] = {"get"};

}  // namespace

KeyList KeysOfSet(std::span<const Bytes> argv) {
  KeyList keys;
  const bool compares = HasToken(argv, 3, kValueConditions);
  keys.Add(1, HasToken(argv, 3, kGet) ? kKeyRW | kKeyAccess | kKeyUpdate : (compares ? kKeyRW : kKeyOW) | kKeyUpdate);
  return keys;
}

KeyList KeysOfDelEx(std::span<const Bytes> argv) {
  KeyList keys;
  keys.Add(1, (HasToken(argv, 2, kValueConditions) ? kKeyRW : kKeyRM) | kKeyDelete);
  return keys;
}

KeyList KeysOfBitField(std::span<const Bytes> argv) {
  // Any operation of BITFIELD except a complete GET or OVERFLOW counts as a write, even if it is malformed. BITFIELD
  // itself refuses malformed operations.
  bool writes = false;
  for (size_t at = 2; at < argv.size() && !writes;) {
    const size_t left = argv.size() - at;
    if (EqualsIgnoreCase(argv[at], "get") && left > 2) {
      at += 3;
    } else if (EqualsIgnoreCase(argv[at], "overflow") && left > 1) {
      at += 2;
    } else {
      writes = true;
    }
  }
  KeyList keys;
  keys.Add(1, writes ? kKeyRW | kKeyAccess | kKeyUpdate : kKeyRO | kKeyAccess);
  return keys;
}

KeyList KeysOfSort(std::span<const Bytes> argv) {
  size_t store_at = 0;
  for (size_t at = 2; at < argv.size(); ++at) {
    if (EqualsIgnoreCase(argv[at], "limit")) {
      at += 2;
    } else if (EqualsIgnoreCase(argv[at], "get") || EqualsIgnoreCase(argv[at], "by")) {
      at += 1;
    } else if (EqualsIgnoreCase(argv[at], "store") && at + 1 < argv.size()) {
      store_at = at + 1;
    }
  }
  KeyList keys;
  keys.Add(1, kKeyRO | kKeyAccess);
  if (store_at != 0) keys.Add(store_at, kKeyOW | kKeyUpdate);
  return keys;
}

KeyList KeysOfSortRo(std::span<const Bytes>) {
  KeyList keys;
  keys.Add(1, kKeyRO | kKeyAccess);
  return keys;
}

KeyList KeysOfMigrate(std::span<const Bytes> argv) {
  constexpr int kFlags = kKeyRW | kKeyAccess | kKeyDelete;
  KeyList keys;
  for (size_t at = 6; at < argv.size(); ++at) {
    if (EqualsIgnoreCase(argv[at], "keys")) {
      // With the option KEYS of MIGRATE, argv[3] must be empty. Otherwise the request is malformed, and no keys are
      // returned.
      if (argv[3].empty())
        for (size_t key = at + 1; key < argv.size(); ++key) keys.Add(key, kFlags);
      return keys;
    }
    if (EqualsIgnoreCase(argv[at], "auth")) {
      at += 1;
    } else if (EqualsIgnoreCase(argv[at], "auth2")) {
      at += 2;
    }
  }
  keys.Add(3, kFlags);
  return keys;
}

}  // namespace respite
