// VSIM: the elements that are most similar to a vector.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

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
constexpr char kFilterTooLong[] = "ERR FILTER expression is too long";
constexpr char kFilterTooMuchWork[] = "ERR FILTER would read too many bytes for one element";

}  // namespace
}  // namespace refusals

namespace {

constexpr uint32_t kDefaultSearchEf = 100;   // nodes that a search without EF keeps
constexpr uint64_t kChecksPerResult = 100;   // default of FILTER-EF, per element of COUNT
constexpr uint64_t kWorkPerTurn = 6u << 20;  // bytes that a step of a search reads, about 2 ms
constexpr uint64_t kDistanceOverhead = 256;  // what a distance costs in addition to its bytes, in bytes
constexpr uint64_t kFilterOverhead = 1024;   // what a filter costs in addition to the bytes that it reads, in bytes

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
      const Bytes expression = args.Next();
      if (expression.size() > AttributeFilter::kMaxTextBytes) throw Refusal{refusals::kFilterTooLong};
      auto filter = AttributeFilter::Compile(expression);
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

struct FoundElement {  // an element of the reply
  float distance = 0;
  Bytes name;
  std::optional<Bytes> attributes;
};

// The search of one VSIM. It runs in steps of about 2 ms, so that other clients are served between them. If the set has
// changed between the steps, a last part of the search checks each hit again, and copies its name and attributes.
class VSimSearch final : public CommandState {
 public:
  VSimSearch(const VectorTable& table, EncodedVector query, VSimOptions options)
      : query_(std::move(query)),
        options_(std::move(options)),
        distance_work_(table.graph().format().Bytes() + kDistanceOverhead),
        serial_(table.graph().Serial()),
        changes_(table.Changes()) {
    const auto ef = static_cast<uint32_t>(
        std::min<uint64_t>(std::max<uint64_t>(options_.ef.value_or(kDefaultSearchEf), options_.count), table.Count()));
    checks_left_ = options_.max_checks != 0                         ? options_.max_checks
                   : options_.count > UINT64_MAX / kChecksPerResult ? UINT64_MAX
                                                                    : options_.count * kChecksPerResult;
    if (options_.is_exact) return;
    const VectorHit entry = table.graph().Descend(query_.View(), 0);
    search_.emplace(table.graph(), std::span(&entry, 1), std::max(ef, 1U), 0);
  }

  const VSimOptions& options() const { return options_; }
  // Returns whether `table` is the vector set with which the search began.
  bool Fits(const VectorTable& table) const { return table.graph().Serial() == serial_; }

  // Runs one step of the search, or all remaining steps if `to_the_end`. Returns true if the search is complete. Throws
  // a Refusal if FILTER needs too much work for an element.
  bool Run(const VectorTable& table, bool to_the_end) {
    max_work_ = to_the_end ? UINT64_MAX : kWorkPerTurn;
    work_ = 0;
    has_changed_ = has_changed_ || table.Changes() != changes_;
    if (!has_hits_) {
      if (!(options_.is_exact ? Scan(table) : Search(table))) return false;
      has_hits_ = true;
    }
    return !has_changed_ || CheckHits(table);
  }

  // Requires: Run has returned true, and the set has not changed since. Returns at most COUNT elements, none farther
  // than EPSILON allows, the nearest first. The texts are valid until the set changes.
  std::vector<FoundElement> TakeElements(const VectorTable& table) {
    if (has_changed_) {
      std::ranges::stable_sort(elements_, {}, &FoundElement::distance);
      if (elements_.size() > options_.count) elements_.resize(options_.count);
      return std::move(elements_);
    }
    if (hits_.size() > options_.count) hits_.resize(options_.count);
    for (const VectorHit& hit : hits_) {
      const auto attributes = options_.with_attributes ? table.AttributesOf(hit.slot) : std::nullopt;
      Add(hit.distance, table.NameOf(hit.slot), attributes);
    }
    return std::move(elements_);
  }

 private:
  bool HasTime() {  // counts the work of a distance; false: the step has done enough
    if (work_ >= max_work_) return false;
    work_ += distance_work_;
    return true;
  }
  bool Matches(const VectorTable& table, uint32_t slot) {
    if (!options_.filter) return true;
    work_ += kFilterOverhead;
    const auto attributes = table.AttributesOf(slot);
    if (!attributes) return false;
    const auto matches = options_.filter->Matches(*attributes, work_);
    if (!matches) throw Refusal{refusals::kFilterTooMuchWork};
    return *matches;
  }
  void Add(float distance, Bytes name, std::optional<Bytes> attributes) {
    if (distance <= options_.max_distance) elements_.push_back({distance, name, attributes});
  }

