// BACKUP: while the server runs, saves its data to files that a server can load at startup.
#include <string>
#include <string_view>

#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/storage/backup.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kBackupRuns[] = "ERR A backup is already in progress, ABORT it first";
constexpr char kBackupSealed[] = "ERR A sealed backup exists, CLEANUP it first";
constexpr char kBackupNotReady[] = "ERR No backup ready to seal (must be in the incrementing state)";
constexpr char kBackupAbsent[] = "ERR No backup in progress";
constexpr char kBackupBusy[] = "ERR Backup is in progress";

}  // namespace
}  // namespace refusals

namespace {

constexpr uint32_t kManagesBackup = kAdmin | kNoScript;
constexpr uint32_t kReportsBackup = kAdmin | kStale;

Backup& BackupOf(Call& call) { return call.services.storage.backup; }

std::string_view NameOfBackupState(Backup::State state) {
  switch (state) {
    case Backup::State::kIdle:
      return "idle";
    case Backup::State::kPending:
      return "pending";
    case Backup::State::kSnapshotting:
      return "snapshotting";
    case Backup::State::kIncrementing:
      return "incrementing";
    case Backup::State::kSealed:
      return "sealed";
    case Backup::State::kFailed:
      return "failed";
  }
  return "";
}

void ReplyUnlessFailed(Call& call, const Backup::FailureReason& reason) {
  if (reason) throw Refusal{"ERR " + *reason};
  call.reply.Ok();
}

struct BackupContainer {
  static constexpr CommandSpec spec = {.syntax = "BACKUP",
                                       .summary = "A container for commands about the backup of the data.",
                                       .since = "8.10.0",
                                       .complexity = "Depends on subcommand.",
                                       .group = CommandGroup::kServer,
                                       .arity = 2};
};

struct BackupAbort {
  static constexpr CommandSpec spec = {.syntax = "BACKUP|ABORT",
                                       .summary = "Gives up a backup that is not sealed, and removes its files.",
                                       .since = "8.10.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesBackup};
  static void Run(Call& call) {
    if (!BackupOf(call).IsInProgress()) throw Refusal{refusals::kBackupAbsent};
    BackupOf(call).Abort();
    call.reply.Ok();
  }
};

struct BackupCleanUp {
  static constexpr CommandSpec spec = {.syntax = "BACKUP|CLEANUP",
                                       .summary = "Removes the files of a backup that is sealed or has failed.",
                                       .since = "8.10.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesBackup};
  static void Run(Call& call) {
    if (BackupOf(call).IsInProgress()) throw Refusal{refusals::kBackupBusy};
    ReplyUnlessFailed(call, BackupOf(call).CleanUp());
  }
};

struct BackupHelp {
  static constexpr CommandSpec spec = {.syntax = "BACKUP|HELP",
                                       .summary = "Lists the subcommands of BACKUP.",
                                       .since = "8.10.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call, {"ABORT", "    Give up a backup that is not sealed yet.", "CLEANUP",
                     "    Remove the files of a sealed backup.", "LIST",
                     "    Return the paths of the files that are complete and will not change.", "SEAL",
                     "    End the backup at this moment: complete its files.", "START",
                     "    Begin a backup in the directory 'backupdirname', which must be empty.", "STATUS",
                     "    Return the state of the backup, its error and its times."});
  }
};

struct BackupList {
  static constexpr CommandSpec spec = {.syntax = "BACKUP|LIST",
                                       .summary = "Lists the files of the backup that will not change any more.",
                                       .since = "8.10.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kReportsBackup};
  static void Run(Call& call) {
    const auto paths = BackupOf(call).ImmutableFiles();
    call.reply.Array(paths.size());
    for (const std::string& path : paths) call.reply.Bulk(path);
  }
};

struct BackupSeal {
  static constexpr CommandSpec spec = {.syntax = "BACKUP|SEAL",
                                       .summary = "Ends the backup at this moment, and completes its files.",
                                       .since = "8.10.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesBackup};
  static void Run(Call& call) {
    if (BackupOf(call).state() != Backup::State::kIncrementing) throw Refusal{refusals::kBackupNotReady};
    ReplyUnlessFailed(call, BackupOf(call).Seal());
  }
};

struct BackupStart {
  static constexpr CommandSpec spec = {.syntax = "BACKUP|START",
                                       .summary = "Begins a backup of the data in the folder backupdirname.",
                                       .since = "8.10.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kManagesBackup};
  static void Run(Call& call) {
    if (BackupOf(call).IsInProgress()) throw Refusal{refusals::kBackupRuns};
    if (BackupOf(call).state() == Backup::State::kSealed) throw Refusal{refusals::kBackupSealed};
    ReplyUnlessFailed(call, BackupOf(call).Start());
  }
};

struct BackupStatus {
  static constexpr CommandSpec spec = {.syntax = "BACKUP|STATUS",
                                       .summary = "Returns the state of the backup, its error and its times.",
                                       .since = "8.10.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kReportsBackup};
  static void Run(Call& call) {
    const Backup& backup = BackupOf(call);
    call.reply.Map(4);
    call.reply.Bulk("state");
    call.reply.Bulk(NameOfBackupState(backup.state()));
    call.reply.Bulk("error");
    call.reply.Bulk(backup.error());
    call.reply.Bulk("start_time");
    call.reply.Integer(backup.StartedAtS());
    call.reply.Bulk("end_time");
    call.reply.Integer(backup.SealedAtS());
  }
};

constexpr auto kBackupCommands = Family<BackupContainer, BackupAbort, BackupCleanUp, BackupHelp, BackupList, BackupSeal,
                                        BackupStart, BackupStatus>();

}  // namespace

std::span<const CommandCard> BackupCommands() { return kBackupCommands; }

}  // namespace respite
