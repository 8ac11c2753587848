#include "server/call.h"
#include "server/commands/families.h"

namespace respite {

namespace {

struct Ping {
  static constexpr CommandSpec spec = {.syntax = "PING [message]",
                                       .summary = "Answers PONG, or the message: a sign of life.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kConnection,
                                       .flags = kFast,
                                       .categories = kAclConnection,
                                       .tips = "request_policy:all_shards response_policy:all_succeeded"};
  static void Run(Call& call) {
    if (call.args.Left() > 1) throw refusals::WrongArity("ping");
    if (call.args.AtEnd()) return call.reply.Simple("PONG");
    call.reply.Bulk(call.args.Next());
  }
};

constexpr auto kConnectionCommands = Family<Ping>();

}  // namespace

std::span<const CommandCard> ConnectionCommands() { return kConnectionCommands; }

}  // namespace respite