  bool Search(const VectorTable& table) {  // a step of a search in the graph; true: it has ended
    using Verdict = HnswSearch::Verdict;
    const auto accepts = [&](uint32_t slot) {
      if (!options_.filter) return Verdict::kAccept;
      if (checks_left_-- == 0) return Verdict::kStop;
      return Matches(table, slot) ? Verdict::kAccept : Verdict::kReject;
    };
    if (!search_->Run(table.graph(), query_.View(), accepts, [this] { return HasTime(); })) return false;
    hits_ = search_->TakeHits(table.graph());
    return true;
  }

  // A step of a search with TRUTH: compares the query with the next slots. Returns true after the last slot.
  bool Scan(const VectorTable& table) {
    const HnswGraph& graph = table.graph();
    for (; next_slot_ < graph.SlotLimit(); ++next_slot_) {
      if (!HasTime()) return false;
      if (!graph.IsUsed(next_slot_) || !Matches(table, next_slot_)) continue;
      hits_.push_back({graph.DistanceOf(next_slot_, query_.View()), next_slot_});
      std::push_heap(hits_.begin(), hits_.end());
      if (hits_.size() <= options_.count) continue;
      std::pop_heap(hits_.begin(), hits_.end());
      hits_.pop_back();
    }
    std::sort_heap(hits_.begin(), hits_.end());
    return true;
  }

  // A step after the search: checks the next hits, because their slots may be free now, or have other elements. Copies
  // what the reply needs, because the set may change until the last step. Returns true after the last hit.
  bool CheckHits(const VectorTable& table) {
    const HnswGraph& graph = table.graph();
    for (; next_hit_ < hits_.size(); ++next_hit_) {
      if (!HasTime()) return false;
      const uint32_t slot = hits_[next_hit_].slot;
      if (!graph.IsUsed(slot) || !Matches(table, slot)) continue;
      // An element may have got another slot meanwhile, and so be found twice.
      if (!names_.emplace(table.NameOf(slot)).second) continue;
      const auto attributes = options_.with_attributes ? table.AttributesOf(slot) : std::nullopt;
      Add(graph.DistanceOf(slot, query_.View()), Copy(table.NameOf(slot)),
          attributes ? std::optional(Copy(*attributes)) : std::nullopt);
    }
    return true;
  }
  Bytes Copy(Bytes text) {
    work_ += text.size();
    return texts_.emplace_back(text);
  }

  EncodedVector query_;
  VSimOptions options_;
  uint64_t distance_work_;              // the work of a distance, in bytes that are read
  uint64_t serial_;                     // HnswGraph::Serial()
  uint64_t changes_;                    // VectorTable::Changes() when the search began
  bool has_changed_ = false;            // true: the set has changed since the search began
  bool has_hits_ = false;               // true: `hits_` is complete
  uint64_t max_work_ = 0;               // limit of the step, in bytes that are read
  uint64_t work_ = 0;                   // what the step has done so far
  uint64_t checks_left_ = 0;            // how many elements the filter may still look at
  std::optional<HnswSearch> search_;    // nullopt: TRUTH
  uint32_t next_slot_ = 0;              // TRUTH: the next slot to compare
  std::vector<VectorHit> hits_;         // TRUTH: a heap, the farthest first; after the search the hits, nearest first
  size_t next_hit_ = 0;                 // the next hit to check
  std::vector<FoundElement> elements_;  // what the reply will have
  std::set<std::string> names_;         // of the hits that were checked, if the set has changed
  std::deque<std::string> texts_;       // names and attributes of `elements_`, if the set has changed
};

void ReplyElements(Call& call, const VSimOptions& options, std::span<const FoundElement> elements) {
  const bool is_resp3 = call.reply.IsResp3();
  const bool is_map = options.with_scores || options.with_attributes;
  if (is_map && is_resp3) {
    call.reply.Map(elements.size());
  } else {
    call.reply.Array(elements.size() * (1U + options.with_scores + options.with_attributes));
  }
  for (const FoundElement& element : elements) {
    call.reply.Bulk(element.name);
    if (is_resp3 && options.with_scores && options.with_attributes) call.reply.Array(2);
    if (options.with_scores) call.reply.Double(VectorScore(element.distance));
    if (!options.with_attributes) continue;
    element.attributes ? call.reply.Bulk(*element.attributes) : call.reply.Null();
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
    call.session.command_state.reset();
    call.RestartInNextTurn();  // the set was removed, or replaced by another one, or is on another node now
  }
  static void Step(Call& call, const VectorTable& table) {
    auto state = std::exchange(call.session.command_state, nullptr);  // is gone if Run throws
    auto& search = static_cast<VSimSearch&>(*state);
    constexpr int kMaxRestarts = 5;  // a search whose set is replaced again and again runs to its end at last
    if (search.Run(table, !call.MayContinueLater() || call.restarts >= kMaxRestarts)) {
      return ReplyElements(call, search.options(), search.TakeElements(table));
    }
    call.session.command_state = std::move(state);
    call.ContinueInNextTurn();
  }
};

constexpr auto kVectorSearchCommands = Family<VSim>();

}  // namespace

std::span<const CommandCard> VectorSearchCommands() { return kVectorSearchCommands; }

}  // namespace respite
