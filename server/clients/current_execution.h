// CurrentExecution: the running command and its start time. Only the Executor writes it. PushMessages sends messages
// that must not come inside the reply of the running command.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/clients/session.h"

namespace respite {

class ClientLimits;
class Clients;

struct CurrentExecution {
  const Command* command = nullptr;  // null if no command is running
  const Session* session = nullptr;
  std::span<const Bytes> words = {};
  int depth = 0;             // nesting of commands within commands
  int64_t last_us = 0;       // monotonic: end of the last command, start of the next
  int64_t pace_us = 0;       // the same time on the Pace's clock
  int64_t wall_base_us = 0;  // wall minus monotonic

  // Returns null if no command is running.
  const Session* CurrentSession() const { return command == nullptr ? nullptr : session; }
  // Returns false where a command must not block: in a transaction or script, and in the stream of the primary.
  bool MayBlock() const {
    const Session* const current = CurrentSession();  // the last command's session may have been freed
    return depth == 0 && (current == nullptr || current->kind != SessionKind::kPrimary);
  }
  int64_t NowUs() const { return last_us; }
  int64_t NowMs() const { return last_us / 1000; }
  int64_t WallMs() const { return (wall_base_us + last_us) / 1000; }
  // Returns whether a push to this session (a publication, an invalidation) must wait in its deferred_pushes until the
  // command ends. Otherwise it would be sent inside the reply. Redis: replies of SUBSCRIBE and similar commands are
  // messages, so other messages may come between them.
  bool DefersPushes(const Session& to) const {
    constexpr uint32_t kAnswersWithPushes = kPubSub | kNoScript;
    return CurrentSession() == &to && (command->flags & kAnswersWithPushes) != kAnswersWithPushes;
  }
};

// Sends pushes, which are not replies (publications, invalidations).
class PushMessages {
 public:
  struct Parts {
    const CurrentExecution& current_execution;
    Clients& clients;
    ClientLimits& limits;
  };
  explicit PushMessages(Parts parts) : parts_(parts) {}

  // Sends a message; if the session is running a command, after its reply.
  void Push(Session& session, Bytes message);

 private:
  const Parts parts_;
};

}  // namespace respite
