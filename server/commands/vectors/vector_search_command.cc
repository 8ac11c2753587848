// VSIM: the elements that are most similar to a vector.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "datatypes/vectors/attribute_filter.h"
#include "server/commands/families.h"
#include "server/commands/vectors/vector_words.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kVSimSyntax[] = "ERR syntax error in VSIM command";
constexpr char kNoVectorElement[] = "ERR element not found in set";
constexpr char kBadVSimCount[] = "ERR invalid COUNT";
constexpr char kBadEpsilon[] = "ERR invalid EPSILON";
constexpr char kBadFilterEf[] = "ERR invalid FILTER-EF";

}  // namespace
}  // namespace refusals

namespace {

constexpr uint32_t kDefaultSearchEf = 100;   // nodes that a search without EF keeps
constexpr uint64_t kChecksPerResult = 100;   // default of FILTER-EF, per element of COUNT
constexpr uint64_t kWorkPerTurn = 6u << 20;  // bytes of vectors that a step of a search reads, about 2 ms
constexpr uint64_t kDistanceOverhead = 256;  // what a distance costs in addition to its bytes, in bytes
constexpr uint64_t kFilterOverhead = 4096;   // what a filter costs, in bytes

struct VSimOptions {
  bool with_scores = false;
  bool with_attributes = false;
  uint64_t count = 10;
  float max_distance = 2;  // from EPSILON, which goes from 0 to 1
  std::optional<uint32_t> ef;
  std::optional<AttributeFilter> filter;
  uint64_t max_checks = 0;  // FILTER-EF; 0: not given
  bool is_exact = false;    // TRUTH
};

VSimOptions TakeVSimOptions(Args& args) {
  VSimOptions options;
  while (!args.AtEnd()) {
    if (args.TakeToken("NOTHREAD")) continue;  // all searches run in the thread of the server
    if (args.TakeToken("WITHSCORES")) {
      options.with_scores = true;
    } else if (args.TakeToken("WITHATTRIBS")) {
      options.with_attributes = true;
    } else if (args.TakeToken("TRUTH")) {
      options.is_exact = true;
    } else if (args.TakeTokenWith("COUNT", 1)) {
      options.count = args.NextCount(1, refusals::kBadVSimCount);
    } else if (args.TakeTokenWith("EPSILON", 1)) {
      const auto epsilon = ParseDouble(args.Next());
      if (!epsilon || !(*epsilon > 0)) throw Refusal{refusals::kBadEpsilon};
      options.max_distance = static_cast<float>(std::min(*epsilon * 2, 2.0));
    } else if (args.TakeTokenWith("EF", 1)) {
      options.ef = TakeEf(args);
    } else if (args.TakeTokenWith("FILTER", 1)) {
      auto filter = AttributeFilter::Compile(args.Next());
      if (!filter) throw Refusal{"ERR syntax error in FILTER expression near: " + filter.error()};
      options.filter = std::move(filter).value();
    } else if (args.TakeTokenWith("FILTER-EF", 1)) {
      options.max_checks = args.NextCount(1, refusals::kBadFilterEf);
    } else {
      throw Refusal{refusals::kVSimSyntax};
    }
  }
  return options;
}

// The search of one VSIM. It runs in steps of about 2 ms, so that other clients are served between them.
class VSimSearch final : public CommandState {
 public:
  VSimSearch(const VectorTable& table, EncodedVector query, VSimOptions options)
      : query_(std::move(query)),
        options_(std::move(options)),
        format_(table.graph().format()),
        serial_(table.graph().Serial()),
        first_changes_(table.graph().Changes()) {
    ef_ = static_cast<uint32_t>(
        std::min<uint64_t>(std::max<uint64_t>(options_.ef.value_or(kDefaultSearchEf), options_.count), table.Count()));
    checks_left_ = options_.max_checks != 0                         ? options_.max_checks
                   : options_.count > UINT64_MAX / kChecksPerResult ? UINT64_MAX
                                                                    : options_.count * kChecksPerResult;
    if (options_.is_exact) return;
    const VectorHit entry = table.graph().Descend(query_.View(), 0);
    search_.emplace(table.graph(), std::span(&entry, 1), std::max(ef_, 1U), 0);
  }

