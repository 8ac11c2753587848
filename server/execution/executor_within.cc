// Commands within commands: those of transactions, scripts and files that are loaded.
#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "server/clients/moving_keys.h"
#include "server/clients/running.h"
#include "server/dataset/unit.h"
#include "server/execution/executor.h"
#include "server/execution/gates.h"

namespace respite {

void Executor::ExecuteWithin(Unit& unit, Session& session, const Command& command, std::span<const Bytes> words) {
  Passage passage{session, &command, words};
  const Command* const outer_command = std::exchange(running_.command, &command);
  const auto outer_words = std::exchange(running_.words, words);
  // Between two commands of a script its own code ran; that time belongs to neither.
  if (session.IsScript()) ReadTime();
  passage.started_us = running_.last_us;
  passage.reply_start = session.out.Size();
  ++depth_;
  if (!parts_.moving_keys.Empty()) parts_.moving_keys.NoteUse(session.db, command, words);
  RunHandlerIn(unit, passage);
  if (!session.IsScript()) SettleReply(session, passage.reply_start);
  running_.command = outer_command;
  running_.words = outer_words;
  ReadTime();
  const int64_t duration_us = running_.last_us - passage.started_us;
  const Bytes error = passage.ending == FinishedCall::Ending::kFailed ? Bytes(last_error_) : Bytes();
  const size_t reply_octets = session.IsScript() ? 0 : OctetsSince(session, passage.reply_start);
  Tell(FinishedCall{session, command, words, duration_us, passage.ending, Progress::Stage::kNew, error, depth_,
                    reply_octets});
  --depth_;
}

void Executor::SettleReply(Session& session, size_t reply_start) {
  if (session.replies.IsSilent()) session.out.RollBack(std::max(reply_start, settled_size_));
  settled_size_ = session.out.Size();
}

Result<Done> Executor::Replay(RequestPath path, Unit& unit, Session& session, const Command& command,
                              std::span<const Bytes> words) {
  try {
    parts_.gates.Pass(path, {session, command, command.flags, words});
  } catch (const Refusal& refusal) {
    return Failure(std::string(refusal.text));
  }
  const Aside aside = StandAside();
  running_.command = &command;
  running_.session = &session;
  running_.words = words;
  depth_ = 1;
  Passage passage{session, &command, words};
  RunHandlerIn(unit, passage);
  const bool succeeded = passage.ending == FinishedCall::Ending::kSucceeded;
  std::string error = succeeded ? "" : session.out.Text(1);
  session.out.Rewind();
  GoOn(aside);
  if (succeeded) return Done{};
  return Failure(error.substr(0, error.find('\r')));
}

void Executor::RefuseWithin(Session& session, const Command* command, std::span<const Bytes> words, Bytes error) {
  Tell(RefusedCall{session, command, words, error, depth_ + 1});
}

Executor::Aside Executor::StandAside() {
  return {std::exchange(running_.command, nullptr), std::exchange(running_.session, nullptr), running_.words,
          std::exchange(depth_, 0), settled_size_};
}

void Executor::GoOn(const Aside& aside) {
  running_.command = aside.command;
  running_.session = aside.session;
  running_.words = aside.words;
  depth_ = aside.depth;
  settled_size_ = aside.settled_size;
}

}  // namespace respite
