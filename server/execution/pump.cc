#include "server/execution/pump.h"

#include <algorithm>

#include "base/log.h"
#include "base/refusal.h"
#include "server/catalogue/dialect.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_memory.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/config/settings.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/services.h"
#include "server/runtime/server_phase.h"
#include "server/runtime/stats.h"

namespace respite {

namespace refusals {
namespace {

// Returns the error reply for a protocol error. `error` comes from RequestParser::Error.
Refusal Protocol(Bytes error) { return {"ERR " + std::string(error)}; }

}  // namespace
}  // namespace refusals

namespace {

// The longest argument in bytes, even if proto-max-bulk-len is higher. An entry stores the sizes of its key and value
// in 32 bits.
constexpr int64_t kLongestArgument = UINT32_MAX;

// As in Redis, CLIENT REPLY SKIP, CLIENT CACHING and ASKING hold for one request, which may be an empty one.
void EndOneRequestOptions(Session& session) {
  session.replies.EndCommand();
  if (session.InTransaction()) return;
  session.cluster_options.asking = ClientClusterState::Asking::kNo;
  if (session.tracking != nullptr) session.tracking->has_caching_choice = false;
}

}  // namespace

Pump::Pump(const Services& services)
    : parts_{.env = services.env,
             .keyspace = services.data.dataset.keyspace,
             .clients = services.clients.registry,
             .limits = services.clients.limits,
             .client_memory = services.clients.memory,
             .users = services.clients.users,
             .executor = services.execution.executor,
             .current_execution = services.clients.current_execution},
      prefetcher_({parts_.keyspace, parts_.executor}) {}

Pump::Outcome Pump::Run(Session& session, size_t received) {
  BeginPipelineTime();
  if (received != 0) session.usage.NoteInput(received, parts_.current_execution.NowMs());
  const uint64_t messages = parts_.clients.MessageCount();
  const Outcome outcome = parts_.env.phase.HasStopped() ? Outcome::kClosing : RunWithinShare(session);
  EndPipelineTime();
  batch_.Clear();
  session.in.SaveRest();
  if (parts_.client_memory.IsOn()) parts_.client_memory.Remeasure(session);
  if (!session.out.IsEmpty() || session.close_after_reply)
    QueueReplies(session, parts_.clients.MessageCount() != messages);
  return outcome;
}

void Pump::BeginPipelineTime() {
  parts_.executor.ReadClocks();
  pipeline_began_us_ = kNoRequestYet;
  if (parts_.env.stats.turns == turn_) return;
  turn_ = parts_.env.stats.turns;
  used_turn_us_ = 0;
}

// Queues the replies of a session for sending. If the session publishes messages faster than the server can send them,
// queues its replies after the messages. The session's input is not read until the replies are sent, so messages do not
// pile up.
void Pump::QueueReplies(Session& session, bool caused_messages) {
  Clients& clients = parts_.clients;
  if (caused_messages && clients.HasUnsentMessages()) {
    clients.QueueMessages(session);
  } else {
    clients.QueueFlush(session);
  }
}

Pump::Outcome Pump::RunWithinShare(Session& session) {
  if (session.closing || session.close_after_reply) return Outcome::kClosing;
  if (session.blocked_client != nullptr || session.IsDelayed()) return Outcome::kPaused;
  const Outcome outcome = RunPaused(session);
  if (outcome != Outcome::kIdle) return outcome;
  if (session.kind == SessionKind::kPrimary) NoteApplied(session, 0);
  return session.closing || session.close_after_reply ? Outcome::kClosing : RunGroups(session);
}

Pump::Outcome Pump::RunPaused(Session& session) {
  if (session.paused_request == nullptr) return Outcome::kIdle;
  const std::unique_ptr<PausedRequest> held = std::move(session.paused_request);
  const std::vector<Bytes> words(held->words.begin(), held->words.end());
  const Command* command = parts_.executor.Resolve(words);
  Request request{.session = session, .command = command, .words = words, .progress = held->progress};
  return PumpOutcomeOf(parts_.executor.Execute(request));
}

Pump::Outcome Pump::PumpOutcomeOf(RequestRunner::Outcome outcome) {
  switch (outcome) {
    case RequestRunner::Outcome::kDone:
      return Outcome::kIdle;
    case RequestRunner::Outcome::kUnfinished:
      return Outcome::kMore;
    case RequestRunner::Outcome::kPaused:
    case RequestRunner::Outcome::kBlocked:
      break;
  }
  return Outcome::kPaused;
}

Pump::Outcome Pump::RunGroups(Session& session) {
  size_t done = 0;
  while (done < kMaxRequestsPerTurn) {
    RequestParser::Status status = ParseGroup(session);
    Outcome outcome = RunGroup(session);
    if (outcome != Outcome::kIdle) return outcome;
    // If the group has changed the limits, the request that could not be parsed must be parsed again.
    const bool parses_again = status != RequestParser::Status::kRequest && limits_ != LimitsOf(session);
    if (status == RequestParser::Status::kError && !parses_again) {
      CloseAfterProtocolError(session);
      return Outcome::kClosing;
    }
    const bool is_incomplete = status == RequestParser::Status::kIncomplete && !parses_again;
    if (is_incomplete || session.in.UnparsedInput().empty()) return Outcome::kIdle;
    if (IsTimeUsedUp()) return Outcome::kMore;
    done += batch_.requests.size();
    batch_.Clear();
  }
  return Outcome::kMore;
}

RequestLimits Pump::LimitsOf(const Session& session) const {
  // A request of the primary must be accepted, so proto-max-bulk-len does not apply to it.
  const int64_t most =
      session.kind == SessionKind::kPrimary ? kLongestArgument : parts_.env.settings.proto_max_bulk_len;
  return {.max_bulk_bytes = std::min(most, kLongestArgument),
          .authenticated = session.authenticated || !parts_.users.IsLoginRequired(),
          .checks_line_ends = parts_.env.dialect.traits.requests_are_strict,
          .joins_quoted_parts = parts_.env.dialect.traits.requests_are_strict};
}

bool Pump::MayChangeLimits(const Request& request) {
  return request.command != nullptr && request.command->Is(kNoScript);
}

RequestParser::Status Pump::ParseGroup(Session& session) {
  limits_ = LimitsOf(session);
  // Parses a group of requests. Before login, a group has one request, because AUTH changes the limits. A group ends
  // after a request with a large argument, which would be copied again if it was unread and parsed again.
  size_t group = limits_.authenticated ? Prefetcher::kMaxGroupRequests : 1;
  RequestParser::Status status;
  do {
    status = session.in.ParseInto(batch_, limits_);
  } while (status == RequestParser::Status::kRequest && batch_.requests.size() < group && batch_.blobs.empty() &&
           !session.in.UnparsedInput().empty());
  return status;
}

// Counts the large arguments of the batch as memory of the client (maxmemory-clients). A large argument may arrive in
// one read, and then the client's memory was not measured since it arrived.
void Pump::MeasureBatchBlobs(Session& session) {
  size_t bytes = 0;
  for (const BlobRef& blob : batch_.blobs) bytes += blob.Capacity();
  parts_.client_memory.Remeasure(session, bytes);
}

Pump::Outcome Pump::RunGroup(Session& session) {
  if (!batch_.blobs.empty() && parts_.client_memory.IsOn()) MeasureBatchBlobs(session);
  const auto& resolved = prefetcher_.Resolve(batch_, session.db);
  for (size_t i = 0; i < batch_.requests.size(); ++i) {
    if (batch_.requests[i].follows_empty) EndOneRequestOptions(session);
    auto words = batch_.Words(batch_.requests[i]);
    Request request{.session = session,
                    .command = resolved[i].command,
                    .words = words,
                    .blobs = batch_.blobs,
                    .key = resolved[i].key};
    const Outcome outcome = PumpOutcomeOf(parts_.executor.Execute(request));
    if (pipeline_began_us_ == kNoRequestYet) pipeline_began_us_ = parts_.current_execution.real_us;
    if (session.kind == SessionKind::kPrimary) NoteApplied(session, i + 1);
    if (outcome != Outcome::kIdle) {
      session.in.Unread(batch_, i + 1);  // meanwhile the limits of the later requests may change
      return outcome;
    }
    if (session.out.HeldBytes() > Session::kUncountedOutputBytes) {
      parts_.limits.EnforceOutputLimit(session, parts_.current_execution.NowMs(), ClientLimits::Moment::kReply);
      if (parts_.client_memory.IsOn()) parts_.client_memory.Remeasure(session);
    }
    if (session.closing || session.close_after_reply) return Outcome::kClosing;
    if (MayChangeLimits(request) && limits_ != LimitsOf(session)) {
      session.in.Unread(batch_, i + 1);  // the later requests, if any, have to be parsed with the new limits
      return Outcome::kIdle;
    }
    if (i + 1 < batch_.requests.size() && IsTimeUsedUp()) {
      session.in.Unread(batch_, i + 1);
      return Outcome::kMore;
    }
  }
  return Outcome::kIdle;
}

void Pump::NoteApplied(Session& session, size_t next) {
  const bool is_open =
      session.InTransaction() || session.paused_request != nullptr || session.blocked_client != nullptr;
  if (is_open || session.close_after_reply) return;
  const bool is_last = next >= batch_.requests.size();
  session.unapplied_bytes = is_last ? session.in.PendingBytes() : session.in.PendingBytesIfUnread(batch_, next);
}

void Pump::CloseAfterProtocolError(Session& session) {
  if (session.in.HasPassedEmptyRequest()) EndOneRequestOptions(session);
  std::string text = refusals::Protocol(session.in.Error()).text;
  parts_.env.stats.CountError(text);
  if (session.replies.IsOn()) Reply(session.out, session.resp).Error(text);
  const UserData user_data = parts_.env.settings.hide_user_data_from_log ? UserData::kHidden : UserData::kShown;
  if (parts_.env.log.IsLevelEnabled(LogLevel::kVerbose)) {
    parts_.env.log.Verbose(ProtocolErrorText(session, parts_.current_execution.NowMs(), user_data));
  }
  session.close_after_reply = true;
}

}  // namespace respite
