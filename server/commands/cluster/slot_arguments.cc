#include "server/commands/cluster/slot_arguments.h"

#include <algorithm>

#include "base/number_text.h"

namespace respite {

namespace {

constexpr char kNoRanges[] = "ERR No slot ranges specified";
constexpr char kNoEnd[] = "ERR No end slot for final slot range";
constexpr char kManyShards[] = "ERR Requested slots span multiple shards";
constexpr char kInvalidNode[] = "ERR Invalid node name: ";
constexpr char kUnknownNodeName[] = "ERR Unknown node name: ";
Refusal Unserved(int slot) { return {StrCat("ERR Slot ", slot, " has no node served")}; }
constexpr char kManySources[] = "ERR slots belong to different source nodes";
Refusal NamedTwice(int slot) { return {StrCat("ERR Slot ", slot, " specified multiple times")}; }
Refusal HasNoOwner(int slot) { return {StrCat("ERR slot has no owner: ", slot)}; }

SlotRange NextRange(Args& args) {
  const Bytes first_word = args.Next();
  if (args.AtEnd()) throw Refusal{kNoEnd};
  const SlotRange range{ParseSlotNumber(first_word), ParseSlotNumber(args.Next())};
  if (range.first <= range.last) return range;
  throw Refusal{StrCat("ERR Start slot number ", range.first, " is greater than end slot number ", range.last)};
}

// Returns the error that names the first range in `former` with which the range `last` overlaps. Requires: `last`
// overlaps with a range of `former`.
Refusal OverlapOf(const std::vector<SlotRange>& former, const SlotRange& last) {
  const auto other = std::ranges::find_if(
      former, [&](const SlotRange& one) { return one.first <= last.last && last.first <= one.last; });
  return {"ERR Slot range " + SlotRangeText(last) + " overlaps with previous range " + SlotRangeText(*other)};
}

}  // namespace

// --- Arguments as in Valkey.

SlotSet NextRanges(Args& args) {
  std::vector<SlotRange> ranges;
  SlotSet slots;
  while (!args.AtEnd() && ParseInteger(args[args.Count() - args.Left()])) {
    const SlotRange range = NextRange(args);
    for (int slot = range.first; slot <= range.last; ++slot) {
      if (slots.Has(slot)) throw OverlapOf(ranges, range);
      slots.Add(slot);
    }
    ranges.push_back(range);
  }
  if (ranges.empty()) throw Refusal{kNoRanges};
  return slots;
}

const ClusterNode& CommonOwner(const ClusterView& view, const SlotSet& slots) {
  const ClusterNode* common = nullptr;
  slots.ForEach([&](int slot) {
    const ClusterNode* const owner = view.Owner(slot);
    if (owner == nullptr) throw Unserved(slot);
    if (common != nullptr && owner != common) throw Refusal{kManyShards};
    common = owner;
  });
  return *common;
}

const ClusterNode& NextTarget(Args& args, const ClusterView& view) {
  const Bytes word = args.Next();
  const auto id = NodeId::Parse(word);
  if (!id) throw Refusal{kInvalidNode + std::string(refusals::ShownPart(word))};
  const ClusterNode* const node = view.Find(*id);
  if (node == nullptr) throw Refusal{kUnknownNodeName + std::string(word)};
  return *node;
}

// --- Arguments as in Redis.

std::vector<SlotRange> TakeTaskRanges(Args& args) {
  std::vector<SlotRange> ranges;
  while (!args.AtEnd()) {
    const int first = ParseSlotNumber(args.Next());
    const int last = ParseSlotNumber(args.Next());
    if (first > last) throw Refusal{StrCat("ERR start slot number ", first, " is greater than end slot number ", last)};
    ranges.push_back({first, last});
  }
  return ranges;
}

SlotSet SlotsOf(const std::vector<SlotRange>& ranges) {
  SlotSet slots;
  for (const SlotRange& range : ranges) {
    for (int slot = range.first; slot <= range.last; ++slot) {
      if (slots.Has(slot)) throw NamedTwice(slot);
      slots.Add(slot);
    }
  }
  return slots;
}

const ClusterNode& OwnerOfTask(const ClusterView& view, const SlotSet& slots) {
  const ClusterNode* common = nullptr;
  bool has_several = false;
  slots.ForEach([&](int slot) {
    const ClusterNode* const owner = view.Owner(slot);
    if (owner == nullptr) throw HasNoOwner(slot);
    has_several |= common != nullptr && owner != common;
    common = owner;
  });
  if (has_several) throw Refusal{kManySources};
  return *common;
}

}  // namespace respite
