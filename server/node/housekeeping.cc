#include "server/node/housekeeping.h"

#include <algorithm>
#include <vector>

#include "protocol/reply_buffer.h"
#include "scripting/function_library.h"
#include "scripting/script_cache.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_memory.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/pause.h"
#include "server/clients/tracking.h"
#include "server/clients/watched_keys.h"
#include "server/cluster/cluster_mode.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/config/debug_switches.h"
#include "server/dataset/active_expiry.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/exact_expiry.h"
#include "server/dataset/memory_gauge.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/lab/lab.h"
#include "server/migration/migrations.h"
#include "server/replication/replication.h"
#include "server/runtime/server_phase.h"
#include "server/storage/append_only_file.h"
#include "server/storage/child_processes.h"
#include "server/storage/shutdown.h"
#include "server/storage/snapshots.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

constexpr int64_t kSampleEveryUs = 100'000;
constexpr size_t kWatchesPerTurn = 1000;
constexpr int64_t kWakeAgainMs = 10;  // Wake is tried again, while a script or loading occupies the server
constexpr size_t kClientsCheckedAtLeast = 5;

// Resumes those of the sessions that still exist. Looks each of them up by its ID, because a session that is resumed
// may close another one (CLIENT KILL). A slow script lets other clients be served, so the closed session may be freed
// before its turn comes here.
void Resume(const Clients& clients, const std::vector<Session*>& sessions) {
  std::vector<uint64_t> ids;
  ids.reserve(sessions.size());
  for (const Session* session : sessions) ids.push_back(session->id);
  for (const uint64_t id : ids) {
    Session* session = clients.Find(id);
    if (session != nullptr && session->transport != nullptr) session->transport->Resume();
  }
}

}  // namespace

void Housekeeping::EndTurn() {
  services_.storage.snapshots.EndTurn();
  if (services_.storage.shutdown.HasStopped()) {  // effects of further commands would be lost
    if (!services_.storage.aof.MustStop()) Send();
    return;
  }
  services_.migrations.EndTurn();
  services_.cluster.EndTurn();
  if (services_.clients.blocked.HasReadyRequests()) {  // keys that changed without a command, because they expired
    services_.execution.executor.ReadClocks();
    services_.clients.blocked.RunReadyRequests();
  }
  if (services_.clients.registry.PausedCount() != 0 && !services_.clients.pause.IsOn()) ResumePaused();
  ResumeUnblocked();
  if (!services_.lab.awaits.IsEmpty()) CheckAwaits();
  services_.clients.tracking.Broadcast();
  services_.slot_migrations.EndTurn();
  if (!WriteAof()) return;
  services_.replication.EndTurn();
  Send();
  if (services_.clients.memory.IsLimitReached()) services_.clients.memory.EvictClients(nullptr);
  ContinueInNextTurn();
  services_.execution.script_cache.CollectGarbage();
  services_.execution.function_libraries.CollectGarbage();
  services_.lab.clock.EndTurn();
  RequestWake();
}

void Housekeeping::EndTurnDuringLongTask() {
  services_.cluster.EndTurnDuringLongTask();
  if (WriteAof()) Send();
}

void Housekeeping::RequestWake() {
  const int64_t next_ms = services_.env.timers.NextDueMs();
  if (next_ms >= wake_at_ms_ || !services_.env.host) return;
  wake_at_ms_ = next_ms;
  services_.env.host->WakeAt(wake_at_ms_);
}

// Starts the next turn immediately if work is left. Otherwise this work would wait until input arrives.
void Housekeeping::ContinueInNextTurn() {
  services_.clients.watched_keys.FreeDroppedKeys(kWatchesPerTurn);
  // Whether clients must be resumed in the next turn: unblocked clients, and clients that were paused until now. This
  // includes clients that were resumed late in this turn and have further requests.
  const bool continues = services_.clients.registry.HasUnblockedSessions() ||
                         (services_.clients.registry.PausedCount() != 0 && !services_.clients.pause.IsOn());
  if ((continues || services_.clients.watched_keys.HasDroppedKeys()) && services_.env.host)
    services_.env.host->Post([] {});
}

bool Housekeeping::WriteAof() {
  const int64_t started_us = services_.storage.aof.IsOn() ? services_.env.real_clock.NowUs() : 0;
  services_.storage.aof.Flush();
  services_.storage.backup.Flush();
  if (started_us != 0)
    services_.env.stats.aof_us += static_cast<uint64_t>(services_.env.real_clock.NowUs() - started_us);
  const bool has_acks = services_.replication.replicas().TakeAckProgress();
  if (services_.clients.blocked.HasRequestsWaitingForAcksOrDisk() &&
      (has_acks || served_synced_bytes_ != services_.storage.aof.writer().SyncedBytes() ||
       !services_.storage.aof.IsOn())) {
    served_synced_bytes_ = services_.storage.aof.writer().SyncedBytes();
    services_.clients.blocked.RunRequestsWaitingForAcksOrDisk();
  }
  if (!services_.storage.aof.MustStop()) return true;
  if (services_.env.host) services_.env.host->Stop(1);
  return false;
}

