// DownWatch: decides whether an instance is down for this Sentinel, and whether enough Sentinels agree.
#pragma once

#include <functional>
#include <utility>

#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class DownWatch {  // decides which instances are down, for this Sentinel and for the quorum
 public:
  DownWatch(const SentinelCore& core, SentinelEvents& events) : core_(core), events_(events) {}

  // CheckSubjectivelyDown decides whether this Sentinel considers the instance down (sdown); the timer calls it.
  // CheckObjectivelyDown decides whether enough Sentinels agree (odown); it also runs after replies to INFO and answers
  // of Sentinels.
  void CheckSubjectivelyDown(Instance& instance);  // sets Instance::is_down: the opinion of this Sentinel alone
  void CheckObjectivelyDown(Primary& primary);     // sets Primary::is_objectively_down: enough Sentinels agree

  // AskOtherSentinels asks the other Sentinels about a primary that is down for this one. During a failover it also
  // requests their votes. kNow: it asks even Sentinels that have answered a moment ago.
  enum class Pace : uint8_t { kWhenDue, kNow };
  void AskOtherSentinels(Primary& primary, Pace pace);  // asks other Sentinels whether the primary is down
  // Sets the handler that runs after each answer of another Sentinel.
  void SetOpinionHandler(std::function<void(Primary&)> handler) {  // runs after each answer of another Sentinel
    on_opinion_ = std::move(handler);
  }

 private:
  void CloseHangingLinks(Instance& instance);     // closes connections that bring no answers any more
  bool IsSilent(const Instance& instance) const;  // no good answer for longer than down-after-milliseconds
  bool IsUnfit(const Primary& primary) const;     // answers, but counts as down: reports to be a replica, or rebooted
  void RequestOpinion(Primary& primary, PeerSentinel& sentinel);        // asks one Sentinel whether the primary is down
  void ReceiveOpinion(PeerSentinel& sentinel, const ReplyTree& reply);  // handles the reply to is-master-down-by-addr

  const SentinelCore core_;
  SentinelEvents& events_;                    // reports events in the log, on channels and to scripts
  std::function<void(Primary&)> on_opinion_;  // runs after each answer of another Sentinel
};

}  // namespace respite
