// Files on request: SAVE, BGSAVE, LASTSAVE, BGREWRITEAOF.
#include "server/call.h"
#include "server/commands/families.h"
#include "server/server.h"

namespace respite {

namespace {

struct Save {
  static constexpr CommandSpec spec = {.syntax = "SAVE",
                                       .summary = "Saves the data set to the dump file while everybody waits.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the number of keys in all databases",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti};
  static void Run(Call& call) {
    Snapshots& snapshots = call.server.snapshots();
    if (snapshots.Running()) throw Refusal{refusals::kSaveRuns};
    if (snapshots.Save() == Snapshots::Outcome::kFailed) throw Refusal{refusals::kUnspecified};
    call.reply.Ok();
  }
};

struct BgSave {
  static constexpr CommandSpec spec = {.syntax = "BGSAVE [SCHEDULE@3.2.2]",
                                       .summary = "Has a child process save the data set to the dump file.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading};
  // Inside a transaction it is scheduled: what is saved is no half of one.
  static void Run(Call& call) {
    const bool may_wait = call.args.TakeToken("SCHEDULE");
    if (!call.args.AtEnd()) throw Refusal{refusals::kSyntax};
    Server& server = call.server;
    const bool in_transaction = !server.executor().MayWait();
    if (server.snapshots().Running()) throw Refusal{refusals::kSaveRuns};
    if (server.nursery().Busy() || in_transaction) {
      if (!may_wait && !in_transaction) throw Refusal{refusals::kOtherChildRuns};
      server.snapshots().Schedule();
      return call.reply.Simple("Background saving scheduled");
    }
    if (server.snapshots().StartBackground() == Snapshots::Outcome::kFailed) throw Refusal{refusals::kUnspecified};
    call.reply.Simple("Background saving started");
  }
};

struct LastSave {
  static constexpr CommandSpec spec = {.syntax = "LASTSAVE",
                                       .summary = "Tells when the data set was saved last, in seconds since 1970.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale | kFast,
                                       .categories = kAclAdmin | kAclDangerous,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) { call.reply.Integer(call.server.snapshots().Survey().last_save_s); }
};

struct BgRewriteAof {
  static constexpr CommandSpec spec = {.syntax = "BGREWRITEAOF",
                                       .summary = "Has a child process write the append-only file anew.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading};
  static void Run(Call& call) {
    switch (call.server.aof().Rewrite()) {
      case AppendOnlyFile::RewriteStart::kStarted:
        return call.reply.Simple("Background append only file rewriting started");
      case AppendOnlyFile::RewriteStart::kScheduled:
        return call.reply.Simple("Background append only file rewriting scheduled");
      case AppendOnlyFile::RewriteStart::kAlreadyRuns:
        throw Refusal{refusals::kRewriteRuns};
      case AppendOnlyFile::RewriteStart::kFailed:
        throw Refusal{refusals::kRewriteFailed};
    }
  }
};

constexpr auto kPersistenceCommands = Family<Save, BgSave, LastSave, BgRewriteAof>();

}  // namespace

std::span<const CommandCard> PersistenceCommands() { return kPersistenceCommands; }

}  // namespace respite
