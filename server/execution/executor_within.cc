// The functions of Executor that run the commands of transactions, of scripts and of files that are being loaded.
#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "server/clients/current_execution.h"
#include "server/clients/migrating_keys.h"
#include "server/dataset/unit.h"
#include "server/execution/executor.h"
#include "server/execution/gates.h"

namespace respite {

void Executor::ExecuteNested(Unit& unit, Session& session, const Command& command, std::span<const Bytes> arguments) {
  Request request{.session = session, .command = &command, .words = arguments};
  const Command* const outer_command = std::exchange(current_execution_.command, &command);
  const auto outer_words = std::exchange(current_execution_.words, arguments);
  // Reads the clock again in a script, so that the Lua code before this command does not count as time of this command.
  if (session.IsScript()) ReadTime();
  request.started_us = current_execution_.last_us;
  request.reply_start = session.out.Size();
  ++current_execution_.nesting;
  if (!parts_.migrating_keys.IsEmpty()) parts_.migrating_keys.NoteWrittenKeys(session.db, command, arguments);
  RunHandlerIn(unit, request);
  if (!session.IsScript()) ApplyReplyModeInExec(session, request.reply_start);
  current_execution_.command = outer_command;
  current_execution_.words = outer_words;
  ReadTime();
  const int64_t duration_us = current_execution_.last_us - request.started_us;
  const size_t reply_bytes = session.IsScript() ? 0 : ReplyBytesSince(session, request.reply_start);
  Tell(FinishedCall{session, command, arguments, duration_us, request.ending, Progress::Stage::kNew, ErrorOf(request),
                    current_execution_.nesting, reply_bytes});
  --current_execution_.nesting;
}

void Executor::ApplyReplyModeInExec(Session& session, size_t reply_start) {
  if (session.replies.IsSilent()) session.out.RollBack(std::max(reply_start, kept_output_end_));
  kept_output_end_ = session.out.Size();
}

Result<Done> Executor::Replay(RequestPath path, Unit& unit, Session& session, const Command& command,
                              std::span<const Bytes> arguments) {
  try {
    parts_.gates.Pass(path, {session, &command, arguments, command.flags});
  } catch (const Refusal& refusal) {
    return Failure(std::string(refusal.text));
  }
  const SavedExecution saved = SaveExecution();
  current_execution_.command = &command;
  current_execution_.session = &session;
  current_execution_.words = arguments;
  current_execution_.nesting = 1;
  Request request{.session = session, .command = &command, .words = arguments};
  RunHandlerIn(unit, request);
  const bool succeeded = request.ending == FinishedCall::Ending::kSucceeded;
  std::string error = succeeded ? "" : session.out.Text(1);
  session.out.Rewind();
  RestoreExecution(saved);
  if (succeeded) return Done{};
  return Failure(error.substr(0, error.find('\r')));
}

void Executor::TellObserversOfNestedRefusal(Session& session, const Command* command, std::span<const Bytes> arguments,
                                            Bytes error) {
  Tell(RefusedCall{session, command, arguments, error, current_execution_.nesting + 1});
}

Executor::SavedExecution Executor::SaveExecution() {
  current_execution_.interrupted.push_back({current_execution_.command, current_execution_.session});
  return {std::exchange(current_execution_.command, nullptr), std::exchange(current_execution_.session, nullptr),
          current_execution_.words, std::exchange(current_execution_.nesting, 0), kept_output_end_};
}

void Executor::RestoreExecution(const SavedExecution& saved) {
  current_execution_.interrupted.pop_back();
  current_execution_.command = saved.command;
  current_execution_.session = saved.session;
  current_execution_.words = saved.words;
  current_execution_.nesting = saved.nesting;
  kept_output_end_ = saved.kept_output_end;
}

}  // namespace respite