  const VSimOptions& options() const { return options_; }
  // Returns whether `table` is the vector set with which the search began.
  bool Fits(const VectorTable& table) const { return table.graph().Serial() == serial_; }

  // Runs one step of the search, or all remaining steps if `to_the_end`. Returns true if the search is complete.
  bool Run(const VectorTable& table, bool to_the_end) {
    const uint64_t each = format_.Bytes() + kDistanceOverhead + FilterWork(table);
    const uint64_t distances = to_the_end ? UINT64_MAX : std::max<uint64_t>(kWorkPerTurn / each, 1);
    if (options_.is_exact) return Scan(table, distances);
    const auto accepts = [&](uint32_t slot) { return VerdictOn(table, slot); };
    if (!search_->Run(table.graph(), query_.View(), distances, accepts)) return false;
    hits_ = search_->TakeHits(table.graph());
    return true;
  }

  // Returns the hits of the reply: at most COUNT, not farther than EPSILON allows, the nearest first. If the set has
  // changed during the search, checks FILTER again, because a slot may now have another element.
  std::vector<VectorHit> TakeHits(const VectorTable& table) {
    if (options_.filter && table.graph().Changes() != first_changes_)
      std::erase_if(hits_, [&](const VectorHit& hit) { return !Matches(table, hit.slot); });
    if (options_.is_exact) std::sort_heap(hits_.begin(), hits_.end());
    std::erase_if(hits_, [&](const VectorHit& hit) { return hit.distance > options_.max_distance; });
    if (hits_.size() > options_.count) hits_.resize(options_.count);
    return std::move(hits_);
  }

 private:
  // Estimates the work of the filter for one element, in bytes that are read.
  uint64_t FilterWork(const VectorTable& table) const {
    if (!options_.filter) return 0;
    return kFilterOverhead + options_.filter->Work(table.TextBytes() / std::max(table.Count(), 1U));
  }
  bool Matches(const VectorTable& table, uint32_t slot) const {
    const auto attributes = table.AttributesOf(slot);
    return attributes && options_.filter->Matches(*attributes);
  }
  HnswSearch::Verdict VerdictOn(const VectorTable& table, uint32_t slot) {
    using Verdict = HnswSearch::Verdict;
    if (!options_.filter) return Verdict::kAccept;
    if (checks_left_-- == 0) return Verdict::kStop;
    return Matches(table, slot) ? Verdict::kAccept : Verdict::kReject;
  }

  // Runs a step of a search with TRUTH: compares the query with the next `distances` slots. If the set has changed
  // since the last step, first drops the hits that were removed, and measures the others again. Returns true after the
  // last slot.
  bool Scan(const VectorTable& table, uint64_t distances) {
    const HnswGraph& graph = table.graph();
    if (graph.Changes() != changes_) {
      std::erase_if(hits_,
                    [&](const VectorHit& hit) { return hit.slot >= graph.SlotLimit() || !graph.IsUsed(hit.slot); });
      for (VectorHit& hit : hits_) hit.distance = graph.DistanceOf(hit.slot, query_.View());
      std::make_heap(hits_.begin(), hits_.end());
      changes_ = graph.Changes();
    }
    for (; next_slot_ < graph.SlotLimit() && distances > 0; ++next_slot_, --distances) {
      if (!graph.IsUsed(next_slot_) || (options_.filter && !Matches(table, next_slot_))) continue;
      hits_.push_back({graph.DistanceOf(next_slot_, query_.View()), next_slot_});
      std::push_heap(hits_.begin(), hits_.end());
      if (hits_.size() <= options_.count) continue;
      std::pop_heap(hits_.begin(), hits_.end());
      hits_.pop_back();
    }
    return next_slot_ >= graph.SlotLimit();
  }

