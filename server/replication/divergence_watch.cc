#include "server/replication/divergence_watch.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "base/log.h"
#include "base/real_clock.h"
#include "server/clients/session.h"
#include "server/config/settings.h"
#include "server/execution/durability.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

// Beginnings of error replies that may depend on the data. Any other error means that this server does not support the
// request, or does not support its options.
constexpr std::array<Bytes, 28> kErrorsOfData = {
    "WRONGTYPE ",
    "BUSYKEY ",
    "BUSYGROUP ",
    "NOGROUP ",
    "NOSCRIPT ",
    "INVALIDOBJ ",
    "OOM ",
    "ERR no such key",
    "ERR The specified key does not exist",
    "ERR index out of range",
    "ERR value is not an integer or out of range",
    "ERR value is not a valid float",
    "ERR value is NaN or Infinity",
    "ERR hash value is not",
    "ERR increment ",
    "ERR decrement ",
    "ERR resulting score is not a number",
    "ERR string exceeds maximum allowed size",
    "ERR The ID specified in X",
    "ERR The entries_added specified in XSETID",
    "ERR The stream has exhausted the last possible ID",
    "ERR One or more scores can't be converted into double",
    "ERR The XGROUP subcommand requires the key to exist",
    "ERR could not decode requested zset member",
    "ERR Error running script",
    "ERR user_script:",
    "ERR Library ",
    "ERR Function ",
};

bool IsOfData(Bytes error) {
  return std::ranges::any_of(kErrorsOfData, [&](Bytes beginning) { return error.starts_with(beginning); });
}

}  // namespace

void DivergenceWatch::OnCall(const FinishedCall& call) {
  if (call.session.kind != SessionKind::kPrimary) return;
  if (call.ending == FinishedCall::Ending::kFailed) {
    // Blames this replica's own changes of its data only if there may be such changes, and if the error depends on the
    // data. The replica changes data itself if clients may write to it (replica-read-only no), or if it evicts keys
    // (replica-ignore-maxmemory no).
    const Settings& settings = parts_.env.settings;
    const bool changes_own_data = !settings.replica_read_only || !settings.replica_ignore_maxmemory;
    const bool may_be_own = changes_own_data && IsOfData(call.error);
    Report(call.error, call.command.full_name, may_be_own ? Cause::kPerhapsOwnChange : Cause::kThisServer);
  }
  // Handles the failure if this command is a write, and data cannot be written to the disk at present. Ignores
  // kJournalOff (the append-only file could not be turned on again), because the server retries that.
  const auto trouble = call.command.Is(kWrite) ? parts_.durability->FindPersistenceTrouble() : std::nullopt;
  if (trouble && trouble->place != Durability::Trouble::Place::kJournalOff) HandleDiskWriteError();
}

void DivergenceWatch::HandleDiskWriteError() {
  if (!parts_.env.settings.replica_ignore_disk_write_errors) {
    parts_.env.log.Warning("Replica was unable to write command to disk.");
    std::abort();
  }
  constexpr int64_t kQuietMs = 10'000;
  const int64_t now_ms = parts_.env.real_clock.NowMs();
  if (now_ms - warned_at_ms_ < kQuietMs) return;
  warned_at_ms_ = now_ms;
  parts_.env.log.Warning("Replica is applying a command even though it is unable to write to disk.");
}

void DivergenceWatch::OnRefusal(const RefusedCall& call) {
  if (call.session.kind != SessionKind::kPrimary) return;
  Report(call.error, call.command != nullptr ? Bytes(call.command->full_name) : call.words.front(), Cause::kThisServer);
}

void DivergenceWatch::Report(Bytes error, Bytes command, Cause cause) {
  ++parts_.env.stats.unexpected_errors;
  parts_.env.log.Warning("== CRITICAL == This replica is sending an error to its master: '" + std::string(error) +
                         "' after processing the command '" + std::string(command) + "'");
  const Settings& settings = parts_.env.settings;
  // An error of REPLCONF or PING does not end the link. It is not about the data: a primary of a later version may send
  // options that are unknown here.
  const bool is_effect = !EqualsIgnoreCase(command, "replconf") && !EqualsIgnoreCase(command, "ping");
  const bool ends_link = is_effect && cause == Cause::kThisServer && !settings.replica_ignore_command_errors;
  if (ends_link && parts_.on_failure) parts_.on_failure(command, error);
  if (settings.propagation_error_behavior == PropagationErrorBehavior::kIgnore) return;
  if (!settings.replica_read_only) return;  // the replica's own clients may have made the difference
  parts_.env.log.Warning(
      "This replica panicked sending an error to its master after processing a command from its master");
  std::abort();
}

}  // namespace respite
