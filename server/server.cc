#include "server/server.h"

#include <algorithm>
#include <string>
#include <utility>

#include "server/commands/families.h"
#include "server/config_hooks.h"
#include "server/latency_watch.h"
#include "server/memory.h"
#include "server/refusals.h"

namespace respite {

namespace {

constexpr int64_t kSampleEveryUs = 100'000;
constexpr size_t kWatchesPerTurn = 1000;
constexpr int64_t kWakeAgainMs = 10;      // while a script or loading holds everything up
constexpr size_t kClientsPerRound = 200;  // Redis: MAX_CLIENTS_PER_CLOCK_TICK, what dynamic-hz aims at
constexpr size_t kClientsCheckedAtLeast = 5;
// What is smaller is freed faster than it is handed over.
constexpr size_t kFreeLaterFrom = 64 * 1024;
constexpr size_t kFreeLaterFromElements = 64;
// What would hold up everybody for milliseconds goes to the background thread whatever the directives say; lazyfree
// counters do not count it then.
constexpr size_t kGiantElements = 50'000;
constexpr size_t kGiantBytes = size_t{32} << 20;  // of all data
constexpr size_t kSamples = 5;                    // elements whose size stands for that of all

// The content of a database, whose memory goes back to the system with it.
class FlushedData {
 public:
  explicit FlushedData(Database content) : content_(std::move(content)) {}
  FlushedData(FlushedData&&) noexcept = default;
  FlushedData& operator=(FlushedData&&) = delete;
  ~FlushedData() {
    if (content_.Size() == 0) return;  // it was moved from
    content_.Clear();
    PurgeAllocator();
  }

