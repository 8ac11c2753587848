// CurrentExecution: the running command and its start time. Only the Executor writes it. PushSender sends messages
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

struct CurrentExecution {             // the command that runs now; only the Executor writes it
  const Command* command = nullptr;   // null if no command is running
  const Session* session = nullptr;   // of the running command, or of the last one, which may be freed
  std::span<const Bytes> words = {};  // arguments of the running command, with its name
  int depth = 0;                      // nesting: 0 outside EXEC and scripts
  int64_t last_us = 0;                // monotonic: end of the last command, start of the next
  int64_t pace_us = 0;                // the same time on the Pace's clock
  int64_t wall_base_us = 0;           // wall minus monotonic

  const Session* CurrentSession() const { return command == nullptr ? nullptr : session; }  // null if no command runs
  // Returns false where a command must not block: in a transaction or script, and in the stream of the primary.
  bool MayBlock() const {                             // the running command may wait: it is not in EXEC or a script
    const Session* const current = CurrentSession();  // the last command's session may have been freed
    return depth == 0 && (current == nullptr || current->kind != SessionKind::kPrimary);
  }
  int64_t NowUs() const { return last_us; }                           // monotonic, cached at the last command
  int64_t NowMs() const { return last_us / 1000; }                    // monotonic, cached at the last command
  int64_t WallMs() const { return (wall_base_us + last_us) / 1000; }  // UNIX time, cached
  // A push (a publication, an invalidation) would otherwise be sent inside the reply. Redis: replies of SUBSCRIBE and
  // similar commands are messages, so other messages may come between them.
  bool DefersPushes(const Session& to) const {  // pushes to it wait until its command ends
    constexpr uint32_t kAnswersWithPushes = kPubSub | kNoScript;
    return CurrentSession() == &to && (command->flags & kAnswersWithPushes) != kAnswersWithPushes;
  }
};

class PushSender {  // sends publications and invalidations, which are not replies
 public:
  struct Parts {  // the objects that it uses
    const CurrentExecution& current_execution;
    Clients& clients;
    ClientLimits& limits;
  };
  explicit PushSender(Parts parts) : parts_(parts) {}

  // Sends a message; if the session is running a command, after its reply.
  void Push(Session& session, Bytes message);

 private:
  const Parts parts_;  // the objects that it uses
};

}  // namespace respite
