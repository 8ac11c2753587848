#include "server/commands/cluster/slot_tags.h"

#include <array>
#include <string>

#include "base/key_slot.h"

namespace respite {

namespace {

constexpr Bytes kTagDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr size_t kMaxTagLength = 3;  // enough for a tag of each slot

using Tags = std::array<std::string, kSlotCount>;

// Tries all texts of `length` characters that begin with `prefix`. Keeps the first text that is found for each slot.
void AddTags(Tags& tags, std::string prefix, size_t length) {
  if (prefix.size() == length) {
    std::string& tag = tags[static_cast<size_t>(KeySlot(prefix))];
    if (tag.empty()) tag = std::move(prefix);
    return;
  }
  for (const char digit : kTagDigits) AddTags(tags, prefix + digit, length);
}

Tags MakeTags() {
  Tags tags;
  for (size_t length = 1; length <= kMaxTagLength; ++length) AddTags(tags, "", length);
  return tags;
}

}  // namespace

Bytes TagOfSlot(int slot) {
  static const Tags kTags = MakeTags();
  return kTags[static_cast<size_t>(slot)];
}

}  // namespace respite
