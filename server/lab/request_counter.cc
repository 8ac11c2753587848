#include "server/lab/request_counter.h"

#include "server/lab/request_owner.h"

namespace respite {

void RequestCounter::OnCall(const FinishedCall& call) {
  if (call.depth == 0) Note(call.session, &call.command);
}

void RequestCounter::OnRefusal(const RefusedCall& call) {
  if (call.depth == 0) Note(call.session, call.command);
}

void RequestCounter::Note(const Session& client, const Command* command) {
  if (!IsOwnTalk(client, command)) ++count_;
}

}  // namespace respite
