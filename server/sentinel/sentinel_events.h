// SentinelEvents: reports events to operators and clients: in the log, and on a channel with the name of the event. A
// warning is also reported to the notification script.
#pragma once

#include <string>

#include "server/sentinel/script_queue.h"
#include "server/sentinel/sentinel_core.h"

namespace respite {

class SentinelEvents {  // reports events in the log, on channels and to the notification script
 public:
  SentinelEvents(const SentinelCore& core, ScriptQueue& scripts) : core_(core), scripts_(scripts) {}

  // Reports an event about an instance, with a text like "master mymaster 127.0.0.1 6379" or "slave … @ mymaster
  // 127.0.0.1 6379", followed by `more`.
  void Tell(LogLevel level, const char* event, const Instance& instance, const std::string& more = {});
  // Reports an event with exactly this text. A warning also runs the notification script of the primary.
  void ReportPrimaryEvent(LogLevel level, const char* event,  // reports an event in the log and on a channel
                          const Primary& primary, const std::string& text);

  // The part of this Sentinel in a failover. kLeader: this Sentinel carries out the failover. kObserver: another
  // Sentinel does.
  enum class FailoverPart : uint8_t { kLeader, kObserver };
  void RunReconfigurationScript(const Primary& primary,  // runs client-reconfig-script with old and new address
                                FailoverPart part, const SentinelAddress& from, const SentinelAddress& to);

 private:
  std::string Describe(const Instance& instance) const;  // the instance, as "slave … @ mymaster 127.0.0.1 6379"

  const SentinelCore core_;
  ScriptQueue& scripts_;  // runs the scripts of the operator
};

}  // namespace respite
