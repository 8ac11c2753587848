// CurrentExecution: the command that is running now, and its start time. Only the Executor writes it. PushSender sends
// messages that must not come inside the reply of the running command.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/clients/session.h"

namespace respite {

class ClientLimits;
class Clients;

struct CurrentExecution {             // the command that runs now; only the Executor writes it
  const Command* command = nullptr;   // null if no command is running
  const Session* session = nullptr;   // session of the running command, or of the last one, which may be freed
  std::span<const Bytes> words = {};  // arguments of the running command, with its name
  int depth = 0;                      // nesting of running commands; 0: not inside EXEC or a script
  int64_t last_us = 0;                // monotonic time when the current command began, or else the last one ended
  int64_t pace_us = 0;                // the same moment on the clock of Pace (real elapsed time)
  int64_t wall_base_us = 0;           // Unix time minus monotonic time, in µs

  const Session* CurrentSession() const { return command == nullptr ? nullptr : session; }  // null if no command runs
  // Returns whether the running command may block the client. It may not inside a transaction or script, or in the
  // replication stream of the primary.
  bool MayBlock() const {                             // false: in a transaction, a script or the stream of the primary
    const Session* const current = CurrentSession();  // the last command's session may have been freed
    return depth == 0 && (current == nullptr || current->kind != SessionKind::kPrimary);
  }
  int64_t NowUs() const { return last_us; }                           // monotonic, cached at the last command
  int64_t NowMs() const { return last_us / 1000; }                    // monotonic, cached at the last command
  int64_t WallMs() const { return (wall_base_us + last_us) / 1000; }  // UNIX time, cached
  // Returns whether a push (a publication or an invalidation) to this session must wait until its running command ends.
  // Otherwise the push would be sent inside the reply. As in Redis, SUBSCRIBE and similar commands do not defer pushes,
  // because their replies are messages themselves.
  bool DefersPushes(const Session& to) const {  // true: a push to `to` waits until its command ends
    constexpr uint32_t kAnswersWithPushes = kPubSub | kNoScript;
    return CurrentSession() == &to && (command->flags & kAnswersWithPushes) != kAnswersWithPushes;
  }
};

class PushSender {  // sends publications and invalidations, which are not replies
 public:
  struct Parts {                                // the objects that PushSender uses; its constructor gets them
    const CurrentExecution& current_execution;  // the command that runs now
    Clients& clients;                           // all sessions
    ClientLimits& limits;                       // closes clients that exceed limits
  };
  explicit PushSender(Parts parts) : parts_(parts) {}

  // Sends a message to the session. If the session is running a command, the message waits until after its reply.
  void Push(Session& session, Bytes message);  // sends a message that is not a reply

 private:
  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
