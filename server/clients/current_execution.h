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

struct CurrentExecution {             // the command that runs now, and the time; only the Executor writes it
  const Command* command = nullptr;   // the running command; null: none is running
  const Session* session = nullptr;   // session of the running command, or of the last one, which may be freed
  std::span<const Bytes> words = {};  // arguments of the running command; the first one is its name
  int depth = 0;                      // 0: a client's own command; more inside EXEC or a script
  int64_t last_us = 0;                // clock time when the running command began, or the last one ended
  int64_t pace_us = 0;                // real time at the moment `last_us`
  int64_t wall_base_us = 0;           // Unix time minus clock time, in µs

  const Session* CurrentSession() const { return command == nullptr ? nullptr : session; }  // null: no command runs
  // Returns whether the running command may block the client. It may not inside a transaction or script, or in the
  // replication stream of the primary.
  bool MayBlock() const {                             // false: in a transaction, a script or the primary's stream
    const Session* const current = CurrentSession();  // the last command's session may have been freed
    return depth == 0 && (current == nullptr || current->kind != SessionKind::kPrimary);
  }
  int64_t NowUs() const { return last_us; }                           // clock time when the command began, in µs
  int64_t NowMs() const { return last_us / 1000; }                    // clock time when the command began, in ms
  int64_t WallMs() const { return (wall_base_us + last_us) / 1000; }  // Unix time in ms at `last_us`
  // Returns whether a push (a publication or an invalidation) to this session must wait until its running command ends.
  // Otherwise the push would be sent inside the reply. As in Redis, SUBSCRIBE and similar commands do not defer pushes,
  // because their replies are messages themselves.
  bool DefersPushes(const Session& to) const {  // true: a message to this session must wait until its command ends
    constexpr uint32_t kAnswersWithPushes = kPubSub | kNoScript;
    return CurrentSession() == &to && (command->flags & kAnswersWithPushes) != kAnswersWithPushes;
  }
};

class PushSender {  // sends pub/sub messages and invalidations to clients, which are not replies
 public:
  struct Parts {                                // the objects that PushSender uses; its constructor gets them
    const CurrentExecution& current_execution;  // the command that runs now
    Clients& clients;                           // the sessions of all clients
    ClientLimits& limits;                       // closes clients whose output exceeds the limit
  };
  explicit PushSender(Parts parts) : parts_(parts) {}

  // Sends a message to the session. If the session is running a command, the message waits until after its reply.
  void Push(Session& session, Bytes message);  // sends `message` now, or after the reply of the running command

 private:
  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