 private:
  Database content_;
};

// What its first few keys take stands for all.
double GuessBytes(const Database& content) {
  constexpr size_t kEnough = 256;
  size_t keys = 0;
  size_t bytes = 0;
  uint64_t cursor = 0;
  do {
    cursor = content.Scan(cursor, [&](const Entry* entry) {
      ++keys;
      bytes += entry->UsedBytes(kSamples);
    });
  } while (cursor != 0 && keys < kEnough);
  return keys == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(keys) * static_cast<double>(content.Size());
}

// One of them may close those behind it (CLIENT KILL), and if it runs a script for long, others are served meanwhile
// and those are freed, too.
void Resume(const Clients& clients, const std::vector<Session*>& sessions) {
  std::vector<uint64_t> ids;
  for (const Session* session : sessions) ids.push_back(session->id);
  for (const uint64_t id : ids) {
    Session* session = clients.Find(id);
    if (session != nullptr && session->transport != nullptr) session->transport->Resume();
  }
}

}  // namespace

Server::Server(Parts parts)
    : parts_(parts),
      random_(parts.random_seed),
      keyspace_(parts.config.settings().databases, parts.hash_key),
      access_(parts.config.settings(), random_),
      watched_keys_(keyspace_, parts.hash_key),
      waiting_(*this, parts.hash_key),
      tracking_(*this, parts.hash_key, random_.Next()),
      listeners_(*this),
      data_{keyspace_, keyspace_stats_, access_, parts.config.settings(), random_},
      commands_(CommandFamilies()),
      users_(commands_, settings()),
      pubsub_(*this, parts.hash_key),
      key_notifications_(pubsub_, parts.config.settings()),
      clients_(blocks_, users_.Default()),
      limits_(*this),
      client_memory_(*this),
      nursery_(*this, parts.forker),
      aof_(*this),
      snapshots_(*this),
      loading_(*this),
      shutdown_(*this),
      expiry_(data_, parts.clock),
      eviction_(*this),
      executor_(*this),
      script_runner_(*this),
      script_cache_(script_runner_, parts.hash_key),
      function_libraries_(script_runner_, parts.hash_key),
      run_id_(RandomHex(40)),
      replication_id_(RandomHex(40)),
      started_ms_(parts.clock.MonotonicMs()),
      started_wall_ms_(parts.clock.WallMs()),
      hz_(settings().hz) {
  data_.disposal = this;
  data_.listener = &listeners_;
  clients_.OnClose([this](Session& session) { ForgetSession(session); });
  RegisterConfigHooks(*this);
  client_memory_.AdoptLimit();
  executor_.StartRun();
  MarkStartupMemory();
}

Server::~Server() = default;

void Server::EndTurn() {
  snapshots_.EndTurn();
  if (shutdown_.Done()) return Send();  // what would run now would be lost
  if (waiting_.HasReady()) {            // keys that went without a command: they expired
    executor_.StartRun();
    waiting_.ServeReady();
  }
  if (clients_.PostponedCount() != 0 && pause_.scope() == Pause::Scope::kNone) ResumePostponed();
  ResumeContinued();
  tracking_.Broadcast();
  if (!Journaled()) return;
  Send();
  if (client_memory_.IsOver()) client_memory_.EvictClients(nullptr);
  GoOnInNextTurn();
  script_cache_.CollectGarbage();
  function_libraries_.CollectGarbage();
  if (waiting_.NextDeadline() < wake_at_ms_ && host_ != nullptr) {
    wake_at_ms_ = waiting_.NextDeadline();
    host_->WakeAt(wake_at_ms_);
  }
}

// What takes many Turns must not wait for a client to begin the next one.
void Server::GoOnInNextTurn() {
  watched_keys_.DropSome(kWatchesPerTurn);
  const bool continues = clients_.PostponedCount() != 0 && pause_.scope() == Pause::Scope::kNone;
  if ((continues || watched_keys_.HasDropped()) && host_ != nullptr) host_->Post([] {});
}

bool Server::Journaled() {
  const int64_t started_us = aof_.IsOn() ? clock().MonotonicUs() : 0;
  aof_.Flush();
  if (started_us != 0) stats_.journal_us += static_cast<uint64_t>(clock().MonotonicUs() - started_us);
  if (waiting_.AwaitsDisk() && (synced_seen_ != aof_.writer().Synced() || !aof_.IsOn())) {
    synced_seen_ = aof_.writer().Synced();
    waiting_.ServeDisk();
  }
  if (!aof_.MustStop()) return true;
  if (host_ != nullptr) host_->Stop(1);
  return false;
}

void Server::Send() {
  do {
    clients_.FlushQueued(clock());
  } while (clients_.IsBehind() && (host_ == nullptr || shutdown_.Done()));
  if (clients_.IsBehind()) host_->Post([] {});  // the next Turn comes at once
}

void Server::Wake() {
  if (IsMidTurn()) return host_->WakeAt(clock().MonotonicMs() + kWakeAgainMs);
  wake_at_ms_ = Waiter::kNoDeadline;
  waiting_.EndOverdue();
}

void Server::Cron() {
  if (IsMidTurn() || shutdown_.Done()) return;
  int64_t started_us = clock().MonotonicUs();
  AdjustHz();
  if (debug_.pause_cron) return;
  shutdown_.GoOn();
  if (shutdown_.Done()) return;
  if (pause_.IsOver(clock().MonotonicMs())) EndPause();
  if (!pause_.IsOn()) ExpireKeys();
  SampleStats();
  CheckClients();
  nursery_.Poll();
  aof_.Cron();
  snapshots_.Cron();
  tracking_.KeepWithinLimit();
  migrate_links_.CloseIdle(clock().MonotonicMs());
  blocks_.Trim();
  script_cache_.RestIfIdle();
  function_libraries_.RestIfIdle();
  stats_.timer_us += static_cast<uint64_t>(clock().MonotonicUs() - started_us);
}

void Server::AdjustHz() {
  hz_ = settings().hz;
  if (!settings().dynamic_hz) return;
  while (clients_.Count() / static_cast<size_t>(hz_) > kClientsPerRound && hz_ < kMaxHz)
    hz_ = std::min(hz_ * 2, kMaxHz);
}

void Server::ExpireKeys() {
  expiry_.StartRound(settings(), hz_);
  GoOnExpiring();
}

void Server::GoOnExpiring() {
  if (pause_.IsOn() || shutdown_.Done()) return;  // clients were paused since
  if (IsMidTurn()) return ExpireInNextTurn();
  // Clients are served between slices. Without a host nobody waits.
  Expiry::Slice slice = expiry_.RunSlice();
  int64_t threshold_ms = settings().latency_monitor_threshold;
  if (threshold_ms != 0 && slice.elapsed_us >= threshold_ms * 1000) {
    latency_.Add("expire-cycle", slice.elapsed_us / 1000, clock().WallMs() / 1000);
  }
  if (slice.outcome == Expiry::Outcome::kFinished) return;
  if (host_ == nullptr) return GoOnExpiring();
  ExpireInNextTurn();
}

void Server::ExpireInNextTurn() {
  if (std::exchange(slice_posted_, true)) return;
  host_->Post([this] {
    slice_posted_ = false;
    GoOnExpiring();
  });
}

void Server::SampleStats() {
  int64_t now_us = clock().MonotonicUs();
  if (now_us - last_sample_us_ < kSampleEveryUs) return;
  last_sample_us_ = now_us;
  stats_.ops.Sample(stats_.commands, now_us);
  stats_.input.Sample(stats_.net_input_bytes, now_us);
  stats_.output.Sample(stats_.net_output_bytes, now_us);
  stats_.turn_rate.Sample(stats_.turns, now_us);
  stats_.turn_length.Sample(stats_.turn_us, static_cast<int64_t>(stats_.turns));
  stats_.peak_memory_bytes = std::max(stats_.peak_memory_bytes, UsedMemory());
}

void Server::MarkStartupMemory() {
  stats_.startup_memory_bytes = UsedMemory();
  stats_.peak_memory_bytes = std::max(stats_.peak_memory_bytes, stats_.startup_memory_bytes);
}

size_t Server::UsedMemory() const {
  const int64_t held = ThreadMemory::OfThisThread().HeldBytes() + reclaimer_.HeldBytes();
  return static_cast<size_t>(std::max<int64_t>(held, 0));
}

void Server::CheckClients() {
  // A part of the clients each round, so that ten thousand of them do not hold up one Turn; all of them once a second.
  size_t wanted = std::max<size_t>(clients_.Count() / static_cast<size_t>(hz_), kClientsCheckedAtLeast);
  int64_t now_ms = clock().MonotonicMs();
  clients_.Rotate(wanted, [&](Session& session) {
    limits_.Check(session, now_ms);
    if (client_memory_.IsOn()) client_memory_.Update(session);
  });
}

void Server::StartPause(Pause::Scope scope, int64_t until_ms) {
  pause_.Start(scope, until_ms);
  if (pause_.IsOver(clock().MonotonicMs())) EndPause();
}

void Server::EndPause() { pause_.End(); }

void Server::ResumePostponed() { Resume(clients_, clients_.TakePostponed()); }

void Server::ResumeContinued() {
  // Those who go on may end the wait of others.
  for (auto sessions = clients_.TakeContinued(); !sessions.empty(); sessions = clients_.TakeContinued())
    Resume(clients_, sessions);
}

void Server::Push(Session& session, Bytes message) {
  if (executor_.DefersPushes(session)) {
    session.deferred_pushes.append(message);
    return;
  }
  session.out.Append(message);
  clients_.QueueMessages(session);
  limits_.CheckOutput(session, executor_.NowMs(), ClientLimits::Moment::kReply);
}

void Server::DropTransaction(Session& session) {
  watched_keys_.Forget(session);
  if (session.transaction != nullptr) session.transaction->End();
}

void Server::ForgetSession(Session& session) {
  session.subscriptions.reset();
  waiting_.Forget(session);
  tracking_.Disable(session);
  watched_keys_.Forget(session);
  client_memory_.Forget(session);
}

bool Server::Dismantle(Session& session) {
  constexpr size_t kPerTurn = 1000;
  watched_keys_.Forget(session);
  if (session.subscriptions != nullptr) session.subscriptions->LeaveSome(kPerTurn);
  return session.subscriptions == nullptr || session.subscriptions->Total() == 0;
}

void Server::FreeEntry(EntryPtr entry, FreeMode mode) {
  if (entry == nullptr) return;
  const bool is_giant = entry->FreeEffort() >= kGiantElements;
  if (mode == FreeMode::kNow && !is_giant) return;
  const size_t bytes = entry->UsedBytes();
  if (entry->FreeEffort() < kFreeLaterFromElements && bytes < kFreeLaterFrom) return;
  reclaimer_.Free(std::move(entry), mode == FreeMode::kLater ? 1 : 0, bytes);
}

void Server::Expired(EntryPtr entry) {
  LatencyWatch watch(*this, "expire-del");
  FreeEntry(std::move(entry), settings().lazyfree_lazy_expire ? FreeMode::kLater : FreeMode::kNow);
  entry.reset();  // while it is watched
}

void Server::Overwritten(BlobRef value) {
  const size_t bytes = value.UsedBytes();
  if (settings().lazyfree_lazy_server_del && bytes >= kFreeLaterFrom) reclaimer_.Free(std::move(value), 1, bytes);
}

void Server::Overwritten(std::unique_ptr<Object> value) {
  const size_t elements = value->Size();
  const bool is_lazy = settings().lazyfree_lazy_server_del && elements >= kFreeLaterFromElements;
  if (!is_lazy && elements < kGiantElements) return;
  const size_t bytes = value->UsedBytes(kSamples);
  reclaimer_.Free(std::move(value), is_lazy ? 1 : 0, bytes);
}

// What it takes is guessed: its share of all data. If several are flushed at once the first ones are taken for all of
// them, which comes to the same.
void Server::FreeDatabase(Database content, FreeMode mode) {
  const size_t keys = content.Size();
  if (keys == 0) return;
  const size_t used_bytes = UsedMemory();
  const size_t startup_bytes = stats_.startup_memory_bytes;
  const size_t other_bytes = startup_bytes + reclaimer_.PendingBytes();
  const size_t data_bytes = used_bytes > other_bytes ? used_bytes - other_bytes : 0;
  const double guess = GuessBytes(content);
  double all = guess;
  for (int db = 0; db < keyspace_.Count(); ++db) all += GuessBytes(keyspace_[db]);
  const auto bytes = static_cast<size_t>(static_cast<double>(data_bytes) * guess / all);
  if (mode == FreeMode::kLater) {
    reclaimer_.Free(std::move(content), keys, bytes);
  } else if (keys >= kGiantElements || used_bytes >= startup_bytes + kGiantBytes) {
    reclaimer_.Free(FlushedData(std::move(content)), 0, bytes);
  }
}

}  // namespace respite
