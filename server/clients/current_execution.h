// CurrentExecution: the command that is running now, and the time that commands see. Only the Executor changes it.
// PushSender: sends messages, but never inside the reply of the running command.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "server/catalogue/command_table.h"
#include "server/clients/session.h"

namespace respite {

class ClientLimits;
class Clients;

struct CurrentExecution {             // the command that runs now, and the time; only the Executor writes it
  const Command* command = nullptr;   // the running command; null: none is running
  const Session* session = nullptr;   // session of the running command, or of the last one, which may be freed
  std::span<const Bytes> words = {};  // arguments of the running (or last) command; the first is its name
  int nesting = 0;                    // 0: a client's own command; more: inside EXEC, a script or a replay
  int64_t last_us = 0;                // monotonic clock time, in µs, when the Executor last read the clock
  int64_t real_us = 0;       // real (system) monotonic time when last_us was read, in µs; TEST CLOCK does not move it
  int64_t wall_base_us = 0;  // Unix time minus monotonic clock time, in µs

  struct Interrupted {       // a command that lets other clients be served before it has ended
    const Command* command;  // the interrupted command; null: none was running
    const Session* session;  // the session that runs the command
  };
  std::vector<Interrupted> interrupted;  // slow scripts and loads that let clients be served, oldest first

  const Session* CurrentSession() const { return command == nullptr ? nullptr : session; }  // null: no command runs
  // Returns whether the running command may block the client. A command inside a transaction or script, or in the
  // replication stream of the primary, may not.
  bool MayBlock() const {                             // false: in a transaction, a script or the primary's stream
    const Session* const current = CurrentSession();  // the last command's session may have been freed
    return nesting == 0 && (current == nullptr || current->kind != SessionKind::kPrimary);
  }
  int64_t NowUs() const { return last_us; }                           // monotonic clock time in µs, as last read
  int64_t NowMs() const { return last_us / 1000; }                    // monotonic clock time in ms, as last read
  int64_t WallMs() const { return (wall_base_us + last_us) / 1000; }  // Unix time in ms, as last read
  // Returns whether a push (a publication or an invalidation) to this session must wait because the session runs a
  // command, or one of its commands was interrupted: the push would be sent inside the reply. As in Redis, SUBSCRIBE
  // and similar commands do not defer pushes, because their replies are messages themselves.
  bool DefersPushes(const Session& to) const {  // true: a message to this session must wait until its command ends
    constexpr uint32_t kAnswersWithPushes = kPubSub | kNoScript;
    if (CurrentSession() == &to) return (command->flags & kAnswersWithPushes) != kAnswersWithPushes;
    for (const Interrupted& other : interrupted)
      if (other.command != nullptr && other.session == &to) return true;
    return false;
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
  // Closes the session if its output then exceeds the limit.
  void Push(Session& session, Bytes message);  // queues `message`; if a command of the session runs, after its reply

 private:
  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