  EncodedVector query_;
  VSimOptions options_;
  VectorFormat format_;
  uint64_t serial_;         // HnswGraph::Serial()
  uint64_t first_changes_;  // HnswGraph::Changes() when the search began
  uint32_t ef_ = 0;
  uint64_t checks_left_ = 0;          // how many elements the filter may still look at
  std::optional<HnswSearch> search_;  // nullopt: TRUTH
  uint32_t next_slot_ = 0;            // TRUTH: the next element to compare
  uint64_t changes_ = 0;              // TRUTH: HnswGraph::Changes() in the last step
  std::vector<VectorHit> hits_;       // TRUTH: a heap, the farthest first; otherwise the result
};

void ReplyHits(Call& call, const VectorTable& table, const VSimOptions& options, std::span<const VectorHit> hits) {
  const bool is_resp3 = call.reply.IsResp3();
  const bool is_map = options.with_scores || options.with_attributes;
  if (is_map && is_resp3) {
    call.reply.Map(hits.size());
  } else {
    call.reply.Array(hits.size() * (1U + options.with_scores + options.with_attributes));
  }
  for (const VectorHit& hit : hits) {
    call.reply.Bulk(table.NameOf(hit.slot));
    if (is_resp3 && options.with_scores && options.with_attributes) call.reply.Array(2);
    if (options.with_scores) call.reply.Double(VectorScore(hit.distance));
    if (!options.with_attributes) continue;
    const auto attributes = table.AttributesOf(hit.slot);
    attributes ? call.reply.Bulk(*attributes) : call.reply.Null();
  }
}

EncodedVector TakeQuery(Args& args, const VectorTable& table) {
  if (!args.TakeTokenWith("ELE", 1)) {
    std::vector<float> vector = TakeVector(args);
    const bool is_projected_already = vector.size() == table.shape().dimensions;  // by the client
    if (!is_projected_already) CheckVectorDimensions(table, vector.size());
    return EncodeVector(table, std::move(vector));
  }
  const uint32_t slot = table.Find(args.Next());
  if (slot == VectorTable::kNone) throw Refusal{refusals::kNoVectorElement};
  // As in Redis, the query of VSIM … ELE is made from the stored (quantised) vector of the element, which is decoded,
  // normalised and quantised a second time.
  const HnswGraph& graph = table.graph();
  std::vector<float> vector;
  graph.format().Decode(graph.VectorOf(slot), 1, vector);
  EncodedVector query;
  NormalizeVector(vector);
  query.words.resize((graph.format().Bytes() + 7) / 8);
  query.scale = graph.format().Encode(vector, query.words.data());
  return query;
}

struct VSim {
  static constexpr CommandSpec spec = {
      .syntax =
          "VSIM key format(ELE|FP32|VALUES) vector_or_element [WITHSCORES] [WITHATTRIBS] [COUNT count:integer] "
          "[EPSILON max_distance:double] [EF search-exploration-factor:integer] [FILTER expression] "
          "[FILTER-EF max-filtering-effort:integer] [TRUTH] [NOTHREAD]",
      .summary = "Returns the elements of a vector set that are most similar to a vector or to an element.",
      .since = "8.0.0",
      .module = kVectorModule,
      .complexity = "O(log(N)), N being the number of elements; O(N) with TRUTH",
      .group = CommandGroup::kModule,
      .flags = kReadOnly | kOfModule,
      .keys = {Key(1, kVectorKeyFlags)}};
  static void Run(Call& call) {
    if (call.is_resumed) return Resume(call);
    const VectorSet set = call.db.Read<VectorSet>(call.args.Next());
    if (!set.Exists()) return call.reply.Array(0);
    EncodedVector query = TakeQuery(call.args, set.Table());
    VSimOptions options = TakeVSimOptions(call.args);
    call.session.command_state = std::make_unique<VSimSearch>(set.Table(), std::move(query), std::move(options));
    Step(call, set.Table());
  }
  static void Resume(Call& call) {
    const auto& search = static_cast<const VSimSearch&>(*call.session.command_state);
    const Entry* entry = call.db.Peek(call.args.Next());
    if (entry != nullptr && entry->Type() == ValueType::kVectorSet) {
      const VectorSet set = call.db.View<VectorSet>(entry);
      if (search.Fits(set.Table())) return Step(call, set.Table());
    }
    call.session.command_state.reset();  // the set was removed, or replaced by another one
    call.reply.Array(0);
  }
  static void Step(Call& call, const VectorTable& table) {
    auto& search = static_cast<VSimSearch&>(*call.session.command_state);
    if (!search.Run(table, !call.MayContinueLater())) return call.ContinueInNextTurn();
    ReplyHits(call, table, search.options(), search.TakeHits(table));
    call.session.command_state.reset();
  }
};

constexpr auto kVectorSearchCommands = Family<VSim>();

}  // namespace

std::span<const CommandCard> VectorSearchCommands() { return kVectorSearchCommands; }

}  // namespace respite
