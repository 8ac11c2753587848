// DownWatch: whether an instance is down as this Sentinel sees it, and whether enough Sentinels say that of a primary.
#pragma once

#include <functional>
#include <utility>

#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class DownWatch {
 public:
  DownWatch(const SentinelCore& core, SentinelEvents& events) : core_(core), events_(events) {}

  // For the timer.
  void CheckAlone(Instance& instance);
  void CheckTogether(Primary& primary);

  // Asks the other Sentinels what they think of a primary that is down here; and for their votes, if a failover has
  // begun. kNow: even if they were asked just now.
  enum class Pace : uint8_t { kWhenDue, kNow };
  void AskOthers(Primary& primary, Pace pace);
  // Runs `handler` when an answer has come.
  void OnOpinion(std::function<void(Primary&)> handler) { on_opinion_ = std::move(handler); }

 private:
  void CloseHangingLinks(Instance& instance);
  bool IsSilent(const Instance& instance) const;
  // What else makes a primary count as down.
  bool IsUnfit(const Primary& primary) const;
  void Ask(Primary& primary, PeerSentinel& sentinel);
  void ReceiveOpinion(PeerSentinel& sentinel, const ReplyTree& reply);

  const SentinelCore core_;
  SentinelEvents& events_;
  std::function<void(Primary&)> on_opinion_;
};

}  // namespace respite
