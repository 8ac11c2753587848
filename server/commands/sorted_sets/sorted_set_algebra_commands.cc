#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

#include "datatypes/set.h"
#include "server/commands/families.h"
#include "server/commands/sorted_sets/sorted_set_words.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kWeightNotFloat[] = "ERR weight value is not a float";
Refusal NeedsInputKey(Bytes command) {
  return {"ERR at least 1 input key is needed for '" + std::string(command) + "' command"};
}

}  // namespace
}  // namespace refusals

namespace {

using Aggregate = ScoredResult::Aggregate;

// ---------------------------------------------------------------------------------------------------------------------
// Sources and options

// An operand of a union, intersection or difference: a sorted set, or a set, whose members count with the score 1. A
// key that does not exist counts as an empty sorted set.
class AlgebraSource {
 public:
  AlgebraSource(DbView& db, Bytes key) : entry_(db.Read(key)), members_(db.View<SortedSet>(nullptr)) {
    if (entry_ == nullptr) return;
    if (entry_->Type() == ValueType::kSet) {
      members_ = db.View<Set>(entry_);
    } else if (entry_->Type() == ValueType::kSortedSet) {
      members_ = db.View<SortedSet>(entry_);
    } else {
      throw Refusal{refusals::kWrongType};
    }
  }

  bool Is(const AlgebraSource& other) const { return entry_ == other.entry_; }
  size_t Size() const {
    return std::visit([](const auto& members) { return members.Size(); }, members_);
  }
  std::optional<double> Score(Bytes member) const {
    if (const auto* set = std::get_if<Set>(&members_)) return set->Contains(member) ? std::optional(1.0) : std::nullopt;
    return std::get<SortedSet>(members_).Score(member);
  }
  // Calls visit(Bytes member, double score) for each member of this source. A member of a set has the score 1.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    if (const auto* set = std::get_if<Set>(&members_)) {
      set->ForEach([&](const PackedElement& member) { visit(ElementText(member).View(), 1.0); });
    } else {
      std::get<SortedSet>(members_).ForEach(visit);
    }
  }
  // Calls visit(Bytes member, double score) for each member, until `go_on()` returns false. `go_on()` is called after
  // each member of a set, and before each group of 64 members of a sorted set.
  template <class Visit, class GoOn>
  void ForEachWhile(Visit&& visit, GoOn&& go_on) const {
    if (const auto* set = std::get_if<Set>(&members_)) {
      set->ForEachWhile([&](const PackedElement& member) {
        visit(ElementText(member).View(), 1.0);
        return go_on();
      });
      return;
    }
    constexpr size_t kPiece = 64;
    const auto& sorted = std::get<SortedSet>(members_);
    for (size_t first = 0; first < sorted.Size() && go_on(); first += kPiece)
      sorted.ForEach({first, std::min(kPiece, sorted.Size() - first)}, Direction::kUp, visit);
  }

  void SetWeight(double weight) { weight_ = weight; }
  // Returns the score times the weight, or only the weight after IgnoreScores(true). 0 * infinity gives NaN. As in
  // Redis, a union treats such a NaN as 0 in all sources, an intersection only in the smallest source.
  double Weighted(double score) const { return weight_ * (ignores_scores_ ? 1 : score); }
  void IgnoreScores(bool ignores) { ignores_scores_ = ignores; }  // true: each member counts with the score 1

 private:
  const Entry* entry_;
  std::variant<SortedSet, Set> members_;
  double weight_ = 1;
  bool ignores_scores_ = false;
};

double OrZero(double score) { return std::isnan(score) ? 0 : score; }

enum class AlgebraOperation : uint8_t { kUnion, kIntersection, kDifference };
enum class Purpose : uint8_t { kReply, kStore, kCount };

struct AlgebraOptions {
  std::vector<AlgebraSource> sources;
  Aggregate aggregate = Aggregate::kSum;
  bool counts = false;  // AGGREGATE COUNT: each source counts with its weight, whatever the scores of its members
  bool has_decimal_weights = true;  // no weight is hexadecimal, which some versions refuse
  Scores scores = Scores::kNo;
  size_t limit = 0;  // 0: no limit
};

