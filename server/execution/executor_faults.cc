// The functions of Executor for faults that TEST FAULT injects into requests.
#include <utility>

#include "server/clients/client_faults.h"
#include "server/clients/waiting_requests.h"
#include "server/clients/watched_keys.h"
#include "server/execution/executor.h"

namespace respite {

namespace {

using Kind = RequestFault::Kind;
using Place = RequestFaults::Place;

// Converts a fault of TEST FAULT into a fault of the running request's reply. kDelay delays only the reply here,
// because the request cannot be delayed: it is a command of a transaction or script, or a slow script runs. kClose
// closes the connection before the reply.
ReplyFault ReplyFaultOf(const RequestFault& fault) {
  const auto make = [&](ReplyFault::Kind kind, int64_t amount) {
    return ReplyFault{.kind = kind, .amount = amount, .text = fault.text, .rule_id = fault.rule_id};
  };
  switch (fault.kind) {
    case Kind::kDelay:
    case Kind::kDelayReply:
      return make(ReplyFault::Kind::kHold, fault.amount);
    case Kind::kClose:
    case Kind::kCut:
      return make(ReplyFault::Kind::kCut, fault.amount);
    case Kind::kTrickle:
      return make(ReplyFault::Kind::kTrickle, fault.amount);
    case Kind::kSilence:
      return make(ReplyFault::Kind::kSilence, 0);
    case Kind::kError:
    case Kind::kReply:
      break;
  }
  return make(ReplyFault::Kind::kReplace, 0);
}

}  // namespace

std::optional<Executor::Outcome> Executor::ApplyFault(const Request& request) {
  Session& session = request.session;
  const Command& command = *request.command;
  const bool is_new = request.progress.stage == Progress::Stage::kNew && !request.progress.has_met_faults;
  if (!is_new || !command.FitsArity(request.words.size())) return std::nullopt;
  const bool is_queued = session.InTransaction() && command.Spec().transaction == TransactionRole::kQueued;
  const RequestFault* const fault = parts_.faults.FindFault({.client = session,
                                                             .db = session.db,
                                                             .command = command,
                                                             .words = request.words,
                                                             .place = is_queued ? Place::kQueued : Place::kSent,
                                                             .is_in_transaction = is_queued});
  if (fault == nullptr) return std::nullopt;
  switch (fault->kind) {
    case Kind::kError:
      throw Refusal{.text = fault->text, .is_redirect = true};  // is_redirect: EXEC gets this text, not EXECABORT
    case Kind::kReply:
      AnswerInstead(request, fault->text);
      return Outcome::kDone;
    case Kind::kDelay:
      // Delays only the reply while a slow script runs: the request may be the SCRIPT KILL, and its delay could not end
      // before the script.
      if (parts_.env.phase.HasBusyScript()) break;
      PauseRequest(session, request.words, {.has_met_faults = true});
      parts_.client_faults.DelayRequest(session, fault->amount, fault->rule_id);
      return Outcome::kPaused;
    case Kind::kClose:
      parts_.client_faults.CloseAfterOutput(session);
      return Outcome::kDone;
    case Kind::kDelayReply:
    case Kind::kCut:
    case Kind::kTrickle:
    case Kind::kSilence:
      break;
  }
  parts_.client_faults.SetReplyFault(session, ReplyFaultOf(*fault));
  return std::nullopt;
}

// Sends `reply` (RESP) instead of running the request. If the request is EXEC, also ends the transaction, as a refused
// EXEC does.
void Executor::AnswerInstead(const Request& request, Bytes reply) {
  Session& session = request.session;
  if (request.command->Spec().transaction == TransactionRole::kExecutes) EndTransaction(parts_.watched_keys, session);
  const size_t reply_start = session.out.Size();
  session.out.Append(reply);
  if (!session.replies.IsOn()) ApplyReplyMode(session, reply_start);
}

bool Executor::ApplyFaultInTransaction(Session& session, const Command& command, std::span<const Bytes> arguments) {
  if (!parts_.faults) return false;
  const RequestFault* const fault = parts_.faults.FindFault({.client = session,
                                                             .db = session.db,
                                                             .command = command,
                                                             .words = arguments,
                                                             .place = Place::kInTransaction,
                                                             .is_in_transaction = true});
  if (fault == nullptr) return false;
  const bool is_answer = fault->kind == Kind::kError || fault->kind == Kind::kReply;
  if (!is_answer) {
    parts_.client_faults.SetReplyFault(session, ReplyFaultOf(*fault));
    return false;
  }
  const size_t reply_start = session.out.Size();
  if (fault->kind == Kind::kError) {
    TellObserversOfNestedRefusal(session, &command, arguments, fault->text);
    Reply(session.out, session.resp).Error(fault->text);
  } else {
    session.out.Append(fault->text);
  }
  ApplyReplyModeInExec(session, reply_start);
  return true;
}

void Executor::ApplyFaultInScript(Session& caller, int db, const Command& command, std::span<const Bytes> arguments) {
  if (!parts_.faults) return;
  const RequestFault* const fault = parts_.faults.FindFault({.client = caller,
                                                             .db = db,
                                                             .command = command,
                                                             .words = arguments,
                                                             .place = Place::kInScript,
                                                             .is_in_transaction = caller.InTransaction()});
  if (fault == nullptr) return;
  if (fault->kind == Kind::kError) throw Refusal{fault->text};
  parts_.client_faults.SetReplyFault(caller, ReplyFaultOf(*fault));
}

void Executor::EndFaultyReply(Session& session, size_t reply_start) {
  parts_.client_faults.ApplyPendingFault(session, reply_start);
}

void Executor::PauseFaultyReply(Session& session, size_t reply_start) {
  parts_.client_faults.HoldPartialReply(session, reply_start);
}

}  // namespace respite
