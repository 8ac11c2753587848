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

  // The timer calls the two functions Check…, except in tilt mode. CheckObjectivelyDown is also called after each reply
  // to INFO and after each answer of another Sentinel. CheckSubjectivelyDown also closes connections that bring no
  // answers any more.
  void CheckSubjectivelyDown(Instance& instance);  // sets Instance::is_down (sdown): the opinion of this Sentinel
  void CheckObjectivelyDown(Primary& primary);     // sets Primary::is_objectively_down (odown): a quorum agrees

  // Which Sentinels AskOtherSentinels asks whether they also consider the primary down. kNow: all that are connected.
  // kWhenDue: only those of them whose last answer is at least SentinelPeriods::ask_period_ms old. Answers older than
  // five times ask_period_ms are forgotten.
  enum class AskTiming : uint8_t { kWhenDue, kNow };
  void AskOtherSentinels(Primary& primary, AskTiming timing);      // if the primary is sdown: asks if others agree
  void SetOpinionHandler(std::function<void(Primary&)> handler) {  // `handler` runs after each answer of a Sentinel
    on_opinion_ = std::move(handler);
  }

 private:
  void CloseHangingLinks(Instance& instance);             // closes connections that bring no answers any more
  bool IsSilent(const Instance& instance) const;          // true: no good reply to PING for down-after-milliseconds
  bool CountsAsDownAnyway(const Primary& primary) const;  // true: sdown although it answers (role:slave, reboot)
  void RequestOpinion(Primary& primary,  // asks if `primary` is down; in a failover, also asks for a vote
                      PeerSentinel& sentinel);
  void ReceiveOpinion(PeerSentinel& sentinel, const ReplyTree& reply);  // handles the reply to is-master-down-by-addr

  const SentinelCore core_;
  SentinelEvents& events_;                    // reports events in the log, on channels and to scripts
  std::function<void(Primary&)> on_opinion_;  // called after each answer to IS-MASTER-DOWN-BY-ADDR
};

}  // namespace respite
