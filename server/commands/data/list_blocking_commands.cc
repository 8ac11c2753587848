// BLPOP, BRPOP, BLMPOP, BLMOVE and BRPOPLPUSH: pop from lists, and block the client while all of the lists are empty.
#include "server/commands/common_arguments.h"
#include "server/commands/data/list_words.h"
#include "server/commands/families.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/services.h"

namespace respite {

namespace {

// Implements BLPOP and BRPOP. Their last argument is the timeout, and the others are keys.
void PopElementOrWait(Call& call, ListEnd end) {
  const std::span<const Bytes> keys = call.args.NextMany(call.args.Left() - 1);
  const int64_t timeout_ms = ParseSecondsAsMs(call, call.args.Next());
  for (const Bytes key : keys) {
    Edit<List> list = call.db.Open<List>(key);
    if (!list) continue;
    call.reply.Array(2);
    call.reply.Bulk(key);
    PopOne(call, list, end);
    return call.effect.Replace(CommandOfPop(end), key);
  }
  call.Wait({.keys = keys, .type = ValueType::kList, .timeout_ms = timeout_ms});
}

struct BLPop {
  static constexpr CommandSpec spec = {
      .syntax = "BLPOP key... timeout:double",
      .summary = "Pops the first element of the first non-empty list; blocks while all are empty.",
      .since = "2.0.0",
      .complexity = "O(N) for N keys looked at",
      .group = CommandGroup::kList,
      .flags = kWrite | kBlocking,
      .keys = {KeyRange(1, -2, 1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) { PopElementOrWait(call, ListEnd::kHead); }
};

struct BRPop {
  static constexpr CommandSpec spec = {
      .syntax = "BRPOP key... timeout:double",
      .summary = "Pops the last element of the first non-empty list; blocks while all are empty.",
      .since = "2.0.0",
      .complexity = "O(N) for N keys looked at",
      .group = CommandGroup::kList,
      .flags = kWrite | kBlocking,
      .keys = {KeyRange(1, -2, 1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) { PopElementOrWait(call, ListEnd::kTail); }
};

struct BLMPop {
  static constexpr CommandSpec spec = {
      .syntax = "BLMPOP timeout:double numkeys:integer key... where(LEFT|RIGHT) [COUNT count:integer]",
      .summary = "Pops elements from the first non-empty list; blocks while all are empty.",
      .since = "7.0.0",
      .complexity = "O(N+M) for N keys looked at and M elements taken",
      .group = CommandGroup::kList,
      .flags = kWrite | kBlocking,
      .keys = {CountedKeys(2, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) {
    const Bytes timeout = call.args.Next();
    const LMPopOptions options = ParseLMPopOptions(call.args);
    const int64_t timeout_ms = ParseSecondsAsMs(call, timeout);  // Redis: checked after the other arguments
    if (PopFromFirst(call, options)) return;
    call.Wait({.keys = options.keys, .type = ValueType::kList, .timeout_ms = timeout_ms});
  }
};

// The source and the target of a move between lists. The keys are views of the client's request.
struct Route {
  Bytes source;
  Bytes target;
  ListEnd from = ListEnd::kTail;
  ListEnd to = ListEnd::kHead;
};

// Moves an element for BLMOVE and BRPOPLPUSH. If the source is empty, blocks the client, or replies with null where
// clients cannot block. Returns false if no element was moved.
bool MoveOrWait(Call& call, const Route& route, int64_t timeout_ms) {
  Edit<List> source = call.db.Open<List>(route.source);
  if (source) return MoveElement(call, source, route.from, route.target, route.to), true;
  if (call.services.clients.current_execution.MayBlock()) {
    call.Wait({.keys = {&route.source, 1}, .type = ValueType::kList, .timeout_ms = timeout_ms});
  } else {
    call.reply.Null();  // Redis: not the null array of a timeout
  }
  return false;
}

struct BLMove {
  static constexpr CommandSpec spec = {
      .syntax = "BLMOVE source:key destination:key wherefrom(LEFT|RIGHT) whereto(LEFT|RIGHT) timeout:double",
      .summary = "Moves an element from an end of one list to an end of another; blocks while there is none.",
      .since = "6.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kList,
      .flags = kWrite | kDenyOom | kBlocking,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete), Key(2, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) {
    Route route{.source = call.args.Next(), .target = call.args.Next()};
    route.from = TakeEnd(call.args);
    route.to = TakeEnd(call.args);
    const auto words = call.args.Words();
    const int64_t timeout_ms = ParseSecondsAsMs(call, call.args.Next());
    if (MoveOrWait(call, route, timeout_ms))
      call.effect.Replace("LMOVE", route.source, route.target, words[3], words[4]);
  }
};

struct BRPopLPush {
  static constexpr CommandSpec spec = {
      .syntax = "BRPOPLPUSH source:key destination:key timeout:double",
      .summary = "Moves the last element of one list to the head of another; blocks while there is none.",
      .since = "2.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kList,
      .flags = kWrite | kDenyOom | kBlocking,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete), Key(2, kKeyRW | kKeyInsert)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`BLMOVE` with the `RIGHT` and `LEFT` arguments"};
  static void Run(Call& call) {
    const Route route{.source = call.args.Next(), .target = call.args.Next()};
    const int64_t timeout_ms = ParseSecondsAsMs(call, call.args.Next());
    if (MoveOrWait(call, route, timeout_ms)) call.effect.Replace("RPOPLPUSH", route.source, route.target);
  }
};

constexpr auto kListBlockingCommands = Family<BLMove, BLMPop, BLPop, BRPop, BRPopLPush>();

}  // namespace

std::span<const CommandCard> ListBlockingCommands() { return kListBlockingCommands; }

}  // namespace respite
