#include "server/replication/divergence_watch.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "base/log.h"
#include "base/pace.h"
#include "server/catalogue/refusals.h"
#include "server/clients/session.h"
#include "server/config/settings.h"
#include "server/execution/durability.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

// Beginnings of errors that do not depend on the data. This server does not know the form of the command, or its
// directives differ from the primary's.
constexpr std::array<Bytes, 14> kErrorsOfArguments = {
    refusals::kSyntax,
    "ERR wrong number of arguments",
    "ERR unknown ",
    "ERR Unknown ",
    "ERR Unsupported option",
    "ERR Mandatory argument",
    "ERR DB index is out of range",
    "ERR invalid DB index",
    "ERR invalid first DB index",
    "ERR invalid second DB index",
    "ERR DUMP payload version or checksum are wrong",
    "ERR Engine '",
    "ERR MULTI calls can not be nested",
    "ERR EXEC without MULTI",
};

bool IsOfArguments(Bytes error) {
  return std::ranges::any_of(kErrorsOfArguments, [&](Bytes beginning) { return error.starts_with(beginning); });
}

}  // namespace

void DivergenceWatch::OnCall(const FinishedCall& call) {
  if (call.session.kind != SessionKind::kPrimary) return;
  // Clients of a writable replica may have changed the data so that the command fails.
  const bool may_be_own = !parts_.settings.replica_read_only && !IsOfArguments(call.error);
  const Cause cause = may_be_own ? Cause::kPerhapsOwnClients : Cause::kThisServer;
  if (call.ending == FinishedCall::Ending::kFailed) Report(call.error, call.command.full_name, cause);
  if (call.command.Is(kWrite) && parts_.durability.Troubled()) CheckDisk();
}

void DivergenceWatch::CheckDisk() {
  if (!parts_.settings.replica_ignore_disk_write_errors) {
    parts_.log.Warning("Replica was unable to write command to disk.");
    std::abort();
  }
  constexpr int64_t kQuietMs = 10'000;
  const int64_t now_ms = parts_.pace.NowMs();
  if (now_ms - warned_at_ms_ < kQuietMs) return;
  warned_at_ms_ = now_ms;
  parts_.log.Warning("Replica is applying a command even though it is unable to write to disk.");
}

void DivergenceWatch::OnRefusal(const RefusedCall& call) {
  if (call.session.kind != SessionKind::kPrimary) return;
  Report(call.error, call.command != nullptr ? Bytes(call.command->full_name) : call.words.front(), Cause::kThisServer);
}

void DivergenceWatch::Report(Bytes error, Bytes command, Cause cause) {
  ++parts_.stats.unexpected_errors;
  parts_.log.Warning("== CRITICAL == This replica is sending an error to its master: '" + std::string(error) +
                     "' after processing the command '" + std::string(command) + "'");
  const Settings& settings = parts_.settings;
  // An error of these two concerns the link, not the data. A later version may send options that are unknown here.
  const bool is_effect = !EqualsIgnoreCase(command, "replconf") && !EqualsIgnoreCase(command, "ping");
  const bool ends_link = is_effect && cause == Cause::kThisServer && !settings.replica_ignore_command_errors;
  if (ends_link && parts_.on_failure) parts_.on_failure(command, error);
  if (settings.propagation_error_behavior == PropagationErrorBehavior::kIgnore) return;
  if (!settings.replica_read_only) return;  // the replica's own clients may have made the difference
  parts_.log.Warning("This replica panicked sending an error to its master after processing a command from its master");
  std::abort();
}

}  // namespace respite
