#include "server/eviction.h"

#include <cmath>
#include <limits>
#include <utility>

#include "server/latency_watch.h"
#include "server/server.h"

namespace respite {

namespace {

constexpr int kKeysPerLook = 16;  // at the clock

// How long one round may take. Redis: up to half a millisecond for the lower tenth of the scale, then 15 % more with
// each step, and without end at 100.
int64_t RoundUs(int tenacity) {
  constexpr int kGentle = 10;
  constexpr int kMerciless = 100;
  constexpr int64_t kUsPerStep = 50;
  if (tenacity <= kGentle) return kUsPerStep * tenacity;
  if (tenacity >= kMerciless) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(kUsPerStep * kGentle * std::pow(1.15, tenacity - kGentle));
}

}  // namespace

Eviction::Eviction(Server& server)
    : server_(server), pool_(server.keyspace(), server.settings(), server.access(), server.random()) {}

bool Eviction::MayEvict() const { return !server_.IsMidTurn() && !server_.pause().IsOn(); }

size_t Eviction::UncountedBytes() const {
  return server_.aof().writer().BufferOctets() + server_.reclaimer().PendingBytes();
}

size_t Eviction::ExcessBytes() const {
  const size_t limit = server_.settings().maxmemory;
  const size_t used = server_.UsedMemory();
  if (limit == 0 || used <= limit) return 0;
  const size_t excess = used - limit;
  const size_t uncounted = UncountedBytes();
  return excess > uncounted ? excess - uncounted : 0;
}

bool Eviction::LacksMemory() const { return server_.settings().maxmemory != 0 && lacks_memory_; }

void Eviction::BeforeCommand() {
  if (server_.IsMidTurn()) return;  // others are served in the middle of a command that has its own answer
  lacks_memory_ = MakeRoom() == Outcome::kFailed;
}

Eviction::Outcome Eviction::MakeRoom() {
  if (!MayEvict()) return Outcome::kWithin;
  Outcome outcome = Outcome::kWithin;
  if (ExcessBytes() != 0) {
    server_.DropSpareMemory();
    const size_t excess = ExcessBytes();
    if (excess != 0) outcome = EvictKeys(excess);
  }
  NoteOutcome(outcome);
  return outcome;
}

Eviction::Outcome Eviction::EvictKeys(size_t excess_bytes) {
  const Settings& settings = server_.settings();
  if (settings.maxmemory_policy == EvictionPolicy::kNoEviction) return Outcome::kFailed;
  LatencyWatch watch(server_, "eviction-cycle");
  const int64_t started_us = server_.clock().MonotonicUs();
  const int64_t allowed_us = RoundUs(settings.maxmemory_eviction_tenacity);
  Unit unit(server_.data(), server_.clock().WallMs(), ExpiryRule::kPurge);
  Outcome outcome = Outcome::kWithin;
  // Messages that tell of a key take memory as well: were they counted, each key would cost others.
  freed_bytes_ = 0;
  for (int keys = 1; freed_bytes_ < excess_bytes; ++keys) {
    const auto choice = pool_.Choose(unit.now_ms());
    if (!choice) {
      outcome = Outcome::kFailed;
      break;
    }
    EvictOne(unit, *choice);
    if (keys % kKeysPerLook != 0 || server_.clock().MonotonicUs() - started_us <= allowed_us) continue;
    outcome = Outcome::kRunning;
    StartInNextTurn();
    break;
  }
  return outcome;
}

void Eviction::EvictOne(Unit& unit, const EvictionPool::Choice& choice) {
  LatencyWatch watch(server_, "eviction-del");
  if (choice.entry->IsExpired(unit.now_ms())) {
    const int64_t before = HeldBytes();
    unit.Purge(choice.db, choice.entry);
    NoteFreed(before);
  } else {
    unit.Evict(choice.db, choice.entry, server_.settings().lazyfree_lazy_eviction ? Bytes("UNLINK") : Bytes("DEL"));
  }
  unit.Close();  // each key stands for itself in the journal
}

void Eviction::Free(EntryPtr entry) {
  const bool lazily = server_.settings().lazyfree_lazy_eviction;
  const int64_t before = HeldBytes();
  server_.FreeEntry(std::move(entry), lazily ? Server::FreeMode::kLater : Server::FreeMode::kNow);
  NoteFreed(before);
}

int64_t Eviction::HeldBytes() const {
  return static_cast<int64_t>(server_.UsedMemory()) - static_cast<int64_t>(server_.reclaimer().PendingBytes());
}

void Eviction::NoteFreed(int64_t held_before_bytes) {
  // The background thread frees meanwhile, and says so a little later.
  const int64_t freed_bytes = held_before_bytes - HeldBytes();
  if (freed_bytes > 0) freed_bytes_ += static_cast<size_t>(freed_bytes);
}

void Eviction::StartInNextTurn() {
  if (server_.host() == nullptr || std::exchange(posted_, true)) return;
  server_.host()->Post([this] {
    posted_ = false;
    MakeRoom();
  });
}

void Eviction::NoteOutcome(Outcome outcome) {
  ServerStats& stats = server_.stats();
  int64_t& since_us = stats.eviction_exceeded_since_us;
  if (outcome != Outcome::kWithin) {
    if (since_us == 0) since_us = server_.clock().MonotonicUs();
  } else if (since_us != 0) {
    stats.eviction_exceeded_us += static_cast<uint64_t>(server_.clock().MonotonicUs() - since_us);
    since_us = 0;
  }
}

}  // namespace respite
