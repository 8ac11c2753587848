// The commands that save data to files: SAVE, BGSAVE, LASTSAVE and BGREWRITEAOF.
#include "server/catalogue/refusals.h"
#include "server/commands/families.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/services.h"
#include "server/storage/append_only_file.h"
#include "server/storage/child_processes.h"
#include "server/storage/snapshots.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kRewriteRuns[] = "ERR Background append only file rewriting already in progress";
constexpr char kRewriteFailed[] =
    "ERR Can't execute an AOF background rewriting. Please check the server logs for more information.";
constexpr char kSaveRuns[] = "ERR Background save already in progress";
constexpr char kNoSaveToCancel[] = "ERR Background saving is currently not in progress or scheduled";
constexpr char kOtherChildRuns[] =
    "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in order to schedule a "
    "BGSAVE whenever possible.";

}  // namespace
}  // namespace refusals

namespace {

struct Save {
  static constexpr CommandSpec spec = {.syntax = "SAVE",
                                       .summary = "Saves the data set to the dump file and blocks the server.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the number of keys in all databases",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti};
  static void Run(Call& call) {
    Snapshots& snapshots = call.services.storage.snapshots;
    if (snapshots.IsRunning() || call.services.storage.child_processes.Does(ChildWork::kTransfer))
      throw Refusal{refusals::kSaveRuns};
    if (snapshots.Save() == Snapshots::Outcome::kFailed) throw Refusal{refusals::kUnspecified};
    call.reply.Ok();
  }
};

struct BgSave {
  static constexpr CommandSpec spec = {.syntax = "BGSAVE [SCHEDULE@3.2.2] [CANCEL@valkey:8.1.0]",
                                       .summary = "Saves the data set to the dump file in a child process.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading};
  // Only schedules the save if BGSAVE is called in a transaction. The RDB file could otherwise contain half of the
  // transaction.
  static void Run(Call& call) {
    if (call.args.TakeToken("CANCEL")) return Cancel(call);
    const bool may_wait = call.args.TakeToken("SCHEDULE");
    if (!call.args.AtEnd()) throw Refusal{refusals::kSyntax};
    const Services& services = call.services;
    const bool in_transaction = !services.clients.current_execution.MayBlock();
    if (services.storage.snapshots.IsRunning()) throw Refusal{refusals::kSaveRuns};
    if (services.storage.child_processes.Busy() || in_transaction) {
      if (!may_wait && !in_transaction) throw Refusal{refusals::kOtherChildRuns};
      services.storage.snapshots.Schedule();
      return call.reply.Simple("Background saving scheduled");
    }
    if (services.storage.snapshots.StartBackgroundSave() == Snapshots::Outcome::kFailed)
      throw Refusal{refusals::kUnspecified};
    call.reply.Simple("Background saving started");
  }

 private:
  static void Cancel(Call& call) {
    call.args.ExpectEnd();
    switch (call.services.storage.snapshots.Cancel()) {
      case Snapshots::Cancelled::kRunning:
        return call.reply.Simple("Background saving cancelled");
      case Snapshots::Cancelled::kScheduled:
        return call.reply.Simple("Scheduled background saving cancelled");
      case Snapshots::Cancelled::kNone:
        throw Refusal{refusals::kNoSaveToCancel};
    }
  }
};

struct LastSave {
  static constexpr CommandSpec spec = {
      .syntax = "LASTSAVE",
      .summary = "Returns the unix time in seconds at which the data set was last saved.",
      .since = "1.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .flags = kLoading | kStale | kFast,
      .categories = kAclAdmin | kAclDangerous,
      .tips = "nondeterministic_output"};
  static void Run(Call& call) { call.reply.Integer(call.services.storage.snapshots.CurrentFigures().last_save_s); }
};

struct BgRewriteAof {
  static constexpr CommandSpec spec = {.syntax = "BGREWRITEAOF",
                                       .summary = "Rewrites the append-only file in a child process.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kAdmin | kNoScript | kNoAsyncLoading};
  static void Run(Call& call) {
    switch (call.services.storage.aof.Rewrite()) {
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
