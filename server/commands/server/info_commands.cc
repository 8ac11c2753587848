#include "server/commands/families.h"
#include "server/execution/call.h"
#include "server/observe/info/info.h"

namespace respite {

namespace {

struct Info {
  static constexpr CommandSpec spec = {
      .syntax = "INFO [section...]",
      .where = Where::kEverywhere,
      .summary = "Reports on the server and its figures, section by section.",
      .since = "1.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .flags = kLoading | kStale,
      .categories = kAclDangerous,
      .tips = "nondeterministic_output request_policy:all_shards response_policy:special"};
  static void Run(Call& call) { call.reply.Verbatim(InfoReport(call.services, call.args.Rest()), "txt"); }
};

constexpr auto kInfoCommands = Family<Info>();

}  // namespace

std::span<const CommandCard> InfoCommands() { return kInfoCommands; }

}  // namespace respite
