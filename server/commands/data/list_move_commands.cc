// LMOVEM and BLMOVEM, which move several elements from one list to another.
#include <algorithm>
#include <string>
#include <vector>

#include "server/commands/common_arguments.h"
#include "server/commands/data/list_words.h"
#include "server/commands/families.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/services.h"

namespace respite {

namespace {

struct MoveOptions {  // the arguments of LMOVEM, and of BLMOVEM without its timeout
  Bytes source;
  Bytes target;
  ListEnd from = ListEnd::kHead;
  ListEnd to = ListEnd::kHead;
  size_t count = 1;        // maximum number of elements
  bool is_exact = false;   // EXACTLY: moves nothing if the source has fewer elements
  bool one_by_one = true;  // OBO: pushes each element separately; BULK keeps their order
};

void ParseEnds(Args& args, MoveOptions& options) {
  options.source = args.Next();
  options.target = args.Next();
  options.from = TakeEnd(args);
  options.to = TakeEnd(args);
}

void ParseHowMany(Args& args, MoveOptions& options) {
  if (args.AtEnd()) return;
  options.is_exact = args.TakeToken("EXACTLY");
  if (!options.is_exact && !args.TakeToken("COUNT")) throw Refusal{refusals::kSyntax};
  options.count = args.NextCount(1, refusals::kCountPositive);
  options.one_by_one = args.TakeToken("OBO");
  if (!options.one_by_one && !args.TakeToken("BULK")) throw Refusal{refusals::kSyntax};
  args.ExpectEnd();
}

// Removes elements from one end for LMOVEM and BLMOVEM. Returns them in the order in which they will stand in the
// target list.
std::vector<std::string> PopInTargetOrder(List& list, const MoveOptions& options, size_t count) {
  const bool pops_head = options.from == ListEnd::kHead;
  std::vector<std::string> elements;
  elements.reserve(count);
  ListCursor cursor(list, pops_head ? 0 : list.Size() - 1);
  for (size_t i = 0; i < count; ++i) {
    elements.emplace_back(cursor.Element());
    pops_head ? cursor.Next() : cursor.Previous();
  }
  list.EraseRange(pops_head ? 0 : list.Size() - count, count);
  // `elements` are now in the order in which they were popped. The option OBO of LMOVEM pushes them one by one, so at
  // the head of the target they end up in reverse order. BULK keeps the order of the source list, so elements that were
  // popped from the tail must be reversed.
  const bool reverses = options.one_by_one ? options.to == ListEnd::kHead : !pops_head;
  if (reverses) std::ranges::reverse(elements);
  return elements;
}

// Returns the elements in the order in which they must be pushed one by one at the end `to`, so that the list then has
// them in the order of `elements`.
std::vector<Bytes> InPushOrder(ListEnd to, const std::vector<std::string>& elements) {
  std::vector<Bytes> pushed(elements.begin(), elements.end());
  if (to == ListEnd::kHead) std::ranges::reverse(pushed);
  return pushed;
}

// Propagates elements, which are in the order of the list, as pushes of at most 1000 elements each.
void RecordPushes(Call& call, Bytes key, ListEnd to, const std::vector<std::string>& elements) {
  constexpr size_t kPerCommand = 1000;
  const std::vector<Bytes> pushed = InPushOrder(to, elements);
  for (size_t at = 0; at < pushed.size(); at += kPerCommand) {
    const std::span<const Bytes> piece = std::span(pushed).subspan(at, std::min(kPerCommand, pushed.size() - at));
    std::vector<Bytes> words = {CommandOfPush(to), key};
    words.insert(words.end(), piece.begin(), piece.end());
    call.effect.Replace(words);
  }
}

// Propagates the move of one element as LMOVE, and the move of several elements as a pop and pushes, because replicas
// before Redis 8.10 have no LMOVEM. `elements` are the moved elements in the order of the target list.
void RecordMove(Call& call, const MoveOptions& options, const std::vector<std::string>& elements) {
  if (!call.effect.IsRecording()) return;
  const auto side = [](ListEnd end) { return end == ListEnd::kHead ? Bytes("LEFT") : Bytes("RIGHT"); };
  if (elements.size() == 1) {
    return call.effect.Replace("LMOVE", options.source, options.target, side(options.from), side(options.to));
  }
  call.effect.Replace(CommandOfPop(options.from), options.source, static_cast<int64_t>(elements.size()));
  RecordPushes(call, options.target, options.to, elements);
}

// Propagates an LMOVEM or BLMOVEM that has reordered a whole list, which is its source and its target. The new order is
// pushed before the old one is popped, because popping all elements would delete the key, and with it the deadline.
void RecordReordered(Call& call, const MoveOptions& options, const std::vector<std::string>& elements) {
  if (!call.effect.IsRecording()) return;
  RecordPushes(call, options.target, options.from == ListEnd::kHead ? ListEnd::kTail : ListEnd::kHead, elements);
  call.effect.Replace(CommandOfPop(options.from), options.source, static_cast<int64_t>(elements.size()));
}

// Moves elements for LMOVEM and BLMOVEM, and replies with them in the order of the target list. Returns the number of
// moved elements. Returns 0 and writes no reply if the source is missing, or has fewer elements than EXACTLY demands.
size_t MoveElements(Call& call, const MoveOptions& options) {
  Edit<List> source = call.db.Open<List>(options.source);
  if (!source || (options.is_exact && source->Size() < options.count)) return 0;
  const size_t count = std::min(options.count, source->Size());
  const bool is_same = options.source == options.target;
  const bool moves_all = is_same && count == source->Size();
  std::vector<std::string> elements;
  if (is_same) {
    elements = PopInTargetOrder(*source, options, count);
    source->Push(options.to, InPushOrder(options.to, elements));
    source.ReportChange(EventOfPush(options.to), count);
  } else {
    Edit<List> target = call.db.OpenOrCreate<List>(options.target);
    elements = PopInTargetOrder(*source, options, count);
    target->Push(options.to, InPushOrder(options.to, elements));
    target.ReportChange(EventOfPush(options.to), count);
  }
  source.ReportChangeUncounted(EventOfPop(options.from));
  moves_all ? RecordReordered(call, options, elements) : RecordMove(call, options, elements);
  call.reply.Array(elements.size());
  for (const std::string& element : elements) call.reply.Bulk(element);
  return count;
}

struct LMoveM {
  static constexpr CommandSpec spec = {
      .syntax =
          "LMOVEM source:key destination:key wherefrom(LEFT|RIGHT) whereto(LEFT|RIGHT) [how-many{selector(COUNT "
          "count:integer|EXACTLY exactly:integer) ordering(OBO|BULK)}]",
      .summary = "Moves elements from an end of one list to an end of another, and returns them.",
      .since = "8.10.0",
      .complexity = "O(N), N being the number of elements moved",
      .group = CommandGroup::kList,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete), Key(2, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) {
    MoveOptions options;
    ParseEnds(call.args, options);
    ParseHowMany(call.args, options);
    if (MoveElements(call, options) == 0) call.reply.Null();
  }
};

struct BLMoveM {
  static constexpr CommandSpec spec = {
      .syntax =
          "BLMOVEM source:key destination:key wherefrom(LEFT|RIGHT) whereto(LEFT|RIGHT) timeout:double "
          "[how-many{selector(COUNT count:integer|EXACTLY exactly:integer) ordering(OBO|BULK)}]",
      .summary = "Moves elements from an end of one list to an end of another; blocks while there are too few.",
      .since = "8.10.0",
      .complexity = "O(N), N being the number of elements moved",
      .group = CommandGroup::kList,
      .flags = kWrite | kDenyOom | kBlocking,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete), Key(2, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) {
    MoveOptions options;
    ParseEnds(call.args, options);
    const Bytes timeout = call.args.Next();
    ParseHowMany(call.args, options);
    const int64_t timeout_ms = ParseSecondsAsMs(call, timeout);
    if (MoveElements(call, options) != 0) return;
    if (!call.services.clients.current_execution.MayBlock()) return call.reply.Null();
    call.Wait({.keys = {&options.source, 1}, .type = ValueType::kList, .timeout_ms = timeout_ms});
  }
};

constexpr auto kListMoveCommands = Family<BLMoveM, LMoveM>();

}  // namespace

std::span<const CommandCard> ListMoveCommands() { return kListMoveCommands; }

}  // namespace respite
