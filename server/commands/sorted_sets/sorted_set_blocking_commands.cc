// BZPOPMIN, BZPOPMAX and BZMPOP: pop from the first of the given sorted sets that exists, or block until one exists.
#include "server/commands/common_arguments.h"
#include "server/commands/families.h"
#include "server/commands/sorted_sets/sorted_set_pop.h"
#include "server/execution/call.h"

namespace respite {

namespace {

// Implements BZPOPMIN and BZPOPMAX. Their last argument is the timeout, and the others are keys.
void PopScoredOrWait(Call& call, ScoreEnd end) {
  const std::span<const Bytes> keys = call.args.NextMany(call.args.Left() - 1);
  const int64_t timeout_ms = ParseSecondsAsMs(call, call.args.Next());
  for (const Bytes key : keys) {
    Edit<SortedSet> set = call.db.Open<SortedSet>(key);
    if (!set) continue;
    call.reply.Array(3);
    call.reply.Bulk(key);
    PopMembers(set, end, 1, [&](Bytes member, double score) {
      call.reply.Bulk(member);
      call.reply.Double(score);
    });
    return call.effect.Replace(CommandOfPop(end), key);
  }
  call.Wait({.keys = keys, .type = ValueType::kSortedSet, .timeout_ms = timeout_ms});
}

struct BZPopMin {
  static constexpr CommandSpec spec = {
      .syntax = "BZPOPMIN key... timeout:double",
      .summary =
          "Pops the member with the lowest score from the first non-empty sorted set; blocks while all are empty.",
      .since = "5.0.0",
      .complexity = "O(K) + O(log(N)), K keys being looked at, N being the number of members",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite | kBlocking | kFast,
      .keys = {KeyRange(1, -2, 1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) { PopScoredOrWait(call, ScoreEnd::kMin); }
};

struct BZPopMax {
  static constexpr CommandSpec spec = {
      .syntax = "BZPOPMAX key... timeout:double",
      .summary =
          "Pops the member with the highest score from the first non-empty sorted set; blocks while all are empty.",
      .since = "5.0.0",
      .complexity = "O(K) + O(log(N)), K keys being looked at, N being the number of members",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite | kBlocking | kFast,
      .keys = {KeyRange(1, -2, 1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) { PopScoredOrWait(call, ScoreEnd::kMax); }
};

struct BZMPop {
  static constexpr CommandSpec spec = {
      .syntax = "BZMPOP timeout:double numkeys:integer key... where(MIN|MAX) [COUNT count:integer]",
      .summary = "Pops members from the first non-empty sorted set; blocks while all are empty.",
      .since = "7.0.0",
      .complexity = "O(K) + O(M*log(N)), K keys being looked at and M members taken of N",
      .group = CommandGroup::kSortedSet,
      .flags = kWrite | kBlocking,
      .keys = {CountedKeys(2, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) {
    const Bytes timeout = call.args.Next();
    const ZMPopOptions options = ParseZMPopOptions(call.args);
    const int64_t timeout_ms = ParseSecondsAsMs(call, timeout);  // Redis: checked after the other arguments
    if (PopFromFirst(call, options)) return;
    call.Wait({.keys = options.keys, .type = ValueType::kSortedSet, .timeout_ms = timeout_ms});
  }
};

constexpr auto kSortedSetBlockingCommands = Family<BZMPop, BZPopMax, BZPopMin>();

}  // namespace

std::span<const CommandCard> SortedSetBlockingCommands() { return kSortedSetBlockingCommands; }

}  // namespace respite
