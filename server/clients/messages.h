// Messages: sends pushes, which answer no request (publications, invalidations).
#pragma once

#include "base/bytes.h"
#include "server/clients/client_limits.h"
#include "server/clients/clients.h"
#include "server/clients/running.h"

namespace respite {

class Messages {
 public:
  struct Parts {
    const Running& running;
    Clients& clients;
    ClientLimits& limits;
  };
  explicit Messages(Parts parts) : parts_(parts) {}

  // Sends after the reply to the command that the session is running, if any.
  void Push(Session& session, Bytes message);

 private:
  const Parts parts_;
};

inline void Messages::Push(Session& session, Bytes message) {
  if (parts_.running.DefersPushes(session)) {
    session.deferred_pushes.append(message);
    return;
  }
  session.out.Append(message);
  parts_.clients.QueueMessages(session);
  parts_.limits.CheckOutput(session, parts_.running.NowMs(), ClientLimits::Moment::kReply);
}

}  // namespace respite
