// REPLICAOF, SLAVEOF and FAILOVER. There is no replication yet: the server is always a master.
#include "base/number_text.h"
#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace {

void BecomeReplicaOf(Call& call) {
  const Bytes host = call.args.Next();
  const Bytes port = call.args.Next();
  if (EqualsIgnoreCase(host, "no") && EqualsIgnoreCase(port, "one")) return call.reply.Ok();
  const auto number = ParseInteger(port);
  if (!number || *number < 0 || *number > 65535) throw Refusal{refusals::kInvalidMasterPort};
  throw Refusal{refusals::kNoReplication};
}

struct WithoutReplication {
  static constexpr std::string_view kRefuses = "there is no replication; only `NO ONE` is answered with OK";
};

struct ReplicaOf : WithoutReplication {
  static constexpr CommandSpec spec = {.syntax = "REPLICAOF args(host-port{host port:integer}|no-one{NO ONE})",
                                       .summary = "Makes this server a replica of another server, or a master.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kStale | kNoAsyncLoading};
  static void Run(Call& call) { BecomeReplicaOf(call); }
};

struct SlaveOf : WithoutReplication {
  static constexpr CommandSpec spec = {.syntax = "SLAVEOF args(host-port{host port:integer}|no-one{NO ONE})",
                                       .summary = "The old name of REPLICAOF.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kStale | kNoAsyncLoading,
                                       .deprecated_since = "5.0.0",
                                       .replaced_by = "`REPLICAOF`"};
  static void Run(Call& call) { BecomeReplicaOf(call); }
};

struct Failover {
  static constexpr std::string_view kRefuses = "there is no replication";
  static constexpr CommandSpec spec = {
      .syntax = "FAILOVER [TO target{host port:integer [FORCE]}] [ABORT] [TIMEOUT milliseconds:integer]",
      .summary = "Makes a replica take over from this master.",
      .since = "6.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .flags = kAdmin | kNoScript | kStale};
  static void Run(Call& call) {
    if (call.args.Count() == 2 && call.args.TakeToken("ABORT")) throw Refusal{refusals::kNoFailover};
    while (!call.args.AtEnd()) TakeOption(call.args);
    throw Refusal{refusals::kFailoverWithoutReplicas};
  }

 private:
  static void TakeOption(Args& args) {
    if (args.TakeTokenWith("TIMEOUT", 1)) {
      if (args.NextInteger() <= 0) throw Refusal{refusals::kFailoverTimeout};
    } else if (args.TakeTokenWith("TO", 2)) {
      args.Next();
      args.NextInteger();
    } else if (!args.TakeToken("FORCE")) {
      throw Refusal{refusals::kSyntax};
    }
  }
};

constexpr auto kReplicationCommands = Family<Failover, ReplicaOf, SlaveOf>();

}  // namespace

std::span<const CommandCard> ReplicationCommands() { return kReplicationCommands; }

}  // namespace respite
