#include "server/replication/divergence_watch.h"

#include <cstdlib>
#include <string>

#include "base/log.h"
#include "server/clients/session.h"
#include "server/config/settings.h"
#include "server/dataset/stats.h"

namespace respite {

void DivergenceWatch::OnCall(const FinishedCall& call) {
  if (call.session.kind != SessionKind::kPrimary || call.ending != FinishedCall::Ending::kFailed) return;
  Report(call.error, call.command.full_name);
}

void DivergenceWatch::OnRefusal(const RefusedCall& call) {
  if (call.session.kind == SessionKind::kPrimary) Report(call.error, call.words.front());
}

void DivergenceWatch::Report(Bytes error, Bytes command) {
  ++parts_.stats.unexpected_errors;
  parts_.log.Warning("== CRITICAL == This replica is sending an error to its master: '" + std::string(error) +
                     "' after processing the command '" + std::string(command) + "'");
  const Settings& settings = parts_.settings;
  if (settings.propagation_error_behavior == PropagationErrorBehavior::kIgnore) return;
  if (!settings.replica_read_only) return;  // its own clients may have made the difference
  parts_.log.Warning("This replica panicked sending an error to its master after processing a command from its master");
  std::abort();
}

}  // namespace respite
