#include "server/node/housekeeping.h"

#include <algorithm>
#include <vector>

#include "protocol/reply_buffer.h"
#include "scripting/function_library.h"
#include "scripting/script_cache.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_memory.h"
#include "server/clients/clients.h"
#include "server/clients/pause.h"
#include "server/clients/server_phase.h"
#include "server/clients/timer_frequency.h"
#include "server/clients/tracking.h"
#include "server/clients/watched_keys.h"
#include "server/cluster/cluster_mode.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/config/debug_switches.h"
#include "server/dataset/active_expiry.h"
#include "server/dataset/exact_expiry.h"
#include "server/dataset/memory_gauge.h"
#include "server/execution/executor.h"
#include "server/lab/lab.h"
#include "server/migration/migrate_link.h"
#include "server/migration/migrations.h"
#include "server/replication/replication.h"
#include "server/storage/append_only_file.h"
#include "server/storage/child_processes.h"
#include "server/storage/shutdown.h"
#include "server/storage/snapshots.h"

namespace respite {

namespace {

constexpr int64_t kSampleEveryUs = 100'000;
constexpr size_t kWatchesPerTurn = 1000;
constexpr int64_t kWakeAgainMs = 10;  // while a script or loading occupies the server
constexpr size_t kClientsCheckedAtLeast = 5;

// Resumes the sessions that still exist. A resumed session may close later ones (CLIENT KILL). While it runs a long
// script, other clients are served, and closed sessions are freed.
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
  parts_.snapshots.EndTurn();
  if (parts_.shutdown.Done()) {  // effects of further commands would be lost
    if (!parts_.aof.MustStop()) Send();
    return;
  }
  parts_.migrations.EndTurn();
  parts_.cluster.EndTurn();
  if (parts_.blocked_clients.HasReady()) {  // keys that changed without a command, because they expired
    parts_.executor.StartRun();
    parts_.blocked_clients.ServeReady();
  }
  if (parts_.clients.PausedCount() != 0 && !parts_.pause.IsOn()) ResumePaused();
  ResumeUnblocked();
  if (!parts_.lab.awaits.Empty()) EndAwaits();
  parts_.tracking.Broadcast();
  parts_.slot_migrations.EndTurn();
  if (!Journaled()) return;
  parts_.replication.EndTurn();
  Send();
  if (parts_.client_memory.IsOver()) parts_.client_memory.EvictClients(nullptr);
  ContinueInNextTurn();
  parts_.script_cache.CollectGarbage();
  parts_.function_libraries.CollectGarbage();
  parts_.lab.clock.EndTurn();
  AskForWake();
}

void Housekeeping::EndTurnDuringLongTask() {
  parts_.cluster.EndTurnDuringLongTask();
  if (Journaled()) Send();
}

void Housekeeping::AskForWake() {
  const int64_t next_ms = parts_.timers.NextDueMs();
  if (next_ms >= wake_at_ms_ || !parts_.host) return;
  wake_at_ms_ = next_ms;
  parts_.host->WakeAt(wake_at_ms_);
}

// Starts the next turn if work remains that takes many turns. Otherwise it would wait for input.
void Housekeeping::ContinueInNextTurn() {
  parts_.watched_keys.DropSome(kWatchesPerTurn);
  // Also covers requests that follow the ones resumed late in this turn.
  const bool continues = parts_.clients.HasUnblocked() || (parts_.clients.PausedCount() != 0 && !parts_.pause.IsOn());
  if ((continues || parts_.watched_keys.HasDropped()) && parts_.host) parts_.host->Post([] {});
}

bool Housekeeping::Journaled() {
  const int64_t started_us = parts_.aof.IsOn() ? parts_.pace.NowUs() : 0;
  parts_.aof.Flush();
  if (started_us != 0) parts_.stats.journal_us += static_cast<uint64_t>(parts_.pace.NowUs() - started_us);
  const bool has_acks = parts_.replication.replicas().TakeProgress();
  if (parts_.blocked_clients.AwaitsDisk() &&
      (has_acks || synced_seen_ != parts_.aof.writer().Synced() || !parts_.aof.IsOn())) {
    synced_seen_ = parts_.aof.writer().Synced();
    parts_.blocked_clients.ServeDisk();
  }
  if (!parts_.aof.MustStop()) return true;
  if (parts_.host) parts_.host->Stop(1);
  return false;
}

void Housekeeping::Send() {
  do {
    parts_.clients.FlushQueued(parts_.pace);
  } while (parts_.clients.IsBehind() && (!parts_.host || parts_.shutdown.Done()));
  if (parts_.clients.IsBehind()) parts_.host->Post([] {});  // starts the next turn immediately
}

void Housekeeping::Wake() {
  if (parts_.phase.IsMidTurn()) return parts_.host->WakeAt(parts_.clock.MonotonicMs() + kWakeAgainMs);
  wake_at_ms_ = Timers::kNever;
  parts_.timers.RunDue(parts_.clock.MonotonicMs());
}

void Housekeeping::PassTime(int64_t elapsed_ms, const std::function<void(int64_t)>& advance) {
  const int64_t until_ms = parts_.clock.MonotonicMs() + elapsed_ms;
  const auto advance_to = [&](int64_t monotonic_ms) {
    const int64_t now_ms = parts_.clock.MonotonicMs();
    if (monotonic_ms > now_ms) advance(monotonic_ms - now_ms);
  };
  parts_.exact_expiry.Begin(parts_.clock.WallMs() + elapsed_ms);
  parts_.timers.BeginJump();
  for (int64_t due_ms = parts_.timers.NextDueMs(); due_ms <= until_ms; due_ms = parts_.timers.NextDueMs()) {
    advance_to(due_ms);
    parts_.timers.RunDue(parts_.clock.MonotonicMs());
    EndTurn();
  }
  parts_.exact_expiry.End();
  advance_to(until_ms);
  parts_.timers.EndJump(parts_.clock.MonotonicMs());
  Tick();
  wake_at_ms_ = Timers::kNever;  // the time given to the host may have passed
  EndTurn();
}

void Housekeeping::OnClockChanged(Motion motion) {
  wake_at_ms_ = Timers::kNever;
  motion == Motion::kStands ? parts_.expiry.Sleep() : parts_.expiry.WakeUp();
}

void Housekeeping::Tick() {
  if (parts_.phase.IsMidTurn() || parts_.shutdown.Done()) return;
  const int64_t started_us = parts_.pace.NowUs();
  parts_.timer_frequency.Adjust();
  if (parts_.debug.pause_cron) return;
  parts_.shutdown.Continue();
  if (parts_.shutdown.Done()) return;
  parts_.timers.RunDue(parts_.clock.MonotonicMs());  // the clock may have jumped
  parts_.expiry.StartRound(parts_.timer_frequency.Hz());
  SampleStats();
  CheckClients();
  parts_.child_processes.Poll();
  parts_.aof.Cron();
  parts_.snapshots.Cron();
  parts_.replication.Tick();
  parts_.cluster.Tick();
  parts_.slot_migrations.Tick();
  parts_.tracking.KeepWithinLimit();
  parts_.migrate_links.CloseIdle(parts_.pace.NowMs());
  parts_.migrations.CloseIdle(parts_.clock.MonotonicMs());
  parts_.blocks.Trim();
  parts_.stats.timer_us += static_cast<uint64_t>(parts_.pace.NowUs() - started_us);
}

void Housekeeping::SampleStats() {
  const int64_t now_us = parts_.pace.NowUs();
  if (now_us - last_sample_us_ < kSampleEveryUs) return;
  last_sample_us_ = now_us;
  parts_.stats.SampleRates(now_us);
  parts_.memory.NotePeak();
}

void Housekeeping::CheckClients() {
  // Checks a share of the clients in each round, and all of them once a second, so that ten thousand clients do not
  // delay a turn.
  const size_t wanted =
      std::max(parts_.clients.Count() / static_cast<size_t>(parts_.timer_frequency.Hz()), kClientsCheckedAtLeast);
  const int64_t now_ms = parts_.clock.MonotonicMs();
  parts_.clients.Rotate(wanted, [&](Session& session) {
    parts_.limits.Check(session, now_ms);
    if (parts_.client_memory.IsOn()) parts_.client_memory.Update(session);
  });
}

void Housekeeping::EndAwaits() {
  parts_.executor.StartRun();
  parts_.lab.awaits.Look();
}

void Housekeeping::ResumePaused() { Resume(parts_.clients, parts_.clients.TakePaused()); }

void Housekeeping::ResumeUnblocked() {
  // A resumed client may unblock other clients.
  for (auto sessions = parts_.clients.TakeUnblocked(); !sessions.empty(); sessions = parts_.clients.TakeUnblocked())
    Resume(parts_.clients, sessions);
}

}  // namespace respite
