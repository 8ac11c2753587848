// DownWatch: decides whether an instance is down for this Sentinel, and whether enough Sentinels agree.
#pragma once

#include <functional>
#include <utility>

#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class DownWatch {
 public:
  DownWatch(const SentinelCore& core, SentinelEvents& events) : core_(core), events_(events) {}

  // Called by the timer. CheckAlone decides whether this Sentinel considers the server down (sdown). CheckTogether
  // decides whether enough Sentinels agree (odown).
  void CheckAlone(Instance& instance);
  void CheckTogether(Primary& primary);

  // Asks the other Sentinels about a primary that is down here. During a failover this also requests their votes.
  // kNow: even if they were asked a moment ago.
  enum class Pace : uint8_t { kWhenDue, kNow };
  void AskOthers(Primary& primary, Pace pace);
  // Sets the handler that runs after each answer.
  void OnOpinion(std::function<void(Primary&)> handler) { on_opinion_ = std::move(handler); }

 private:
  void CloseHangingLinks(Instance& instance);
  bool IsSilent(const Instance& instance) const;
  // Returns whether a primary counts as down although it answers.
  bool IsUnfit(const Primary& primary) const;
  void Ask(Primary& primary, PeerSentinel& sentinel);
  void ReceiveOpinion(PeerSentinel& sentinel, const ReplyTree& reply);

  const SentinelCore core_;
  SentinelEvents& events_;
  std::function<void(Primary&)> on_opinion_;
};

}  // namespace respite
