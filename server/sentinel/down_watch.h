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

  // CheckSubjectivelyDown decides whether this Sentinel considers the instance down (sdown). CheckObjectivelyDown
  // decides whether enough Sentinels agree (odown). The timer calls both; CheckObjectivelyDown also runs after each
  // reply to INFO and each answer of another Sentinel.
  void CheckSubjectivelyDown(Instance& instance);  // sets Instance::is_down: the opinion of this Sentinel alone
  void CheckObjectivelyDown(Primary& primary);     // sets Primary::is_objectively_down: enough Sentinels agree

  // When AskOtherSentinels asks the other Sentinels about a primary that this Sentinel considers down. kWhenDue: each
  // at most once per SentinelPeriods::ask. kNow: also Sentinels that have just answered.
  enum class AskTiming : uint8_t { kWhenDue, kNow };
  void AskOtherSentinels(Primary& primary, AskTiming real_clock);  // asks about `primary`; in a failover, for votes too
  void SetOpinionHandler(std::function<void(Primary&)> handler) {  // called after each Sentinel's answer
    on_opinion_ = std::move(handler);
  }

 private:
  void CloseHangingLinks(Instance& instance);     // closes connections that bring no answers any more
  bool IsSilent(const Instance& instance) const;  // true: no good answer for down-after-milliseconds
  bool IsUnfit(const Primary& primary) const;     // answers, but counts as down: reports to be a replica, or rebooted
  void RequestOpinion(Primary& primary, PeerSentinel& sentinel);  // asks whether the primary is down, or for a vote
  void ReceiveOpinion(PeerSentinel& sentinel, const ReplyTree& reply);  // handles the reply to is-master-down-by-addr

  const SentinelCore core_;
  SentinelEvents& events_;                    // reports events in the log, on channels and to scripts
  std::function<void(Primary&)> on_opinion_;  // called after each answer of another Sentinel
};

}  // namespace respite
