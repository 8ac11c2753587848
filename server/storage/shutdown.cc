#include "server/storage/shutdown.h"

#include <algorithm>
#include <csignal>
#include <string>

#include "base/log.h"
#include "base/real_clock.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/clients.h"
#include "server/clients/pause.h"
#include "server/config/debug_switches.h"
#include "server/config/settings.h"
#include "server/runtime/host.h"
#include "server/storage/append_only_file.h"
#include "server/storage/backup.h"
#include "server/storage/child_processes.h"
#include "server/storage/loading.h"
#include "server/storage/offset_file.h"
#include "server/storage/snapshots.h"

namespace respite {

Shutdown::Outcome Shutdown::Begin(uint32_t flags) {
  parts_.env.log.Notice("User requested shutdown...");
  ReportStatus("");
  if (MustWaitForReplicas(flags)) {
    if (!delayed_shutdown_) DelayForReplicas(flags);
    return Outcome::kWaiting;
  }
  if (std::exchange(delayed_shutdown_, std::nullopt)) parts_.pause.ResumeWrites(Pause::kShutdown);
  return End(flags);
}

bool Shutdown::MustWaitForReplicas(uint32_t flags) const {
  const bool is_urgent = (flags & kShutdownNow) != 0 || parts_.loading.IsActive() || parts_.env.phase.HasBusyScript();
  return !is_urgent && parts_.env.settings.shutdown_timeout != 0 && replicas_to_wait_for_ != nullptr &&
         !replicas_to_wait_for_->AreCaughtUp();
}

void Shutdown::DelayForReplicas(uint32_t flags) {
  parts_.env.log.Notice("Waiting for replicas before shutting down.");
  delayed_shutdown_ = {flags, parts_.env.real_clock.NowMs() + int64_t{parts_.env.settings.shutdown_timeout} * 1000};
  parts_.pause.PauseWrites(Pause::kShutdown);
  replicas_to_wait_for_->RequestAcknowledgements();
}

std::optional<int64_t> Shutdown::MillisecondsLeftForReplicas() const {
  if (!delayed_shutdown_) return std::nullopt;
  return std::max<int64_t>(delayed_shutdown_->deadline_ms - parts_.env.real_clock.NowMs(), 0);
}

void Shutdown::FinishShutdownIfReady() {
  if (!replicas_to_wait_for_->AreCaughtUp() && parts_.env.real_clock.NowMs() < delayed_shutdown_->deadline_ms) return;
  if (signal_ != 0 && StartFirstRewriteIfNeeded(delayed_shutdown_->flags)) return;
  const uint32_t flags = std::exchange(delayed_shutdown_, std::nullopt)->flags;
  parts_.pause.ResumeWrites(Pause::kShutdown);
  if (End(flags) == Outcome::kStopping) return;
  AnswerWaitingClients();
  HandleCancellation();
}

Shutdown::Outcome Shutdown::End(uint32_t flags) {
  if (replicas_to_wait_for_ != nullptr) replicas_to_wait_for_->LogLaggingReplicas();
  // Saves nothing while data is being loaded: the incomplete data must not replace the complete file.
  if (parts_.loading.IsActive()) flags = (flags & ~kShutdownSave) | kShutdownNoSave;
  const Outcome outcome = SaveBeforeExit(flags);
  if (outcome == Outcome::kFailed) {
    parts_.env.log.Warning("Errors trying to shut down the server. Check the logs for more information.");
    return outcome;
  }
  if ((flags & kShutdownFailover) != 0 && on_failover_) on_failover_();
  parts_.backup.HandleShutdown();
  parts_.offset_file.WriteFinal();
  parts_.env.phase.Stop();
  parts_.env.host->Stop(0);
  return outcome;
}

void Shutdown::AnswerWaitingClients() {
  for (const uint64_t id : std::exchange(waiting_client_ids_, {})) {
    Session* session = parts_.clients.Find(id);
    if (session != nullptr && session->blocked_client != nullptr)
      parts_.blocked_clients.End(*session, UnblockReason::kTimeout);
  }
}

void Shutdown::HandleSignal(int signal) {
  signal_ = signal;
  Continue();
}

void Shutdown::Continue() {
  if (HasStopped()) return;
  if (delayed_shutdown_) return FinishShutdownIfReady();
  if (signal_ == 0) return;
  const Settings& settings = parts_.env.settings;
  const uint32_t flags = signal_ == SIGINT ? settings.shutdown_on_sigint : settings.shutdown_on_sigterm;
  const bool waits = parts_.env.debug.pause_cron || (parts_.env.phase.HasBusyScript() && MustSave(flags)) ||
                     StartFirstRewriteIfNeeded(flags);
  if (!waits && Begin(flags) == Outcome::kFailed) HandleCancellation();
}

// Called in a shutdown by a signal. Returns true if the shutdown must wait for the first base of the append-only file.
// This base is missing after `CONFIG SET appendonly yes` until a rewrite has written it, and without a base the
// append-only file has no data. If the base is missing, first kills a child that saves, and starts the rewrite. Returns
// false if no base is missing, or with FORCE. If the rewrite fails, also returns false, and Begin then refuses the
// shutdown. (A SHUTDOWN command without FORCE is refused immediately in this state, because its client can repeat it;
// but a service manager sends SIGTERM only once.)
bool Shutdown::StartFirstRewriteIfNeeded(uint32_t flags) {
  AppendOnlyFile& aof = parts_.aof;
  const bool is_needed = aof.state() == AppendOnlyFile::State::kAwaitsBase && (flags & kShutdownForce) == 0;
  if (!is_needed) {
    rewrite_failures_before_wait_.reset();
    return false;
  }
  if (!rewrite_failures_before_wait_) {
    parts_.env.log.Warning("Writing initial AOF, will exit when it is done.");
    ReportStatus("Writing initial AOF");
    if (parts_.child_processes.Does(ChildWork::kSnapshot)) parts_.child_processes.Kill();
    if (aof.Rewrite() == AppendOnlyFile::RewriteStart::kFailed) return false;
    rewrite_failures_before_wait_ = aof.ConsecutiveFailures();
  }
  const bool has_failed = aof.ConsecutiveFailures() != *rewrite_failures_before_wait_;
  if (has_failed) rewrite_failures_before_wait_.reset();
  return !has_failed;
}

bool Shutdown::Abort() {
  if (signal_ == 0 && !delayed_shutdown_) return false;
  if (std::exchange(delayed_shutdown_, std::nullopt)) parts_.pause.ResumeWrites(Pause::kShutdown);
  AnswerWaitingClients();
  HandleCancellation();
  parts_.env.log.Notice("Shutdown manually aborted.");
  return true;
}

void Shutdown::HandleCancellation() {
  signal_ = 0;
  rewrite_failures_before_wait_.reset();
  if (on_cancelled_) on_cancelled_();
}

bool Shutdown::MustSave(uint32_t flags) const {
  if (must_never_save_) return false;
  if ((flags & kShutdownSave) != 0) return true;
  return !parts_.env.settings.save.empty() && (flags & kShutdownNoSave) == 0;
}

Shutdown::Outcome Shutdown::SaveBeforeExit(uint32_t flags) {
  ChildProcesses& child_processes = parts_.child_processes;
  if (child_processes.Does(ChildWork::kSnapshot)) {
    parts_.env.log.Warning("There is a child saving an .rdb. Killing it!");
    child_processes.Kill();
  }
  if (SyncAppendOnlyFile(flags) == Outcome::kFailed) return Outcome::kFailed;
  if (!MustSave(flags)) return Outcome::kStopping;
  // Only the command SHUTDOWN SAVE is an operator's request to save. The flags of a shutdown by signal come from a
  // directive (shutdown-on-sigterm).
  const bool is_requested = (flags & kShutdownSave) != 0 && signal_ == 0;
  if (parts_.snapshots.LeavesDumpToOtherServer() && !is_requested) {
    parts_.env.log.Warning("Nothing is saved: " + parts_.env.settings.dbfilename + " is left to another server.");
    return Outcome::kStopping;
  }
  if (!parts_.snapshots.IsWorthSaving() && !is_requested) {
    parts_.env.log.Warning("Nothing is saved: this replica has not loaded its master's data, so " +
                           parts_.env.settings.dbfilename + " stays as it is.");
    return Outcome::kStopping;
  }
  parts_.env.log.Notice("Saving the final RDB snapshot before exiting.");
  ReportStatus("Saving the final RDB snapshot");
  if (parts_.snapshots.Save() == Snapshots::Outcome::kDone) return Outcome::kStopping;
  // Stops without a saved file if another server has locked the RDB file, so that the save has failed. With Redis'
  // default save points, this server leaves the file to the other server, unless the operator has requested the save.
  if (parts_.snapshots.LeavesDumpToOtherServer() && !is_requested) return Outcome::kStopping;
  return Refuse(flags, "Error trying to save the DB");
}

Shutdown::Outcome Shutdown::SyncAppendOnlyFile(uint32_t flags) {
  AppendOnlyFile& aof = parts_.aof;
  if (aof.state() == AppendOnlyFile::State::kAwaitsBase) {
    if (Refuse(flags, "Writing initial AOF") == Outcome::kFailed) return Outcome::kFailed;
  }
  if (aof.IsRewriting()) {
    parts_.env.log.Warning("There is a child rewriting the AOF. Killing it!");
    parts_.child_processes.Kill();
  }
  // Refuses to stop without FORCE if the append-only file is off because TurnBackOn has failed: its files on the disk
  // have only the data from before the last full synchronisation.
  if (aof.MustTurnBackOn()) return Refuse(flags, "The AOF could not be turned on again after a synchronisation");
  if (!aof.IsOn()) return Outcome::kStopping;
  parts_.env.log.Notice("Calling fsync() on the AOF file.");
  const IoError error = aof.FlushAndSync();
  if (error == kNoError) return Outcome::kStopping;
  parts_.env.log.Warning("Fail to fsync the AOF file: " + IoErrorText(error) + ".");
  return Refuse(flags, "Error trying to sync the AOF");
}

Shutdown::Outcome Shutdown::Refuse(uint32_t flags, const char* what) {
  const bool forced = (flags & kShutdownForce) != 0;
  const std::string status = what + std::string(forced ? ". Exit anyway." : ", can't exit.");
  parts_.env.log.Warning(status);
  if (!forced) ReportStatus(status);
  return forced ? Outcome::kStopping : Outcome::kFailed;
}

}  // namespace respite
