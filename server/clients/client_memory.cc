#include "server/clients/client_memory.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/clients/session.h"
#include "server/config/settings.h"
#include "server/runtime/server_phase.h"
#include "server/runtime/stats.h"

namespace respite {

int ClientMemory::SizeClassIndexOf(size_t bytes) {
  constexpr int kFractionBits = 3;  // kClassesPerDoubling
  static_assert(1 << kFractionBits == kClassesPerDoubling);
  if (bytes < kClassesPerDoubling) return 0;
  const auto doublings = static_cast<int>(std::bit_width(bytes)) - 1;
  const auto fraction = static_cast<int>((bytes >> (doublings - kFractionBits)) & (kClassesPerDoubling - 1));
  return doublings * kClassesPerDoubling + fraction;
}

size_t ClientMemory::ConfiguredLimitBytes() const {
  const Settings& settings = parts_.env.settings;
  const int64_t wanted = settings.maxmemory_clients;
  if (wanted == 0 || (wanted < 0 && settings.maxmemory == 0)) return kNoLimit;
  const size_t bytes =
      wanted > 0 ? static_cast<size_t>(wanted)
                 : static_cast<size_t>(static_cast<double>(settings.maxmemory) * static_cast<double>(-wanted) / 100);
  return std::max(bytes, kMinLimitBytes);
}

void ClientMemory::ApplyConfiguredLimit() {
  const bool was_on = IsOn();
  limit_bytes_ = ConfiguredLimitBytes();
  if (was_on == IsOn()) return;
  if (IsOn()) {
    parts_.clients.SetMeasureAfterFlush([this](Session& session) { Remeasure(session); });
  } else {
    parts_.clients.SetMeasureAfterFlush(nullptr);
  }
  parts_.clients.ForEach([&](Session& session) {
    if (session.closing) return;
    IsOn() ? Remeasure(session) : Forget(session);
  });
}

void ClientMemory::Remeasure(Session& session, size_t request_bytes) {
  if (session.closing) return;
  const bool is_link = session.kind == SessionKind::kReplica || session.kind == SessionKind::kPrimary;
  const size_t bytes = is_link ? 0 : session.HeldBytes() + request_bytes;
  MemoryPlace& place = session.memory_place;
  total_bytes_ += bytes - place.counted_bytes_;
  place.counted_bytes_ = bytes;
  const int size_class = session.no_evict || is_link ? MemoryPlace::kNoSizeClass : SizeClassIndexOf(bytes);
  if (size_class == place.size_class_) return;
  RemoveFromSizeClass(session);
  if (size_class != MemoryPlace::kNoSizeClass) AddToSizeClass(session, size_class);
}

void ClientMemory::Forget(Session& session) {
  RemoveFromSizeClass(session);
  total_bytes_ -= std::exchange(session.memory_place.counted_bytes_, 0);
}

void ClientMemory::AddToSizeClass(Session& session, int size_class) {
  std::vector<Session*>& row = classes_[static_cast<size_t>(size_class)];
  session.memory_place.size_class_ = static_cast<int16_t>(size_class);
  session.memory_place.place_ = static_cast<uint32_t>(row.size());
  row.push_back(&session);
  highest_class_ = std::max(highest_class_, size_class);
}

void ClientMemory::RemoveFromSizeClass(Session& session) {
  MemoryPlace& place = session.memory_place;
  if (place.size_class_ == MemoryPlace::kNoSizeClass) return;
  std::vector<Session*>& row = classes_[static_cast<size_t>(place.size_class_)];
  row.back()->memory_place.place_ = place.place_;
  row[place.place_] = row.back();
  row.pop_back();
  place.size_class_ = MemoryPlace::kNoSizeClass;
}

Session* ClientMemory::FindSessionToEvict() {
  while (highest_class_ > 0 && classes_[static_cast<size_t>(highest_class_)].empty()) --highest_class_;
  const std::vector<Session*>& row = classes_[static_cast<size_t>(highest_class_)];
  return row.empty() ? nullptr : row.front();
}

void ClientMemory::EvictClients(const Session* running) {
  while (IsLimitReached()) {
    Session* session = FindSessionToEvict();
    if (session == nullptr) return WarnThatNoClientMayBeClosed();
    Evict(*session, running);
  }
}

void ClientMemory::Evict(Session& session, const Session* running) {
  parts_.env.log.Notice("Evicting client: " + ClientText(session, parts_.env.clock.MonotonicMs()));
  ++parts_.env.stats.evicted_clients;
  parts_.clients.Close(session);  // calls Forget
  has_warned_ = false;
  // Frees the buffers of the closed session now. Clients::Close removes the session only in a later turn of the event
  // loop, and until then its memory could cause keys to be evicted.
  if (parts_.env.phase.PausesInputOf(session)) return;  // its command is still running
  session.out.Clear();
  if (session.transaction != nullptr) session.transaction->End();
  if (&session != running) session.in = RequestParser();
}

void ClientMemory::WarnThatNoClientMayBeClosed() {
  if (std::exchange(has_warned_, true)) return;
  parts_.env.log.Warning("Over client maxmemory after evicting all evictable clients");
}

}  // namespace respite
