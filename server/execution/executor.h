// Executor: takes a request from "words" to "reply written". It walks along a row of stations, short functions with one
// reason to exist each; executor.cc begins with the row. Nothing in it knows a command by name: what is special about a
// command stands on its card.
//
// A command inside a transaction is queued, and comes back through ExecuteWithin, as do the commands of a script.
// CallObservers are told what was called.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/blob.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/lap_timer.h"
#include "base/late_bound.h"
#include "base/refusal.h"
#include "base/result.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/paused_request.h"
#include "server/clients/session.h"
#include "server/execution/call.h"
#include "server/execution/call_observer.h"
#include "server/execution/gate_rules.h"
#include "server/execution/reply_editor.h"
#include "server/execution/request_faults.h"
#include "server/execution/slot_router.h"
#include "server/execution/stats_recorder.h"

namespace respite {

class ClientMemory;
class Clients;
class Clock;
class CommandTable;
struct Dataset;
class Durability;
class Eviction;
class Gates;
class ClientFaults;
class HttpGuard;
class MigratingKeys;
class Pace;
class Pause;
struct CurrentExecution;
struct Role;
class ScriptRunner;
struct Services;
struct Settings;
class Tracking;
class BlockedClients;
class WatchedKeys;

class Executor final : public RequestRunner {
 public:
  struct Parts {
    const Settings& settings;
    const Clock& clock;
    const Pace& pace;
    const Services& services;  // for handlers
    CurrentExecution& current_execution;
    HttpGuard& http_guard;
    const Gates& gates;
    Dataset& data;
    Eviction& eviction;
    Clients& clients;
    ClientMemory& client_memory;
    Tracking& tracking;
    BlockedClients& blocked_clients;
    WatchedKeys& watched_keys;
    Pause& pause;
    MigratingKeys& migrating_keys;
    ClientFaults& client_faults;
    const RequestFaultsPort& faults;
    const LateBound<ReplyEditor>& reply_editor;
    CommandTable& commands;
    ScriptRunner& scripts;
    const Durability& durability;
    const Role& role;
    StatsRecorder& stats_recorder;
    CallObservers& observers;
  };
  explicit Executor(const Parts& parts)
      : parts_(parts), current_execution_(parts.current_execution), lap_(parts.pace) {}

  // Reads the clocks anew; called before a run of requests.
  void StartRun() override;
  // The command that the words name, with its subcommand; null when there is none (or none of that name).
  const Command* Resolve(std::span<const Bytes> words) const;
  struct Request {
    const Command* command;  // Resolve(words)
    std::span<const Bytes> words;
    std::span<const BlobRef> blobs = {};  // own the big arguments
    HashedText key = {};                  // the first key, if its hash is known
    Progress progress = {};
  };
  // The reply is in session.out.
  Outcome Execute(Session& session, const Request& request);
  Outcome RunAgain(Session& session, const Command& command, std::span<const Bytes> words,
                   Progress::Stage stage) override {
    return Execute(session, {.command = &command, .words = words, .progress = {.stage = stage}});
  }

  // Runs one command of a transaction or a script, in the Unit of the command around it. Appends its reply; a refusal
  // is a reply, too.
  void ExecuteWithin(Unit& unit, Session& session, const Command& command, std::span<const Bytes> words);
  // For a command that runs others (EXEC): its output so far is sent, even if one of them turns replies off. Takes it
  // back at once if replies are off already.
  void SettleReply(Session& session, size_t reply_start);
  // The output of the running command so far is sent, since it consists of messages. Redis: CLIENT REPLY does not
  // silence the messages with which SUBSCRIBE and similar commands answer.
  void KeepMessages(const Session& session) {
    if (!session.IsScript()) settled_size_ = session.out.Size();
  }
  // Runs a command of a file that is loaded: it passes the gates of its path, kFile or kFixture, is not counted, and
  // cannot wait; its reply is dropped. Fails with the error that a client would get. Requires: the Unit repeats a
  // record.
  Result<Done> Replay(RequestPath path, Unit& unit, Session& session, const Command& command,
                      std::span<const Bytes> words);
  // A command of the running transaction or script was refused; the caller writes its reply. Null: the words name no
  // command.
  void RefuseWithin(Session& session, const Command* command, std::span<const Bytes> words, Bytes error);
  // Faults of TEST FAULT within a transaction or a script. What acts on the connection acts on the reply of the whole
  // request. True: the command of a transaction is not to be run, its reply is written.
  bool AnswersWithFault(Session& session, const Command& command, std::span<const Bytes> words);
  // `caller` is the client whose script calls this command, in this database. Throws the error of the fault.
  void ApplyFaultInScript(Session& caller, int db, const Command& command, std::span<const Bytes> words);
  // Answers a request whose wait ended without it running again.
  void ReplyUnblocked(const BlockedClient& waiter, UnblockReason end) override;
  // False where a command must answer at once: in a transaction, in a script, and in the stream of the primary.
  bool MayWait() const;

