#include "server/execution/monitors.h"

#include "base/str_cat.h"
#include "protocol/reply.h"
#include "server/clients/client_limits.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/config/settings.h"

namespace respite {

void Monitors::Add(Session& session) {
  if (session.monitor) return;
  session.monitor = true;
  sessions_.push_back(&session);
  parts_.observers.Attach(*this);
}

void Monitors::Remove(Session& session) {
  if (!session.monitor) return;
  session.monitor = false;
  std::erase(sessions_, &session);
  if (IsEmpty()) parts_.observers.Detach(*this);
}

void Monitors::OnCall(const FinishedCall& call) {
  // Does not show a command of the stage kAgain, which was blocked before, or delayed by CLIENT PAUSE or MIGRATE. A
  // blocked command was shown when its wait began. A delayed command is never shown, as in Redis.
  if (call.stage != Progress::Stage::kAgain) ShowUnlessHidden(call.session, call.command, call.words);
}

void Monitors::OnRefusal(const RefusedCall& call) {
  // Shows a refused EXEC, as in Redis, so that MONITOR clients see where the transaction ends.
  const bool ends_transaction =
      call.command != nullptr && call.nesting == 0 && call.command->Spec().transaction == TransactionRole::kExecutes;
  if (ends_transaction) ShowUnlessHidden(call.session, *call.command, call.words);
}

void Monitors::OnWait(const WaitingCall& call) { ShowUnlessHidden(call.session, call.command, call.words); }

void Monitors::ShowUnlessHidden(const Session& session, const Command& command, std::span<const Bytes> arguments) {
  if ((command.flags & (kSkipMonitor | kAdmin)) == 0) Show(session, arguments);
}

void Monitors::Show(const Session& session, std::span<const Bytes> arguments) {
  const std::string line = Line(session, arguments);
  const std::vector<Session*> monitors = sessions_;  // a copy, because a session that exceeds its limit leaves the list
  for (Session* monitor : monitors) {
    if (monitor->replies.IsOff() || monitor->close_after_reply) continue;
    Reply(monitor->out, monitor->resp).Simple(line);
    parts_.clients.QueueFlush(*monitor);
    parts_.limits.EnforceOutputLimit(*monitor, parts_.current_execution.NowMs(), ClientLimits::Moment::kReply);
  }
}

std::string Monitors::Line(const Session& session, std::span<const Bytes> arguments) const {
  const int64_t wall_us = parts_.current_execution.wall_base_us + parts_.current_execution.last_us;
  const std::string micros = std::to_string(wall_us % 1000000);
  std::string line = StrCat(wall_us / 1000000, ".", std::string(6 - micros.size(), '0'), micros, " [", session.db, " ",
                            PeerOf(session), "]");
  // The maximum length of a line, because the limits of the output buffer are checked only after the line was written.
  // A quoted argument may be four times as long as the argument.
  constexpr size_t kMaxLineBytes = size_t{16} << 20;
  for (Bytes word : ArgumentsWithoutSecrets(session, arguments)) {
    line += ' ';
    if (line.size() + 4 * word.size() > kMaxLineBytes) return StrCat(line, "... (too long)");
    AppendQuoted(line, word);
  }
  return line;
}

std::string Monitors::PeerOf(const Session& session) const {
  if (session.IsScript()) return "lua";
  return session.addresses.is_unix_socket ? "unix:" + parts_.env.settings.unixsocket : session.addresses.peer;
}

}  // namespace respite
