#include "server/storage/hidden_slots_text.h"

#include <optional>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "protocol/request_text.h"

namespace respite {

namespace {

// Returns the text before `mark`, and removes this text and `mark` from `text`. If there is no mark, returns the whole
// text.
Bytes TakeUntil(char mark, Bytes& text) {
  const Bytes taken = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

// The name must be one that CLUSTER SYNCSLOTS accepts, because it is written into the append-only file.
bool IsMigrationName(Bytes name) {
  constexpr size_t kNameLength = 40;
  return name.size() == kNameLength && name.find_first_not_of("0123456789abcdef") == Bytes::npos;
}

std::optional<SlotRange> RangeOf(Bytes word) {
  const auto first = ParseInteger(TakeUntil('-', word));
  const auto last = ParseInteger(word);
  if (!first || !last || *first < 0 || *first > *last || *last >= kSlotCount) return std::nullopt;
  return SlotRange{static_cast<int>(*first), static_cast<int>(*last)};
}

}  // namespace

std::string SlotRangesText(const SlotSet& slots) {
  std::string text;
  for (const SlotRange& range : RangesOf(slots)) {
    if (!text.empty()) text += ' ';
    StrAppend(text, range.first, '-', range.last);
  }
  return text;
}

std::vector<std::string> HideSlotsRequest(Bytes name, const SlotSet& slots) {
  std::vector<std::string> words = {"CLUSTER", "SYNCSLOTS", "ESTABLISH", "NAME", std::string(name), "SLOTSRANGE"};
  for (const SlotRange& range : RangesOf(slots)) {
    words.push_back(std::to_string(range.first));
    words.push_back(std::to_string(range.last));
  }
  return words;
}

std::string HideSlotsRequests(const HiddenSlots& hidden) {
  std::string text;
  for (const auto& [name, slots] : hidden.All()) AppendRequest(text, HideSlotsRequest(name, slots));
  return text;
}

std::vector<std::string> FinishImportRequest(Bytes name, SlotImportEnd end) {
  const std::string state = end == SlotImportEnd::kSuccess ? "SUCCESS" : "FAILED";
  return {"CLUSTER", "SYNCSLOTS", "FINISH", "STATE", state, "NAME", std::string(name)};
}

std::string HiddenSlotsText(const HiddenSlots& hidden) {
  std::string text;
  for (const auto& [name, slots] : hidden.All()) {
    if (!text.empty()) text += ';';
    text += name + ' ' + SlotRangesText(slots);
  }
  return text;
}

std::optional<RedisTask> ReadRedisTask(Bytes text) {
  RedisTask task;
  task.name = TakeUntil(':', text);
  TakeUntil(':', text);
  TakeUntil(':', text);
  task.is_import = TakeUntil(':', text) == "import";
  const Bytes state = TakeUntil(':', text);
  task.is_over = state == "completed" || state == "failed" || state == "canceled";
  while (!text.empty()) {
    const auto range = RangeOf(TakeUntil(' ', text));
    if (!range) return std::nullopt;
    for (int slot = range->first; slot <= range->last; ++slot) task.slots.Add(slot);
  }
  return IsMigrationName(task.name) && !task.slots.IsEmpty() ? std::optional(std::move(task)) : std::nullopt;
}

void ReadHiddenSlots(Bytes text, HiddenSlots& hidden) {
  while (!text.empty()) {
    Bytes ranges = TakeUntil(';', text);
    std::string name(TakeUntil(' ', ranges));
    SlotSet slots;
    while (!ranges.empty()) {
      const auto range = RangeOf(TakeUntil(' ', ranges));
      for (int slot = range ? range->first : 0; range && slot <= range->last; ++slot) slots.Add(slot);
    }
    if (IsMigrationName(name) && !slots.IsEmpty()) hidden.Hide(std::move(name), slots);
  }
}

}  // namespace respite