void Housekeeping::Send() {
  do {
    services_.clients.registry.FlushQueued(services_.env.real_clock);
  } while (services_.clients.registry.HasUnsentMessages() &&
           (!services_.env.host || services_.storage.shutdown.HasStopped()));
  if (services_.clients.registry.HasUnsentMessages())
    services_.env.host->Post([] {});  // starts the next turn immediately
}

void Housekeeping::Wake() {
  if (services_.env.phase.IsInLongTask())
    return services_.env.host->WakeAt(services_.env.clock.MonotonicMs() + kWakeAgainMs);
  wake_at_ms_ = Timers::kNever;
  services_.env.timers.RunDue(services_.env.clock.MonotonicMs());
}

void Housekeeping::PassTime(int64_t elapsed_ms, const std::function<void(int64_t)>& advance) {
  const int64_t until_ms = services_.env.clock.MonotonicMs() + elapsed_ms;
  const auto advance_to = [&](int64_t monotonic_ms) {
    const int64_t now_ms = services_.env.clock.MonotonicMs();
    if (monotonic_ms > now_ms) advance(monotonic_ms - now_ms);
  };
  services_.data.exact_expiry.Begin(services_.env.clock.WallMs() + elapsed_ms);
  services_.env.timers.BeginClockJump();
  for (int64_t due_ms = services_.env.timers.NextDueMs(); due_ms <= until_ms;
       due_ms = services_.env.timers.NextDueMs()) {
    advance_to(due_ms);
    services_.env.timers.RunDue(services_.env.clock.MonotonicMs());
    EndTurn();
  }
  services_.data.exact_expiry.End();
  advance_to(until_ms);
  services_.env.timers.EndClockJump(services_.env.clock.MonotonicMs());
  Tick();
  wake_at_ms_ = Timers::kNever;  // the time given to the host may have passed
  EndTurn();
}

void Housekeeping::OnClockSet(Motion motion) {
  wake_at_ms_ = Timers::kNever;
  motion == Motion::kStands ? services_.data.active_expiry.Sleep() : services_.data.active_expiry.WakeUp();
}

void Housekeeping::Tick() {
  if (services_.env.phase.IsInLongTask() || services_.storage.shutdown.HasStopped()) return;
  const int64_t started_us = services_.env.real_clock.NowUs();
  services_.clients.timer_frequency.UpdateFrequency();
  if (services_.env.debug.pause_cron) return;
  services_.storage.shutdown.Continue();
  if (services_.storage.shutdown.HasStopped()) return;
  services_.env.timers.RunDue(services_.env.clock.MonotonicMs());  // the clock may have jumped
  services_.data.active_expiry.StartRound(services_.clients.timer_frequency.Hz());
  SampleStats();
  CheckClients();
  services_.storage.child_processes.Poll();
  services_.storage.backup.Cron();  // first, because a scheduled rewrite is also of use for a backup
  services_.storage.aof.Cron();
  services_.storage.snapshots.Cron();
  services_.replication.Tick();
  services_.cluster.Tick();
  services_.slot_migrations.Tick();
  services_.clients.tracking.EnforceTableLimit();
  services_.migrations.blocking_links().CloseIdleLinks(services_.env.clock.MonotonicMs());
  services_.migrations.CloseIdleLinks(services_.env.clock.MonotonicMs());
  services_.data.reply_blocks.Trim();
  services_.env.stats.timer_us += static_cast<uint64_t>(services_.env.real_clock.NowUs() - started_us);
}

void Housekeeping::SampleStats() {
  const int64_t now_us = services_.env.real_clock.NowUs();
  if (now_us - last_sample_us_ < kSampleEveryUs) return;
  last_sample_us_ = now_us;
  services_.env.stats.SampleRates(now_us);
  services_.data.memory.NotePeak();
}

void Housekeeping::CheckClients() {
  // Checks only a share of the clients at each tick, so that each is checked about once a second. Checking ten thousand
  // clients together would delay a turn.
  const size_t wanted =
      std::max(services_.clients.registry.Count() / static_cast<size_t>(services_.clients.timer_frequency.Hz()),
               kClientsCheckedAtLeast);
  const int64_t now_ms = services_.env.clock.MonotonicMs();
  services_.clients.registry.VisitNext(wanted, [&](Session& session) {
    services_.clients.limits.Check(session, now_ms);
    if (services_.clients.memory.IsOn()) services_.clients.memory.Remeasure(session);
  });
}

void Housekeeping::CheckAwaits() {
  services_.execution.executor.ReadClocks();
  services_.lab.awaits.CheckConditions();
}

void Housekeeping::ResumePaused() { Resume(services_.clients.registry, services_.clients.registry.TakePaused()); }

void Housekeeping::ResumeUnblocked() {
  // Repeats until no unblocked client is left, because a resumed client may unblock others.
  while (services_.clients.registry.HasUnblockedSessions())
    Resume(services_.clients.registry, services_.clients.registry.TakeUnblocked());
}

}  // namespace respite
