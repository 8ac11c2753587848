// VEMB, VGETATTR, VISMEMBER, VLINKS, VRANDMEMBER and VRANGE: read elements of vector sets.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "server/commands/data/collection_words.h"
#include "server/commands/families.h"
#include "server/commands/vectors/vector_words.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kBadVEmbOption[] = "ERR invalid option";
constexpr char kBadRandomCount[] = "ERR COUNT value is not an integer";
constexpr char kBadRangeCount[] = "ERR invalid COUNT value";
constexpr char kBadRangeStart[] = "ERR invalid start range format";
constexpr char kBadRangeEnd[] = "ERR invalid end range format";
constexpr char kSwappedEnds[] = "ERR '-' can only be used as first argument, '+' only as second";
constexpr char kTooManyRandom[] = "ERR value is out of range";

}  // namespace
}  // namespace refusals

namespace {

uint32_t SlotIn(const VectorSet& set, Bytes element) {
  return set.Exists() ? set.Table().Find(element) : VectorTable::kNone;
}

struct VEmb {
  static constexpr CommandSpec spec = {
      .syntax = "VEMB key element [RAW]",
      .summary = "Returns the vector of an element, or with RAW the bytes that are stored for it.",
      .since = "8.0.0",
      .module = kVectorModule,
      .complexity = "O(D), D being the number of dimensions",
      .group = CommandGroup::kModule,
      .flags = kReadOnly | kFast | kOfModule,
      .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    auto [key, element] = call.args.Take<Bytes, Bytes>();
    const bool is_raw = call.args.TakeToken("RAW");
    if (!call.args.AtEnd()) throw Refusal{refusals::kBadVEmbOption};
    const VectorSet set = call.db.Read<VectorSet>(key);
    const uint32_t slot = SlotIn(set, element);
    if (slot == VectorTable::kNone) return call.reply.Null();
    const HnswGraph& graph = set.Table().graph();
    if (is_raw) return ReplyRaw(call, graph, slot);
    std::vector<float> numbers;
    graph.format().Decode(graph.VectorOf(slot), graph.LengthOf(slot), numbers);
    call.reply.Array(numbers.size());
    for (const float number : numbers) call.reply.Double(static_cast<double>(number));
  }
  static void ReplyRaw(Call& call, const HnswGraph& graph, uint32_t slot) {
    const StoredVector vector = graph.VectorOf(slot);
    const VectorEncoding encoding = graph.format().encoding();
    call.reply.Array(encoding == VectorEncoding::kInt8 ? 4 : 3);
    call.reply.Simple(encoding == VectorEncoding::kFloat ? "f32" : encoding == VectorEncoding::kInt8 ? "int8" : "bin");
    call.reply.Bulk({static_cast<const char*>(vector.data), graph.format().Bytes()});
    call.reply.Double(static_cast<double>(graph.LengthOf(slot)));
    if (encoding == VectorEncoding::kInt8) call.reply.Double(static_cast<double>(vector.scale));
  }
};

struct VGetAttr {
  static constexpr CommandSpec spec = {.syntax = "VGETATTR key element",
                                       .summary = "Returns the JSON attributes of an element.",
                                       .since = "8.0.0",
                                       .module = kVectorModule,
                                       .complexity = "O(log(N)), N being the number of elements",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly | kFast | kOfModule,
                                       .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    auto [key, element] = call.args.Take<Bytes, Bytes>();
    const VectorSet set = call.db.Read<VectorSet>(key);
    const uint32_t slot = SlotIn(set, element);
    const auto attributes = slot == VectorTable::kNone ? std::nullopt : set.Table().AttributesOf(slot);
    attributes ? call.reply.Bulk(*attributes) : call.reply.Null();
  }
};

struct VIsMember {
  static constexpr CommandSpec spec = {.syntax = "VISMEMBER key element",
                                       .summary = "Tells whether a vector set contains an element.",
                                       .since = "8.2.0",
                                       .module = kVectorModule,
                                       .complexity = "O(log(N)), N being the number of elements",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly | kOfModule,
                                       .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    auto [key, element] = call.args.Take<Bytes, Bytes>();
    call.reply.Bool(SlotIn(call.db.Read<VectorSet>(key), element) != VectorTable::kNone);
  }
};

struct VLinks {
  static constexpr CommandSpec spec = {
      .syntax = "VLINKS key element [WITHSCORES]",
      .summary = "Returns the neighbours of an element in the graph, for each of its layers from the top.",
      .since = "8.0.0",
      .module = kVectorModule,
      .complexity = "O(M), M being the number of neighbours",
      .group = CommandGroup::kModule,
      .flags = kReadOnly | kFast | kOfModule,
      .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    auto [key, element] = call.args.Take<Bytes, Bytes>();
    const bool with_scores = call.args.TakeToken("WITHSCORES");
    if (!call.args.AtEnd()) throw refusals::WrongArity(call.command.full_name);
    const VectorSet set = call.db.Read<VectorSet>(key);
    const uint32_t slot = SlotIn(set, element);
    if (slot == VectorTable::kNone) return call.reply.Null();
    const VectorTable& table = set.Table();
    const HnswGraph& graph = table.graph();
    call.reply.Array(size_t{graph.LevelOf(slot)} + 1);
    for (uint32_t layer = graph.LevelOf(slot) + 1; layer-- > 0;) {
      const std::span<const uint32_t> links = graph.LinksOf(slot, layer);
      with_scores ? call.reply.Map(links.size()) : call.reply.Array(links.size());
      for (const uint32_t other : links) {
        call.reply.Bulk(table.NameOf(other));
        if (with_scores) call.reply.Double(VectorScore(graph.DistanceOf(other, graph.VectorOf(slot))));
      }
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Many elements

struct VRandMember {
  static constexpr CommandSpec spec = {
      .syntax = "VRANDMEMBER key [count:integer]",
      .summary = "Returns random elements of a vector set; with a negative count they may repeat.",
      .since = "8.0.0",
      .module = kVectorModule,
      .complexity = "O(N), N being the absolute value of the count",
      .group = CommandGroup::kModule,
      .flags = kReadOnly | kOfModule,
      .keys = {Key(1, kVectorKeyFlags)}};
  static constexpr int64_t kMaxRepeated = 1'000'000;  // elements of a reply with repetitions

  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    if (call.args.Left() > 1) throw refusals::WrongArity(call.command.full_name);
    std::optional<int64_t> count;
    if (!call.args.AtEnd()) count = call.args.NextInteger(refusals::kBadRandomCount);
    if (count == 0) return call.reply.Array(0);  // as in Redis, also for a key of another type
    const VectorSet set = call.db.Read<VectorSet>(key);
    if (!count) return set.Exists() ? ReplyOne(call, set.Table()) : call.reply.Null();
    if (*count < -kMaxRepeated) throw Refusal{refusals::kTooManyRandom};
    if (!set.Exists()) return call.reply.Array(0);
    *count > 0 ? ReplySample(call, set.Table(), static_cast<size_t>(*count))
               : ReplyRepeated(call, set.Table(), static_cast<size_t>(-*count));
  }
  static void ReplyOne(Call& call, const VectorTable& table) {
    call.reply.Bulk(table.NameOf(table.RandomSlot(call.random)));
  }
  static void ReplyRepeated(Call& call, const VectorTable& table, size_t count) {
    const RandomReplyLimit limit(call, count);
    call.reply.Array(count);
    for (size_t i = 0; i < count; ++i) {
      ReplyOne(call, table);
      limit.Check();
    }
  }
  static void ReplySample(Call& call, const VectorTable& table, size_t count) {
    size_t left = std::min<size_t>(count, table.Count());
    call.reply.Array(left);
    if (left * 3 < table.Count()) {
      std::unordered_set<uint32_t> taken;
      while (taken.size() < left) {
        const uint32_t slot = table.RandomSlot(call.random);
        if (taken.insert(slot).second) call.reply.Bulk(table.NameOf(slot));
      }
      return;
    }
    size_t not_seen = table.Count();
    for (uint32_t slot = 0; left > 0; ++slot) {
      if (!table.graph().IsUsed(slot)) continue;
      if (call.random.Below(not_seen--) >= left) continue;
      call.reply.Bulk(table.NameOf(slot));
      --left;
    }
  }
};

struct NameBound {  // one end of a range of names
  bool is_infinite = false;
  bool is_exclusive = false;
  Bytes name = {};
};

NameBound NameBoundOf(Bytes word, char infinite, const char* refusal) {
  if (word.size() == 1 && word[0] == infinite) return {.is_infinite = true};
  if (word == "-" || word == "+") throw Refusal{refusals::kSwappedEnds};
  if (word.size() < 2 || (word[0] != '[' && word[0] != '(')) throw Refusal{refusal};
  return {.is_exclusive = word[0] == '(', .name = word.substr(1)};
}

struct VRange {
  static constexpr CommandSpec spec = {.syntax = "VRANGE key start end [count:integer]",
                                       .summary = "Returns elements of a vector set in a range of names, in order.",
                                       .since = "8.4.0",
                                       .module = kVectorModule,
                                       .complexity = "O(log(N)+K), K being the number of elements in the reply",
                                       .group = CommandGroup::kModule,
                                       .flags = kReadOnly | kOfModule,
                                       .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    auto [key, start, end] = call.args.Take<Bytes, Bytes, Bytes>();
    if (call.args.Left() > 1) throw refusals::WrongArity(call.command.full_name);
    const int64_t count = call.args.AtEnd() ? -1 : call.args.NextInteger(refusals::kBadRangeCount);
    const NameBound first = NameBoundOf(start, '-', refusals::kBadRangeStart);
    const NameBound last = NameBoundOf(end, '+', refusals::kBadRangeEnd);
    const VectorSet set = call.db.Read<VectorSet>(key);
    if (!set.Exists()) return call.reply.Array(0);
    const std::vector<uint32_t> slots = SlotsBetween(set.Table(), first, last, count);
    call.reply.Array(slots.size());
    for (const uint32_t slot : slots) call.reply.Bulk(set.Table().NameOf(slot));
  }
  static std::vector<uint32_t> SlotsBetween(const VectorTable& table, const NameBound& first, const NameBound& last,
                                            int64_t count) {
    std::vector<uint32_t> slots;
    const SlotOrder& order = table.order();
    SlotOrder::Place at = first.is_infinite ? order.First() : table.AtOrAfter(first.name);
    if (first.is_exclusive && !order.IsEnd(at) && table.NameOf(order.At(at)) == first.name) order.Next(at);
    for (; !order.IsEnd(at) && (count < 0 || slots.size() < static_cast<size_t>(count)); order.Next(at)) {
      const Bytes name = table.NameOf(order.At(at));
      if (!last.is_infinite && (last.is_exclusive ? name >= last.name : name > last.name)) break;
      slots.push_back(order.At(at));
    }
    return slots;
  }
};

constexpr auto kVectorElementCommands = Family<VEmb, VGetAttr, VIsMember, VLinks, VRandMember, VRange>();

}  // namespace

std::span<const CommandCard> VectorElementCommands() { return kVectorElementCommands; }

}  // namespace respite
