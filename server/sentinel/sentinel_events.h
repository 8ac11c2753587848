// SentinelEvents: tells operators and clients what happens: in the log, on a channel that has the name of the event,
// and to the notification script.
#pragma once

#include <string>

#include "server/sentinel/script_queue.h"
#include "server/sentinel/sentinel_core.h"

namespace respite {

class SentinelEvents {
 public:
  SentinelEvents(const SentinelCore& core, ScriptQueue& scripts) : core_(core), scripts_(scripts) {}

  // "master mymaster 127.0.0.1 6379", "slave … @ mymaster 127.0.0.1 6379", and then `more`.
  void Tell(LogLevel level, const char* event, const Instance& instance, const std::string& more = {});
  // Only the text; the script is that of the primary.
  void SayOf(LogLevel level, const char* event, const Primary& primary, const std::string& text);
  // The same, for nobody's script.
  void Say(LogLevel level, const char* event, const std::string& text);

  // The client-reconfig-script hears where the primary has gone.
  enum class Part : uint8_t { kLeader, kObserver };
  void TellClientsOf(const Primary& primary, Part part, const SentinelAddress& from, const SentinelAddress& to);

 private:
  std::string Describe(const Instance& instance) const;

  const SentinelCore core_;
  ScriptQueue& scripts_;
};

}  // namespace respite
