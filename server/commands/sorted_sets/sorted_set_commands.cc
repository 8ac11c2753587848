#include <cmath>
#include <cstdio>
#include <unordered_set>
#include <vector>

#include "server/catalogue/refusals.h"
#include "server/commands/data/collection_words.h"
#include "server/commands/data/scan.h"
#include "server/commands/families.h"
#include "server/commands/sorted_sets/sorted_set_pop.h"
#include "server/commands/sorted_sets/sorted_set_words.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNxWithXx[] = "ERR XX and NX options at the same time are not compatible";
constexpr char kGtLtOrNx[] = "ERR GT, LT, and/or NX options at the same time are not compatible";
constexpr char kIncrementOfMany[] = "ERR INCR option supports a single increment-element pair";

}  // namespace
}  // namespace refusals

namespace {

// === Adding

struct ZAddOptions {
  AddRule rule = {};
  bool counts_changes = false;
  std::span<const Bytes> pairs = {};  // score, member, score, member …

  bool Increments() const { return rule.arithmetic == AddRule::Arithmetic::kAdd; }
  size_t Count() const { return pairs.size() / 2; }
  size_t Room(const EncodingLimits& limits) const {
    size_t bytes = 0;
    for (const Bytes word : pairs) bytes += word.size();
    return ListpackCapacityFor(Count(), bytes, limits);
  }
};

// Parses the arguments of ZADD or ZINCRBY after the key. As in Redis, an incomplete pair of score and member is refused
// before a wrong combination of options.
ZAddOptions ParseZAddOptions(Args& args, AddRule::Arithmetic arithmetic) {
  bool nx = false, xx = false, gt = false, lt = false, ch = false;
  bool incr = arithmetic == AddRule::Arithmetic::kAdd;
  const auto take = [&](Bytes token, bool& option) { return args.TakeToken(token) && (option = true); };
  while (take("NX", nx) || take("XX", xx) || take("CH", ch) || take("INCR", incr) || take("GT", gt) || take("LT", lt)) {
  }
  if (args.AtEnd() || args.Left() % 2 != 0) throw Refusal{refusals::kSyntax};
  if (nx && xx) throw Refusal{refusals::kNxWithXx};
  if (gt + lt + nx > 1) throw Refusal{refusals::kGtLtOrNx};
  if (incr && args.Left() > 2) throw Refusal{refusals::kIncrementOfMany};

  ZAddOptions options{.counts_changes = ch, .pairs = args.Rest()};
  if (nx) options.rule.condition = AddRule::Condition::kIfAbsent;
  if (xx) options.rule.condition = AddRule::Condition::kIfPresent;
  if (gt) options.rule.comparison = AddRule::Comparison::kGreater;
  if (lt) options.rule.comparison = AddRule::Comparison::kLess;
  if (incr) options.rule.arithmetic = AddRule::Arithmetic::kAdd;
  return options;
}

// The scores of a ZADD, all parsed before the first change. One score, the usual case, needs no allocation.
class PairScores {
 public:
  PairScores(std::span<const Bytes> pairs, const Call& call) {
    first_ = ParseNewScore(pairs[0], call);
    if (pairs.size() == 2) return;
    all_.reserve(pairs.size() / 2);
    for (size_t i = 0; i < pairs.size(); i += 2) all_.push_back(ParseNewScore(pairs[i], call));
  }
  double operator[](size_t index) const { return all_.empty() ? first_ : all_[index]; }

