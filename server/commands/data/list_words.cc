#include "server/commands/data/list_words.h"

#include <algorithm>

namespace respite {

namespace {

size_t IndexAt(ListEnd end, const List& list) { return end == ListEnd::kHead ? 0 : list.Size() - 1; }

void TurnList(Call& call, Edit<List>& list, ListEnd from, ListEnd to) {
  call.reply.Bulk(ListCursor(*list, IndexAt(from, *list)).Element());
  list->Rotate(from, to);
  list.ReportChange(EventOfPush(to));
  list.ReportChangeUncounted(EventOfPop(from));
}

}  // namespace

ListEnd TakeEnd(Args& args) {
  if (args.TakeToken("LEFT")) return ListEnd::kHead;
  if (args.TakeToken("RIGHT")) return ListEnd::kTail;
  throw Refusal{refusals::kSyntax};
}

void PopOne(Call& call, Edit<List>& list, ListEnd end) {
  call.reply.Bulk(ListCursor(*list, IndexAt(end, *list)).Element());
  list->Pop(end);
  list.ReportChange(EventOfPop(end));
}

void PopMany(Call& call, Edit<List>& list, ListEnd end, size_t count) {
  call.reply.Array(count);
  ListCursor cursor(*list, IndexAt(end, *list));
  for (size_t i = 0; i < count; ++i) {
    call.reply.Bulk(cursor.Element());
    end == ListEnd::kHead ? cursor.Next() : cursor.Previous();
  }
  list->EraseRange(end == ListEnd::kHead ? 0 : list->Size() - count, count);
  list.ReportChange(EventOfPop(end), count);
}

LMPopOptions ParseLMPopOptions(Args& args) {
  LMPopOptions options;
  options.keys = args.NextMany(args.NextCount(1, refusals::kNumKeysPositive));
  options.end = TakeEnd(args);
  if (args.TakeTokenWith("COUNT", 1)) options.count = args.NextCount(1, refusals::kCountPositive);
  args.ExpectEnd();
  return options;
}

bool PopFromFirst(Call& call, const LMPopOptions& options) {
  for (const Bytes key : options.keys) {
    Edit<List> list = call.db.Open<List>(key);
    if (!list) continue;
    const size_t count = std::min(options.count, list->Size());
    call.reply.Array(2);
    call.reply.Bulk(key);
    PopMany(call, list, options.end, count);
    call.effect.Replace(CommandOfPop(options.end), key, static_cast<int64_t>(count));
    return true;
  }
  return false;
}

void MoveElement(Call& call, Edit<List>& source, ListEnd from, Bytes target_key, ListEnd to) {
  if (source.Key() == target_key) return TurnList(call, source, from, to);
  ListCursor cursor(*source, IndexAt(from, *source));
  const Bytes element = cursor.Element();
  constexpr size_t kMaxCapacity = 4096;
  Edit<List> target = call.db.OpenOrCreate<List>(target_key, std::min(element.size(), kMaxCapacity) + 2);
  target->Push(to, {&element, 1});
  target.ReportChange(EventOfPush(to));
  call.reply.Bulk(element);
  source->Pop(from);
  source.ReportChangeUncounted(EventOfPop(from));
}

}  // namespace respite