  // While a script lets other clients be served, the Executor behaves as if nothing ran: the state of the running
  // command is set saved until GoOn.
  struct SavedExecution {
    const Command* command;
    const Session* session;
    std::span<const Bytes> words;
    int depth;
    size_t settled_size;
  };
  SavedExecution SaveExecution();
  void RestoreExecution(const SavedExecution& saved);

  // The time for TIME: when the running Unit began, or when other clients were last served during it.
  int64_t UnitWallUs() const { return unit_wall_us_; }
  // Redis: in a script that lets others be served, only TIME goes on: keys that had not expired when it began do not
  // expire before its end.
  void LetTimePass();

 private:
  // A request on its way along the stations.
  struct Passage {
    Session& session;
    const Command* command;  // null: the words name none; the first station refuses that
    std::span<const Bytes> words;
    std::span<const BlobRef> blobs = {};
    HashedText key = {};
    Progress progress = {};
    uint32_t flags = 0;      // EffectiveFlags; from the gates on
    int64_t started_us = 0;  // these three from Run on
    size_t reply_start = 0;
    FinishedCall::Ending ending = FinishedCall::Ending::kSucceeded;
    bool continues_later = false;  // its handler has more to do: Call::ContinueInNextTurn
  };
  // Returns how the request ends here; nothing: it goes on to the next station. May throw a Refusal.
  using Station = std::optional<Outcome> (Executor::*)(Passage& passage);
  struct Row;  // of all stations

  // The stations.
  std::optional<Outcome> RequireCommand(Passage& passage);
  std::optional<Outcome> KeepLimits(Passage& passage);
  std::optional<Outcome> ApplyFaults(Passage& passage);
  std::optional<Outcome> PassGates(Passage& passage);
  std::optional<Outcome> WaitForPause(Passage& passage);
  std::optional<Outcome> QueueInTransaction(Passage& passage);
  std::optional<Outcome> WaitForMove(Passage& passage);
  std::optional<Outcome> Run(Passage& passage);
  std::optional<Outcome> PauseLongRequest(Passage& passage);
  std::optional<Outcome> FinishReply(Passage& passage);
  std::optional<Outcome> TellObservers(Passage& passage);
  std::optional<Outcome> ServeWaiting(Passage& passage);

  // Takes the time anew: one command has ended, the next begins.
  void ReadTime();
  void TakeTime(int64_t pace_us);
  // There are faults; the request may meet one.
  std::optional<Outcome> ApplyFault(Passage& passage);
  // Sends these bytes instead of running the request.
  void AnswerInstead(const Passage& passage, Bytes reply);
  // The request has written its reply, or a part of it. Requires: session.fault_state exists.
  void EndFaultyReply(Session& session, size_t reply_start);
  void PauseFaultyReply(Session& session, size_t reply_start);
  // Keeps the request for a later Turn.
  void PauseRequest(Session& session, std::span<const Bytes> words, Progress progress);
  void Reject(const Passage& passage, const Refusal& refusal);
  // The refusal for words that name no command.
  const Command* FindForRecord(std::span<const Bytes> words) const;
  Refusal UnknownCommand(std::span<const Bytes> words) const;
  void RunHandler(Passage& passage);
  // What a client hears whose wait ended because this server follows another now.
  std::string UnblockByRole(Session& session) const;
  static SlotRouter::Request RequestOf(const Passage& passage);
  // A request of the primary's stream: it passes the gates of its path only, and CLIENT PAUSE holds it back.
  Outcome ExecuteForPrimary(Passage& passage);
  ExpiryRule RuleFor(const Session& session) const;
  void RunHandlerIn(Unit& unit, Passage& passage);
  void Record(Call& call, const Passage& passage);
  // Tells client-side caching which keys the session has read.
  void NoteReads(const Passage& passage);
  void SendDeferredPushes(Session& session);
  // What the handler refused with, if it did.
  Bytes ErrorOf(const Passage& passage) const {
    return passage.ending == FinishedCall::Ending::kFailed ? Bytes(last_error_) : Bytes();
  }
  // What the reply has added to the output; what was sent in between does not count.
  static size_t BytesSince(const Session& session, size_t reply_start) {
    return session.out.Size() - std::min(session.out.Size(), reply_start);
  }
  // As Redis does: a reply would stand in the replica's stream. `error` is the reply, if that is an error; else empty.
  void CloseReplicaThatGotReply(Session& session, const Command* command, Bytes error, size_t reply_start);
  void Tell(const FinishedCall& call);
  void Tell(const RefusedCall& call);
  // CLIENT REPLY: takes back a reply that is not wanted. Requires: the mode is not kOn.
  void ApplyReplyMode(Session& session, size_t reply_start);

  const Parts parts_;
  CurrentExecution& current_execution_;
  LapTimer lap_;
  int64_t unit_wall_us_ = 0;
  size_t settled_size_ = 0;  // so much of the running command's output stays; see SettleReply, KeepMessages
  int depth_ = 0;            // of commands within commands
  std::string last_error_;   // of the last command that a handler refused
};

// The books are always kept: a direct call.
inline void Executor::Tell(const FinishedCall& call) {
  parts_.stats_recorder.OnCall(call);
  parts_.observers.OnCall(call);
  call.session.redacted_words.clear();
}

}  // namespace respite