 private:
  double first_;
  std::vector<double> all_;
};

// Propagates all scores of a ZADD or ZINCRBY as decimal numbers if one of them is hexadecimal or has leading blanks.
// Replicas of other versions may refuse the client's form.
void RecordPlainScores(Call& call, std::span<const Bytes> pairs, const PairScores& scores) {
  if (!call.effect.IsRecording()) return;
  bool is_plain = true;
  for (size_t i = 0; i < pairs.size(); i += 2) is_plain = is_plain && IsDecimal(pairs[i]);
  if (is_plain) return;
  const std::span<const Bytes> request = call.args.Words();
  std::vector<std::string> words(request.begin(), request.end());
  const auto first = static_cast<size_t>(pairs.data() - request.data());
  for (size_t i = 0; i < pairs.size(); i += 2) words[first + i] = DoubleText(scores[i / 2]);
  call.effect.Replace(words);
}

void AddMembers(Call& call, AddRule::Arithmetic arithmetic) {
  const Bytes key = call.args.Next();
  const ZAddOptions options = ParseZAddOptions(call.args, arithmetic);
  const PairScores scores(options.pairs, call);
  const bool creates = options.rule.condition != AddRule::Condition::kIfPresent;
  Edit<SortedSet> set =
      creates ? call.db.OpenOrCreate<SortedSet>(key, options.Room(call.db.Limits())) : call.db.Open<SortedSet>(key);
  const auto pair_at = [&](size_t i) { return std::pair(options.pairs[2 * i + 1], scores[i]); };
  const AddCounts counts = set ? AddPairs(call, set, options.rule, options.Count(), pair_at) : AddCounts{};
  RecordPlainScores(call, options.pairs, scores);
  if (!options.Increments()) return call.reply.Integer(options.counts_changes ? counts.All() : counts.added);
  if (counts.last.outcome == AddResult::Outcome::kRuledOut) return call.reply.Null();
  call.reply.Double(counts.last.score);
}

struct ZAdd {
  static constexpr CommandSpec spec = {
      .syntax =
          "ZADD key [condition(NX|XX)@3.0.2] [comparison(GT|LT)@6.2.0] [change=CH@3.0.2] "
          "[increment=INCR@3.0.2] data{score:double member}...",
      .summary = "Adds members with scores, or updates the scores of members.",
      .since = "1.2.0",
      .complexity = "O(log(N)), for each member, N being the number of members",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) { AddMembers(call, AddRule::Arithmetic::kReplace); }
};

struct ZIncrBy {
  static constexpr CommandSpec spec = {.syntax = "ZINCRBY key increment:integer member",
                                       .summary = "Increments the score of a member; a missing member counts as 0.",
                                       .since = "1.2.0",
                                       .complexity = "O(log(N)), N being the number of members",
                                       .group = CommandGroup::kSortedSet,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) { AddMembers(call, AddRule::Arithmetic::kAdd); }
};

// === Reading members

struct ZCard {
  static constexpr CommandSpec spec = {.syntax = "ZCARD key",
                                       .summary = "Counts the members of a sorted set.",
                                       .since = "1.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSortedSet,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO)}};
  static void Run(Call& call) {
    call.reply.Integer(static_cast<int64_t>(call.db.Read<SortedSet>(call.args.Next()).Size()));
  }
};

void ReplyScore(Reply& reply, std::optional<double> score) {
  if (!score) return reply.Null();
  reply.Double(*score);
}

struct ZScore {
  static constexpr CommandSpec spec = {.syntax = "ZSCORE key member",
                                       .summary = "Returns the score of a member.",
                                       .since = "1.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kSortedSet,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    auto [key, member] = call.args.Take<Bytes, Bytes>();
    ReplyScore(call.reply, call.db.Read<SortedSet>(key).Score(member));
  }
};

struct ZMScore {
  static constexpr CommandSpec spec = {.syntax = "ZMSCORE key member...",
                                       .summary = "Returns the scores of several members.",
                                       .since = "6.2.0",
                                       .complexity = "O(N), N being the number of members requested",
                                       .group = CommandGroup::kSortedSet,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const SortedSet set = call.db.Read<SortedSet>(call.args.Next());
    call.reply.Array(call.args.Left());
    while (!call.args.AtEnd()) ReplyScore(call.reply, set.Score(call.args.Next()));
  }
};

void ReplyRank(Call& call, Direction direction) {
  auto [key, member] = call.args.Take<Bytes, Bytes>();
  if (call.args.Left() > 1) throw refusals::WrongArity(call.command.full_name);
  const bool with_score = call.args.TakeToken("WITHSCORE");
  call.args.ExpectEnd();
  const SortedSet set = call.db.Read<SortedSet>(key);
  const auto ranked = set.RankOf(member);
  if (!ranked) return with_score ? call.reply.NullArray() : call.reply.Null();
  if (with_score) call.reply.Array(2);
  const size_t rank = direction == Direction::kUp ? ranked->rank : set.Size() - 1 - ranked->rank;
  call.reply.Integer(static_cast<int64_t>(rank));
  if (with_score) call.reply.Double(ranked->score);
}

struct ZRank {
  static constexpr CommandSpec spec = {.syntax = "ZRANK key member [WITHSCORE@~7.2.0]",
                                       .summary = "Returns the number of members below a member.",
                                       .since = "2.0.0",
                                       .complexity = "O(log(N)), N being the number of members",
                                       .group = CommandGroup::kSortedSet,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .former_arity = {"7.2.0", 3}};
  static void Run(Call& call) { ReplyRank(call, Direction::kUp); }
};

struct ZRevRank {
  static constexpr CommandSpec spec = {.syntax = "ZREVRANK key member [WITHSCORE@~7.2.0]",
                                       .summary = "Returns the number of members above a member.",
                                       .since = "2.0.0",
                                       .complexity = "O(log(N)), N being the number of members",
                                       .group = CommandGroup::kSortedSet,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .former_arity = {"7.2.0", 3}};
  static void Run(Call& call) { ReplyRank(call, Direction::kDown); }
};

// === Removing

struct ZRem {
  static constexpr CommandSpec spec = {.syntax = "ZREM key member...",
                                       .summary = "Removes members.",
                                       .since = "1.2.0",
                                       .complexity = "O(M*log(N)), M members being removed of N",
                                       .group = CommandGroup::kSortedSet,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyDelete)}};
  static void Run(Call& call) {
    Edit<SortedSet> set = call.db.Open<SortedSet>(call.args.Next());
    int64_t removed = 0;
    while (set && !call.args.AtEnd()) removed += set->Remove(call.args.Next()) ? 1 : 0;
    if (removed > 0) set.ReportChange("zrem", static_cast<uint64_t>(removed));
    call.reply.Integer(removed);
  }
};