void TakeAggregate(Args& args, AlgebraOptions& options) {
  options.counts = args.TakeToken("COUNT");
  if (options.counts || args.TakeToken("SUM")) {
    options.aggregate = Aggregate::kSum;
  } else if (args.TakeToken("MIN")) {
    options.aggregate = Aggregate::kMin;
  } else if (args.TakeToken("MAX")) {
    options.aggregate = Aggregate::kMax;
  } else {
    throw Refusal{refusals::kSyntax};
  }
}

void TakeWeights(Call& call, std::vector<AlgebraSource>& sources) {
  const bool is_strict = call.services.env.dialect.traits.new_scores_are_decimal && !call.unit.IsReplaying();
  for (AlgebraSource& source : sources) {
    const Bytes word = call.args.Next();
    const auto weight = ParseDouble(word);
    if (!weight || (is_strict && !IsDecimal(word))) throw Refusal{refusals::kWeightNotFloat};
    source.SetWeight(*weight);
  }
}

// Takes the number of keys and the keys. As in Redis, the keys are looked up before the options are parsed.
std::vector<AlgebraSource> TakeSources(Call& call) {
  const int64_t keys = call.args.NextInteger();
  if (keys < 1) throw refusals::NeedsInputKey(call.command.full_name);
  if (static_cast<uint64_t>(keys) > call.args.Left()) throw Refusal{refusals::kSyntax};
  std::vector<AlgebraSource> sources;
  sources.reserve(static_cast<size_t>(keys));
  for (int64_t i = 0; i < keys; ++i) sources.emplace_back(call.db, call.args.Next());
  return sources;
}

