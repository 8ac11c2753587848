#include "server/lab/awaits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/real_clock.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/clients.h"
#include "server/lab/request_owner.h"
#include "server/runtime/host.h"

namespace respite {

void Awaits::RegisterWait(const Session& session, const Command& command, Condition condition, int64_t timeout_ms) {
  const int64_t now_us = parts_.env.real_clock.NowUs();
  const int64_t check_again_us = condition().check_again_us;
  const int64_t deadline_us = now_us + timeout_ms * 1000;
  waits_by_client_.insert_or_assign(
      session.id, Await{.command = &command, .condition = std::move(condition), .deadline_us = deadline_us});
  RequestTurn(std::min(check_again_us, deadline_us));
}

std::optional<Awaits::ConditionState> Awaits::Take(const Session& session) {
  const auto found = waits_by_client_.find(session.id);
  if (found == waits_by_client_.end()) return std::nullopt;
  std::optional<ConditionState> end = std::move(found->second.end);
  waits_by_client_.erase(found);
  return end;
}

void Awaits::CheckConditions() {
  const int64_t now_us = parts_.env.real_clock.NowUs();
  if (requested_turn_us_ <= now_us) requested_turn_us_ = kNever;
  int64_t next_us = kNever;
  std::vector<std::pair<uint64_t, const Command*>> over;
  for (auto& [id, await] : waits_by_client_) {
    ConditionState sight = await.condition();
    if (sight.is_met || await.deadline_us <= now_us) {
      await.end = std::move(sight);
      over.emplace_back(id, await.command);
    } else {
      next_us = std::min({next_us, sight.check_again_us, await.deadline_us});
    }
  }
  for (const auto& [id, command] : over) {
    // Continues the client only if this TEST AWAIT still blocks it. Meanwhile the client may have disconnected, or its
    // wait may have ended in another way, and another command may block the client now.
    Session* const session = parts_.clients.Find(id);
    const bool still_waits =
        session != nullptr && session->blocked_client != nullptr && session->blocked_client->command == command;
    if (still_waits) parts_.blocked_clients.Continue(*session);
    waits_by_client_.erase(id);
  }
  if (next_us != kNever) RequestTurn(next_us);
}

std::shared_ptr<const RequestCounter> Awaits::GetOrMakeRequestCounter() {
  auto requests = request_counter_.lock();
  if (requests == nullptr) {
    requests = std::make_shared<const RequestCounter>(parts_.observers);
    request_counter_ = requests;
  }
  return requests;
}

void Awaits::RequestTurn(int64_t real_us) {
  if (real_us >= requested_turn_us_ || !parts_.env.host) return;
  requested_turn_us_ = real_us;
  parts_.env.host->StartTurnAt(real_us);
}

void RequestCounter::OnCall(const FinishedCall& call) {
  if (call.nesting == 0) Note(call.session, &call.command);
}

void RequestCounter::OnRefusal(const RefusedCall& call) {
  if (call.nesting == 0) Note(call.session, call.command);
}

void RequestCounter::Note(const Session& client, const Command* command) {
  if (!IsTestOrServerTraffic(client, command)) ++count_;
}

}  // namespace respite