// Implements ZPOPMIN and ZPOPMAX. As in Redis, the reply has a pair for each member only if a count was given and the
// client uses RESP3.
void PopOneScored(Call& call, ScoreEnd end) {
  const Bytes key = call.args.Next();
  if (call.args.Left() > 1) throw Refusal{refusals::kSyntax};
  const bool counted = !call.args.AtEnd();
  const size_t wanted = counted ? call.args.NextCount(0, refusals::kMustBePositive) : 1;
  Edit<SortedSet> set = call.db.Open<SortedSet>(key);
  if (!set || wanted == 0) return call.reply.Array(0);
  const size_t count = std::min(wanted, set->Size());
  const bool pairs = counted && call.reply.IsResp3();
  call.reply.Array(pairs ? count : 2 * count);
  PopMembers(set, end, count, [&](Bytes member, double score) {
    if (pairs) call.reply.Array(2);
    call.reply.Bulk(member);
    call.reply.Double(score);
  });
}

struct ZPopMin {
  static constexpr CommandSpec spec = {.syntax = "ZPOPMIN key [count:integer]",
                                       .summary = "Removes the members with the lowest scores and returns them.",
                                       .since = "5.0.0",
                                       .complexity = "O(log(N)*M), M members being taken of N",
                                       .group = CommandGroup::kSortedSet,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) { PopOneScored(call, ScoreEnd::kMin); }
};

struct ZPopMax {
  static constexpr CommandSpec spec = {.syntax = "ZPOPMAX key [count:integer]",
                                       .summary = "Removes the members with the highest scores and returns them.",
                                       .since = "5.0.0",
                                       .complexity = "O(log(N)*M), M members being taken of N",
                                       .group = CommandGroup::kSortedSet,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) { PopOneScored(call, ScoreEnd::kMax); }
};

