#include <algorithm>

#include "server/catalogue/dialect.h"
#include "server/commands/families.h"
#include "server/commands/sorted_sets/sorted_set_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kLimitOfRanks[] =
    "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX";
constexpr char kOffsetOfVersion[] =
    "ERR a negative offset in LIMIT means something else in other versions of the master";
constexpr char kWithScoresByLex[] = "ERR syntax error, WITHSCORES not supported in combination with BYLEX";

}  // namespace
}  // namespace refusals

namespace {

// === Range options

enum class RangeBy : uint8_t { kRank, kScore, kLex };

// The settings that one command of the ZRANGE family implies or accepts. If `by` or `direction` is nullopt, an option
// of the request may give it.
struct RangeForm {
  std::optional<RangeBy> by = std::nullopt;
  std::optional<Direction> direction = std::nullopt;
  bool takes_scores = true;  // WITHSCORES
};

struct RangeOptions {
  Bytes key;
  RangeBy by = RangeBy::kRank;
  Direction direction = Direction::kUp;
  Scores scores = Scores::kNo;
  int64_t offset = 0;
  int64_t limit = -1;
  IndexRange ranks = {};
  ScoreRange score = {};
  LexRange lex = {};
};

void ParseRangeEnds(RangeOptions& options, Bytes min, Bytes max, const Call& call) {
  if (options.by == RangeBy::kRank) {
    options.ranks = {Args::Integer(min), Args::Integer(max)};
    return;
  }
  if (options.direction == Direction::kDown) std::swap(min, max);
  if (options.by == RangeBy::kScore) {
    options.score = ParseScoreRange(min, max, call);
  } else {
    options.lex = ParseLexRange(min, max);
  }
}

RangeOptions ParseRange(Call& call, const RangeForm& form) {
  Args& args = call.args;
  RangeOptions options;
  auto [key, min, max] = args.Take<Bytes, Bytes, Bytes>();
  std::optional<RangeBy> by = form.by;
  std::optional<Direction> direction = form.direction;
  while (!args.AtEnd()) {
    if (form.takes_scores && args.TakeToken("WITHSCORES")) {
      options.scores = Scores::kYes;
    } else if (args.TakeTokenWith("LIMIT", 2)) {
      options.offset = args.NextInteger();
      options.limit = args.NextInteger();
    } else if (!direction && args.TakeToken("REV")) {
      direction = Direction::kDown;
    } else if (!by && args.TakeToken("BYLEX")) {
      by = RangeBy::kLex;
    } else if (!by && args.TakeToken("BYSCORE")) {
      by = RangeBy::kScore;
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  options.key = key;
  options.by = by.value_or(RangeBy::kRank);
  options.direction = direction.value_or(Direction::kUp);
  if (options.limit != -1 && options.by == RangeBy::kRank) throw Refusal{refusals::kLimitOfRanks};
  if (options.scores == Scores::kYes && options.by == RangeBy::kLex) throw Refusal{refusals::kWithScoresByLex};
  ParseRangeEnds(options, min, max, call);
  return options;
}

// What a negative offset in LIMIT means: the result is empty, or the offset counts from the end.
enum class BelowZero : uint8_t { kNothing, kFromEnd };

// Returns the part of a span of ranks that LIMIT selects. LIMIT counts in the direction of the request.
RankSpan Limited(RankSpan span, const RangeOptions& options, BelowZero below) {
  const auto count = static_cast<int64_t>(span.count);
  const bool is_from_end = options.offset < 0 && below == BelowZero::kFromEnd;
  const int64_t offset = is_from_end ? options.offset + count : options.offset;
  if (offset < 0 || offset >= count) return {0, 0};
  const int64_t left = count - offset;
  const auto taken = static_cast<size_t>(options.limit < 0 ? left : std::min(options.limit, left));
  const auto skipped = static_cast<size_t>(offset);
  if (options.direction == Direction::kUp) return {span.first + skipped, taken};
  return {span.first + span.count - skipped - taken, taken};
}

// Returns the members between the two ends of a range by score or by member, without LIMIT. Requires: `options` has no
// range by rank.
RankSpan SpanBetweenEnds(const SortedSet& set, const RangeOptions& options) {
  return options.by == RangeBy::kScore ? set.RankSpanOf(options.score) : set.RankSpanOf(options.lex);
}

RankSpan Selected(const SortedSet& set, const RangeOptions& options, const DialectTraits& traits) {
  if (options.by != RangeBy::kRank) {
    const bool is_large = set.Table() != nullptr;
    const auto below = is_large && traits.large_sets_count_offsets_from_end ? BelowZero::kFromEnd : BelowZero::kNothing;
    return Limited(SpanBetweenEnds(set, options), options, below);
  }
  const RankSpan span = ClampRanks(options.ranks, set.Size());
  return options.direction == Direction::kUp ? span : RanksFromOtherEnd(span, set.Size());
}

void ReplyRange(Call& call, const RangeForm& form) {
  const RangeOptions options = ParseRange(call, form);
  const SortedSet set = call.db.Read<SortedSet>(options.key);
  const RankSpan span = Selected(set, options, call.services.env.dialect.traits);
  MemberWriter write(call.reply, options.scores);
  write.Begin(span.count);
  set.ForEach(span, options.direction, write);
}

struct ZRange {
  static constexpr CommandSpec spec = {
      .syntax =
          "ZRANGE key start stop [sortby(BYSCORE|BYLEX)@6.2.0] [REV@6.2.0] [LIMIT limit{offset:integer "
          "count:integer}@6.2.0] [WITHSCORES]",
      .summary = "Returns the members between two ranks, scores or members.",
      .since = "1.2.0",
      .complexity = "O(log(N)+M), N being the number of members and M the number of members returned",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyRange(call, {}); }
};

struct ZRevRange {
  static constexpr CommandSpec spec = {
      .syntax = "ZREVRANGE key start:integer stop:integer [WITHSCORES]",
      .summary = "Returns the members between two ranks, highest score first.",
      .since = "1.2.0",
      .complexity = "O(log(N)+M), N being the number of members and M the number of members returned",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`ZRANGE` with the `REV` argument"};
  static void Run(Call& call) { ReplyRange(call, {.by = RangeBy::kRank, .direction = Direction::kDown}); }
};

struct ZRangeByScore {
  static constexpr CommandSpec spec = {
      .syntax =
          "ZRANGEBYSCORE key min:double max:double [WITHSCORES@2.0.0] [LIMIT limit{offset:integer count:integer}]",
      .summary = "Returns the members between two scores.",
      .since = "1.0.5",
      .complexity = "O(log(N)+M), N being the number of members and M the number of members returned",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`ZRANGE` with the `BYSCORE` argument"};
  static void Run(Call& call) { ReplyRange(call, {.by = RangeBy::kScore, .direction = Direction::kUp}); }
};

struct ZRevRangeByScore {
  static constexpr CommandSpec spec = {
      .syntax = "ZREVRANGEBYSCORE key max:double min:double [WITHSCORES] [LIMIT limit{offset:integer count:integer}]",
      .summary = "Returns the members between two scores, the highest first.",
      .since = "2.2.0",
      .complexity = "O(log(N)+M), N being the number of members and M the number of members returned",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`ZRANGE` with the `REV` and `BYSCORE` arguments"};
  static void Run(Call& call) { ReplyRange(call, {.by = RangeBy::kScore, .direction = Direction::kDown}); }
};

struct ZRangeByLex {
  static constexpr CommandSpec spec = {
      .syntax = "ZRANGEBYLEX key min max [LIMIT limit{offset:integer count:integer}]",
      .summary = "Returns the members between two members, where all have the same score.",
      .since = "2.8.9",
      .complexity = "O(log(N)+M), N being the number of members and M the number of members returned",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`ZRANGE` with the `BYLEX` argument"};
  static void Run(Call& call) { ReplyRange(call, {.by = RangeBy::kLex, .direction = Direction::kUp}); }
};

struct ZRevRangeByLex {
  static constexpr CommandSpec spec = {
      .syntax = "ZREVRANGEBYLEX key max min [LIMIT limit{offset:integer count:integer}]",
      .summary = "Returns the members between two members, the last first, where all have the same score.",
      .since = "2.8.9",
      .complexity = "O(log(N)+M), N being the number of members and M the number of members returned",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`ZRANGE` with the `REV` and `BYLEX` arguments"};
  static void Run(Call& call) { ReplyRange(call, {.by = RangeBy::kLex, .direction = Direction::kDown}); }
};

// Decides whether ZRANGESTORE stores a score of -0 as 0. As in Redis, the command adds the members one by one, and a
// score of -0 becomes 0 while the new set is a listpack. A range by rank with more than zset-max-listpack-entries
// members never makes a listpack, so there each -0 stays.
class ZeroSign {
 public:
  ZeroSign(const EncodingLimits& limits, const RangeOptions& options, size_t count)
      : limits_(&limits), packed_(options.by != RangeBy::kRank || count <= limits.zset_max_listpack_entries) {}

  double Kept(Bytes member, double score) {
    packed_ =
        packed_ && ++added_ <= limits_->zset_max_listpack_entries && member.size() <= limits_->zset_max_listpack_value;
    return packed_ && score == 0 ? 0 : score;
  }

 private:
  const EncodingLimits* limits_;
  size_t added_ = 0;
  bool packed_;
};

// Refuses a ZRANGESTORE from the primary if its effect depends on the primary's version. This is so with a negative
// LIMIT offset: Redis 7.4, Redis 8.0 and Valkey count it from the end of a large set, and other versions store nothing.
// The error closes the link to the primary.
void RefuseIfVersionDecides(const Call& call, const SortedSet& set, const RangeOptions& options) {
  const bool is_from_primary = call.session.Caller().kind == SessionKind::kPrimary;
  if (!is_from_primary || options.offset >= 0 || options.by == RangeBy::kRank) return;
  const RankSpan span = SpanBetweenEnds(set, options);
  if (Limited(span, options, BelowZero::kFromEnd).count > 0) throw Refusal{refusals::kOffsetOfVersion};
}

// Propagates a ZRANGESTORE that not all versions execute alike (with a negative offset, or with scores that some
// versions refuse) in an equivalent form. Does nothing for any other ZRANGESTORE. `size`: how many members are between
// the ends of the range, before LIMIT. `stored`: how many members were stored.
void RecordRangeStore(Call& call, const RangeOptions& options, size_t size, size_t stored) {
  const std::span<const Bytes> request = call.args.Words();
  if (!call.effect.IsRecording() || options.by == RangeBy::kRank) return;
  const bool is_by_score = options.by == RangeBy::kScore;
  const bool is_plain = !is_by_score || (IsPlainScoreEnd(request[3]) && IsPlainScoreEnd(request[4]));
  if (is_plain && options.offset >= 0) return;
  if (stored == 0) return call.effect.Replace("DEL", request[1]);
  std::string min = is_by_score ? LowerEndText(options.score) : std::string(request[3]);
  std::string max = is_by_score ? UpperEndText(options.score) : std::string(request[4]);
  const bool is_down = options.direction == Direction::kDown;
  if (is_by_score && is_down) std::swap(min, max);
  const int64_t offset = options.offset < 0 ? options.offset + static_cast<int64_t>(size) : options.offset;
  std::vector<std::string> words = {"ZRANGESTORE", std::string(request[1]), std::string(request[2]), min, max};
  words.emplace_back(is_by_score ? "BYSCORE" : "BYLEX");
  if (is_down) words.emplace_back("REV");
  words.insert(words.end(), {"LIMIT", std::to_string(offset), std::to_string(options.limit)});
  call.effect.Replace(words);
}

struct ZRangeStore {
  static constexpr CommandSpec spec = {
      .syntax =
          "ZRANGESTORE dst:key src:key min max [sortby(BYSCORE|BYLEX)] [REV] [LIMIT limit{offset:integer "
          "count:integer}]",
      .summary = "Stores the members between two ranks, scores or members under another key.",
      .since = "6.2.0",
      .complexity = "O(log(N)+M), N being the number of members and M the number of members stored",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyOW | kKeyUpdate), Key(2, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes destination = call.args.Next();
    const RangeOptions options = ParseRange(call, {.takes_scores = false});
    const SortedSet set = call.db.Read<SortedSet>(options.key);
    RefuseIfVersionDecides(call, set, options);
    ScoredResult result(call.db.Data().hash_key());
    const RankSpan span = Selected(set, options, call.services.env.dialect.traits);
    const size_t size = options.by == RangeBy::kRank ? 0 : SpanBetweenEnds(set, options).count;
    ZeroSign sign(call.db.Limits(), options, span.count);
    set.ForEach(span, options.direction,
                [&](Bytes member, double score) { result.Append(member, sign.Kept(member, score)); });
    StoreSortedSet(call, destination, result, "zrangestore");
    RecordRangeStore(call, options, size, span.count);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Counting and removing

template <class Range>
void ReplyCountWithin(Call& call, Bytes key, const Range& range) {
  call.reply.Integer(static_cast<int64_t>(call.db.Read<SortedSet>(key).RankSpanOf(range).count));
}

struct ZCount {
  static constexpr CommandSpec spec = {.syntax = "ZCOUNT key min:double max:double",
                                       .summary = "Counts the members between two scores.",
                                       .since = "2.0.0",
                                       .complexity = "O(log(N)), N being the number of members",
                                       .group = CommandGroup::kSortedSet,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    auto [key, min, max] = call.args.Take<Bytes, Bytes, Bytes>();
    ReplyCountWithin(call, key, ParseScoreRange(min, max, call));
  }
};

struct ZLexCount {
  static constexpr CommandSpec spec = {
      .syntax = "ZLEXCOUNT key min max",
      .summary = "Counts the members between two members, where all have the same score.",
      .since = "2.8.9",
      .complexity = "O(log(N)), N being the number of members",
      .group = CommandGroup::kSortedSet,
      .flags = kReadOnly | kFast,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    auto [key, min, max] = call.args.Take<Bytes, Bytes, Bytes>();
    ReplyCountWithin(call, key, ParseLexRange(min, max));
  }
};

// Implements ZREMRANGEBYRANK, ZREMRANGEBYSCORE and ZREMRANGEBYLEX: removes the members in a span of ranks, and replies
// with their number. `span_of(set)` returns the span.
template <class SpanOf>
void RemoveRange(Call& call, Bytes key, const KeyEvent& event, SpanOf&& span_of) {
  Edit<SortedSet> set = call.db.Open<SortedSet>(key);
  const RankSpan span = set ? span_of(*set) : RankSpan{};
  if (span.count > 0) {
    set->Remove(span);
    set.ReportChange(event, span.count);
  }
  call.reply.Integer(static_cast<int64_t>(span.count));
}

struct ZRemRangeByRank {
  static constexpr CommandSpec spec = {
      .syntax = "ZREMRANGEBYRANK key start:integer stop:integer",
      .summary = "Removes the members between two ranks.",
      .since = "2.0.0",
      .complexity = "O(log(N)+M), N being the number of members and M the number of members removed",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyDelete)}};
  static void Run(Call& call) {
    auto [key, start, stop] = call.args.Take<Bytes, int64_t, int64_t>();
    const IndexRange range{start, stop};
    RemoveRange(call, key, "zremrangebyrank", [&](const SortedSet& set) { return ClampRanks(range, set.Size()); });
  }
};

struct ZRemRangeByScore {
  static constexpr CommandSpec spec = {
      .syntax = "ZREMRANGEBYSCORE key min:double max:double",
      .summary = "Removes the members between two scores.",
      .since = "1.2.0",
      .complexity = "O(log(N)+M), N being the number of members and M the number of members removed",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyDelete)}};
  static void Run(Call& call) {
    auto [key, min, max] = call.args.Take<Bytes, Bytes, Bytes>();
    const ScoreRange range = ParseScoreRange(min, max, call);
    RemoveRange(call, key, "zremrangebyscore", [&](const SortedSet& set) { return set.RankSpanOf(range); });
    if (IsPlainScoreEnd(min) && IsPlainScoreEnd(max)) return;
    call.effect.Replace("ZREMRANGEBYSCORE", key, LowerEndText(range), UpperEndText(range));
  }
};

struct ZRemRangeByLex {
  static constexpr CommandSpec spec = {
      .syntax = "ZREMRANGEBYLEX key min max",
      .summary = "Removes the members between two members, where all have the same score.",
      .since = "2.8.9",
      .complexity = "O(log(N)+M), N being the number of members and M the number of members removed",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyDelete)}};
  static void Run(Call& call) {
    auto [key, min, max] = call.args.Take<Bytes, Bytes, Bytes>();
    const LexRange range = ParseLexRange(min, max);
    RankSpan span;
    bool has_one_score = true;
    RemoveRange(call, key, "zremrangebylex", [&](const SortedSet& set) {
      has_one_score = set.Size() == 0 || ScoreAt(set, 0) == ScoreAt(set, set.Size() - 1);
      return span = set.RankSpanOf(range);
    });
    // If the members have different scores, each implementation of Redis removes other members.
    if (has_one_score || span.count == 0) return;
    call.effect.Replace("ZREMRANGEBYRANK", key, std::to_string(span.first),
                        std::to_string(span.first + span.count - 1));
  }

 private:
  static double ScoreAt(const SortedSet& set, size_t rank) {
    double found = 0;
    set.ForEach({rank, 1}, Direction::kUp, [&](Bytes, double score) { found = score; });
    return found;
  }
};

constexpr auto kSortedSetRangeCommands =
    Family<ZRange, ZRevRange, ZRangeByScore, ZRevRangeByScore, ZRangeByLex, ZRevRangeByLex, ZRangeStore, ZCount,
           ZLexCount, ZRemRangeByRank, ZRemRangeByScore, ZRemRangeByLex>();

}  // namespace

std::span<const CommandCard> SortedSetRangeCommands() { return kSortedSetRangeCommands; }

}  // namespace respite
