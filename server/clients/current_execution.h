// CurrentExecution: the running command and its start time. Only the Executor writes it.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "server/catalogue/command_table.h"

namespace respite {

struct Session;

struct CurrentExecution {
  const Command* command = nullptr;  // null: none
  const Session* session = nullptr;
  std::span<const Bytes> words = {};
  int64_t last_us = 0;       // monotonic: end of the last command, start of the next
  int64_t pace_us = 0;       // the same time on the Pace's clock
  int64_t wall_base_us = 0;  // wall minus monotonic

  // Null when no command is running.
  const Session* CurrentSession() const { return command == nullptr ? nullptr : session; }
  int64_t NowUs() const { return last_us; }
  int64_t NowMs() const { return last_us / 1000; }
  int64_t WallMs() const { return (wall_base_us + last_us) / 1000; }
  // Whether a message for this session (a publication, an invalidation) must wait in its deferred_pushes until the
  // command is done, so that it is not sent inside the reply. Redis: SUBSCRIBE and the like reply with messages, so
  // others may come between.
  bool DefersPushes(const Session& to) const {
    constexpr uint32_t kAnswersWithPushes = kPubSub | kNoScript;
    return CurrentSession() == &to && (command->flags & kAnswersWithPushes) != kAnswersWithPushes;
  }
};

}  // namespace respite