AlgebraOptions ParseAlgebra(Call& call, AlgebraOperation operation, Purpose purpose) {
  Args& args = call.args;
  AlgebraOptions options{.sources = TakeSources(call)};
  const bool combines = operation != AlgebraOperation::kDifference && purpose != Purpose::kCount;
  while (!args.AtEnd()) {
    if (combines && args.TakeTokenWith("WEIGHTS", options.sources.size())) {
      options.has_decimal_weights = std::ranges::all_of(args.Rest().first(options.sources.size()), IsDecimal);
      TakeWeights(call, options.sources);
    } else if (combines && args.TakeTokenWith("AGGREGATE", 1)) {
      TakeAggregate(args, options);
    } else if (purpose == Purpose::kReply && args.TakeToken("WITHSCORES")) {
      options.scores = Scores::kYes;
    } else if (purpose == Purpose::kCount && args.TakeTokenWith("LIMIT", 1)) {
      options.limit = args.NextCount(0, refusals::kLimitNegative);
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  for (AlgebraSource& source : options.sources) source.IgnoreScores(options.counts);
  return options;
}

// ---------------------------------------------------------------------------------------------------------------------
// The three operations

void SortBySize(std::vector<AlgebraSource>& sources) {
  std::stable_sort(sources.begin(), sources.end(),
                   [](const AlgebraSource& a, const AlgebraSource& b) { return a.Size() < b.Size(); });
}

void UniteScored(AlgebraOptions& options, ScoredResult& result) {
  SortBySize(options.sources);
  for (const AlgebraSource& source : options.sources) {
    source.ForEach(
        [&](Bytes member, double score) { result.Combine(member, OrZero(source.Weighted(score)), options.aggregate); });
  }
}

// Returns the combined score of a member of the first source, which has `first_score` there. Returns nullopt if another
// source lacks the member.
std::optional<double> ScoreInAll(const AlgebraOptions& options, Bytes member, double first_score) {
  const std::vector<AlgebraSource>& sources = options.sources;
  double score = OrZero(sources[0].Weighted(first_score));
  for (size_t i = 1; i < sources.size(); ++i) {
    const auto other = sources[i].Is(sources[0]) ? std::optional(first_score) : sources[i].Score(member);
    if (!other) return std::nullopt;
    score = ScoredResult::AggregateScores(score, sources[i].Weighted(*other), options.aggregate);
  }
  return score;
}

void IntersectScored(AlgebraOptions& options, ScoredResult& result) {
  SortBySize(options.sources);
  options.sources[0].ForEach([&](Bytes member, double score) {
    if (const auto in_all = ScoreInAll(options, member, score)) result.Append(member, *in_all);
  });
}

// Returns the result of ZINTERCARD: how many members all sources have in common, but at most the number given by LIMIT
// (0: no limit).
size_t CountInAll(AlgebraOptions& options) {
  const size_t limit = options.limit == 0 ? SIZE_MAX : options.limit;
  SortBySize(options.sources);
  size_t count = 0;
  options.sources[0].ForEachWhile(
      [&](Bytes member, double score) { count += ScoreInAll(options, member, score) ? 1 : 0; },
      [&] { return count < limit; });
  return std::min(count, limit);
}

// Decides how to compute a ZDIFF or ZDIFFSTORE. Returns true if looking up each member of the first source in the other
// sources is probably cheaper. The alternative is to remove the members of the other sources from a copy of the first.
bool LooksUp(const std::vector<AlgebraSource>& sources) {
  size_t all = 0;
  for (const AlgebraSource& source : sources) all += source.Size();
  return sources[0].Size() * sources.size() / 2 <= all;
}

void SubtractScored(std::vector<AlgebraSource>& sources, ScoredResult& result) {
  const auto others = std::span<AlgebraSource>(sources).subspan(1);
  if (std::any_of(others.begin(), others.end(), [&](const AlgebraSource& other) { return other.Is(sources[0]); }))
    return;
  if (!LooksUp(sources)) {
    sources[0].ForEach([&](Bytes member, double score) { result.Combine(member, score, Aggregate::kSum); });
    for (const AlgebraSource& other : others) other.ForEach([&](Bytes member, double) { result.Remove(member); });
    return;
  }
  // ZDIFF looks for each member of the first source in the largest of the other sources first, because the largest
  // source most probably has the member.
  std::stable_sort(others.begin(), others.end(),
                   [](const AlgebraSource& a, const AlgebraSource& b) { return a.Size() > b.Size(); });
  sources[0].ForEach([&](Bytes member, double score) {
    const bool held = std::any_of(others.begin(), others.end(),
                                  [&](const AlgebraSource& other) { return other.Score(member).has_value(); });
    if (!held) result.Append(member, score);
  });
}

void Compute(AlgebraOptions& options, AlgebraOperation operation, ScoredResult& result) {
  switch (operation) {
    case AlgebraOperation::kUnion:
      return UniteScored(options, result);
    case AlgebraOperation::kIntersection:
      return IntersectScored(options, result);
    case AlgebraOperation::kDifference:
      return SubtractScored(options.sources, result);
  }
}

void ReplyAlgebra(Call& call, AlgebraOperation operation) {
  AlgebraOptions options = ParseAlgebra(call, operation, Purpose::kReply);
  ScoredResult result(call.db.Data().hash_key());
  Compute(options, operation, result);
  const auto sorted = result.SortedItems();
  MemberWriter write(call.reply, options.scores);
  write.Begin(sorted.size());
  for (const ScoreTree::Item& item : sorted) write(item.member->Member(), item.score);
}

void StoreAlgebra(Call& call, AlgebraOperation operation, const KeyEvent& event) {
  const Bytes destination = call.args.Next();
  AlgebraOptions options = ParseAlgebra(call, operation, Purpose::kStore);
  ScoredResult result(call.db.Data().hash_key());
  Compute(options, operation, result);
  // If false, the result is propagated instead of the ZUNIONSTORE or ZINTERSTORE: replicas before Redis 8.8 have no
  // AGGREGATE COUNT, and some refuse hexadecimal weights.
  const bool is_portable = !options.counts && options.has_decimal_weights;
  is_portable ? StoreSortedSet(call, destination, result, event)
              : StoreAndRecordSortedSet(call, destination, result, event);
}

// ---------------------------------------------------------------------------------------------------------------------

struct ZUnion {
  static constexpr CommandSpec spec = {
      .syntax =
          "ZUNION numkeys:integer key... [WEIGHTS weight:integer...] [AGGREGATE aggregate(SUM|MIN|MAX|COUNT@8.8.0)] "
          "[WITHSCORES]",
      .summary = "Returns the union of sorted sets, with combined scores.",
      .since = "6.2.0",
      .complexity = "O(N)+O(M*log(M)) for N members of all sets and M members of the union",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {CountedKeys(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyAlgebra(call, AlgebraOperation::kUnion); }
};

struct ZUnionStore {
  static constexpr CommandSpec spec = {
      .syntax =
          "ZUNIONSTORE destination:key numkeys:integer key... [WEIGHTS weight:integer...] [AGGREGATE "
          "aggregate(SUM|MIN|MAX|COUNT@8.8.0)]",
      .summary = "Stores the union of sorted sets, with combined scores.",
      .since = "2.0.0",
      .complexity = "O(N)+O(M log(M)) for N members of all sets and M members of the union",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyOW | kKeyUpdate), CountedKeys(2, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { StoreAlgebra(call, AlgebraOperation::kUnion, "zunionstore"); }
};

struct ZInter {
  static constexpr CommandSpec spec = {
      .syntax =
          "ZINTER numkeys:integer key... [WEIGHTS weight:integer...] [AGGREGATE aggregate(SUM|MIN|MAX|COUNT@8.8.0)] "
          "[WITHSCORES]",
      .summary = "Returns the intersection of sorted sets.",
      .since = "6.2.0",
      .complexity =
          "O(N*K)+O(M*log(M)), K sets being looked at, N being the size of the smallest and M that of the result",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {CountedKeys(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyAlgebra(call, AlgebraOperation::kIntersection); }
};

struct ZInterStore {
  static constexpr CommandSpec spec = {
      .syntax =
          "ZINTERSTORE destination:key numkeys:integer key... [WEIGHTS weight:integer...] [AGGREGATE "
          "aggregate(SUM|MIN|MAX|COUNT@8.8.0)]",
      .summary = "Stores the intersection of sorted sets.",
      .since = "2.0.0",
      .complexity =
          "O(N*K)+O(M*log(M)), K sets being looked at, N being the size of the smallest and M that of the result",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyOW | kKeyUpdate), CountedKeys(2, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { StoreAlgebra(call, AlgebraOperation::kIntersection, "zinterstore"); }
};

struct ZDiff {
  static constexpr CommandSpec spec = {
      .syntax = "ZDIFF numkeys:integer key... [WITHSCORES]",
      .summary = "Returns the difference of sorted sets.",
      .since = "6.2.0",
      .complexity =
          "O(L + (N-K)log(N)), L being the number of members of all sets, N that of the first and K that of the result",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {CountedKeys(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyAlgebra(call, AlgebraOperation::kDifference); }
};

struct ZDiffStore {
  static constexpr CommandSpec spec = {
      .syntax = "ZDIFFSTORE destination:key numkeys:integer key...",
      .summary = "Stores the difference of sorted sets.",
      .since = "6.2.0",
      .complexity =
          "O(L + (N-K)log(N)), L being the number of members of all sets, N that of the first and K that of the result",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyOW | kKeyUpdate), CountedKeys(2, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { StoreAlgebra(call, AlgebraOperation::kDifference, "zdiffstore"); }
};

struct ZInterCard {
  static constexpr CommandSpec spec = {
      .syntax = "ZINTERCARD numkeys:integer key... [LIMIT limit:integer]",
      .summary = "Counts the members of the intersection of sorted sets, up to a limit.",
      .since = "7.0.0",
      .complexity = "O(N*K), K sets being looked at and N being the size of the smallest",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {CountedKeys(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    AlgebraOptions options = ParseAlgebra(call, AlgebraOperation::kIntersection, Purpose::kCount);
    call.reply.Integer(static_cast<int64_t>(CountInAll(options)));
  }
};

constexpr auto kSortedSetAlgebraCommands =
    Family<ZUnion, ZUnionStore, ZInter, ZInterStore, ZDiff, ZDiffStore, ZInterCard>();

}  // namespace

std::span<const CommandCard> SortedSetAlgebraCommands() { return kSortedSetAlgebraCommands; }

}  // namespace respite
