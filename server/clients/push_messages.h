// PushMessages: sends pushes, which are not replies (publications, invalidations).
#pragma once

#include "base/bytes.h"
#include "server/clients/client_limits.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"

namespace respite {

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

inline void PushMessages::Push(Session& session, Bytes message) {
  if (parts_.current_execution.DefersPushes(session)) {
    session.deferred_pushes.append(message);
    return;
  }
  session.out.Append(message);
  parts_.clients.QueueMessages(session);
  parts_.limits.CheckOutput(session, parts_.current_execution.NowMs(), ClientLimits::Moment::kReply);
}

}  // namespace respite
