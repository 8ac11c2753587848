#include "server/commands/sorted_sets/sorted_set_pop.h"

#include <algorithm>

namespace respite {

ZMPopOptions ParseZMPopOptions(Args& args) {
  ZMPopOptions options;
  options.keys = args.NextMany(args.NextCount(1, refusals::kNumKeysPositive));
  if (args.TakeToken("MAX")) {
    options.end = ScoreEnd::kMax;
  } else if (!args.TakeToken("MIN")) {
    throw Refusal{refusals::kSyntax};
  }
  if (args.TakeTokenWith("COUNT", 1)) options.count = args.NextCount(1, refusals::kCountPositive);
  args.ExpectEnd();
  return options;
}

bool PopFromFirst(Call& call, const ZMPopOptions& options) {
  for (const Bytes key : options.keys) {
    Edit<SortedSet> set = call.db.Open<SortedSet>(key);
    if (!set) continue;
    const size_t count = std::min(options.count, set->Size());
    call.reply.Array(2);
    call.reply.Bulk(key);
    call.reply.Array(count);
    PopMembers(set, options.end, count, [&](Bytes member, double score) {
      call.reply.Array(2);
      call.reply.Bulk(member);
      call.reply.Double(score);
    });
    call.effect.Replace(CommandOfPop(options.end), key, static_cast<int64_t>(count));
    return true;
  }
  return false;
}

}  // namespace respite
