#include "server/clients/current_execution.h"

#include "server/clients/client_limits.h"
#include "server/clients/clients.h"

namespace respite {

void PushSender::Push(Session& session, Bytes message) {
  if (session.closing) return;
  if (parts_.current_execution.DefersPushes(session)) {
    session.deferred_pushes.append(message);
  } else {
    session.out.Append(message);
    parts_.clients.QueueMessages(session);
  }
  parts_.limits.EnforceOutputLimit(session, parts_.current_execution.NowMs(), ClientLimits::Moment::kReply);
}

}  // namespace respite