struct ZMPop {
  static constexpr CommandSpec spec = {
      .syntax = "ZMPOP numkeys:integer key... where(MIN|MAX) [COUNT count:integer]",
      .summary = "Removes members from the first non-empty sorted set and returns them with its name.",
      .since = "7.0.0",
      .complexity = "O(K) + O(M*log(N)), K keys being looked at and M members taken of N",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite,
      .keys = {CountedKeys(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) {
    const ZMPopOptions options = ParseZMPopOptions(call.args);
    if (!PopFromFirst(call, options)) call.reply.NullArray();
  }
};

// === Random members and ZSCAN

// ZRANDMEMBER: calls write(member, score) for one random member. Requires: the set is not empty.
template <class Write>
void DrawOne(Random& random, const SortedSet& set, Write&& write) {
  if (const ScoreTable* table = set.Table()) {
    const ScoredMember* member = table->members().PickRandom(random);
    return write(member->Member(), member->Score());
  }
  set.ForEach({random.Below(set.Size()), 1}, Direction::kUp, write);
}

// ZRANDMEMBER: calls write(member, score) for `count` different random members. Requires: count <= set.Size().
template <class Write>
void DrawDifferent(Random& random, const SortedSet& set, size_t count, Write&& write) {
  constexpr size_t kFew = 3;  // fewer than 1/kFew of the members are drawn by rank, more in a scan
  size_t left = set.Size();
  size_t wanted = count;
  if (set.Table() == nullptr || count * kFew > left) {
    return set.ForEach([&](Bytes member, double score) {
      if (random.Below(left--) >= wanted) return;
      --wanted;
      write(member, score);
    });
  }
  // Floyd's algorithm draws different ranks. Each step draws one of the ranks 0 to `below`. If that rank was taken
  // before, the step takes `below` itself, which no earlier step could draw.
  std::unordered_set<size_t> drawn;
  for (size_t below = left - count; below < left; ++below) {
    const size_t rank = random.Below(below + 1);
    const size_t taken = drawn.insert(rank).second ? rank : *drawn.insert(below).first;
    set.ForEach({taken, 1}, Direction::kUp, write);
  }
}

void ReplyRandomMembers(Call& call, const SortedSet& set, int64_t count, Scores scores) {
  MemberWriter write(call.reply, scores);
  const uint64_t magnitude = count < 0 ? 0 - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  if (!set.Exists() || count == 0) return call.reply.Array(0);
  if (count < 0) {
    RandomReplyLimit limit(call, magnitude);
    write.Begin(magnitude);
    for (uint64_t left = magnitude; left > 0; --left, limit.Check()) DrawOne(call.random, set, write);
    return;
  }
  const size_t drawn = std::min(magnitude, set.Size());
  write.Begin(drawn);
  DrawDifferent(call.random, set, drawn, write);
}

struct ZRandMember {
  static constexpr CommandSpec spec = {
      .syntax = "ZRANDMEMBER key [options{count:integer [WITHSCORES]}]",
      .summary = "Returns random members of a sorted set; with a negative count they may repeat.",
      .since = "6.2.0",
      .complexity = "O(N), N being the number of members drawn",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    if (call.args.AtEnd()) {
      const SortedSet set = call.db.Read<SortedSet>(key);
      if (!set.Exists()) return call.reply.Null();
      return DrawOne(call.random, set, MemberWriter(call.reply, Scores::kNo));
    }
    const int64_t count = call.args.NextInteger();
    if (count == INT64_MIN) throw Refusal{refusals::kNotLong};
    const Scores scores = TakeWithScores(call.args);
    call.args.ExpectEnd();
    if (scores == Scores::kYes && (count < -INT64_MAX / 2 || count > INT64_MAX / 2)) {
      throw Refusal{refusals::kOutOfRange};
    }
    ReplyRandomMembers(call, call.db.Read<SortedSet>(key), count, scores);
  }
};

// Formats a score for ZSCAN. As in Redis, ZSCAN shows up to 17 digits for a large set (`table`). For a packed set
// (null), ZSCAN shows scores as other commands do.
std::string ScanScoreText(double score, const ScoreTable* table) {
  if (table == nullptr) return DoubleText(score);
  std::array<char, 40> text;
  const int size = std::snprintf(text.data(), text.size(), "%.17g", score);
  return {text.data(), static_cast<size_t>(size)};
}

struct ZScan {
  static constexpr CommandSpec spec = {
      .syntax = "ZSCAN key cursor:integer [MATCH pattern:pattern] [COUNT count:integer] [NOSCORES@~valkey:8.0.0]",
      .summary = "Iterates over the members of a sorted set and their scores.",
      .since = "2.8.0",
      .complexity = "O(1), N being the number of members",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    uint64_t cursor = ParseCursor(call, call.args.Next());
    const SortedSet set = call.db.Read<SortedSet>(key);
    const ScanOptions options = set.Exists() ? ParseScanOptions(call.args, ScanKind::kScoredMembers) : ScanOptions{};
    const ScoreTable* table = set.Table();
    std::vector<std::pair<std::string, std::string>> met;
    const auto visit = [&](Bytes member, double score) {
      if (options.Matches(member)) met.emplace_back(member, ScanScoreText(score, table));
    };
    if (table == nullptr) {
      set.ForEach(visit);
      cursor = 0;
    } else {
      cursor = WalkTable(table->members(), cursor, options.count,
                         [&](const ScoredMember* member) { visit(member->Member(), member->Score()); });
    }
    call.reply.Array(2);
    call.reply.Bulk(IntegerText::FromUnsigned(cursor));
    call.reply.Array(options.omits_values ? met.size() : 2 * met.size());
    for (const auto& [member, score] : met) {
      call.reply.Bulk(member);
      if (!options.omits_values) call.reply.Bulk(score);
    }
  }
};

constexpr auto kSortedSetCommands =
    Family<ZAdd, ZIncrBy, ZCard, ZScore, ZMScore, ZRank, ZRevRank, ZRem, ZPopMin, ZPopMax, ZMPop, ZRandMember, ZScan>();

}  // namespace

std::span<const CommandCard> SortedSetCommands() { return kSortedSetCommands; }

}  // namespace respite
