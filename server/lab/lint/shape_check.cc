#include "server/lab/lint/shape_check.h"

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/memory_text.h"
#include "base/str_cat.h"
#include "datatypes/hash.h"
#include "datatypes/list.h"
#include "datatypes/set.h"
#include "datatypes/sorted_set.h"
#include "server/clients/session.h"
#include "server/dataset/dataset.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

using Place = RequestFaults::Place;

constexpr size_t kManyElements = 1000;
constexpr uint64_t kWindow = 1000;  // key accesses after which rule hot-key judges the hottest key
// The commands that read or remove a whole value, at a cost that grows with the size of the value.
constexpr std::array<Bytes, 14> kWhole = {"smembers", "hgetall", "hkeys",  "hvals", "sort",   "sort_ro", "del",
                                          "sunion",   "sdiff",   "sinter", "lrem",  "zunion", "zinter",  "zdiff"};
constexpr std::array<Bytes, 3> kRanges = {"lrange", "zrange", "zrevrange"};
constexpr std::array<Bytes, 3> kAll = {"keys", "flushall", "flushdb"};

}  // namespace

void ShapeCheck::CheckBeforeCall(const LintRequest& request, LintRemarks& remarks) {
  if (request.place == Place::kSent || request.place == Place::kQueued) CheckChatty(request, remarks);
  if (request.place == Place::kQueued) return;
  CheckSlowShape(request, remarks);
  CheckBigValue(request, remarks);
  CheckHotKey(request, remarks);
}

size_t ShapeCheck::ElementsAt(const LintRequest& request, const KeyRef& key) const {
  const Entry* const entry = FindUnexpired(parts_, request.Key(key));
  if (entry == nullptr) return 0;
  const CollectionContext place{ValueSlot(entry), parts_.data.limits, parts_.env.clock.WallMs()};
  switch (entry->Type()) {
    case ValueType::kList:
      return List(place).Size();
    case ValueType::kSet:
      return Set(place).Size();
    case ValueType::kHash:
      return Hash(place).Size();
    case ValueType::kSortedSet:
      return SortedSet(place).Size();
    default:
      return entry->FreeEffort();
  }
}

void ShapeCheck::CheckSlowShape(const LintRequest& request, LintRemarks& remarks) const {
  if (request.IsOneOf(kAll) && !request.HasOption(1, "ASYNC")) {
    remarks.push_back(
        {.rule = LintRule::kSlowShape,
         .why = ToUpper(request.command.full_name) + " walks over all keys, and nobody else is served meanwhile"});
    return;
  }
  const bool is_whole_range =
      request.IsOneOf(kRanges) && request.words.size() > 3 && request.words[2] == "0" && request.words[3] == "-1";
  if (!is_whole_range && !request.IsOneOf(kWhole)) return;
  for (const KeyRef& key : request.keys) {
    const size_t elements = ElementsAt(request, key);
    if (elements <= kManyElements) continue;
    remarks.push_back({.rule = LintRule::kSlowShape,
                       .why = StrCat(QuotedForRemark(request.words[key.index]), " has ", elements,
                                     " elements, and nobody else is served while ", ToUpper(request.command.full_name),
                                     " goes through them"),
                       .key = std::string(request.words[key.index])});
    return;
  }
}

void ShapeCheck::CheckBigValue(const LintRequest& request, LintRemarks& remarks) const {
  const uint64_t most = parts_.limits.value_bytes;
  const auto big = std::ranges::find_if(request.words, [most](Bytes word) { return word.size() > most; });
  if (big == request.words.end()) return;
  const std::string key = request.keys.IsEmpty() ? "" : std::string(request.words[request.keys[0].index]);
  remarks.push_back({.rule = LintRule::kBigValue,
                     .why = "a word of " + HumanBytes(big->size()) + ", more than " + HumanBytes(most),
                     .key = key});
}

// Adds a remark if a client sends many similar requests in a row (the same command and number of arguments), each in
// another turn of the event loop. The client could have sent them together.
void ShapeCheck::CheckChatty(const LintRequest& request, LintRemarks& remarks) {
  const bool is_other_talk = request.keys.IsEmpty() || request.command.Is(kBlocking);
  ClearIfFull(sequences_, kMaxClients);
  Sequence& sequence = sequences_[request.client.id];
  const uint64_t turn = parts_.env.stats.turns;
  const bool is_same = sequence.command == &request.command && sequence.words == request.words.size();
  if (!is_same || is_other_talk || sequence.turn == turn) {
    sequence = {.command = &request.command, .words = request.words.size(), .turn = turn, .length = 1};
    return;
  }
  sequence.turn = turn;
  if (++sequence.length != parts_.limits.calls_in_sequence + 1) return;
  remarks.push_back({.rule = LintRule::kChatty,
                     .why = StrCat(sequence.length, " requests of this shape one after the other, each a round trip"),
                     .key = std::string(request.words[request.keys[0].index])});
}

void ShapeCheck::CheckHotKey(const LintRequest& request, LintRemarks& remarks) {
  for (const KeyRef& ref : request.keys) {
    KeyName key = request.Key(ref);
    ++accesses_by_key_[std::move(key)];
    if (++accesses_in_window_ < kWindow) continue;
    const auto hottest = std::ranges::max_element(accesses_by_key_, {}, [](const auto& row) { return row.second; });
    if (hottest->second * 100 > parts_.limits.percent_of_accesses * accesses_in_window_) {
      remarks.push_back({.rule = LintRule::kHotKey,
                         .why = StrCat(hottest->second, " of the last ", accesses_in_window_, " accesses were to ",
                                       QuotedForRemark(hottest->first.key)),
                         .key = hottest->first.key});
    }
    accesses_by_key_.clear();
    accesses_in_window_ = 0;
  }
}

void ShapeCheck::CheckAfterSuccess(const LintRequest& request, LintRemarks& remarks) {
  const uint64_t most = parts_.limits.value_bytes;
  if (request.place != Place::kSent || request.reply_bytes <= most) return;
  const std::string key = request.keys.IsEmpty() ? "" : std::string(request.words[request.keys[0].index]);
  remarks.push_back({.rule = LintRule::kBigValue,
                     .why = "a reply of " + HumanBytes(request.reply_bytes) + ", more than " + HumanBytes(most),
                     .key = key});
}

}  // namespace respite
